"""In which situation something failed: chip, versions, frameworks, activity, kind of machine. Advice is chosen by it.

A fact is known when the logs tell it; what they do not tell contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from doctor.findings import fits
from doctor.findings.chips import GENERATIONS, PACKAGES, chips, family, of_another, of_image
from doctor.findings.release import within
from doctor.findings.stack import IMAGE, activity, of_an_image, of_clients, program, stacks
from doctor.scan.beside import IN_SCRIPT
from doctor.scan.situation import Said, joined, said
from doctor.scan.tablescan import condition
from kb.model import SAID, UNSAID, Framework, Signal, Text, When
from kb.pairings import Pairing
from parsers.lazy import lazy
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.findings.started import Started
    from doctor.scan.harvest import Harvest

MAX_LINES = 400  # lines in which something was found that are asked as well
FOREIGN = frozenset({"cuda", "rocm", "dcu", "other"})  # machines without an NPU
VERSIONS = ("cann", "driver", "torch_npu", "torch", "vllm_ascend", "vllm", "mindspore")
TITLES = {"cann": "CANN", "mindspore": "MindSpore", "vllm": "vLLM", "vllm_ascend": "vllm-ascend", "torch_npu": "torch_npu"}
_BOUND = ("<", ">", "=")
_SETS = lazy(r"=|: +")  # of a shell, a call; of YAML
START = "start"  # the fact whose values are commands
_SEAT = "fact:error-head/"  # lines that name a rank with its device
# What a pod is called, and what it asks for.
_CALLED = ("ascend_home", "pod", "namespace", "kube_node", "container", "image")
_ASKED = ("npu_asked", "npu_node", "npu_taken", "memory_limit")
# Worked out from what is told: where it is not, nothing speaks for it.
_WORKED_OUT = frozenset({"launcher", "cards", "ranks", "held", "npus", "kubernetes", "lacking", "idle", "npu", "numbering", "driver_pair", "cann_pair", "image_pair", "split", "option", "listed", "shm"})
_ANYTHING = "~ ."  # asked of a capture: that there is one
# Facts that texts may name.
_COUNTED = ("processes", "visible", "visible_count", "visible_wanted", "renumbered", "given", "npu_ids", "npu_first", "sharing_ranks", "shared_card", "holder_pid", "holder_pids", "holders", "sharers", "crowded_npu", "crowd", "both_shares", "idle_npu", "idle_npus", "port", "other_port", "listener_pid", "listener", "ray_head", "ray_npus", "ray_gpus", "ray_list", "driver_wanted", "image_chip", "interface", "interface_ip", "vllm_said", "worked", "shm")
NAMED = ("chip", *VERSIONS, "transformers", "deepspeed", "opset", "progress", *_COUNTED, *_CALLED, *_ASKED)
_TAGGED = frozenset({"vllm", "vllm_ascend"})  # whose tags and images leave out what a build adds: 0.19.0+empty
_CONTAINERS = frozenset({"pod", "compose", "gpustack"})  # of what is seen: whose programs run in containers
_ONE_CHIP = frozenset({"A1", "A2"})  # generations of which a card has one chip


class Variable(NamedTuple):
    """A variable that somebody set, and where it was seen first."""

    name: str
    value: str
    path: str
    times: int = 1


class Situation(NamedTuple):
    """What is known of each fact, the likeliest value first."""

    facts: Mapping[str, tuple[str, ...]] = {}
    frameworks: Mapping[str, Framework] = {}
    published: tuple[Pairing, ...] = ()  # which versions go together
    started: tuple[Started, ...] = ()  # the commands by which programs were started, as they are told
    variables: tuple[Variable, ...] = ()
    kernels: tuple[Said, ...] = ()  # that somebody wrote, as they stand in their sources
    packages: Mapping[str, str] = {}  # that lists show as installed

    def first(self, fact: str) -> str | None:
        return next(iter(self.facts.get(fact, ())), None)

    def fits(self, wanted: When, captures: Mapping[str, str] | None = None) -> bool | None:
        """Do all conditions hold? None: the logs do not tell; False: they tell something else."""
        answers = [
            _captured(captures, fact.removeprefix(SAID), values) if fact.startswith(SAID) else self._holds(fact, values, captures or {})
            for fact, values in wanted
        ]
        return False if False in answers else None if None in answers else True

    def names(self) -> dict[str, str]:
        """What texts of the knowledge may name, always with a default."""
        told = {fact: value.partition("+")[0] if fact in _TAGGED else value for fact in NAMED if (value := self.first(fact)) is not None}
        if "chip" in told and (package := PACKAGES.get(family(told["chip"]))):
            told["kernels"] = package
        if without := self.facts.get("lacking"):
            told["lacking"] = ", ".join(without)
        return fits.names(self.versions(), self.published) | told

    def words(self) -> dict[str, str]:
        """What is called as only one thing is in these logs: a pod, its node and image, the model."""
        told = {fact: values for fact in _CALLED if (values := self.facts.get(fact))}
        models = tuple({model.rstrip("/"): None for model in ([one.model for one in self.started if one.model] or self.facts.get("loaded", ()))})
        if models:
            told["model"] = models
        own = {one.option("name") for one in self.started}
        told["other_container"] = tuple(name for name in self.facts.get("running", ()) if name not in own)
        return {fact: values[0] for fact, values in told.items() if len(values) == 1}

    def card(self, device: str) -> dict[str, str]:
        """The two numbers by which npu-smi calls a device: those of its table, else where a card has one chip and the process sees all of them."""
        all_seen = self.facts.keys().isdisjoint(("visible", "visible_here"))
        if (seats := self.facts.get("seats")) and all_seen:
            at = next((one.split() for one in seats if one.split()[0] == device), None)
            return {"npu_id": at[1], "chip_id": at[2]} if at else {}
        chips = {family(chip) for chip in self.facts.get("chip", ())}
        plain = device.isdecimal() and chips and chips <= _ONE_CHIP and all_seen
        return {"npu_id": device, "chip_id": "0"} if plain else {}

    def pair(self, captures: Mapping[str, str]) -> dict[str, str]:
        """Of two things that were captured: packages with their versions and what is published of the pair, shapes with the degree by which they differ."""
        return fits.pair(captures, self.versions(), self.published) | _degrees(captures, self.facts.get("degree", ())) | self._listed(captures) | self._interface(captures)

    def _interface(self, captures: Mapping[str, str]) -> dict[str, str]:
        """The interface of the node that does not know a captured {ifname}."""
        if not (told := self.facts.get("interfaces")):
            return {}
        from doctor.findings.interfaces import other_than  # few logs list interfaces

        return other_than(captures.get("ifname", ""), told)

    def _listed(self, captures: Mapping[str, str]) -> dict[str, str]:
        """How a list of packages shows the captured {package}."""
        lists, name = self.facts.get("listed"), captures.get("package")
        if not lists or not name:
            return {}
        from doctor.findings.inventory import listed  # few failures lack a package

        return listed(name, lists, self.started)

    def newcomer(self, captures: Mapping[str, str]) -> dict[str, str]:
        """Of a model, or a line of Python, that was captured: from which releases on it is known."""
        from doctor.findings import language, newcomers  # few failures name one

        return newcomers.since(captures, self.versions(), self.published) | language.since(captures, self.versions())

    def versions(self) -> dict[str, str]:
        """The version of each software that the logs tell of."""
        return {**self.packages, **{name: value for name in self.facts if (value := self.first(name)) is not None and value[:1].isdigit()}}

    def world_size(self, at_least: int) -> int | None:
        """The size that a line states for a job of which at least so many ranks are seen."""
        told = [int(v) for v in self.facts.get("world_size", ()) if v.isdecimal()]
        return max((size for size in told if size >= max(at_least, 2)), default=None)

    def phrases(self) -> dict[str, Text]:
        """How the software of this log is told what many entries advise; the one that does what was being done speaks first."""
        if self.first("machine") in FOREIGN:  # they are told for an NPU
            return {}
        known = [self.frameworks[name] for name in self.facts.get("framework", ()) if name in self.frameworks]
        activity = self.first("activity")
        known.sort(key=lambda f: (f.beneath, bool(f.does) and f.does != activity))
        found: dict[str, Text] = {}
        for framework in known[:1]:
            found.update(framework.phrases)
        return found

    def _holds(self, fact: str, values: Sequence[str], captures: Mapping[str, str]) -> bool | None:
        known = self.facts.get(fact, ())
        if fact == "npu" and "npu" in captures and (ids := self.facts.get("npu_ids")):  # the card that the log names, and those of a table
            known = ("there" if captures["npu"] in ids[0].split(", ") else "absent",)
        if fact == "listed":
            known = tuple(self._listed(captures).get("listed", "").split())
        if fact == "split":
            known = ("degree",) if _degrees(captures, self.facts.get("degree", ())) else ()
        if fact == "cann" and not known:  # a release of vllm-ascend is made for one
            known = fits.cann_of(self.facts.get("vllm_ascend", ()), self.published)
        if fact == "vllm_ascend" and not known and self.first("machine") not in ("cuda", "rocm", "dcu"):
            known = self.facts.get("vllm", ())  # its releases carry the number of the vllm they are made for
        if fact == "mended":
            if mine := self.facts.get("vllm_ascend", ()):
                return any(within(one, f"<{v}") for one in mine for v in values)
            # candidates and builds before them run beside the same vllm
            beside = self.facts.get("vllm", ())
            return not beside or any(within(one.partition("+")[0], f"<={v.partition('rc')[0]}") for one in beside for v in values)
        if fact == "chip":
            known = tuple(k for chip in known for k in (chip, family(chip)))
            held = any(k.upper() == v.upper() or (v not in GENERATIONS and k.upper().startswith(v.upper())) for k in known for v in values)
        else:
            held = any(_is(k, v) for k in known for v in values)
        if held:
            return True
        if fact == "framework":
            return self._of_another(known, values)
        return False if known or fact in _WORKED_OUT or fits.of_another_stack(fact, self.facts.get("stack", ())) else None

    def _of_another(self, known: Sequence[str], values: Sequence[str]) -> bool | None:
        """Is advice for frameworks that are not seen advice for others? Those beneath others leave it open what stands on them."""
        wanted = [self.frameworks[v] for v in values if v in self.frameworks]
        stacks = self.facts.get("stack", ())
        if wanted and stacks and not any(f.stack in stacks for f in wanted):
            return False
        program = self.first("program")
        if wanted and program and all(f.program and f.program != program for f in wanted):
            return False
        activity = self.first("activity")
        if wanted and activity and all(f.does and f.does != activity for f in wanted):
            return False
        if self.first("script") == "plain" and wanted and not any(f.beneath for f in wanted):
            return False
        return None if all(k in self.frameworks and self.frameworks[k].beneath for k in known) else False


UNKNOWN = Situation()


def _degrees(captures: Mapping[str, str], told: Sequence[str]) -> dict[str, str]:
    if not told or "should" not in captures:
        return {}
    from doctor.findings.degrees import names  # few failures compare shapes

    return names(captures, told)


def _is(told: str, wanted: str) -> bool:
    """Is a value what is asked for: bounds of a version, a pattern, a word or the beginning of a version?"""
    if wanted.startswith(_BOUND):
        return within(told, wanted)
    return condition(wanted, told) if wanted.startswith("~") else told == wanted or told.startswith(wanted + ".")


def _captured(captures: Mapping[str, str] | None, name: str, values: Sequence[str]) -> bool | None:
    """Does what a leaf captured fulfil a condition? What was captured by none is not told, but for who asks for just that.

    Whoever asks whether anything was captured says it as a fact: it is none of a finding that captured nothing.
    """
    value = captures.get(name) if captures else None
    if value is None and UNSAID in values:
        return True
    if values == (UNSAID,) or (captures is not None and value is None and values == (_ANYTHING,)):
        return False
    return None if value is None else any(condition(wanted, value) for wanted in values)


def situation(
    harvest: Harvest,
    forms: Sequence[Signal],
    frameworks: Mapping[str, Framework] | None = None,
    published: tuple[Pairing, ...] = (),
) -> Situation:
    """What the beginnings of the logs and the lines of what was found tell."""
    frameworks = frameworks or {}
    alone = {h.place.text for h in harvest.hits} | {c.first.text for c in harvest.clusters}
    texts = sorted(text for text in alone if not text.endswith("\\"))[:MAX_LINES]  # what a command goes on with does not stand below it here
    more = said("\n".join(texts).encode("utf-8", "replace"), "", forms) if texts else ()
    told: dict[str, list[Said]] = {}
    for one in joined((*harvest.situation, *more)):
        told.setdefault(one.fact, []).append(one)
    for fact in [fact for fact in told if fact.startswith(IN_SCRIPT)]:
        told.setdefault(fact.removeprefix(IN_SCRIPT), told[fact])
        del told[fact]
    started, kernels = _started(told.pop(START, ())), tuple(told.pop("kernel", ()))
    variables = (
        *(Variable(name, value.strip('"'), one.path, one.times) for one in told.get("variable", ()) for name, value in [(*_SETS.split(one.value, maxsplit=1), "")[:2]]),
        *(Variable(name, value, one.path) for one in started for name, value in one.env),
    )
    known = {fact: chips(values, "vllm" in told or "vllm_ascend" in told) if fact == "chip" else tuple(one.value for one in values) if fact == "variable" else _versions(values) for fact, values in told.items()}
    if by := [kind for one in started if (kind := "vllm" if one.kind == "llm" else one.kind) in frameworks]:  # whoever started it knows what it is
        known["framework"] = tuple(dict.fromkeys((*known.get("framework", ()), *by)))
    if IMAGE in known.get("framework", ()):
        known["framework"] = of_an_image(known["framework"], frameworks)
    if clients := known.pop("client", ()):
        known["framework"] = of_clients(known.get("framework", ()), clients, frameworks)
    known |= of_another(known)
    seen = [frameworks[name] for name in known.get("framework", ()) if name in frameworks]
    there = known.pop("npu_id", ())
    known |= _listed(there)
    known |= _counted(harvest, started, known.pop("visible", ()), known.get("visible_here", ()), known.pop("usable", ()), there, "ray" in known.get("seen", ()), known.get("npu_asked", ()))
    known |= _given_to_ray(known.pop("ray_given", ()))
    known |= _room(known)
    known |= _place(known, started)
    known |= of_image((*known.get("image", ()), *(one.words[one.target] for one in started if one.kind == "docker" and one.target is not None)), known.get("chip", ()))
    known |= fits.without_former(known)
    known["pair"] = fits.together(known, published)
    known |= fits.driver(known, published)
    known |= fits.toolkit(known, published)
    known |= _said_of_vllm(known, variables)
    lacks, packages = _installed(known.pop("installed", ()), known.pop("release", ()), published)
    known |= lacks
    known |= _held(harvest, started, known.pop("holder", ()), known.pop("card_use", ()), known.pop("listener", ()), next(iter(known.get("visible", ())), ""))
    if nics := known.pop("nic", ()):
        from doctor.findings.interfaces import MASTERS, between  # few logs list interfaces

        known |= between(nics, (one.value for one in variables if one.name in MASTERS), started)
    known["activity"] = (activity(seen, told.get("activity", ()), known.pop("command", ())),)
    known["program"] = (program(seen, known),)
    known["stack"] = stacks(seen, known)
    known["progress"] = tuple(sorted(known.get("progress", ()), key=_part, reverse=True))
    if "machine" in known:
        # Others run programs written for CUDA, or print what HIP says: their own names tell more than those.
        known["machine"] = next(((one,) for one in ("npu", "dcu", "other", "rocm") if one in known["machine"]), known["machine"])
    return Situation({fact: values for fact, values in known.items() if values and values[0]}, frameworks, published, started, variables, kernels, packages)


def _counted(harvest: Harvest, started: tuple[Started, ...], visible: Sequence[str], here: Sequence[str], usable: Sequence[str], there: Sequence[str], apart: bool, asked: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """How many processes and NPUs there are, and who shares one; nothing where neither a command nor a rank is told.

    `apart`: each process is shown one NPU, as Ray does it, and calls it 0. What one process says that it sees (`here`)
    counts where all see the same: not then, and not where each engine of data parallelism is shown NPUs of its own.
    """
    alike = not visible and not apart and all(one.option("data-parallel-size") in (None, "1") for one in started)
    if alike:
        visible = here
    heads = [h for h in harvest.facts if h.signal.startswith(_SEAT)]
    if not started and not heads and not visible:
        return {}
    from doctor.findings.devices import Seat, sharing, started_with  # most logs tell of none

    seats = [Seat(h.place.node or h.place.path, int(told["rank"]), int(told["device"])) for h in heads if {"rank", "device"} <= (told := dict(h.captures)).keys()]
    return {**started_with(started, visible, there, apart, usable if alike else (), asked), **({} if apart else sharing(seats))}


def _given_to_ray(told: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """All NPUs of a node as a list, where each node gave as many to Ray."""
    return {"ray_list": (",".join(map(str, range(int(told[0])))),)} if len(set(told)) == 1 else {}


def _listed(there: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The NPU IDs of tables of npu-smi, all of them in one."""
    ids = sorted({int(n) for n in there})
    return {"npu_ids": (", ".join(map(str, ids)),), "npu_first": (str(ids[0]),)} if ids else {}


