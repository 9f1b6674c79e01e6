"""Which chip it is, of which generation, and for which one an image was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.scan.situation import Said
from parsers.lazy import lazy

GENERATIONS = frozenset({"A1", "A2", "A3", "310P", "310B", "310", "950"})
# What CANN calls the package of operator binaries of a generation.
PACKAGES = {"A1": "910", "A2": "910b", "A3": "A3", "310P": "310p", "310B": "310b"}
FIRST = "910 (A1)"
_CARD = "300I"  # of which there was one with four 310 before those with 310P
_OF_TAG = "a3"  # as only tags write it
_OF_SMI = "910_93 (A3)"
_EXACT_A2 = lazy(r"910B[1-4](?:C|-1)?")


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


def chips(told: Sequence[Said], serves: bool = False) -> tuple[str, ...]:
    """The name that tells most first: `910B4` before `910B`, whatever stands more often. `Ascend910` is what npu-smi calls a chip of the A3.

    `910B` is a chip of the first generation where that is its whole name; what else says 910B beside it means that chip. An
    Atlas 300I without more is one with 310P for who `serves` with vLLM, which no 310 can.

    >>> card, other = (Said("chip", name, "", 1) for name in ("300I", "310P3"))
    >>> chips((card,)), chips((card,), True), chips((card, other), True)
    ((), ('310P',), ('310P3',))
    """
    if any(family(one.value) in GENERATIONS - {"A3"} for one in told):  # an image is made for another one, as its tag says
        told = [one for one in told if one.value != _OF_TAG]
    names: dict[str, int] = {}
    for one in told:
        name = one.value.upper()
        names[name] = names.get(name, 0) + one.times
    if (card := names.pop(_CARD, 0)) and serves and not names:
        names["310P"] = card
    if "A3" in names:
        names.pop("910", None)
    if _OF_SMI in names:  # the card itself
        names.pop(_OF_SMI)
        names["910_93"] = sum(names.values()) + 1
    elif any(_EXACT_A2.fullmatch(n) for n in names):  # what operators are built for, beside a card that says its own name
        names.pop("910_93", None)
    if FIRST in names:
        names.pop("910B", None)
        if any(n.startswith("910") and n not in (FIRST, "910") for n in names):  # a card says its own name
            names.pop(FIRST)
    exact = [n for n in names if not any(m != n and m.startswith(n) for m in names)]
    return tuple(sorted(exact, key=lambda n: (-len(n), -names[n], n)))


def of_another(known: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Where a program says that it runs on CUDA, and nothing that it runs on an NPU: an NPU that is named is another machine's.

    >>> of_another({"machine": ("npu", "cuda"), "chip": ("910B",), "runs_on": ("cuda",)})
    {'machine': ('cuda',), 'chip': ()}
    """
    return {"machine": ("cuda",), "chip": ()} if known.get("runs_on") == ("cuda",) and "npu" in known.get("machine", ()) else {}


_CALLED = {"310p": "310P", "300i-duo": "310P", "300i": "310P", "a3": "A3", "910c": "A3", "910_93": "A3", "a2": "A2", "800i-a2": "A2", "910b": "A2", "910a": "A1", "a5": "950", "950": "950"}
_MADE_FOR = lazy(rf"(?<![a-z0-9])(?:{'|'.join(sorted(_CALLED, key=len, reverse=True))})(?![a-z0-9])")
_UNSAID = lazy(r"(?:^|/)vllm-ascend:v?\d[^/]*$")  # whose plain tags are those for A2


def of_image(images: Sequence[str], told: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Is the image that was started made for the chip that is there? Told where all images and all chips agree.

    >>> of_image(("quay.io/ascend/vllm-ascend:v0.11.0rc0-openeuler",), ("310P3",))
    {'image_pair': ('other-chip',), 'image_chip': ('A2',)}
    >>> of_image(("quay.io/ascend/vllm-ascend:v0.21.0rc1-a5",), ("950PR",))["image_pair"]
    ('fits',)
    >>> of_image(("hiyouga/llamafactory:latest-npu-a2",), ("910B3",))["image_pair"], of_image(("ubuntu:22.04",), ("310P3",))
    (('fits',), {})
    """
    made = {one for image in images if (one := _made_for(image.lower()))}
    there = {family(chip) for chip in told}
    if len(made) != 1 or len(there) != 1 or not there <= GENERATIONS:
        return {}
    return {"image_pair": ("fits" if made == there else "other-chip",), "image_chip": tuple(made)}


def _made_for(image: str) -> str:
    found = {_CALLED[name] for name in _MADE_FOR.findall(image.rpartition("/")[2])}
    if len(found) == 1:
        return found.pop()
    return "A2" if not found and _UNSAID.search(image) else ""
