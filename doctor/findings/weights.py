"""Do the weights of a model alone fill the cards that it was given? From its name, the command that serves it, and what a card holds.

A name tells how many parameters there are (`Qwen2.5-72B-Instruct`) and often in how many bytes (`-W8A8`, `-AWQ`). Where a name, a degree
or a card does not tell, nothing is worked out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.findings.chips import family
from doctor.findings.started import Started
from parsers.lazy import lazy
from parsers.named import NamedTuple

FULL = 0.72  # of a card: beside more than that no cache and no step finds room
ROOMY = 0.66  # of a card that weights may take, so that there is room
MOST_WAYS = 16
_OF_A2 = 8  # that a node of these has
_POWERS = (1, 2, 4, 8, 16)
_GIB = 2.0**30
_BILLION = 1e9

_COUNT = lazy(r"(?<![A-Za-z\d.])(?P<n>\d{1,4}(?:\.\d{1,2})?)[Bb](?![A-Za-z\d])")
_EXPERTS = lazy(r"\d[xX]\d")  # `8x7B`: what experts share is counted in each
_ACTIVE = lazy(r"(?i)-A\d{1,3}(?:\.\d)?B")
_EIGHT = lazy(r"(?i)(?:^|[-_.])(?:w8a(?:8|16)\w{0,3}|int8|fp8|8bit|w8)(?=$|[-_./])")
_FOUR = lazy(r"(?i)(?:^|[-_.])(?:w4a\d{1,2}\w{0,3}|awq|gptq(?:[-_]int4)?|int4|4bit|w4)(?=$|[-_./])")
_OTHER = lazy(r"(?i)gguf|[-_]q\d(?:_|$)|gptq[-_]int8|bnb|mix|nvfp4|mxfp4")
# Whose names tell no number: what their makers say, in billions; where weights are published in 8 bits, of others a name says so.
_NAMED: Mapping[str, float] = {"deepseek-v3": 671, "deepseek-r1": 671, "deepseek-v2-lite": 16, "deepseek-v2": 236, "kimi-k2": 1000, "glm-4.5-air": 106, "glm-4.5": 355, "glm-4.6": 355}
# HBM of a card in GiB, by the beginnings of the names of its chip, the longest first.
_CARDS: Mapping[str, float] = {"910B4-1": 61, "910B4": 29.5, "910B1": 61, "910B2": 61, "910B3": 61, "910_93": 61}
_SIZE = lazy(r"(?P<n>\d{1,3}(?:\.\d{1,2})?) ?Gi?B$")
_WIDTHS = {"float32": 4.0, "float": 4.0, "fp32": 4.0}


class Weights(NamedTuple):
    """Of one copy of a model: billions of parameters, bytes of each, among how many cards it is divided, GiB of a card, and how many a node has."""

    billions: float
    width: float
    ways: int
    card: float
    most: int = MOST_WAYS

    def each(self, ways: int) -> float:
        """GiB on each of so many cards."""
        return self.billions * _BILLION * self.width / _GIB / ways

    @property
    def full(self) -> bool:
        return self.each(self.ways) > FULL * self.card

    def enough(self, at_least: int = 1) -> int | None:
        """Among how many cards of a node it must be divided, so that there is room; None where a node has not so many."""
        ways = at_least
        while ways * 2 <= self.most and self.each(ways) > ROOMY * self.card:
            ways *= 2
        return ways if ways <= self.most and self.each(ways) <= FULL * self.card else None


def weights(served: Started | None, facts: Mapping[str, Sequence[str]], captures: Mapping[str, str]) -> Weights | None:
    """Of the service that was started; None where something is not told."""
    if served is None or not (name := served.model):
        return None
    billions, width, ways = parameters(name), _width(name, served), _ways(served)
    card = card_gib(facts, captures)
    return Weights(billions, width, ways, card, cards(facts)) if billions and width and ways and card else None


def cards(facts: Mapping[str, Sequence[str]]) -> int:
    """How many NPUs a node has, as a table of npu-smi or the generation of the chip tells; at most."""
    chip = family(next(iter(facts.get("chip", ())), ""))
    if ids := facts.get("npu_ids"):
        return len(ids[0].split(",")) * (2 if chip == "A3" else 1)
    return _OF_A2 if chip == "A2" else MOST_WAYS


def divided(captures: Mapping[str, str], served: Started | None, facts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """`tp_fit` beside a captured degree {tp} that divides nothing: the power of two that divides the {heads}, if they are told, and leaves room.

    >>> divided({"tp": "6"}, None, {}), divided({"tp": "8", "heads": "28"}, None, {}), divided({"tp": "3", "heads": "151646"}, None, {})
    ({'tp_fit': '4'}, {'tp_fit': '4'}, {'tp_fit': '2'})
    """
    tp, heads = captures.get("tp", ""), captures.get("heads", "")
    if not tp.isdecimal() or not 0 < int(tp) <= MOST_WAYS * MOST_WAYS:
        return {}
    told = weights(served, facts, captures)
    least = (told.enough() if told is not None else None) or 1
    possible = [n for n in _POWERS if n <= cards(facts) and n != int(tp) and (not heads.isdecimal() or int(heads[:9]) % n == 0)]
    roomy = [n for n in possible if n >= least] or possible
    best = max((n for n in roomy if n < int(tp)), default=min(roomy, default=None))
    return {} if best is None else {"tp_fit": str(best)}


def parameters(name: str) -> float | None:
    """Billions of them, as a name tells.

    >>> parameters("/models/Qwen3-235B-A22B-W8A8"), parameters("Qwen2.5-0.5B"), parameters("Mixtral-8x7B"), parameters("/w/DeepSeek-R1-w8a8")
    (235.0, 0.5, None, 671)
    >>> parameters("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"), parameters("/data/model"), parameters("qwen-1M")
    (32.0, None, None)
    """
    last = name.rstrip("/").rpartition("/")[2]
    if _EXPERTS.search(last):
        return None
    counts = {float(m["n"]) for m in _COUNT.finditer(_ACTIVE.sub("", last))}
    if counts:
        return counts.pop() if len(counts) == 1 else None
    lower = last.lower().replace("_", "-")
    return next((size for known, size in _NAMED.items() if lower.startswith(known) and "distill" not in lower), None)


def quantised(name: str) -> bool:
    """Does a name say that its weights are of 8 or 4 bits?

    >>> quantised("/models/Qwen3-235B-A22B-W8A8"), quantised("Qwen2.5-0.5B")
    (True, False)
    """
    last = name.rstrip("/").rpartition("/")[2]
    return _EIGHT.search(last) is not None or _FOUR.search(last) is not None


def _width(name: str, served: Started) -> float | None:
    """Bytes of a parameter; None where weights are quantised in a way that nothing tells."""
    last = name.rstrip("/").rpartition("/")[2]
    if _OTHER.search(last):
        return None
    if _FOUR.search(last):
        return 0.5
    if _EIGHT.search(last):
        return 1.0
    plain = "distill" in last.lower() or "deepseek" not in last.lower()  # those are published in 8 bits: a name that says nothing may be of either
    if served.option("quantization") is not None or not plain:
        return None
    return _WIDTHS.get(served.option("dtype") or "", 2.0)


def _ways(served: Started) -> int | None:
    """Among how many cards one copy is divided; None where experts are divided otherwise than the rest."""
    if served.partial and served.kind not in ("vllm", "sglang"):
        return None
    copies = served.option("data-parallel-size") or served.option("dp-size") or "1"
    if copies != "1" and (served.option("enable-expert-parallel") is not None or served.kind == "sglang"):
        return None
    ways = 1
    for name in ("tensor-parallel-size", "tp-size", "tp", "pipeline-parallel-size", "pp-size"):
        value = served.option(name)
        if value is not None:
            if not value.isdecimal() or not 0 < int(value) <= 1024:
                return None
            ways *= int(value)
    return ways


def card_gib(facts: Mapping[str, Sequence[str]], captures: Mapping[str, str]) -> float | None:
    """What a card holds: as the message says, a table of npu-smi, or its name."""
    for name in ("capacity", "total"):
        if found := _SIZE.match(captures.get(name, "")):
            return float(found["n"])
    for fact, part in (("card_gib", 1.0), ("card_mib", 1024.0)):
        if told := facts.get(fact, ()):
            return min(map(float, told)) / part
    chip = next(iter(facts.get("chip", ())), "").upper()
    return next((size for begin, size in _CARDS.items() if chip.startswith(begin)), None)