def _room(known: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Is it a pod, and can a node ever have the NPUs that it asks for? Told where all nodes that are shown agree."""
    made = {"kubernetes": ("pod",)} if known.get("pod") or "pod" in known.get("seen", ()) else {}
    asked, there = known.get("npu_asked", ()), known.get("npu_node", ())
    if len(asked) == 1 and there and asked[0].isdecimal() and all(n.isdecimal() for n in there):
        most = max(map(int, there))
        made["npus"] = ("none-reported" if most == 0 else "never-enough" if int(asked[0]) > most else "taken",)
    if not asked and known.get("npu_unasked", ()) == ("limits",):
        made["npus"] = ("none-asked",)
    return made


def _place(known: Mapping[str, tuple[str, ...]], started: tuple[Started, ...]) -> Mapping[str, tuple[str, ...]]:
    """Does the program run in a container or on a bare host? Whoever starts containers, or is started as one, runs in one."""
    inside = known.get("kubernetes") or any(one.kind == "docker" for one in started) or not _CONTAINERS.isdisjoint(known.get("seen", ())) or "container" in known.get("place", ())
    return {"place": ("container",)} if inside else {}


def _said_of_vllm(known: Mapping[str, tuple[str, ...]], variables: Iterable[Variable]) -> dict[str, tuple[str, ...]]:
    """The release that a variable tells vllm-ascend to take vLLM for, where another one is installed: it chooses its patches by that word.

    It is meant for builds between releases: of these it names the release next to them.
    """
    told = {one.value for one in variables if one.name == "VLLM_VERSION"}
    here = {value.partition("+")[0] for value in known.get("vllm", ())}
    if len(told) != 1 or len(here) != 1 or told == here or not all(value[:1].isdigit() for value in told | here):
        return {}
    said, there = next(iter(told)), next(iter(here))
    near = "dev" in there and fits.same_minor(said, there)
    return {} if near else {"pair": ("said",), "vllm_said": (said,)}


def _installed(lists: Sequence[str], releases: Sequence[str], published: tuple[Pairing, ...]) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, str]]:
    """Which packages that are needed a list of those installed does not hold, and the versions of those that are told."""
    if not lists and not releases:
        return {}, {}
    from doctor.findings.inventory import installed, lacking  # few logs hold such a list

    whole = [one for one in lists if "==" not in one]  # pip freeze breaks off at what came from a file
    return {"lacking": lacking(whole, published)}, installed(lists, releases)


def _held(harvest: Harvest, started: tuple[Started, ...], holders: Sequence[str], cards: Sequence[str], listeners: Sequence[str], visible: str) -> Mapping[str, tuple[str, ...]]:
    """Who holds memory of NPUs or a port that the job wanted, and which cards are free."""
    if not holders and not cards and not listeners and not started:
        return {}
    from doctor.findings.holders import held  # most logs hold no such table

    own = {h.place.pid for h in chain(harvest.hits, harvest.facts)} | {c.first.pid for c in harvest.clusters}
    return held(holders, cards, listeners, started, visible, frozenset(n for n in own if n is not None))


def _started(told: Sequence[Said]) -> tuple[Started, ...]:
    """The commands among what was told."""
    if not told:
        return ()
    from doctor.findings.filled_in import filled_in  # few logs hold one
    from doctor.findings.started import read
    from doctor.findings.unrepeated import unrepeated

    return filled_in(unrepeated([made for one in told if (made := read(one.value, one.path)) is not None]))


def _part(progress: str) -> float:
    """How much of it is done: `36/37`."""
    done, _, whole = progress.partition("/")
    return int(done) / max(int(whole), 1) if done.isdecimal() and whole.isdecimal() else 0.0


_OF_NO_RELEASE = lazy(r"0\.(?:1\.dev\d|0\.0(?:$|[+.]dev))")  # what builds of a checkout without tags are called


def _versions(told: Sequence[Said]) -> tuple[str, ...]:
    """The most told first; without those that only begin like another one, or are another one without its build."""
    values = {one.value: one.times for one in told if not _OF_NO_RELEASE.match(one.value)}
    longest = [v for v in values if not any(w != v and w.startswith((v + ".", v + "+")) for w in values)]
    return tuple(sorted(longest, key=lambda v: (-values[v], v)))
