"""What a scan looks for: every signal once, with all leaves that ask for it, and the literals that announce it.

It is put together when knowledge is built. A run reads the literals; of the thousands of signals it decodes those that
are announced, so that a short text does not wait for knowledge that it does not need. Hence the long strings: they are
read at once, and taken apart where something is found.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Generic, TypeVar

from kb.code_forms import BARE
from kb.model import FACT_PREFIX, ROW_FORMS, Signal
from parsers.lazy import lazy
from parsers.named import NamedTuple

# An automaton keeps each length below eight apart, and a handful of one takes a place away from the thousands of eight.
RARE_LENGTH = 7
OTHER_ENCODING = "gb18030"  # in which Chinese words may be written, besides UTF-8

DIGITS_OF_CODE = 6  # a bare code has so many: numbers of all kinds hold those of one


class Whole(bytes):
    """A literal that counts where no letter and no digit stands beside it."""


Key = TypeVar("Key")
Value = TypeVar("Value")
Pairs = tuple[tuple[bytes, int], ...]
"""Anchors, each with the signal that it announces."""


class Made(dict[Key, Value], Generic[Key, Value]):
    """Values that are made when they are first asked for."""

    def __init__(self, make: Callable[[Key], Value]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self._make(key)
        return value


class Grouped(NamedTuple):
    """The signals of one layer. What there is thousands of is joined."""

    signals: list[Signal]
    names: str  # a line for each signal: the leaves that ask for it; an empty one: the leaf that follows the last of the line before; `+2`: the first of the entry two numbers on
    silent: list[int]  # of those no leaf claims the line: what rules an entry out explains nothing
    quiet: list[str]  # the leaves that claim none
    facts: list[int]
    literals: str  # one behind the other, with a NUL between
    whole: int  # so many of the first ones are bare codes to everyone who asks for them, and none inside of a longer number
    pairs: str  # a line for each literal: how far from its own number those of the signals are that it announces, each with the place of its anchor where that goes on
    chinese: list[int]  # literals that are written otherwise in another encoding, or their anchors
    rows: dict[str, list[Signal]]  # asked of the rows of a table, by its name


def group(signals: Iterable[Signal]) -> Grouped:
    """What several entries look for in the same words is looked for once, and told to each of them."""
    alike: dict[tuple[object, ...], list[Signal]] = {}
    rows: dict[str, list[Signal]] = {}
    for s in signals:
        if s.form in ROW_FORMS:
            rows.setdefault(s.table, []).append(s)
        else:
            fact = s.id if s.id.startswith(FACT_PREFIX) else None  # those are treated in a way of their own
            alike.setdefault((s.form, s.pattern, s.lines, s.filters, s.trusted, fact), []).append(s)
    groups = list(alike.values())
    literals: dict[str, list[Any]] = {}
    chinese: set[str] = set()
    for number, (first, *_) in enumerate(groups):
        for place, (anchor, fragment) in enumerate(zip(first.anchors, first.fragments or first.anchors, strict=True)):
            literal = anchor[: anchor.find(fragment) + len(fragment)]
            if len(literal) == RARE_LENGTH:
                literal = literal[1:]
            literals.setdefault(literal, []).append(number if literal == anchor else [number, place])
            if not anchor.isascii():
                chinese.add(literal)
    bare = {literal: _is_bare(literal, [groups[n][0] for n in told if isinstance(n, int)], len(told)) for literal, told in literals.items()}
    literals = {literal: literals[literal] for literal in sorted(literals, key=bare.__getitem__, reverse=True)}
    return Grouped(
        [found[0] for found in groups],
        _shortened([" ".join(s.id for s in found) for found in groups]),
        [n for n, found in enumerate(groups) if not any(s.claims for s in found)],
        [s.id for found in groups for s in found if not s.claims],
        [n for n, found in enumerate(groups) if found[0].id.startswith(FACT_PREFIX)],
        "\0".join(literals),
        sum(bare.values()),
        "\n".join(json.dumps([one - n if isinstance(one, int) else [one[0] - n, one[1]] for one in told]) for n, told in enumerate(literals.values())),
        [n for n, literal in enumerate(literals) if literal in chinese],
        rows,
    )


def _shortened(lines: Sequence[str]) -> str:
    last, short = "", []
    for line in lines:
        short.append("" if line == _next(last) else _steps(last, line) or line)
        last = line
    return "\n".join(short)


@lru_cache(maxsize=4)
def names_of(joined: str) -> Sequence[str]:
    """The lines of `Grouped.names`, each written out."""
    lines = joined.split("\n") if joined else []
    owner, leaf = "", 0  # of the last name of the line before
    for n, line in enumerate(lines):
        if not line:
            leaf += 1
            lines[n] = f"{owner}/{leaf}"
        elif line[0] == "+":
            owner, leaf = f"{owner[:_FAMILY]}{int(owner[_FAMILY:]) + int(line):03}", 0
            lines[n] = f"{owner}/0"
        else:
            owner, _, number = line.rpartition(" ")[2].rpartition("/")
            leaf = int(number) if number.isdecimal() else 0
    return lines


_FAMILY = 3  # letters of a code that name its family; three digits follow


def _next(line: str) -> str:
    """The leaf after the last one of a line: `CMP001/4` after `CMP001/3`."""
    owner, _, number = line.rpartition(" ")[2].rpartition("/")
    return f"{owner}/{int(number) + 1}" if number.isdecimal() else ""


def _steps(last: str, line: str) -> str:
    """`+1` for `CMP002/0` behind a leaf of `CMP001`: the first leaf of an entry some numbers on in the same family."""
    old, new = _CODE.fullmatch(last.rpartition(" ")[2]), _CODE.fullmatch(line)
    if old is None or new is None or old["family"] != new["family"] or new["leaf"] != "0" or old["number"] >= new["number"]:
        return ""
    return f"+{int(new['number']) - int(old['number'])}"


_CODE = lazy(r"(?P<family>[A-Z]{3})(?P<number>\d{3})/(?P<leaf>\d+)")


def _is_bare(literal: str, signals: Sequence[Signal], announced: int) -> bool:
    return literal.isdigit() and len(literal) == DIGITS_OF_CODE and len(signals) == announced and all(s.form == "code" and s.pattern.startswith(BARE) for s in signals)


class Layered(NamedTuple):
    """What one layer adds: a `Grouped` whose signals may have to be decoded yet."""

    grouped: Mapping[str, Any]
    signal: Callable[[int], Signal]
    row: Callable[[Any], Signal]
    replaced: AbstractSet[str] = frozenset()  # entries that stand in another layer, too, and count there


class Sought:
    """The layers as one: the numbers of each follow those of the one before."""

    def __init__(self, layers: Sequence[Layered], situation: tuple[Signal, ...] = ()) -> None:
        self._layers = layers
        self.situation = situation
        self._names = [names_of(layer.grouped["names"]) for layer in layers]
        self._first = [sum(map(len, self._names[:n])) for n in range(len(layers))]
        self.count = sum(map(len, self._names))
        self.names: Mapping[int, tuple[str, ...]] = Made(self._names_of)
        self.signals: Mapping[int, Signal] = Made(self._signal)
        self.rows: Mapping[str, tuple[Signal, ...]] = Made(self._rows)
        self.tables = frozenset(table for layer in layers for table in layer.grouped["rows"])
        self.facts = self._numbered("facts")
        self.silent = self._numbered("silent") | self._fallen_silent()
        self.literals, self._told = _numbered_literals(layers)
        self._lines = [layer.grouped["pairs"].split("\n") for layer in layers]
        self.pairs: Mapping[int, Pairs] = Made(self._pairs)
        self._announcing: dict[int, list[int]] = {}

    def leaves(self) -> Iterator[Signal]:
        """Every leaf of every entry, and the facts."""
        quiet = {name for layer in self._layers for name in layer.grouped["quiet"]}
        for number in range(self.count):
            yield from (self.signals[number]._replace(id=name, claims=name not in quiet) for name in self.names[number])
        for table in sorted(self.tables):
            yield from self.rows[table]

    def announcing(self, signal: int) -> list[int]:
        """The literals that may announce a signal: told without decoding those of all the others."""
        if not self._announcing:
            elsewhere: dict[tuple[int, int], list[int]] = {}
            for number, rows in self._told.items():
                for row in rows:
                    elsewhere.setdefault((row.layer, row.number), []).append(number)
            for layer, lines in enumerate(self._lines):
                stored = json.loads(f"[{','.join(lines)}]")
                for within, announced in enumerate(stored):
                    numbers = {*elsewhere.get((layer, within), ()), *((within,) if not layer else ())}
                    for one in announced:
                        of = (one if isinstance(one, int) else one[0]) + within + self._first[layer]
                        self._announcing.setdefault(of, []).extend(numbers)
        return sorted(set(self._announcing.get(signal, ())))

    def _layer(self, number: int) -> tuple[int, int]:
        """Which layer a signal is of, and its number there."""
        which = bisect_right(self._first, number) - 1
        return which, number - self._first[which]

    def _signal(self, number: int) -> Signal:
        which, within = self._layer(number)
        return self._layers[which].signal(within)

    def _names_of(self, number: int) -> tuple[str, ...]:
        which, within = self._layer(number)
        replaced = self._layers[which].replaced
        return tuple(name for name in self._names[which][within].split() if not replaced or name.partition("/")[0] not in replaced)

    def _rows(self, table: str) -> tuple[Signal, ...]:
        found = ((layer, layer.row(stored)) for layer in self._layers for stored in layer.grouped["rows"].get(table, ()))
        return tuple(s for layer, s in found if s.entry not in layer.replaced)

    def _numbered(self, key: str) -> frozenset[int]:
        return frozenset(n + first for layer, first in zip(self._layers, self._first, strict=True) for n in layer.grouped[key])

    def _fallen_silent(self) -> frozenset[int]:
        """Signals of which those leaves are replaced that would claim a line."""
        found: set[int] = set()
        for layer, first, names in zip(self._layers, self._first, self._names, strict=True):
            if layer.replaced:
                quiet = set(layer.grouped["quiet"])
                found.update(n for n in range(first, first + len(names)) if quiet.issuperset(self.names[n]))
        return frozenset(found)

    def _pairs(self, number: int) -> Pairs:
        return tuple(pair for row in self._told.get(number, (Row(0, number),)) for pair in self._pairs_of(row, self.literals[number]))

    def _pairs_of(self, row: Row, literal: bytes) -> Iterator[tuple[bytes, int]]:
        for stored in json.loads(self._lines[row.layer][row.number]):
            if isinstance(stored, int):
                yield literal, stored + row.number + self._first[row.layer]
                continue
            signal = stored[0] + row.number + self._first[row.layer]
            anchor = self.signals[signal].anchors[stored[1]]
            if row.encoding == "utf-8" or not anchor.isascii():  # what is ASCII is written the same in both
                yield anchor.encode(row.encoding), signal


class Row(NamedTuple):
    """Where it stands what a literal announces."""

    layer: int
    number: int
    encoding: str = "utf-8"


def _numbered_literals(layers: Sequence[Layered]) -> tuple[tuple[bytes, ...], dict[int, tuple[Row, ...]]]:
    """Every literal once, and the rows of those that have others than the one of their number in the first layer."""
    found: list[bytes] = []
    told: dict[int, tuple[Row, ...]] = {}
    numbers: dict[bytes, int] = {}
    whole: set[int] = set()
    for which, layer in enumerate(layers):
        joined = layer.grouped["literals"]
        written = joined.encode().split(b"\0") if joined else []
        others = [(written[n].decode().encode(OTHER_ENCODING), Row(which, n, OTHER_ENCODING)) for n in layer.grouped["chinese"]]
        if not found:
            found, rows = written, others
            numbers = {literal: n for n, literal in enumerate(found)}
            whole.update(range(layer.grouped["whole"]))
        else:
            rows = [(literal, Row(which, n)) for n, literal in enumerate(written)] + others
        for literal, row in rows:
            number = numbers.setdefault(literal, len(found))
            bare = row.number < layer.grouped["whole"]
            if number == len(found):
                found.append(literal)
                told[number] = (row,)
                whole.update((number,) if bare else ())
            else:
                told[number] = (*told.get(number, (Row(0, number),)), row)
                whole.difference_update(() if bare else (number,))
    for number in whole:
        found[number] = Whole(found[number])
    return tuple(found), told


def gathered(signals: Iterable[Signal]) -> Sought:
    """What is sought for signals that stand in no pack."""
    every = tuple(signals)
    found = group(s for s in every if s.form != "situation")
    layer = Layered(found._asdict(), found.signals.__getitem__, lambda signal: signal)
    return Sought((layer,), tuple(s for s in every if s.form == "situation"))
