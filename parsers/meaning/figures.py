"""Two figures that had to fit and do not, as C++ and build scripts say it: "X is A, Y is B", "X:A < Y:B".

    Input size:150528 from user add align:64 < op_size:602112 in model:1
    Check input size failed, index 0, user size 150528, op size 602112.
    The actual amount of data read from generator 11873 is different from generator.len 12000
    version is 8.3.RC1, dep_info is >=8.5.

>>> from parsers.meaning.said import Said
>>> row = read(Said("Input size:150528 from user add align:64 < op_size:602112 in model:1"))[0]
>>> [row.get(name) for name in ("subject", "given", "other", "allowed")]
['Input size', '150528', 'op_size', '602112']
>>> row = read(Said("version is 8.3.RC1, dep_info is >=8.5."))[0]
>>> [row.get(name) for name in ("how", "given", "allowed")]
['release', '8.3.RC1', '>=8.5']
>>> read(Said("rank 3 < world 8")), read(Said("took 7 ms, which is different from version 8"))
((), ())
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading
from parsers.meaning.shapes import thing

_A = r"(?P<subject>[A-Za-z_][\w. -]{0,60}?\w)"
_B = r"(?P<other>[A-Za-z_][\w. -]{0,60}?\w)"
_IS = r"(?: is | ?[:=] ?| ?[\[(]| )\[?"
_WORDS = r"(?:is|are) (?:different from|not equal to|less than|smaller than|larger than|greater than)|differs? from|(?:does|do) ?n[o']t (?:match|equal)|not equal to"
_FIGURES = (
    lazy(rf"{_A}{_IS}(?P<given>\d{{1,18}})[\])]?(?: from \w{{2,20}}(?: add \w{{2,12}}:\d{{1,6}})?)? ?(?P<sign>(?:{_WORDS}) (?:the )?|(?:[<>!]=?|==) ?){_B}{_IS}(?P<allowed>\d{{1,18}})(?![\w%]|\.\d)"),
    lazy(rf"[Cc]heck [\w ]{{3,60}} failed, (?:index \d{{1,6}}, )?{_A}{_IS}(?P<given>\d{{1,18}})\]?, ?{_B}{_IS}(?P<allowed>\d{{1,18}})(?![\w%]|\.\d)"),
)
_RELEASE = lazy(rf"{_A} is (?P<given>\d[\w.+-]{{0,30}}), ?(?:but |and )?{_B} is (?P<allowed>(?:[<>~=!]=|[<>]) ?\d[\w.]{{0,20}}?)(?=[\s,;!]|\.?$|\. )")
_FIGURES_OF = ("size", "len", "num", "count", "amount", "shape", "dim", "bytes")
"""What such a figure is of: of two names that have none of these, one may not be meant to be the other."""
_LIMITS = ("memory", "max")  # of what there is, and how much: those have readers of their own
_COUNTS = ("world", "block", "batch", "group", "parallel", "head", "hidden", "vocab")  # sizes that are no bytes


def read(said: Said) -> tuple[Reading, ...]:
    """What was there, and what it had to be."""
    text = said.line
    if (found := _RELEASE.search(text)) is not None:
        return (reading("figures", how="release", subject=thing(found["subject"]), given=found["given"], other=thing(found["other"]), allowed=found["allowed"].replace(" ", "")),)
    for form in _FIGURES:
        found = form.search(text)
        if found is None or not _broken(found.groupdict().get("sign") or "!=", int(found["given"]), int(found["allowed"])):
            continue
        names = [found["subject"].lower(), found["other"].lower()]
        both = " ".join(names)
        if any(word in both for word in _LIMITS) or not all(any(word in name for word in _FIGURES_OF) for name in names):
            continue
        few, many = sorted((int(found["given"]), int(found["allowed"])))
        times = str(many // few) if few and many % few == 0 else ""
        bytes_of = both.count("size") + both.count("bytes") > 1 and not any(word in both for word in _COUNTS)
        return (reading("figures", how="size" if bytes_of else "number", subject=thing(found["subject"]), given=found["given"], other=thing(found["other"]), allowed=found["allowed"], times=times),)
    return ()


def _broken(sign: str, given: int, allowed: int) -> bool:
    """Do the figures bear out what is said of them? A line may only tell a condition."""
    if any(word in sign for word in ("<", "less", "smaller")):
        return given < allowed or (given == allowed and "=" in sign)
    if any(word in sign for word in (">", "larger", "greater")):
        return given > allowed or (given == allowed and "=" in sign)
    return given != allowed if sign.strip() != "==" else given == allowed
