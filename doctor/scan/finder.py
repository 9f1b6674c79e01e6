"""Finds many literals in bytes. Every engine gives the same answer: (end, number of the literal) by ascending end.

A literal that only counts as a whole word may be found within a longer one as well, or not: what is cheaper.

hyperscan       the fastest, where it has wheels; large inputs alone are worth loading it
ahocorasick_rs  always installable
plain           the standard library: for small inputs the best, for large ones the last resort
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kb.sought import Whole
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.scan.shelf import Shelf

Finds = list[tuple[int, int]]
Finder = Callable[[bytes], Finds]

SMALL = 20 << 10  # below this, a loop over the literals beats loading or building an automaton
PIECE = 4  # bytes of a literal: one that holds such a piece which a small input does not hold need not be looked for
LARGE = 4 << 20  # above this, the fastest engine is worth its loading time

KEEP_AUTOMATA = 16  # in the cache: three for each knowledge and processor

# Two bytes that text never has. With a literal this short the library looks at every byte instead of every second to
# fourth one, for which it would mix too many literals: up to three times as fast.
_PACE = b"\x01\x02"

_NONE: Mapping[int, bytes] = MappingProxyType({})
_NO_FORMS: Mapping[bytes, int] = MappingProxyType({})

ENGINES = ("hyperscan", "ahocorasick_rs", "plain")


# A repeat with a bound is compiled state by state; without one it matches more, which is allowed of what only finds places.
_BOUNDED = re.compile(rb"(?<=[wdsSWD.\])])\{([01]),\d\d+\}")
_DENIALS = (b"(?!", b"(?<!")


class AwaitedError(Exception):
    """Another worker is making this automaton, and soon has it."""


class Use(NamedTuple):
    """For so many bytes, by an engine that was asked for, and where workers put what they have made."""

    size: int
    engine: str | None = None
    shelf: Shelf | None = None


class Form(NamedTuple):
    """Expressions, of which the second is a single byte: what stands behind something that is looked for."""

    what: bytes
    behind: bytes


def plain(literals: Sequence[bytes]) -> Finder:
    """One literal after the other: no set-up at all. In a small input few are worth a look."""

    def find(data: bytes) -> Finds:
        found = []
        for number, literal in enumerate(literals) if len(data) > 2 * SMALL else _likely(literals, data):
            at = data.find(literal)
            while at >= 0:
                found.append((at + len(literal), number))
                at = data.find(literal, at + 1)
        found.sort()
        return found

    return find


def _likely(literals: Sequence[bytes], data: bytes) -> Iterator[tuple[int, bytes]]:
    """Those whose beginning, end and middle stand somewhere in the data."""
    pieces = {data[at : at + PIECE] for at in range(len(data))}
    for number, literal in enumerate(literals):
        if len(literal) < PIECE or (
            literal[:PIECE] in pieces and literal[-PIECE:] in pieces and literal[(middle := (len(literal) - PIECE) // 2) : middle + PIECE] in pieces
        ):
            yield number, literal


def aho_corasick(literals: Sequence[bytes]) -> Finder:
    """Aho-Corasick over all literals at once."""
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    machine = BytesAhoCorasick(list(literals), implementation=Implementation.ContiguousNFA)

    def find(data: bytes) -> Finds:
        found = [(end, number) for number, _, end in machine.find_matches_as_indexes(data, overlapping=True)]
        found.sort()
        return found

    return find


def hyperscan(
    literals: Sequence[bytes], made: bytes | None = None, numbers: Sequence[int] | None = None, patterns: Mapping[int, bytes] = _NONE, forms: Mapping[bytes, int] = _NO_FORMS
) -> tuple[Finder, bytes]:
    """The finder, and the automaton in a form that loads in a millisecond; one that was `made` before is only loaded. `numbers`: what the literals are called.

    `patterns`: of literals that are only wanted in a match, by what they are called. One may be found in more lines than it matches in.
    `forms`: expressions that are looked for besides, and what they are called.
    """
    import hyperscan as hs

    automaton = made or _automaton(literals, numbers or range(len(literals)), patterns, forms)
    database: Any = hs.loadb(automaton, hs.HS_MODE_BLOCK)
    database.scratch = hs.Scratch(database)

    def find(data: bytes) -> Finds:
        found: Finds = []
        add = found.append

        def hit(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            add((end, number))

        database.scan(data, match_event_handler=hit)
        found.sort()
        return found

    return find, automaton


def _automaton(literals: Sequence[bytes], numbers: Sequence[int], patterns: Mapping[int, bytes], forms: Mapping[bytes, int]) -> bytes:
    import hyperscan as hs

    rows = [(rb"\b%b\b" % x if isinstance(x, Whole) else _escaped(x), n, 0) for n, x in zip(numbers, literals, strict=True) if n not in patterns]
    rows += [(form, number, 0) for form, number in forms.items()]
    rows.append((_escaped(_PACE), max((*numbers, *forms.values()), default=0) + 1, hs.HS_FLAG_QUIET))
    for number, literal in zip(numbers, literals, strict=True) if patterns else ():
        if number in patterns:
            rows += [(x, number, hs.HS_FLAG_PREFILTER) for x in _expressions(literal, patterns[number])]
    expressions, ids, flags = map(list, zip(*rows, strict=True))
    database = hs.Database(mode=hs.HS_MODE_BLOCK)
    database.compile(expressions=expressions, ids=ids, elements=len(expressions), flags=flags)
    automaton: bytes = hs.dumpb(database)
    return automaton


def _shared(
    use: Use, wait: bool, literals: Sequence[bytes], numbers: Sequence[int], patterns: Mapping[int, bytes], forms: Mapping[bytes, int] = _NO_FORMS
) -> Finder:
    """The finder, with an automaton that another worker has made, or that is made here and for the others. `wait`: for one who is at it, or else AwaitedError."""
    made = None
    if (shelf := use.shelf) is not None:
        key = shelf.key(_told(literals, numbers, (*(b"%d %s" % row for row in patterns.items()), *forms)))
        while (made := shelf.get(key)) is None and not shelf.mine(key):
            if not wait:
                raise AwaitedError
            time.sleep(0.002)
        if made is None:
            made = _automaton(literals, numbers, patterns, forms)
            shelf.put(key, made)
    return hyperscan(literals, made, numbers, patterns, forms)[0]


def _told(literals: Sequence[bytes], numbers: Sequence[int], others: Iterable[bytes]) -> bytes:
    """All that an automaton depends on."""
    whole = (n for n, literal in enumerate(literals) if isinstance(literal, Whole))
    return b"\0".join((*literals, *(b"%d" % n for n in (*numbers, *whole)), *others))


def _escaped(literal: bytes) -> bytes:
    return ("\\x" + literal.hex(" ").replace(" ", "\\x")).encode()


def _expressions(literal: bytes, pattern: bytes) -> tuple[bytes, ...]:
    """What stands in each line in which a pattern matches, and in those with the literal in which it may match as text but not as bytes."""
    fixed = _escaped(literal)
    if not any(denial in pattern for denial in _DENIALS):
        pattern = _BOUNDED.sub(lambda bound: b"+" if bound[1] == b"1" else b"*", pattern)
    return (pattern, rb"[\x80-\xff][^\n]*" + fixed, fixed + rb"[^\n]*[\x80-\xff]")


def understands(literal: bytes, pattern: bytes, use: Use) -> bool:
    """Can hyperscan look for a pattern? What it does not know it may leave out of one, which then matches more."""
    if rb"\Z" in pattern or not finds_patterns(use):  # the end of all, not of a line
        return False
    try:
        _shared(use, True, (literal,), (0,), {0: pattern})
    except Exception:  # noqa: BLE001 - it says no in ways of its own
        return False
    return True


def best(literals: Sequence[bytes], size: int, digest: str, engine: str | None = None) -> Finder:
    """The engine for an input of this size; a wheel that is missing or does not load gives way to the next."""
    engine = engine or os.environ.get("NPU_DOCTOR_ENGINE") or None
    if engine == "plain" or (engine is None and size <= SMALL):
        return plain(literals)
    if engine == "hyperscan" or (engine is None and size >= LARGE):
        finder = _cached_hyperscan(literals, digest)
        if finder is not None:
            return finder
    try:
        return aho_corasick(literals)
    except ImportError:
        return plain(literals)


def finds_patterns(use: Use) -> bool:
    """Is the engine that is in use for so many bytes one that finds patterns as well?"""
    chosen = use.engine or os.environ.get("NPU_DOCTOR_ENGINE") or None
    loaded = "hyperscan" in sys.modules  # then it runs on this processor
    return loaded and (chosen == "hyperscan" or (chosen is None and use.size >= LARGE))


def without(
    literals: Sequence[bytes], left_out: AbstractSet[int], use: Use, patterns: Mapping[int, bytes], wait: bool = True, digest: str = ""
) -> Finder:
    """The same engine for fewer literals, which keep their numbers; made for one run. Some are only wanted where a pattern matches.

    What leaves out a single literal is kept: large logs of the same kind leave out the same one, as what each operator is called with.
    """
    numbers = [n for n in range(len(literals)) if n not in left_out]
    part = [literals[n] for n in numbers]
    if len(left_out) == 1 and not patterns and finds_patterns(use) and (kept := _cached_hyperscan(part, digest, numbers)) is not None:
        return kept
    part = list(map(bytes, part))  # as parts of words, too: so it compiles in half the time
    chosen = use.engine or os.environ.get("NPU_DOCTOR_ENGINE") or None
    if finds_patterns(use):
        try:
            return _shared(use, wait, part, numbers, patterns)
        except AwaitedError:
            raise
        except Exception:  # noqa: BLE001, S110 - whatever a native engine throws, there is another engine
            pass
    found = best(part, use.size, "", "plain" if chosen == "plain" else "ahocorasick_rs")
    return lambda data: [(end, numbers[n]) for end, n in found(data)]


def with_forms(
    literals: Sequence[bytes], left_out: AbstractSet[int], use: Use, patterns: Mapping[int, bytes], forms: Sequence[Form], digest: str
) -> Finder:
    """The same, and where something of one of these forms stands, in no order: the end of the byte behind it. The first is called one more than the last literal."""
    if finds_patterns(use):
        numbers = [n for n in range(len(literals)) if n not in left_out]
        part, wanted = [bytes(literals[n]) for n in numbers], {form.what + form.behind: n for n, form in enumerate(forms, len(literals))}
        try:
            kept = None if patterns else _cached_hyperscan(part, digest, numbers, wanted)
            return kept or _shared(use, False, part, numbers, patterns, wanted)
        except AwaitedError:
            raise
        except Exception:  # noqa: BLE001, S110 - whatever a native engine throws, there is another engine
            pass
    found = without(literals, left_out, use, patterns)
    others = [(n, re.compile(form.what + b"(?=" + form.behind + b")")) for n, form in enumerate(forms, len(literals))]
    return lambda data: [*found(data), *((match.end() + 1, n) for n, other in others for match in other.finditer(data))]


def _cached_hyperscan(
    literals: Sequence[bytes], digest: str, numbers: Sequence[int] | None = None, forms: Mapping[bytes, int] = _NO_FORMS
) -> Finder | None:
    """Hyperscan with its automaton from the cache; the key holds everything that an automaton depends on."""
    from importlib import util

    if util.find_spec("hyperscan") is None:
        return None
    import zlib

    from kb.in_use import cache_folder
    from kb.pack import keep_newest, write_atomically

    crc = zlib.crc32(_told(literals, numbers or (), forms))
    place = None
    if (folder := cache_folder()) is not None:
        place = folder / f"automaton-2-{digest[:16]}-{crc:08x}-{os.uname().machine}-{_cpu()}.hs"
    if (folder is None and numbers is not None) or (folder is not None and not _survives(folder)):
        return None  # without a place to keep it, workers make a part for each other
    try:
        import hyperscan as hs

        version = str(getattr(hs, "__version__", ""))
        cached = None
        if place is not None and place.is_file():
            head, _, body = place.read_bytes().partition(b"\n")
            cached = body if head.decode("ascii", "replace") == f"{version} {zlib.crc32(body)}" else None
        finder, automaton = hyperscan(literals, cached, numbers, forms=forms)
        if cached is None and place is not None:
            write_atomically(place, f"{version} {zlib.crc32(automaton)}\n".encode() + automaton)
            keep_newest(place.parent, "automaton-*.hs", KEEP_AUTOMATA)
        return finder
    except Exception:  # noqa: BLE001 - whatever a native engine throws, there is another engine
        return None


_PROBE = "import sys; sys.path[:0] = sys.argv[1:]; import hyperscan as h; d = h.Database(); d.compile(expressions=[b'abc'], ids=[0], elements=1, flags=0); d.scan(b'xabc')"


def _survives(folder: Path) -> bool:
    """Does the library run on this processor? Some wheels die of an illegal instruction: a child tries once, the verdict is kept."""
    import subprocess
    from importlib import util

    from kb.pack import write_atomically

    spec = util.find_spec("hyperscan")
    place = spec.origin if spec is not None else None
    folders = [str(Path(place).parent.parent)] if place else []  # the child has not the paths of a file that unpacked itself
    try:
        installed = os.stat(place).st_mtime_ns if place else 0  # metadata would tell the version, for 40 ms
    except OSError:
        installed = 0
    verdict = folder / f"hyperscan-{installed:x}-{sys.implementation.cache_tag}-{_cpu()}"
    try:
        return verdict.read_bytes() == b"runs\n"
    except OSError:
        pass
    try:
        done = subprocess.run([sys.executable, "-c", _PROBE, *folders], capture_output=True, timeout=30, check=False)  # noqa: S603 - our own text
        runs = done.returncode == 0
    except (OSError, subprocess.SubprocessError):
        return True  # no child could be made: the library is not to blame
    write_atomically(verdict, b"runs\n" if runs else b"dies\n")
    return runs


def _cpu() -> str:
    """A short mark of the processor's abilities: an automaton made for another one must not be loaded."""
    import zlib

    try:
        with open("/proc/cpuinfo", "rb") as file:
            rows = [
                r
                for r in file.read(20_000).split(b"\n")
                if r.startswith((b"flags", b"Features", b"model name", b"CPU part"))
            ]
        return f"{zlib.crc32(b''.join(rows[:2])):08x}"
    except OSError:
        return "unknown"
