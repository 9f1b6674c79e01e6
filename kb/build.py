"""From the YAML of one layer to its pack."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kb import files, fragments, plain, spelling, yamldoc
from kb import rows as rows_of
from kb.check import check_row
from kb.checks import read_checks
from kb.collect import collect
from kb.compat import read_compat
from kb.facts import read_facts
from kb.frameworks import read_frameworks
from kb.kinds import read_kinds
from kb.layers import HERE, OVERRIDES, Layer
from kb.load import read_entry
from kb.model import Entry, Kind, Signal
from kb.pace import read_pace
from kb.pack import Writer, catalog_columns, codes_row
from kb.places import entries_row, named_row, places_row
from kb.problems import Problem
from kb.reader import Reader
from kb.situation import read_situation
from kb.sought import group
from kb.stored import code_row, entry_row, file_of, signal_row, slug_of


def kinds() -> dict[str, Kind]:
    """The closed list of fault kinds."""
    return read_kinds(HERE / "kinds.yaml")[0]


def read_entries(layer: Layer) -> tuple[list[Entry], list[Problem]]:
    """Every entry of a layer that can be read, and every fault of those that cannot."""
    return read_files((path, layer.name) for path in layer.files("entries"))


def read_files(paths: Iterable[tuple[Path, str]]) -> tuple[list[Entry], list[Problem]]:
    """The same of files, each with the name of the layer that it belongs to."""
    words, faults = read_kinds(HERE / "kinds.yaml")
    shown = _Shown()
    entries, problems = collect(((path, shown(path), layer) for path, layer in paths), lambda name, data, layer: read_entry(name, data, words, layer))
    return entries, faults + problems


class _Shown:
    """The same of the files of folders that may hold thousands: where a folder really is, is asked once."""

    def __init__(self) -> None:
        self._built_in: dict[Path, bool] = {}  # folder -> does it lie in the checkout?

    def __call__(self, path: Path) -> str:
        folder = path.parent
        if folder not in self._built_in:
            self._built_in[folder] = _shown(folder / "x") != str(folder / "x")
        return _shown(path) if self._built_in[folder] or os.path.islink(path) else str(path)


def _shown(path: Path) -> str:
    """How a file is called where its faults are told: what is built in from the checkout on, another as it was named."""
    try:
        return str(Path(os.path.realpath(path)).relative_to(HERE.parent))
    except ValueError:
        return str(path)


def read_rows(path: Path) -> tuple[yamldoc.Document | None, list[Problem]]:
    """A YAML file of plain rows (codes, variables, cards)."""
    try:
        doc = yamldoc.parse(_shown(path), files.read(path))
    except OSError as error:
        return None, [Problem(_shown(path), 0, f"cannot be read: {error.strerror}")]
    return (None, [doc]) if isinstance(doc, Problem) else (doc, [])


def read_overrides(layer: Layer) -> tuple[list[str] | None, list[Problem]]:
    """What a user's layer says it replaces of the built-in knowledge: codes of entries, names of variables and cards."""
    path = layer.single(OVERRIDES)
    if layer.name == "built-in" or not path.is_file():
        return (None if layer.name == "built-in" else []), []
    doc, problems = read_rows(path)
    if doc is None:
        return [], problems
    top = Reader(doc, (), problems, ("overrides",), "the layer")
    return list(top.strings("overrides")), problems


