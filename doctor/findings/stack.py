"""What was being done, by which kind of program, and what calls CANN beneath it: told by the frameworks that are seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.scan.situation import Said
from kb.model import Framework

IMAGE = "vllm-image"  # a framework that only the name of an image tells of


def of_an_image(named: Sequence[str], frameworks: Mapping[str, Framework]) -> tuple[str, ...]:
    """What runs in an image that is called after vLLM: that, where no other software is seen to run."""
    others = tuple(name for name in named if name != IMAGE)
    runs = any(name in frameworks and not frameworks[name].beneath for name in others)
    return others if runs else ("vllm", *others)


def of_clients(named: Sequence[str], clients: Sequence[str], frameworks: Mapping[str, Framework]) -> tuple[str, ...]:
    """With the engine that a client is made for, where the logs name nothing else that runs above torch."""
    runs = any(name in frameworks and not frameworks[name].beneath for name in named)
    return tuple(named) if runs else (*named, *(name for name in clients if name in frameworks))


def activity(seen: Sequence[Framework], told: Iterable[Said], commands: Sequence[str]) -> str:
    """What was being done: what was typed, then what the frameworks that do one thing do, then what lines say."""
    if len(commands) == 1:
        return commands[0]
    does = {f.does for f in seen if not f.beneath}
    times = {one.value: one.times for one in told}
    if "training" in does and "conversion" not in does:
        return "training"
    if len(times) == 1:
        return next(iter(times))
    for activity in ("serving", "conversion"):
        if activity in does:
            return activity
    return max(sorted(times), key=lambda name: times[name]) if times else ""


def program(seen: Sequence[Framework], known: Mapping[str, tuple[str, ...]]) -> str:
    """`python`, `tool`, or `native`: C++ programs print neither versions nor tracebacks of Python."""
    kinds = known.get("program", ())
    told = [f.program for f in seen if f.program and not f.beneath]
    if told:
        return next((program for program in told if program != "python"), "python")
    if "python" in kinds or known.get("python"):
        return "python"
    return "native" if "native" in kinds else "python" if any(f.stack == "torch" for f in seen) else ""


def stacks(seen: Sequence[Framework], known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """What calls CANN. A C++ program with torch inside is none of torch's; a list of packages alone tells of torch what nothing else tells."""
    apart = [f for f in seen if f.program not in ("python", "") and not f.beneath]
    stacks = tuple(dict.fromkeys(f.stack for f in apart or seen if f.stack))
    if stacks:
        return stacks
    if known.get("torch_npu") or known.get("vllm_ascend"):
        return ("torch",)
    return ("native",) if known.get("program") == ("native",) else ()
