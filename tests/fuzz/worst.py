"""Worst-case strings for a pattern: what each of its repeats accepts, as often as it fits, and then something that breaks the match."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from kb.sre import REPEATS, c, parser

BREAKERS = ("\x00",)
LIMIT_S = 2.0
ROOMS = ("parsers", "doctor", "kb")
HERE = Path(__file__).resolve().parents[2]


class Slow(NamedTuple):
    seconds: float
    where: str
    text: str


def strings(pattern: str, size: int, flags: int = 0) -> Iterator[str]:
    """Strings of about `size` characters that make a pattern work hard."""
    tree = list(parser.parse(pattern, flags))
    head = ""
    pieces: list[tuple[str, str]] = []
    for item in tree:
        pieces += [(head, piece) for piece in _repeated(item)]
        head += _sample(item)
    whole = head
    for before, piece in dict.fromkeys((*pieces, ("", whole), ("", whole[:-1]), *((b, b + p) for b, p in pieces if b))):
        if piece:
            filled = (piece * (size // len(piece) + 1))[: max(1, size - len(before))]
            yield from (before + filled + breaker for breaker in BREAKERS)


def _repeated(item: Any) -> Iterator[str]:
    """What the repeats inside an item accept once, the outer ones first, twice over for those in each other."""
    op, argument = item
    if op in REPEATS:
        low, high, body = argument
        if high > 8:
            piece = "".join(map(_sample, body))
            yield piece
            yield from (other for other in _variants(body) if other != piece)
        for inner in body:
            yield from _repeated(inner)
        del low
    elif op is c.SUBPATTERN:
        before = ""
        for inner in argument[3]:
            yield from (before + piece for piece in _repeated(inner))
            before += _sample(inner)
    elif op is c.BRANCH:
        for option in argument[1]:
            for inner in option:
                yield from _repeated(inner)


def _variants(body: Any) -> Iterator[str]:
    """Blanks, digits and letters that a repeat over a class takes as well: what stands beside it may take them, too."""
    if len(body) == 1 and body[0][0] in (c.IN, c.ANY, c.NOT_LITERAL):
        for char in " a0.:/[(x_-,=":
            if _accepts(body[0], char):
                yield char


def _accepts(item: Any, char: str) -> bool:
    op, argument = item
    if op is c.ANY:
        return char != "\n"
    if op is c.NOT_LITERAL:
        return char != chr(argument)
    if op is c.LITERAL:
        return char == chr(argument)
    negated = any(o is c.NEGATE for o, _ in argument)
    hit = False
    for kind, value in argument:
        if kind is c.LITERAL:
            hit = hit or char == chr(value)
        elif kind is c.RANGE:
            hit = hit or value[0] <= ord(char) <= value[1]
        elif kind is c.CATEGORY:
            hit = hit or _in_category(str(value), char)
    return hit != negated


def _in_category(name: str, char: str) -> bool:
    inside = char.isdigit() if "DIGIT" in name else char.isspace() if "SPACE" in name else char.isalnum() or char == "_"
    return inside != ("NOT" in name)


def _sample(item: Any) -> str:
    """A short string that an item accepts."""
    op, argument = item
    if op is c.LITERAL:
        return chr(argument)
    if op in (c.IN, c.ANY, c.NOT_LITERAL):
        return next((c for c in "a0 .:/[]()x_-,=A|\"'" if _accepts(item, c)), "")
    if op in REPEATS:
        return "".join(map(_sample, argument[2])) * min(max(1, argument[0]), 40)
    if op is c.SUBPATTERN:
        return "".join(map(_sample, argument[3]))
    if op is c.BRANCH:
        return "".join(map(_sample, argument[1][0]))
    if op is getattr(c, "ATOMIC_GROUP", None):
        return "".join(map(_sample, argument))
    return ""


def measure(pattern: re.Pattern[str], where: str, size: int) -> Slow:
    """The slowest of a pattern's worst strings, used as the program uses it; what takes longer than LIMIT_S is stopped there."""
    worst = Slow(0.0, where, "")
    method = "match" if pattern.pattern[:1] in ("^", b"^") or only_matched(where) else "search"
    for text in strings(pattern.pattern, size, pattern.flags & ~re.UNICODE):
        taken = _timed(getattr(pattern, method), text)
        if taken > worst.seconds:
            worst = Slow(taken, where, text)
    return worst


class _StoppedError(Exception):
    pass


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _StoppedError


def _timed(call: Any, text: str) -> float:
    old = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    begin = time.process_time()
    try:
        call(text)
    except _StoppedError:
        return LIMIT_S
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    return time.process_time() - begin


def only_matched(where: str) -> bool:
    """Whether a pattern of the code is only ever asked for at a place: searched for, it would be tried at each."""
    module, _, rest = where.partition("[")[0].rpartition(".")
    found = importlib.util.find_spec(module) if module.startswith(ROOMS) else None
    if found is None or found.origin is None:
        return False
    # A name of its own is used in its module, any other one wherever it is called so.
    places = [Path(found.origin)] if rest.startswith("_") else _sources()
    used = {way for place in places for way in re.findall(rf"\b{rest}\.(\w+)\(", place.read_text(encoding="utf-8"))}
    return bool(used) and used <= {"match", "fullmatch"}


@lru_cache(maxsize=1)
def _sources() -> list[Path]:
    return [path for room in ROOMS for path in (HERE / room).rglob("*.py")]


def of_code() -> dict[str, re.Pattern[str]]:
    """Every pattern that a module of the program holds, by its name."""
    found: dict[str, re.Pattern[str]] = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        for info in pkgutil.walk_packages(package.__path__, f"{room}."):
            if ".tui" in info.name or (".repro." in info.name and room == "kb") or info.name.endswith(("__main__", "sitecustomize")):
                continue
            try:
                module = importlib.import_module(info.name)
            except ModuleNotFoundError as error:  # of an extra that is not installed
                if (error.name or "").partition(".")[0] in ("doctor", "kb", "parsers"):
                    raise
                continue
            for name, value in vars(module).items():
                for number, one in enumerate(value if isinstance(value, (tuple, list)) else (value,)):
                    for part in one if isinstance(one, tuple) else (one,):
                        if isinstance(part, re.Pattern) and isinstance(part.pattern, str):
                            found.setdefault(f"{info.name}.{name}[{number}]", part)
                        elif type(part).__name__ == "_Lazy" and isinstance(part.pattern, str):
                            found.setdefault(f"{info.name}.{name}[{number}]", re.compile(part.pattern, part.flags))
    by_text = {(p.pattern, p.flags): n for n, p in reversed(found.items())}
    return {n: found[n] for n in sorted(by_text.values())}
