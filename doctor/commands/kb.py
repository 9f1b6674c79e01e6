"""`npu-doctor kb`: the knowledge itself: list, search, show, check."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.commands import common
from doctor.render import layout
from kb.knowledge import Knowledge
from kb.model import Entry


def main(argv: list[str]) -> int:
    made = common.parser("kb", "The knowledge: list, search, show and check entries.")
    what = made.add_subparsers(dest="what", metavar="list|search|show|check", required=True, parser_class=common.Parser)
    one = what.add_parser("list", help="all entries, a line each")
    one.add_argument("--domain")
    one.add_argument("--severity")
    one = what.add_parser("search", help="entries, codes, variables and cards that fit some words")
    one.add_argument("words", nargs="+")
    one = what.add_parser("show", help="one entry, whole")
    one.add_argument("code")
    one = what.add_parser("check", help="check entry files or folders: schema, advice, samples")
    one.add_argument("files", nargs="*", metavar="FILE")
    for child in what.choices.values():
        child.add_argument("-f", "--format", choices=("text", "json"), default="text")
        child.add_argument("--lang", choices=("en", "zh"), default=argparse.SUPPRESS)
        child.add_argument("--kb", action="append", metavar="DIR", default=argparse.SUPPRESS)
    args = made.parse_args(argv)
    return {"list": _list, "search": _search, "show": _show, "check": _check}[args.what](args)


def _list(args: argparse.Namespace) -> int:
    known = common.knowledge(args)
    lang = common.language(args)
    rows = [b for b in known.catalog() if args.domain in (None, b.domain) and args.severity in (None, b.severity)]
    if args.format == "json":
        sys.stdout.write(
            json.dumps([{**b._asdict(), "title": b.title.json()} for b in rows], ensure_ascii=False, indent=1) + "\n"
        )
        return exits.CLEAN
    for brief in rows:
        sys.stdout.write(f"{brief.code}  {brief.severity:8}{brief.role:10}{brief.domain:12}{brief.title.pick(lang)}\n")
    sys.stderr.write(
        f"{len(rows)} entries, {known.count_codes()} codes, {len(known.variables())} variables, {len(known.cards())} cards\n"
    )
    return exits.CLEAN


def _search(args: argparse.Namespace) -> int:
    from doctor.lookup.search import search

    known = common.knowledge(args)
    lang = common.language(args)
    found = search(known, " ".join(args.words))
    if args.format == "json":
        sys.stdout.write(
            json.dumps([{**r._asdict(), "title": r.title.json()} for r in found], ensure_ascii=False, indent=1) + "\n"
        )
    width = max((len(row.id) for row in found), default=0) + 2
    for row in found if args.format == "text" else ():
        sys.stdout.write(f"{row.kind:10}{row.id:{width}}{row.title.pick(lang)}\n")
    if not found:
        sys.stderr.write(
            "npu-doctor: nothing fits; fewer or other words may (codes, English or Chinese words, parts of a message)\n"
        )
    return exits.CLEAN if found else exits.FINDINGS


def _show(args: argparse.Namespace) -> int:
    from doctor.commands import explain

    known = common.knowledge(args)
    entry = known.entry(args.code.upper())
    if entry is None:
        raise UsageError(f"there is no entry '{args.code}'", "npu-doctor kb search WORDS finds entries")
    if args.format == "json":
        sys.stdout.write(json.dumps(explain.entry_json(entry), ensure_ascii=False, indent=1) + "\n")
        return exits.CLEAN
    sys.stdout.write(explain.entry_text(entry, known, common.language(args), layout.style_of(sys.stdout)))
    return exits.CLEAN


def _check(args: argparse.Namespace) -> int:
    """Schema, lint and proof of files; without files, of all built-in knowledge."""
    from kb import build, fragments, lint
    from kb.layers import HERE, Layer
    from kb.load import read_entry

    words = build.kinds()
    known = common.knowledge(args)
    layers = [Layer("built-in", HERE)]
    files = _files(args.files) if args.files else layers[0].files("entries")
    entries: list[Entry] = []
    faults: list[str] = []
    for path in files:
        inside = HERE in path.resolve().parents
        got = read_entry(build._shown(path), path.read_bytes(), words, "built-in" if inside else str(path.parent))
        if isinstance(got, list):
            faults += [str(p) for p in got]
        else:
            entries.append(got)
    assigned = iter(fragments.assign_all([s for e in entries for s in e.signals]))
    entries = [e._replace(signals=tuple(next(assigned) for _ in e.signals)) for e in entries]
    known, bench = _with(known, entries)
    variables = {name: row for name in known.variables() if (row := known.variable(name)) is not None}
    context = lint.Context(variables, frozenset(known.codes_of_entries))
    bad = 0
    for entry in entries:
        problems = lint.check(entry, context) + bench.problems(entry)
        bad += bool(problems)
        if problems:
            faults.append(f"{entry.path}\n" + "\n".join(f"  {p}" for p in problems))
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(files)} files, {len(files) - len(entries)} unreadable, {bad} with problems\n")
    return exits.INTERNAL if faults else exits.CLEAN


def _files(given: list[str]) -> list[Path]:
    found: list[Path] = []
    for name in given:
        path = Path(name)
        if path.is_dir():
            found += sorted(path.rglob("*.yaml"))
        elif path.is_file():
            found.append(path)
        else:
            raise UsageError(
                f"there is no file or folder '{name}'",
                "npu-doctor kb check kb/entries/hccl/hcl001_notify-wait-timeout.yaml",
            )
    return found


def _with(known: Knowledge, entries: list[Entry]):  # type: ignore[no-untyped-def]
    """The knowledge with the files being checked on top, so that a new entry is tried among the others."""
    from doctor.judge.proof import Bench
    from kb.pack import Pack, Writer

    writer = Writer()
    places = {e.code: writer.add(e._replace(match=(), no_match=())._asdict()) for e in entries}
    writer.section("index", {"signals": [s for e in entries for s in e.signals], "entries": places, "codes": 0})
    for name in ("codes", "env", "cards", "kinds"):
        writer.section(name, {})
    writer.section("catalog", [])
    writer.section("facts", [])
    both = Knowledge((*known.packs, Pack(writer.finish("checked", ""))))
    return both, Bench(both)
