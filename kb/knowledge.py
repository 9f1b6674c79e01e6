"""The knowledge at run time: layers of packs, loaded rather than built, looked up rather than read whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb import columns, spelling
from kb.in_use import built_in_pack, compiled, layer_folders, layer_in_use
from kb.model import Entry, Framework, Signal, Text
from kb.pack import ENTRIES, LEAVES, OTHERS, REFERENCES, ROWS, WORDS, Pack
from kb.problems import KnowledgeError, Problem
from kb.shelves import sums
from kb.sought import Layered, Sought, names_of
from kb.stored import HEAD, Stored, code_of, entry_of, framework_of, signal_of, slug_of
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from kb.check import Check
    from kb.pace_forms import PaceForm
    from kb.pairings import Pairing


class Brief(NamedTuple):
    """An entry's line in a list: enough to show and to search."""

    code: str
    slug: str
    domain: str
    severity: str
    role: str
    kind: str
    component: str
    status: str
    title: Text
    words: str


class Knowledge:
    """All layers as one: a later layer's entry replaces an earlier one's of the same code.

    What is built in is only replaced by a layer that says so (`overrides:` in its layer.yaml).
    """

    def __init__(self, packs: tuple[Pack, ...], problems: tuple[Problem, ...] = (), untrusted: tuple[tuple[Path, str], ...] = ()) -> None:
        self.packs = packs
        self.untrusted = untrusted  # folders that are there and not in use, and what is known of them
        self._entries: dict[str, Entry] = {}
        self._catalog: tuple[Brief, ...] | None = None
        self._sought: Sought | None = None
        self._situation: tuple[Signal, ...] | None = None
        self._frameworks: Mapping[str, Framework] | None = None
        self._published: tuple[Pairing, ...] | None = None
        self._named: dict[str, dict[str, tuple[Pack, int]]] = {}
        self._owner: dict[str, int] = {}
        refused: list[Problem] = []
        for number, pack in enumerate(packs):
            for code in pack.entries:
                if self._owner.get(code) == 0 and not replaces(pack, code):
                    refused.append(_not_replaced(code, pack))
                else:
                    self._owner[code] = number
        self.problems = (*problems, *refused)  # faults of users' entries: reported, skipped

    @property
    def digest(self) -> str:
        return "+".join(p.header.digest for p in self.packs)

    def replaced(self, code: str) -> bool:
        """Does an entry stand in the place of a built-in one?"""
        return self._owner.get(code, 0) > 0 and code in self.packs[0].entries

    def kind_title(self, kind: str) -> Text:
        """What a kind of fault is called."""
        row = next((found for pack in self.packs if (found := pack.section("kinds").get(kind))), None)
        return Text(*row) if row else Text(kind, kind)

    @property
    def codes_of_entries(self) -> tuple[str, ...]:
        return tuple(sorted(self._owner))

    def sought(self) -> Sought:
        """Everything that is looked for: the leaves of every live entry, the facts about jobs and those about the situation."""
        if self._sought is None:
            self._sought = Sought([self._layered(number, pack) for number, pack in enumerate(self.packs)], self.situation())
        return self._sought

    def _layered(self, number: int, pack: Pack) -> Layered:
        stored = pack.section("sought")
        names = names_of(stored["names"])
        leaves = cache(lambda: sums(stored["signals"]))

        def signal(within: int) -> Signal:
            return signal_of(names[within].partition(" ")[0], pack.item(LEAVES, leaves()[within]))

        def row(stored: list[Any]) -> Signal:
            name, leaf = stored
            return signal_of(name, pack.item(LEAVES, leaf))

        replaced = frozenset(code for code in pack.entries if self._owner[code] != number)
        return Layered(stored, signal, row, replaced)

    def signals(self) -> list[Signal]:
        """Every leaf of every live entry, the facts about jobs and those about the situation, one by one."""
        return [*self.sought().leaves(), *self.situation()]

    def situation(self) -> tuple[Signal, ...]:
        """What tells in which situation something failed: chip, versions, frameworks, activity; one tuple, which what is made of it is kept by."""
        if self._situation is None:
            self._situation = tuple(signal_of(row[0], row[1:]) for pack in self.packs for row in pack.section("situation"))
        return self._situation

    def checks(self) -> tuple[Check, ...]:
        """What a machine is checked for, in the order of the codes; what is built in is replaced by a layer that says so."""
        from kb.check import check_from_json

        rows = [(pack, pack.item(OTHERS, pack.section("checks"))) for pack in self.packs]
        built_in = {row[0] for row in rows[0][1]} if rows else set()
        found = {row[0]: row for pack, checks in rows for row in checks if pack is self.packs[0] or row[0] not in built_in or replaces(pack, row[0])}
        return tuple(check_from_json(found[code]) for code in sorted(found))

    def check(self, code: str) -> Check | None:
        return next((check for check in self.checks() if check.code == code), None)

    def compat(self) -> dict[str, tuple[dict[str, Any], ...]]:
        """Which versions go together, as published: rows by section, the built-in ones last."""
        found: dict[str, tuple[dict[str, Any], ...]] = {}
        for pack in reversed(self.packs):
            for name, rows in pack.section("compat").items():
                found[name] = (*found.get(name, ()), *rows)
        return found

    def published(self) -> tuple[Pairing, ...]:
        """Which versions are published to go together, as pairs of software."""
        if self._published is None:
            from kb.pairings import pairings

            self._published = pairings(self.compat())
        return self._published

    def frameworks(self) -> Mapping[str, Framework]:
        """The software that logs may be of, by its name; a user's layer may add some."""
        if self._frameworks is None:
            self._frameworks = {row[0]: framework_of(row) for pack in self.packs for row in pack.section("frameworks")}
        return self._frameworks

    def pace(self) -> tuple[PaceForm, ...]:
        """How logs tell the pace of a run; what a user's layer adds is tried as well."""
        from kb.pace_forms import form_from_json

        return tuple(form_from_json(row) for pack in self.packs for row in pack.section("pace"))

    def entry(self, code: str) -> Entry | None:
        number = self._owner.get(code)
        return None if number is None else self._entry(number, code)

    def _entry(self, number: int, code: str) -> Entry:
        if code not in self._entries:
            self._entries[code] = _entry(self.packs[number], code)
        return self._entries[code]

    def catalog(self) -> tuple[Brief, ...]:
        """Every entry's line, in the order of their codes; put together once, for it is asked for again and again."""
        if self._catalog is None:
            self._catalog = self._briefs()
        return self._catalog

    def mentioning(self, keys: Sequence[str]) -> tuple[Brief, ...]:
        """The lines of the entries among whose words one of the keys stands: of the others nothing is read."""
        briefs = self._catalog if self._catalog is not None else self._briefs(keys)
        return tuple(brief for brief in briefs if any(key in brief.words and key in brief.words.split() for key in keys))

    def _briefs(self, keys: Sequence[str] = ()) -> tuple[Brief, ...]:
        """`keys`: words of which one may stand in what is told, if only such entries are wanted."""
        found = {}
        for number, pack in enumerate(self.packs):
            pair, may_tell, firsts = pack.pairs(), pack.may_tell(keys), pack.first_leaves
            stored = pack.section("catalog")
            titles, causes = sums(stored["titles"]), sums(stored["causes"])
            heads = zip(*(columns.read(stored["head"][name]) for name in HEAD), strict=True)
            for n, (code, head) in enumerate(zip(pack.entries, heads, strict=True)):
                told = stored["odd"].get(code)
                if self._owner[code] != number or (told is None and not may_tell(n, causes[n])):
                    continue
                title, why = (Text(*one) for one in told or (pair(titles[n]), pair(causes[n])))
                leaves = (signal_of("", row) for row in pack.items(LEAVES, firsts[n], firsts[n + 1] - firsts[n]))
                said = " ".join((pack.item(WORDS, n), *(word for leaf in leaves for word in leaf.anchors[:1]), *why))  # what its messages are told by
                found[code] = Brief(code, stored["slugs"].get(code) or slug_of(pack.files[code]), **dict(zip(HEAD, head, strict=True)), title=title, words=said)
        return tuple(found[code] for code in sorted(found))

    def decode(self, written: str) -> tuple[dict[str, Any], ...]:
        """The rows of the code tables that a spelling may mean, the likeliest first."""
        found: list[dict[str, Any]] = []
        for pack in self.packs:
            for row in _codes(pack, [number for key in spelling.candidates(written) for number in pack.codes.get(key, ())]):
                if row not in found:
                    found.append(row)
        return tuple(sorted(found, key=lambda row: spelling.likelihood(written, row["code"], row["family"])))

    def count_codes(self) -> int:
        return sum(int(p.section("index")["codes"]) for p in self.packs)

    def all_codes(self) -> Iterator[dict[str, Any]]:
        for pack in self.packs:
            yield from _codes(pack, range(pack.section("index")["codes"]))

    def _rows(self, section: str) -> dict[str, tuple[Pack, int]]:
        """The rows of a section, by their numbers; put together once, for they are asked for one by one."""
        if section not in self._named:
            rows = self._named[section] = {}
            built_in = self.packs[0].named(section)
            for pack in self.packs:
                for name, at in pack.named(section).items():
                    if name not in built_in or pack is self.packs[0] or replaces(pack, name):
                        rows[name] = (pack, at)
        return self._named[section]

    def variable(self, name: str) -> dict[str, Any] | None:
        found = self._rows("env").get(name)
        return found[0].item(OTHERS, found[1]) if found else None

    def variables(self) -> tuple[str, ...]:
        return tuple(self._rows("env"))

    def card(self, code: str) -> dict[str, Any] | None:
        found = self._rows("cards").get(code)
        return found[0].item(OTHERS, found[1]) if found else None

    def cards(self) -> tuple[str, ...]:
        return tuple(self._rows("cards"))


