"""Who made the call that was refused: the place in a program or a library above the exception that a root rests on."""

from __future__ import annotations

import re

from doctor.answer.advice import CALLER
from doctor.answer.met import without_graphs
from doctor.base.notation import clean
from doctor.base.words import both, word
from doctor.findings.situation import Situation
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from doctor.scan.harvest import Caller, Place
from kb.model import Command, Entry, Fix, Text
from parsers.lazy import lazy
from parsers.meaning.said import distribution
from parsers.raised import COMPILERS

# Of these the place, the card or the container is to blame, whoever calls.
NO_RELEASE_HELPS = frozenset({"device-selection", "device-busy", "container", "permission", "port-conflict"})
ON_PURPOSE = frozenset({"user-code", "service-config", "network-config"})
RAISES = lazy(r"raise\b|assert\b[^\"']{1,200}, ?f?[\"'][^\"']{0,40}[A-Za-z]{2,20} [a-z]{2,20} [a-z]{2,20}")  # an assertion that says in words what it wants
NO_MATTER_OF_GRAPHS = frozenset({"environment", "missing-package", "missing-library", "version-mismatch", "model-files", "permission"})
_VERSIONS = lazy(r"pip list 2>/dev/null \| grep -iE '\^?\(?(?P<names>(?:[\w.-]+\|){3,20}[\w.-]+)(?=\)?')")
_PLAIN = lazy(r"[A-Za-z]\w{2,40}$")
# What is updated by itself, from PyPI, without its torch; of the others a release is chosen together with what it runs on.
FRAMEWORKS = frozenset({"verl", "swift", "llamafactory", "ultralytics"})
LIBRARIES = frozenset({"transformers", "accelerate", "peft", "trl", "diffusers", "datasets", "deepspeed", "modelscope"})
BOUNDS_THEM = frozenset({"llamafactory", "lmdeploy", "mindie", "sglang", "swift", "verl", "vllm", "xllm"})  # frameworks that name a range of releases of their libraries
BESIDE = 12  # lines between an exception and the block of CANN that tells of it


def caller(root: Related, diagnosis: Diagnosis) -> Caller | None:
    """None where the fault surfaced elsewhere than it began: kernels run later than the line that started them."""
    entry = root.finding.entry
    if root.role != "root" or not {"raises", "of_program"} & set(entry.traits):
        return None
    places = [h.place for instance in root.finding.instances[:1] for h in instance.hits]
    near = (
        (min(abs(made.line - p.line) for p in places if p.path == made.path), made)
        for made in diagnosis.harvest.callers
        if any(p.path == made.path for p in places)
    )
    distance, found = min(near, default=(BESIDE + 1, None))
    return found if distance <= BESIDE else None


def of_line(line: Place, diagnosis: Diagnosis) -> Caller | None:
    """Who raised the exception of a line."""
    return next((made for made in diagnosis.harvest.callers if made.path == line.path and line.line <= made.line <= line.end_line), None)


def told(made: Caller | None) -> str | None:
    """Where it stands, and the line of source."""
    return clean(f"{made.place}  {made.code}".strip()) if made is not None else None


def of_library(made: Caller | None) -> bool:
    """Would a library's code have to change, not the reader's?"""
    return made is not None and bool(made.package) and made.package not in COMPILERS


def elsewhere(made: Caller | None, entry: Entry, situation: Situation) -> Fix | None:
    """What can be done where the code that would have to change is a library's; an entry that is sure of its cause is sure of its fix, and has this beside it."""
    if made is None or not of_library(made) or entry.kind in NO_RELEASE_HELPS:
        return None
    if entry.kind in ON_PURPOSE and RAISES.match(made.code):  # it speaks of what the library was given, or met
        return None
    known, shown = situation.phrases(), _with_version(made.package, situation)
    steps = [_sentence(known["update"]) if "update" in known else Text(**both("library-update", package=shown))]
    if "graphs_off" in known and not without_graphs(situation) and entry.kind not in NO_MATTER_OF_GRAPHS and entry.domain != "not_npu":
        off = known["graphs_off"]
        steps.insert(0, Text(word("library-graphs", "en", how=off.en), word("library-graphs", "zh", how=off.zh)))
    title, newer = Text(**both("library-call", package=shown)), _newer(made.package, situation)
    return Fix("resolve", "medium" if newer else "low", title, tuple(steps), (), newer, None, () if entry.confidence == "high" else ((CALLER, (made.package,)),))


def counted_in(fix: Fix, made: Caller | None) -> Fix:
    """A look at the versions of well-known packages, with the package that made the call among them."""
    if fix.goal != "locate" or made is None or not _PLAIN.match(made.package):
        return fix
    name = made.package.replace("_", ".")
    commands = tuple(c._replace(run=_VERSIONS.sub(lambda m: m[0] if re.search(rf"(?<![\w.-]){name}(?![\w-])", m["names"]) else f"{m[0]}|{name}", c.run, count=1)) for c in fix.commands)
    return fix._replace(commands=commands)


def _with_version(package: str, situation: Situation) -> str:
    """The package with the version of it that the logs tell."""
    version = situation.versions().get(package, "")
    return f"{package} {clean(version)[:40]}" if version else package


def _newer(package: str, situation: Situation) -> tuple[Command, ...]:
    """How its newest release is installed beside a torch that stays; of the same major, where the logs tell which is here: what stays fits no other."""
    if package not in FRAMEWORKS and (package not in LIBRARIES or BOUNDS_THEM.intersection(situation.facts.get("framework", ()))):
        return ()
    changes, why = Text(**both("library-newer", package=package)), Text(**both("library-checkout"))
    here = situation.first(package.replace("-", "_")) or ""
    major = here.partition(".")[0]
    bound = f"'{distribution(package)}<{int(major) + 1}'" if major.isdecimal() and "." in here else distribution(package)
    return (Command(f"python3 -m pip install -U --no-deps {bound}", changes, why),)


def _sentence(text: Text) -> Text:
    return Text(f"{text.en[:1].upper()}{text.en[1:]}.", f"{text.zh}。")