def build(layer: Layer, stamp: str | None = None) -> tuple[bytes, list[Problem]]:
    """The pack of a layer. Faulty files are left out and reported. What is shipped bears no stamp of the machine that built it."""
    entries, problems = read_entries(layer)
    problems += (Problem(_shown(path), 0, f"cannot be read: {why}") for path, why in layer.refused_files().items())
    if len(layer.files("entries")) >= files.MAX_FILES:
        problems.append(Problem(_shown(layer.root), 0, f"more than {files.MAX_FILES} files: the rest is not read", "a folder holds entries, nothing else"))
    overrides, more = read_overrides(layer)
    problems += more
    digest = hashlib.sha256()
    alike: list[str] = []
    for path in layer.all_files():
        try:
            data = files.read(path)
        except OSError:
            continue
        digest.update(f"{path.name}\0".encode("utf-8", "surrogateescape") + data)
        if layer.name == "built-in":  # a small pack needs no letters, and what is refused of a user's file leaves no word in it
            alike.append(data.decode("ascii", "ignore"))
    writer = Writer(alike)
    facts, more = read_facts(layer.single("facts.yaml"), _shown(layer.root / "facts.yaml"), layer.name == "built-in")
    problems += more
    told, more = read_situation(layer.single("situation.yaml"), _shown(layer.root / "situation.yaml"), layer.name == "built-in")
    problems += more
    checks, more = read_checks(((path, _shown(path)) for path in layer.files("checks")), layer.name)
    problems += more
    compat, more = read_compat(layer.single("compat.yaml"), _shown(layer.root / "compat.yaml"))
    problems += more
    frameworks, more = read_frameworks(layer.single("frameworks.yaml"), _shown(layer.root / "frameworks.yaml"))
    problems += more
    pace, more = read_pace(layer.single("pace.yaml"), _shown(layer.root / "pace.yaml"), layer.name == "built-in")
    problems += more
    entries.sort(key=lambda e: e.code)
    assigned = iter(
        fragments.assign_all(
            [*(s for e in entries for s in e.signals), *(s for f in facts for s in f.signals)],
            "\n".join(sample.text for e in entries for sample in e.match),
        )
    )
    places, catalog, signals = _add_entries(writer, entries, assigned)
    _add_sought(writer, {**signals, **{s: writer.add(signal_row(s)) for s in assigned}})  # what is left of them are the facts
    codes, rows, families, more = _codes(layer, writer)
    problems += more
    variables, more = _named_rows(layer.single("envvars.yaml"), "variable", "name", writer)
    problems += more
    cards: dict[str, tuple[int, int]] = {}
    for path in layer.files("cards"):
        found, more = _named_rows(path, "card", "code", writer)
        cards.update(found)
        problems += more
    writer.section("index", {"entries": entries_row(places), "codes": len(rows)})
    writer.section("situation", [(s.id, *signal_row(s)) for one in told for s in one.signals])
    writer.section("checks", writer.add(list(map(check_row, checks))))
    writer.section("compat", compat)
    writer.section("frameworks", frameworks)
    writer.section("pace", [one.form for one in pace])
    writer.section("codes", codes_row(codes))
    writer.section("rows", [rows[0][0] if rows else 0, *(length for _, length in rows)])  # they stand one behind the other
    writer.section("families", families)
    writer.section("env", named_row(variables))
    writer.section("cards", named_row(cards))
    writer.section("kinds", {name: kind.title for name, kind in kinds().items()})
    writer.section("catalog", catalog)
    writer.section("overrides", overrides)
    return writer.finish(digest.hexdigest()[:16], layer.stamp() if stamp is None else stamp, layer.version()), problems


def pack_of(entries: Sequence[Entry]) -> bytes:
    """The pack of entries that are tried before they stand in a layer."""
    writer = Writer()
    assigned = fragments.assign_all([s for e in entries for s in e.signals])
    places, catalog, signals = _add_entries(writer, entries, iter(assigned))
    _add_sought(writer, signals)
    writer.section("index", {"entries": entries_row(places), "codes": 0})
    for name in ("env", "cards"):
        writer.section(name, named_row({}))
    writer.section("codes", codes_row(()))
    writer.section("kinds", {})
    writer.section("rows", [0])
    writer.section("families", [])
    writer.section("situation", [])
    writer.section("checks", writer.add([]))
    writer.section("compat", {})
    writer.section("frameworks", [])
    writer.section("pace", [])
    writer.section("catalog", catalog)
    writer.section("overrides", None)
    return writer.finish("tried", "")


Place = tuple[int, int]
Places = dict[str, tuple[Place, Place]]
"""Of the file of each entry, where it stands and where, behind it, what it is searched by."""


def _add_entries(writer: Writer, entries: Sequence[Entry], assigned: Iterator[Signal]) -> tuple[Places, list[Any], dict[Signal, tuple[int, int]]]:
    """Where the entry of each file, its line in a list and the leaves that are looked for stand in the pack; samples are not needed at run time.

    Of its line the texts are told by their numbers. What it is searched by, and a title without its slots, stand beside the entry, whose words they
    repeat: so they cost little in a compressed file.
    """
    places: Places = {}
    lines: list[Any] = []
    signals: dict[Signal, tuple[int, int]] = {}
    for entry in entries:
        words = _words(entry)
        entry = entry._replace(match=(), no_match=(), signals=tuple(next(assigned) for _ in entry.signals))
        rows = list(map(signal_row, entry.signals))
        at = writer.add(entry_row(entry, rows))
        head = (entry.code, "" if entry.slug == slug_of(f"{file_of(entry)}.yaml") else entry.slug, entry.domain, entry.severity, entry.role, entry.kind, entry.component, entry.status)
        title, cause = writer.pairs((entry.title, entry.cause))
        if entry.status != "deprecated":
            signals.update(zip(entry.signals, writer.parts(at, rows), strict=True))
        if (shown := plain.text(entry.title)) != entry.title:
            writer.add((shown,))
            (title,) = writer.pairs((shown,))
        places[file_of(entry)] = at, writer.add(words)
        lines.append((*head, title, cause))
    return places, catalog_columns(lines), signals