def replaces(pack: Pack, name: str) -> bool:
    """Does a layer say that it replaces what is built in? One that is not of a folder (None) may."""
    said = pack.section("overrides")
    return said is None or name in said


def _entry(pack: Pack, code: str) -> Entry:
    number, head, firsts = pack.entries[code], pack.section("catalog")["head"], pack.first_leaves
    stored = Stored(
        [columns.value(head[name], number) for name in HEAD],
        pack.item(ENTRIES, number),
        tuple(pack.items(LEAVES, firsts[number], firsts[number + 1] - firsts[number])),
        pack.item(REFERENCES, number),
    )
    return entry_of(code, pack.files[code], stored)


def _not_replaced(code: str, pack: Pack) -> Problem:
    return Problem(
        _entry(pack, code).path, 1, f"the code {code} is built in, and this entry does not replace it", f"take a code of your own, or write 'overrides: [{code}]' into layer.yaml of the folder"
    )


def load(extra: tuple[str, ...] = (), built_in: Pack | None = None) -> Knowledge:
    """The knowledge of every layer. A faulty entry is kept in `problems` and left out; the others are used.

    Shipped knowledge has no faults: they fail the build. A checkout may have some while it is being edited.
    """
    first, problems = built_in_pack() if built_in is None else (built_in, [])
    packs = [first]
    untrusted: list[tuple[Path, str]] = []
    for name, folder in layer_folders(extra):
        layer = layer_in_use(name, folder)
        if isinstance(layer, str):
            untrusted.append((folder, layer))
            continue
        if not folder.exists():
            raise KnowledgeError([Problem(str(folder), 0, "there is no such knowledge folder", "give a folder that holds entries (*.yaml) to --kb")])
        pack, faults = compiled(layer)
        problems += faults
        packs.append(pack)
    return Knowledge(tuple(packs), tuple(problems), tuple(untrusted))


def _codes(pack: Pack, numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Rows of the code tables."""
    families = pack.section("families")
    return (code_of(pack.item(ROWS, number), families) for number in numbers)
