"""The reader's own conversion with ATC, with what an advised one changes in it.

What the knowledge writes is an example: `--model=model.onnx --framework=5 --soc_version=Ascend310P3`. The reader's model, framework, chip and names of inputs stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.findings.started import Started
from parsers.lazy import lazy

# Of each option: what an example gives for it, so that the reader's own value stays.
_EXAMPLES = {"model": lazy(r"(?i)model(?:\.onnx|\.air|_path)?$"), "output": lazy(r"model$"), "framework": lazy(r"\d$"), "soc-version": lazy(r"."), "input-format": lazy(r"."), "singleop": lazy(r"op\.json$")}
_NAMES = lazy(r"(?:^|;)(?:x|ids|mask|images|INPUT|NAME):")  # of inputs in an example
_OPEN = lazy(r"(?<![\w-])-1(?!\w)")
_PROFILES = ("dynamic-batch-size", "dynamic-image-size", "dynamic-dims")
_SHAPE = "input-shape"
_ITS_SIZES = ":SIZES"  # of an input that is called otherwise: the name changes, the numbers stay
_NAMED = ("node", "value")  # captures that stand in the command which was refused
_PARTS = lazy(r"[;:,\s]+")


def meant(started: Sequence[Started], captures: Mapping[str, str]) -> Sequence[Started]:
    """Who converts tries one command after the other: the one that holds what the message names is the one that it refused."""
    named = {value for name in _NAMED if (value := captures.get(name))}
    holding = [one for one in started if one.kind == "atc" and any(not named.isdisjoint((option.value, *_PARTS.split(option.value))) for option in one.options)]
    return [one for one in started if one.kind != "atc" or one in holding] if holding else started


def converted(theirs: Started, advised: Started, gone: Iterable[str]) -> Started | None:
    """`gone` are the options that the advice takes away: without its profiles a shape is closed. None: what sizes the reader needs nobody can tell."""
    wanted, given_now = ({name for name in _PROFILES if command.option(name)} for command in (advised, theirs))
    if advised.option("help") is not None or wanted.difference(_PROFILES[:1]) or (wanted and given_now and not wanted & given_now):
        return None
    for name in (*_PROFILES[1:], "input-shape-range") if wanted else ():  # ATC takes one of them
        theirs = theirs.without(name)
    changed = _fixed(theirs) if {name.removeprefix("--").replace("_", "-") for name in gone}.intersection(_PROFILES) else theirs
    target = advised.option("output") or "model"  # an .om of another name is for another chip, or of another file
    for option in advised.options:
        given, value = changed.option(option.name), option.value
        example = _EXAMPLES.get(option.name)
        if given and example is not None and example.match(value) and (option.name != "soc-version" or target == "model" or "CHIP" in value):
            continue
        if option.name == _SHAPE and value.endswith(_ITS_SIZES) and given:
            if ";" in given or ":" not in given:
                return None
            value = f"{value.removesuffix(_ITS_SIZES)}:{given.rpartition(':')[2].strip()}"
        elif given and option.name == _SHAPE and _NAMES.search(value):
            value = _shape(given, value)
        elif given and option.name == _PROFILES[0] and given.isdecimal():
            value = ",".join(map(str, sorted({int(given), *(int(n) for n in value.split(",") if n.isdecimal())})))
        if value != given:
            changed = changed.with_option(option.name, (value,), glued=True)
    return changed


def _fixed(theirs: Started) -> Started:
    """The same without its profiles: with one alone, the shape is that one."""
    told = next((value for name in _PROFILES if (value := theirs.option(name))), "")
    shape, numbers = theirs.option(_SHAPE) or "", [n.strip() for n in told.split(",")]
    if ";" not in told and shape and all(n.isdecimal() for n in numbers):
        turn = iter(numbers * len(_OPEN.findall(shape)))
        theirs = theirs.with_option(_SHAPE, (_OPEN.sub(lambda _: next(turn), shape),))
    for name in _PROFILES:
        theirs = theirs.without(name)
    return theirs


def _shape(given: str, example: str) -> str:
    """Their inputs, open where the example is open and they are not, or with numbers where it has none open."""
    if not _OPEN.search(example):
        return _OPEN.sub("1", given)
    return given if _OPEN.search(given) else ";".join(f"{name}:-1,{shape.partition(',')[2]}" for name, _, shape in (one.rpartition(":") for one in given.split(";")))
