"""The leaf `raised`: what an entry asks of an exception and of the frames that it passed."""

from __future__ import annotations

import re
from typing import get_args

from kb import anchors
from kb.reader import Reader
from parsers.raised import ORIGINS, PATTERNS, WORDS
from parsers.traceback import How

KEYS = (*WORDS, *PATTERNS)
TELLING = ("type", "in", "through", "message", "code", "last", "calls")
"""One of these at least: the others alone would take every failure."""
CLOSED: dict[str, tuple[str, ...]] = {"from": ORIGINS, "how": get_args(How)}
_NAME = re.compile(r"[A-Za-z_][\w.]{0,80}")

Asked = tuple[tuple[str, str], ...]


def read(leaf: Reader, trusted: bool) -> Asked:
    """What is asked, in the order written; several words of one key are joined by `|`."""
    reader = leaf.sub(("raised",), KEYS, "'raised'")
    for key in ("in", "lines"):
        if key in leaf.map:
            leaf.fault((key,), f"'{key}' does not go with 'raised'", "an exception is read with its frames, wherever it was logged")
    asked: list[tuple[str, str]] = []
    for key in reader.map:
        if key in PATTERNS:
            asked.append((key, _pattern(reader, key, trusted)))
        elif key in WORDS:
            asked.append((key, "|".join(_words(reader, key))))
    if set(reader.map) <= set(KEYS) - set(TELLING) and isinstance(leaf.map["raised"], dict):
        reader.fault((), "'raised' asks for nothing that tells failures apart", f"name at least one of {', '.join(TELLING)}")
    return tuple(asked)


def groups(asked: Asked) -> frozenset[str]:
    """What a leaf captures whenever it matches."""
    named = {name for key, value in asked if key in PATTERNS for name in re.compile(value).groupindex}
    keys = {key for key, _ in asked if key != "from"}
    framed = {"file", "function", "through"} if keys & {"in", "calls", "code", "caller"} else set()
    owned = {"in"} if ("from", "library") in asked else set()
    return frozenset({"type", "what", *named, *keys, *framed, *owned})


def _words(reader: Reader, key: str) -> tuple[str, ...]:
    words = reader.strings(key)
    for word in words:
        if key in CLOSED:
            if word not in CLOSED[key]:
                reader.fault((key,), f"'{word}' is no value of '{key}'", f"choices here: {', '.join(CLOSED[key])}")
        elif _NAME.fullmatch(word) is None:
            reader.fault((key,), f"'{word}' is no name of {'an exception' if key == 'type' else 'a package'}",
                         "as Python spells it: ImportError, vllm_ascend; what it says is asked by 'message'")  # fmt: skip
    if not words:
        reader.fault((key,), f"'{key}' names nothing")
    return words


def _pattern(reader: Reader, key: str, trusted: bool) -> str:
    pattern = reader.string(key)
    try:
        anchors.usable(pattern, trusted)
    except anchors.PatternError as error:
        reader.fault((key,), f"bad regex: {error}", "try it with python -c 'import re; re.compile(...)'")
        return ""
    return pattern
