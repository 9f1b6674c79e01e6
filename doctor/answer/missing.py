"""What evidence is missing for a better answer, and how to get it. Each rule is one small function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from doctor.answer import callers
from doctor.answer.named_first import named_first
from doctor.answer.nowhere import nowhere
from doctor.base.notation import clean, folded, spans
from doctor.base.words import both, named, word
from doctor.findings.situation import FOREIGN
from doctor.findings.started import Started
from doctor.judge.decisive import OF_DRIVER
from doctor.judge.diagnosis import Diagnosis
from doctor.scan.harvest import Place
from kb.model import Text
from parsers.lazy import lazy
from parsers.meaning.said import distribution
from parsers.named import NamedTuple


class Missing(NamedTuple):
    what: Text
    how: Text


def _asked(name: str, **values: object) -> Missing:
    return Missing(Text(**both(f"missing.{name}", **values)), Text(**both(f"missing.{name}-how", **values)))


NODES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")  # that all cards share
MOUNTS = ("/usr/local/dcmi", "/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/driver/version.info", "/etc/ascend_install.info")
_WITHOUT_DEVICE = ("build", "installation")  # nothing runs on a device, nothing writes a plog
_NO_PROCESS = frozenset({"toolchain", "dataset"})  # kinds: nothing of it reaches a card
_OF_CLUSTERS = frozenset({"kubernetes", "kubelet", "ascend-operator", "volcano", "docker", "Docker", "container registry"})  # components
_OF_GO = lazy(r"^(?:\[[A-Z]{4,7}\] {1,8}\d{4}/|[IWEF]\d{4} )[^\n]{10,60}?\b[\w/-]{1,80}\.go:\d{1,5}\b")  # how programs in Go, none of which writes a plog, begin a line
_ON_DEVICE = frozenset({"torch", "torch_npu", "torchair", "mindspore", "acl", "triton", "tbe"})  # packages that run kernels
_PLAIN = lazy(r"^(?:\w{1,60}\.){0,9}(?:\w{0,40}(?:Key|Type|Value|Attribute|Assertion|Index|Name|NotImplemented|Lookup|Decode|Validation|ZeroDivision|Recursion))Error\b")
_OF_DEVICE = lazy(r"(?i)\bnpu|\bacl|hccl|cann\b|device|ascend|kernel|stream|\bE[A-Z1-9]\d{4}\b")
_WAITS = ("peer-timeout", "peer-lost", "collective-mismatch", "worker-death", "link-fault")
Rule = Callable[[Diagnosis], "Missing | None"]


def missing(diagnosis: Diagnosis) -> tuple[Missing, ...]:
    """What to collect next, the most useful first; nothing when a cause is proven."""
    return tuple(found for rule in RULES if (found := rule(diagnosis)) is not None)


def _uncertain(diagnosis: Diagnosis) -> bool:
    roots = diagnosis.roots
    return not roots or roots[0].finding.entry.role != "cause" or roots[0].finding.entry.confidence == "low"


def nothing_readable(diagnosis: Diagnosis) -> Missing | None:
    if diagnosis.harvest.size or diagnosis.verdict == "findings":
        return None
    return _asked("nothing")


def host_logs(diagnosis: Diagnosis) -> Missing | None:
    """A traceback tells where it surfaced; the plog of the process tells why."""
    if not _uncertain(diagnosis) or diagnosis.harvest.kinds.get("plog") or not diagnosis.harvest.size:
        return None
    if any("elsewhere" in r.finding.entry.traits for r in diagnosis.roots) or diagnosis.situation.first("machine") in FOREIGN:  # nothing writes a plog there
        return None
    if diagnosis.verdict == "clean" or nowhere(diagnosis):  # nothing failed, or nothing of an NPU: there is no plog of it
        return None
    if not (diagnosis.related or diagnosis.unexplained) or diagnosis.situation.first("activity") in _WITHOUT_DEVICE or _before_any_process(diagnosis):
        return None
    return _asked("plog") if _library(diagnosis) is None else None


def _before_any_process(diagnosis: Diagnosis) -> bool:
    """Was it said before, or outside, any process that uses a card: by Kubernetes and its operators, by CMake, by the code that reads the data?"""
    line = _origin(diagnosis)
    if line is not None and _OF_GO.search(line.text) is not None:
        return True
    roots = [r.finding.entry for r in diagnosis.roots[:1]] if diagnosis.decisive is None else []
    return any(entry.kind in _NO_PROCESS or entry.component in _OF_CLUSTERS for entry in roots)


def _library(diagnosis: Diagnosis) -> str | None:
    """Whose code refused something, where the line nearest to the origin is an exception of plain Python: no device log has a word about it."""
    line = _origin(diagnosis)
    if line is None or not _PLAIN.search(line.text) or _OF_DEVICE.search(line.text):
        return None
    made = callers.of_line(line, diagnosis)
    return made.package if made is not None and made.package not in _ON_DEVICE else None


def _origin(diagnosis: Diagnosis) -> Place | None:
    if diagnosis.decisive is not None:
        return diagnosis.decisive.first
    return next((h.place for r in diagnosis.roots[:1] for h in r.finding.hits[:1]), None)


def releases(diagnosis: Diagnosis) -> Missing | None:
    """What a library says no to depends on its release, and on that of what called it."""
    package = _library(diagnosis)
    if not package or not _uncertain(diagnosis):
        return None
    callers_of = [name for name in diagnosis.situation.facts.get("framework", ()) if name != package]
    return _asked("releases", package=package, names="|".join(distribution(name) for name in (package, *callers_of)))


def other_ranks(diagnosis: Diagnosis) -> Missing | None:
    """Only victims of a job of several ranks have spoken: the one that failed first is somewhere else."""
    roots = diagnosis.roots
    if not roots or roots[0].finding.entry.role != "symptom" or not _of_many(diagnosis) or named_first(roots[0], diagnosis):
        return None
    return _asked("ranks")


def _of_many(diagnosis: Diagnosis) -> bool:
    """Is it a job of several ranks, as far as the logs tell?"""
    if diagnosis.job is not None and len(diagnosis.job.processes) > 1:
        return True
    if diagnosis.situation.world_size(2) is not None:
        return True
    return any(h.place.rank is not None for r in diagnosis.roots[:1] for h in r.finding.hits) or any(
        kind in _WAITS for kind in (r.finding.entry.kind for r in diagnosis.roots[:1])
    )


def missing_nodes(diagnosis: Diagnosis) -> Missing | None:
    """Nodes that were asked and gave nothing, or not all: what they would have told is not known."""
    absent = diagnosis.harvest.absent
    if not absent:
        return None
    states: dict[str, list[str]] = {}
    for one in absent:
        states.setdefault(clean(one.state), []).append(clean(one.node))
    ranks = spans(diagnosis.job.missing) if diagnosis.job is not None else ""
    told = []
    for language in ("en", "zh"):
        rows = [f"{named('fleet.state', state, language)} {folded(names)}" for state, names in sorted(states.items())]
        rows += [word("fleet.no-logs-of", language, ranks=ranks)] if ranks else []
        told.append(word("fleet.not-all", language, count=len(absent), rows="; ".join(rows)))
    return Missing(Text(*told), Text(*(word("fleet.ask-again", language) for language in ("en", "zh"))))


def missing_ranks(diagnosis: Diagnosis) -> Missing | None:
    """The world is larger than what was read, and the cause is not proven: it may stand in what is missing."""
    job = diagnosis.job
    if job is None or not job.missing or not job.waits or any(r.verdict == "fault" for r in job.roots):
        return None
    names = spans(job.missing)
    return _asked("missing-ranks", names=names, size=job.world_size)


def stopped_early(diagnosis: Diagnosis) -> Missing | None:
    """A log that ends without a word: the kernel or the launcher knows why."""
    job = diagnosis.job
    if job is None or not job.stopped:
        return None
    names = ", ".join(clean(job.label(n)) for n in job.stopped[:4])
    nodes = ", ".join(sorted({clean(job.processes[n].node or "?") for n in job.stopped[:4]}))
    return _asked("stopped", names=names, nodes=nodes)


def run_logs(diagnosis: Diagnosis) -> Missing | None:
    """Who is who stands in run/plog at INFO: with the level raised, ranks cannot be told from each other."""
    job = diagnosis.job
    if job is None or not job.waits or len(job.processes) < 2 or any(p.seats for p in job.processes):
        return None
    return _asked("run")


def right_stack(diagnosis: Diagnosis) -> Missing | None:
    """Kernels run asynchronously: without blocking mode the Python stack names the wrong line."""
    kinds = {r.finding.entry.kind for r in diagnosis.roots[:1]}
    unknown = diagnosis.verdict == "inconclusive" and diagnosis.situation.first("program") == "python"
    if not (unknown or kinds & {"device-exception", "device-timeout", "aicpu-exception", "wrapper"}):
        return None
    if not (diagnosis.related or diagnosis.unexplained):
        return None
    at = diagnosis.situation
    if at.first("program") in ("native", "tool") or at.first("activity") in _WITHOUT_DEVICE:
        return None  # no Python stack to look at
    if _library(diagnosis) is not None or nowhere(diagnosis):
        return None  # the stack is exact
    if any(r.finding.entry.confidence == "high" and r.finding.entry.role == "cause" for r in diagnosis.roots[:1]):
        return None
    return _asked("stack")


def calls_of_all_ranks(diagnosis: Diagnosis) -> Missing | None:
    """Ranks waited until their time was up and nobody tells why: who did not come, only the recorder or stacks can tell."""
    job, roots = diagnosis.job, diagnosis.roots
    waits = roots[:1] and roots[0].finding.entry.role != "cause" and roots[0].finding.entry.kind in ("peer-timeout", "collective-mismatch")
    unknown = job is not None and bool(job.waits) and all(root.verdict != "fault" for root in job.roots)
    if diagnosis.harvest.dumps or diagnosis.situation.first("stack") not in (None, "torch") or not (waits or unknown):
        return None
    return _asked("recorder")


def kernels_own_log(diagnosis: Diagnosis) -> Missing | None:
    """The library of the driver only passes on what the kernel's modules or the card's firmware refused."""
    line = diagnosis.decisive.first if diagnosis.decisive is not None else None
    if line is None or line.module not in OF_DRIVER or diagnosis.harvest.kinds.get("dmesg"):
        return None
    return _asked("kernel")


def more_of_the_plog(diagnosis: Diagnosis) -> Missing | None:
    """A plog holds errors alone by default: what led to a line that nobody knows stands above it at a finer level."""
    line = diagnosis.decisive.first if diagnosis.decisive is not None else None
    if line is None or line.kind != "plog" or line.level != "error":
        return None
    return _asked("louder")


def host_beside_container(diagnosis: Diagnosis) -> Missing | None:
    """What runs on the host and not in the container lacks something that the container was not given."""
    situation = diagnosis.situation
    if diagnosis.verdict != "inconclusive" or "host-works" not in situation.facts.get("seen", ()):
        return None
    lacking = given_to(situation.started)
    return _asked("container-lacks", options=" ".join(lacking)) if lacking else _asked("container")


def given_to(started: Sequence[Started]) -> tuple[str, ...] | None:
    """What a container needs of the driver and the one `docker run` does not name; None where there is none, or several."""
    runs = [one for one in started if one.kind == "docker"]
    if len(runs) != 1:
        return None
    words = " ".join(runs[0].words)
    nodes = () if "--privileged" in runs[0].words else tuple(f"--device={node}" for node in NODES if node not in words)
    mounted = [option.value.partition(":")[0].rstrip("/") for option in runs[0].options if option.name == "volume"]
    return (*nodes, *(f"-v {path}:{path}" for path in MOUNTS if not any(f"{path}/".startswith(f"{one}/") for one in mounted)))


RULES: tuple[Rule, ...] = (
    missing_nodes,
    nothing_readable,
    host_beside_container,
    missing_ranks,
    stopped_early,
    run_logs,
    other_ranks,
    calls_of_all_ranks,
    host_logs,
    kernels_own_log,
    more_of_the_plog,
    releases,
    right_stack,
)
