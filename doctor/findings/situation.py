"""In which situation something failed: chip, versions, frameworks, activity, kind of machine. Advice is chosen by it.

A fact is known when the logs tell it; what they do not tell contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from doctor.findings import fits
from doctor.scan.situation import Said, joined, said
from kb.model import Signal
from kb.pairings import Pairing

if TYPE_CHECKING:
    from doctor.scan.harvest import Harvest

MAX_LINES = 400  # lines in which something was found that are asked as well
VERSIONS = ("cann", "driver", "torch_npu", "torch", "vllm_ascend", "vllm", "mindspore")
TITLES = {"cann": "CANN", "mindspore": "MindSpore", "vllm": "vLLM", "vllm_ascend": "vllm-ascend", "torch_npu": "torch_npu"}
# Frameworks that stand in the logs of many others say little about what was being done.
BENEATH = frozenset({"torch_npu", "accelerate", "deepspeed"})
APART = frozenset({"mindspore", "paddle", "onnxruntime", "llama.cpp"})  # from all that stands on torch_npu
TRAINERS = frozenset({"llamafactory", "swift", "megatron", "mindspeed", "verl", "trl"})
SERVERS = frozenset({"vllm", "sglang", "mindie", "lmdeploy", "llama.cpp"})


# What CANN calls the package of operator binaries of a generation.
PACKAGES = {"A1": "910", "A2": "910b", "A3": "A3", "310P": "310p", "310B": "310b"}


class Situation(NamedTuple):
    """What is known of each fact, the likeliest value first."""

    facts: Mapping[str, tuple[str, ...]] = {}
    published: tuple[Pairing, ...] = ()  # which versions go together

    def first(self, fact: str) -> str | None:
        return next(iter(self.facts.get(fact, ())), None)

    def fits(self, wanted: Iterable[tuple[str, tuple[str, ...]]]) -> bool | None:
        """Do all conditions hold? None: the logs do not tell; False: they tell something else."""
        answers = [self._holds(fact, values) for fact, values in wanted]
        return False if False in answers else None if None in answers else True

    def names(self) -> dict[str, str]:
        """What texts of the knowledge may name, always with a default."""
        told = {"chip": self.first("chip"), "cann": self.first("cann"), "kernels": None}
        if told["chip"] is not None:
            told["kernels"] = PACKAGES.get(family(told["chip"]))
        return fits.names(self.versions(), self.published) | {name: value for name, value in told.items() if value}

    def pair(self, captures: Mapping[str, str]) -> dict[str, str]:
        """Of an importing and an imported package that were captured: their versions, and what is published of the pair."""
        return fits.pair(captures, self.versions(), self.published)

    def versions(self) -> dict[str, str]:
        """The version of each software that the logs tell of."""
        return {name: value for name in self.facts if (value := self.first(name)) is not None and value[:1].isdigit()}

    def _holds(self, fact: str, values: Sequence[str]) -> bool | None:
        known = self.facts.get(fact, ())
        if fact == "chip":
            known = tuple(k for chip in known for k in (chip, family(chip)))
            held = any(k.upper().startswith(v.upper()) for k in known for v in values)
        else:
            held = any(k == v or k.startswith(v + ".") for k in known for v in values)
        if held:
            return True
        if fact == "framework" and BENEATH.issuperset(known):
            return False if known and APART.issuperset(values) else None
        return False if known else None


UNKNOWN = Situation()


def situation(harvest: Harvest, forms: Sequence[Signal], published: tuple[Pairing, ...] = ()) -> Situation:
    """What the beginnings of the logs and the lines of what was found tell."""
    texts = sorted({h.place.text for h in harvest.hits} | {c.first.text for c in harvest.clusters})[:MAX_LINES]
    more = said("\n".join(texts).encode("utf-8", "replace"), "", forms) if texts else ()
    told: dict[str, list[Said]] = {}
    for one in joined((*harvest.situation, *more)):
        told.setdefault(one.fact, []).append(one)
    known = {fact: _chips(values) if fact == "chip" else _versions(values) for fact, values in told.items()}
    if activity := _activity(known, told.get("activity", ())):
        known["activity"] = (activity,)
    known["program"] = (_program(harvest, known),)
    if "machine" in known:
        known["machine"] = ("npu",) if "npu" in known["machine"] else known["machine"]
    return Situation({fact: values for fact, values in known.items() if values and values[0]}, published)


def family(chip: str) -> str:
    """The generation that a chip belongs to: `910B4` is an A2, `910_9362` an A3."""
    name = chip.upper()
    if name == "A3" or name.startswith(("910_93", "91093", "910C")):
        return "A3"
    if name.startswith(("910B", "A2")):
        return "A2"
    if name.startswith("910"):
        return "A1"
    return name[:4] if name.startswith("310") else name[:3]


def _chips(told: Sequence[Said]) -> tuple[str, ...]:
    """The name that tells most first: `910B4` before `910B`, whatever stands more often."""
    names: dict[str, int] = {}
    for one in told:
        name = one.value.upper()
        names[name] = names.get(name, 0) + one.times
    exact = [n for n in names if not any(m != n and m.startswith(n) for m in names)]
    return tuple(sorted(exact, key=lambda n: (-len(n), -names[n], n)))


def _versions(told: Sequence[Said]) -> tuple[str, ...]:
    """The most told first; without those that only begin like another one."""
    values = {one.value: one.times for one in told}
    longest = [v for v in values if not any(w != v and w.startswith(v + ".") for w in values)]
    return tuple(sorted(longest, key=lambda v: (-values[v], v)))


def _activity(known: Mapping[str, tuple[str, ...]], told: Iterable[Said]) -> str:
    """What was being done: as the lines say; by the frameworks where they say nothing or several things."""
    times = {one.value: one.times for one in told}
    frameworks = set(known.get("framework", ()))
    if len(times) == 1:
        return next(iter(times))
    if frameworks & TRAINERS:
        return "training"
    if frameworks & SERVERS:
        return "serving"
    return max(sorted(times), key=lambda name: times[name]) if times else ""


def _program(harvest: Harvest, known: Mapping[str, tuple[str, ...]]) -> str:
    """`python`, or `native` when a program told nothing of Python."""
    if "llama.cpp" in known.get("framework", ()):
        return "native"
    if known.get("python") or known.get("framework") or harvest.kinds.get("traceback"):
        return "python"
    return ""
