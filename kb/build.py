"""From the YAML of one layer to its pack."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kb import columns, files, fragments, plain, spelling, yamldoc
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
from kb.pack import ENTRIES, LEAVES, OTHERS, REFERENCES, ROWS, WORDS, Writer, codes_row
from kb.problems import Problem
from kb.reader import Reader
from kb.shelves import differences
from kb.situation import read_situation
from kb.sought import group
from kb.stored import HEAD, code_row, file_of, signal_row, slug_of, stored_entry


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
    index, catalog, leaves = _add_entries(writer, entries, assigned)
    _add_sought(writer, {**leaves, **{s: writer.add(LEAVES, signal_row(s)) for s in assigned}})  # what is left of them are the facts
    codes, families, more = _codes(layer, writer)
    problems += more
    variables, more = _named_rows([layer.single("envvars.yaml")], "variable", "name", writer)
    problems += more
    cards, more = _named_rows(layer.files("cards"), "card", "code", writer)
    problems += more
    writer.section("index", {**index, "codes": len(codes)})
    writer.section("situation", [(s.id, *signal_row(s)) for one in told for s in one.signals])
    writer.section("checks", writer.add(OTHERS, list(map(check_row, checks))))
    writer.section("compat", compat)
    writer.section("frameworks", frameworks)
    writer.section("pace", [one.form for one in pace])
    writer.section("codes", codes_row(codes))
    writer.section("families", families)
    writer.section("env", variables)
    writer.section("cards", cards)
    writer.section("kinds", {name: kind.title for name, kind in kinds().items()})
    writer.section("catalog", catalog)
    writer.section("overrides", overrides)
    return writer.finish(digest.hexdigest()[:16], layer.stamp() if stamp is None else stamp, layer.version()), problems


def pack_of(entries: Sequence[Entry]) -> bytes:
    """The pack of entries that are tried before they stand in a layer."""
    writer = Writer()
    assigned = fragments.assign_all([s for e in entries for s in e.signals])
    index, catalog, leaves = _add_entries(writer, entries, iter(assigned))
    _add_sought(writer, leaves)
    writer.section("index", {**index, "codes": 0})
    for name in ("env", "cards"):
        writer.section(name, (0, ""))
    writer.section("codes", codes_row(()))
    writer.section("kinds", {})
    writer.section("families", [])
    writer.section("situation", [])
    writer.section("checks", writer.add(OTHERS, []))
    writer.section("compat", {})
    writer.section("frameworks", [])
    writer.section("pace", [])
    writer.section("catalog", catalog)
    writer.section("overrides", None)
    return writer.finish("tried", "")


def _add_entries(writer: Writer, entries: Sequence[Entry], assigned: Iterator[Signal]) -> tuple[dict[str, Any], dict[str, Any], dict[Signal, int]]:
    """How their files are called and how many leaves each has; their lines in a list; and the numbers of the leaves that are looked for.

    Samples are not needed at run time. A line tells texts by their numbers, and the few that are no text in two languages as they are.
    """
    numbers: list[int] = []
    titles: list[int] = []
    causes: list[int] = []
    odd: dict[str, Any] = {}
    leaves: dict[Signal, int] = {}
    for entry in entries:
        words = _words(entry)
        entry = entry._replace(match=(), no_match=(), signals=tuple(next(assigned) for _ in entry.signals))
        shown = plain.text(entry.title)
        stored = stored_entry(entry, shown if shown != entry.title else None)
        writer.add(ENTRIES, stored.row)
        listed = list(writer.pairs((entry.title, entry.cause) if shown == entry.title else (entry.cause, shown)))
        if shown != entry.title:
            listed.reverse()
        if all(isinstance(one, int) for one in listed):
            title, cause = listed
        else:
            title, cause, odd[entry.code] = 0, 0, [shown, entry.cause]
        titles.append(title)
        causes.append(cause)
        writer.add(REFERENCES, stored.references)
        writer.add(WORDS, words)
        places = [writer.add(LEAVES, leaf) for leaf in stored.leaves]
        numbers.append(numbers[-1] + len(places) if numbers else len(places))
        if entry.status != "deprecated":
            leaves.update(zip(entry.signals, places, strict=True))
    index = {"entries": "\n".join(map(file_of, entries)), "leaves": differences((0, *numbers))}
    slugs = {entry.code: entry.slug for entry in entries if entry.slug != slug_of(f"{file_of(entry)}.yaml")}
    head = {name: columns.column([getattr(entry, name) for entry in entries]) for name in HEAD}
    return index, {"head": head, "titles": differences(titles), "causes": differences(causes), "odd": odd, "slugs": slugs}, leaves


def _add_sought(writer: Writer, leaves: Mapping[Signal, int]) -> None:
    """What is needed of every signal to find it; the signals themselves are decoded one by one, where they stand."""
    found = group(leaves)
    writer.section(
        "sought",
        {
            **found._asdict(),
            "signals": differences(leaves[s] for s in found.signals),
            "rows": {table: [(s.id, leaves[s]) for s in asked] for table, asked in found.rows.items()},
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


def _codes(layer: Layer, writer: Writer) -> tuple[list[list[str]], list[dict[str, Any]], list[Problem]]:
    """Every spelling of each row of the tables, and the families, by whose numbers rows name theirs."""
    spelled: list[list[str]] = []
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
            writer.add(ROWS, code_row(len(families) - 1, row))
    return spelled, families, problems


def _forms(row: dict[str, Any]) -> Iterable[str]:
    forms = row.get("forms") or ()
    for form in (forms,) if isinstance(forms, str) else forms:
        yield from spelling.candidates(form)[:2]


def _symbol(row: dict[str, Any]) -> Iterable[str]:
    """The name of a code where it is a constant, as logs and headers spell it: `HCCL_E_TIMEOUT`."""
    name = row.get("name")
    return (name,) if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", name) else ()


def _named_rows(paths: Iterable[Path], kind: str, name: str, writer: Writer) -> tuple[tuple[int, str], list[Problem]]:
    """The number of the first of the rows, and the names of all; of two with one name the later one counts."""
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for path in paths:
        doc, more = read_rows(path) if path.is_file() else (None, [])
        problems += more
        if doc is None:
            continue
        rows = [doc.value] if isinstance(doc.value, dict) else doc.value
        for i, row in enumerate(rows if isinstance(rows, list) else ()):
            if what := rows_of.fault(kind, row):
                problems.append(doc.problem((i,), what))
            else:
                found[row[name]] = row
    numbers = [writer.add(OTHERS, row) for row in found.values()]
    return (numbers[0] if numbers else 0, "\n".join(found)), problems