def _add_sought(writer: Writer, signals: Mapping[Signal, tuple[int, int]]) -> None:
    """What is needed of every signal to find it; the signals themselves are decoded one by one, where they stand."""
    found = group(signals)
    writer.section(
        "sought",
        {
            **found._asdict(),
            "signals": places_row([signals[s] for s in found.signals]),
            "rows": {table: [(s.id, *signals[s]) for s in asked] for table, asked in found.rows.items()},
        },
    )


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,40}")
MAX_NAMES = 3  # names of functions, libraries and variables, taken from an entry's samples


def _words(entry: Entry) -> str:
    """What a search should find an entry by, besides its title, its cause and what its leaves look for: variables, names of its samples."""
    parts = [e.name for f in entry.every_fix for e in f.env]
    told = {name for part in (*parts, *(a for s in entry.signals for a in s.anchors[:1])) for name in _IDENTIFIER.findall(part)}
    named = dict.fromkeys(name for sample in entry.match for name in _IDENTIFIER.findall(sample.text))
    parts += [name for name in named if name not in told and not (name.islower() and name.isalpha())][:MAX_NAMES]
    parts += [name for name in named if name not in told and name.startswith("lib")][:MAX_NAMES]
    return " ".join(dict.fromkeys(parts))


def _codes(layer: Layer, writer: Writer) -> tuple[list[list[str]], list[tuple[int, int]], list[dict[str, Any]], list[Problem]]:
    """Every spelling of each row of the tables, where the rows stand, and the families, by whose numbers rows name theirs."""
    spelled: list[list[str]] = []
    places: list[tuple[int, int]] = []
    families: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for path in layer.files("codes"):
        doc, more = read_rows(path)
        problems += more
        if doc is None:
            continue
        rows = doc.value.get("codes") if isinstance(doc.value, dict) else None
        if not isinstance(rows, list):
            problems.append(Problem(doc.path, 0, "a code table needs 'family', 'title' and a list 'codes'"))
            continue
        head = {"family": str(doc.value.get("family", "")), "family_title": doc.value.get("title")}
        if odd := rows_of.fault_of_head(head):
            problems.append(Problem(doc.path, 0, odd))
            continue
        families.append(head)
        for i, row in enumerate(rows):
            if what := rows_of.fault("code", row):
                problems.append(doc.problem(("codes", i), what))
                continue
            spelled.append(list(dict.fromkeys((spelling.key(row["code"]), *_forms(row), *_symbol(row)))))
            places.append(writer.add(code_row(len(families) - 1, row)))
    return spelled, places, families, problems


def _forms(row: dict[str, Any]) -> Iterable[str]:
    forms = row.get("forms") or ()
    for form in (forms,) if isinstance(forms, str) else forms:
        yield from spelling.candidates(form)[:2]


def _symbol(row: dict[str, Any]) -> Iterable[str]:
    """The name of a code where it is a constant, as logs and headers spell it: `HCCL_E_TIMEOUT`."""
    name = row.get("name")
    return (name,) if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", name) else ()


def _named_rows(path: Path, kind: str, name: str, writer: Writer) -> tuple[dict[str, tuple[int, int]], list[Problem]]:
    if not path.is_file():
        return {}, []
    doc, problems = read_rows(path)
    found: dict[str, tuple[int, int]] = {}
    rows = doc.value if doc is not None else None
    if isinstance(rows, dict):
        rows = [rows]
    for i, row in enumerate(rows if isinstance(rows, list) else ()):
        what = rows_of.fault(kind, row)
        if not what:
            found[row[name]] = writer.add(row)
        elif doc is not None:
            problems.append(doc.problem((i,), what))
    return found, problems
