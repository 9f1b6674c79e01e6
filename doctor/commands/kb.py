"""`npu-doctor kb`: the knowledge itself: list, search, show, check."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.render import describe, layout
from doctor.render.terminal import explained
from kb.knowledge import Knowledge, load
from kb.model import Entry
from kb.problems import Problem


def arguments() -> common.Parser:
    made = common.parser("kb", "The knowledge: list, search, show and check entries; draft, import and pass on some; trust a folder.")
    names = "list|search|show|check|new|import|pack|add|remove|site|trust"
    what = made.add_subparsers(dest="what", metavar=names, required=True, parser_class=common.Parser)
    one = what.add_parser("list", help="all entries, a line each")
    one.add_argument("--domain")
    one.add_argument("--severity")
    one = what.add_parser("search", help="entries, codes, variables and cards that fit some words")
    one.add_argument("words", nargs="+")
    one = what.add_parser("show", help="one entry, whole")
    one.add_argument("code")
    one = what.add_parser("check", help="check entry files or folders: schema, advice, samples")
    one.add_argument("files", nargs="*", metavar="FILE")
    one = what.add_parser("new", help="draft an entry from a line of a log")
    one.add_argument("place", metavar="LOG:LINE")
    one.add_argument("-o", "--output", metavar="DIR", default=".", help="the folder of the draft (default: here)")
    one = what.add_parser("import", help="make entries of another tool's: custom fault entities and masking rules of ascend-fd")
    one.add_argument("source", choices=("ascend-fd",))
    one.add_argument("file", metavar="FILE.json")
    one.add_argument("-o", "--output", metavar="DIR", default=".", help="the folder of the entries (default: here)")
    one = what.add_parser("pack", help="a folder of entries as one file with a manifest of hashes")
    one.add_argument("folder", metavar="DIR")
    one.add_argument("-o", "--output", metavar="FILE", help="default: DIR.kbz; of the built-in knowledge: knowledge-VERSION.pack")
    one = what.add_parser("add", help="add a packed file to your own knowledge, or a newer edition of the built-in one; refused whole when it is not what was packed")
    one.add_argument("file", metavar="FILE")
    one.add_argument("--to", metavar="DIR", help="another folder of knowledge (default: your own)")
    one = what.add_parser("remove", help="take back what was added: the entries of a packed file, or an edition of the built-in knowledge")
    one.add_argument("what_was_added", metavar="FILE|VERSION")
    one.add_argument("--to", metavar="DIR", help="another folder of knowledge (default: your own)")
    one = what.add_parser("site", help="all knowledge as static pages in both languages, with a search that needs no server")
    one.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the pages")
    one = what.add_parser("trust", help="use the knowledge of a working directory (.npu-doctor/kb) from now on, as long as it stays as it is")
    one.add_argument("folder", metavar="DIR")
    one.add_argument("--forget", action="store_true", help="trust it no longer")
    for child in what.choices.values():
        child.add_argument("-f", "--format", choices=("text", "json"), default="text")
        child.add_argument("--lang", choices=("en", "zh"), default=argparse.SUPPRESS)
        child.add_argument("--kb", action="append", metavar="DIR", default=argparse.SUPPRESS)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.what in ("new", "import"):
        from doctor.commands import kb_write

        return {"new": kb_write.new, "import": kb_write.imported}[args.what](args)
    if args.what == "site":
        from doctor.commands import kb_site

        return kb_site.write(args)
    if args.what in ("pack", "add", "remove"):
        from doctor.commands import kb_pass

        return {"pack": kb_pass.pack, "add": kb_pass.add, "remove": kb_pass.remove}[args.what](args)
    return {"list": _list, "search": _search, "show": _show, "check": _check, "trust": _trust}[args.what](args)


def _list(args: argparse.Namespace) -> int:
    known = common.knowledge(args)
    lang = common.language(args)
    rows = [b for b in known.catalog() if args.domain in (None, b.domain) and args.severity in (None, b.severity)]
    if args.format == "json":
        _write_json([{**b._asdict(), "title": b.title.json()} for b in rows])
        return exits.CLEAN
    common.write("".join(f"{b.code}  {b.severity:8}{b.role:10}{b.domain:12}{_one_row(b.title.pick(lang))}\n" for b in rows), None)
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
        _write_json([{**r._asdict(), "title": r.title.json()} for r in found])
    width = max((len(row.id) for row in found), default=0) + 2
    if args.format == "text":
        common.write("".join(f"{r.kind:10}{_one_row(r.id):{width}}{_one_row(r.title.pick(lang))}\n" for r in found), None)
    if not found:
        sys.stderr.write(
            "npu-doctor: nothing fits; fewer or other words may (codes, English or Chinese words, parts of a message)\n"
        )
    return exits.CLEAN if found else exits.FINDINGS


def _one_row(told: str) -> str:
    """A text of anybody's knowledge, which may have more lines than one."""
    return clean(" ".join(told.split("\n")))


def _write_json(value: object) -> None:
    common.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n", None, form="json")


def _show(args: argparse.Namespace) -> int:
    from doctor.explanation import entry_json

    known = common.knowledge(args)
    entry = known.entry(args.code.upper())
    if entry is None:
        raise UsageError(f"there is no entry '{args.code}'", "npu-doctor kb search WORDS finds entries")
    if args.format == "json":
        _write_json(entry_json(entry))
        return exits.CLEAN
    language = common.language(args)
    common.write(explained(describe.entry(entry, known, language), language, layout.style_of(sys.stdout)), None)
    return exits.CLEAN


def _check(args: argparse.Namespace) -> int:
    """Schema, lint and proof of files; without files, of all built-in knowledge."""
    from doctor.judge.proof import Bench
    from kb import lint, trial
    from kb.layers import HERE, Layer

    built_in = Layer("built-in", HERE)
    if not args.files and not (HERE / "entries").is_dir():
        raise UsageError("the sources of the built-in knowledge are not installed", "name files of your own, or check the built-in ones in a checkout: npu-doctor kb check kb/entries")
    given = _files(args.files) if args.files else [*built_in.files("entries"), *built_in.files("checks")]
    files = [path for path in given if not _of_machines(path)]
    known = trial.base(files, tuple(args.kb)) if args.files else load(tuple(args.kb))
    tried = trial.of_files(files, known)
    context, bench = lint.Context(tried.knowledge), Bench(tried.knowledge)
    faults = [str(problem) for problem in tried.problems]
    bad = 0
    for entry in tried.entries:
        problems = lint.check(entry, context) + bench.problems(entry)
        bad += bool(problems)
        faults += (str(problem) for problem in _placed(entry, problems))
    checks = [path for path in given if _of_machines(path)]
    more, wrong, unreadable = _machine_checks(checks, known) if checks else ([], 0, 0)
    faults += more
    bad += wrong
    shown = list(dict.fromkeys(faults))
    common.write("".join(f"{fault}\n" for fault in shown), None)
    told = bench.tried
    sys.stdout.write(
        word("kb.checked", common.language(args), files=len(given), unreadable=len(files) - len(tried.entries) + unreadable, bad=bad,
             examples=told["counter-examples"], near=told["near counter-examples"], mutants=told["mutants"]) + "\n"
    )  # fmt: skip
    return exits.INTERNAL if shown else exits.CLEAN


def _placed(entry: Entry, messages: list[str]) -> list[Problem]:
    """Each message with its line of the file."""
    from kb import where, yamldoc
    from kb.layers import HERE

    path = HERE.parent / entry.path if entry.layer == "built-in" else Path(entry.path)
    doc = yamldoc.parse(entry.path, path.read_bytes()) if messages else None
    if not isinstance(doc, yamldoc.Document):
        return [Problem(entry.path, 0, message) for message in messages]
    return [where.problem(entry, doc, message) for message in messages]


def _trust(args: argparse.Namespace) -> int:
    """Pins a folder as it is now, and tells what somebody who trusts it should know."""
    from kb import build, fetching, trust
    from kb.layers import Layer

    folder, lang = Path(args.folder), common.language(args)
    inner = folder / ".npu-doctor" / "kb"
    folder = inner if inner.is_dir() else folder
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{args.folder}'", "npu-doctor kb trust .npu-doctor/kb")
    print_ = None if args.forget else trust.fingerprint(folder)
    layer = Layer("project", folder, print_.files if print_ else None)
    entries, problems = layer.reading(lambda: build.read_entries(layer))
    if not trust.pin(folder, print_):
        raise UsageError(f"cannot write {trust.state_file() or 'the list of trusted folders: there is no home'}", "HOME or XDG_CONFIG_HOME names a folder of yours")
    if args.forget:
        sys.stdout.write(word("kb.forgotten", lang, folder=clean(str(folder))) + "\n")
        return exits.CLEAN
    rows = [word("kb.trusts", lang, folder=clean(str(folder)), entries=len(entries))]
    if codes := layer.reading(lambda: build.read_overrides(layer))[0]:
        rows.append(word("kb.replaces", lang, codes=", ".join(map(clean, codes))))
    rows += (
        word("kb.fetches", lang, code=entry.code, run=clean(command.run))
        for entry in entries for fix in entry.fixes for command in fix.commands if fetching.executes_what_it_fetches(command.run)
    )  # fmt: skip
    rows += (clean(row) for problem in problems for row in str(problem).split("\n"))
    sys.stdout.write("\n".join(rows) + "\n")
    return exits.CLEAN


def _of_machines(path: Path) -> bool:
    """Is a file a check of machines? Its code, which begins its name, says so."""
    return path.name.lower().startswith("chk")


def _machine_checks(files: list[Path], known: Knowledge) -> tuple[list[str], int, int]:
    """Faults of checks of machines, how many have some, how many cannot be read."""
    from doctor.env import proof
    from kb.build import kinds
    from kb.checks import read_checks

    found, faults = read_checks((path, str(path)) for path in files)
    told = [str(fault) for fault in faults]
    bad = 0
    for check in found:
        problems = proof.problems(check, known, tuple(kinds()))
        bad += bool(problems)
        if problems:
            told.append(f"{check.path}\n" + "\n".join(f"  {p}" for p in problems))
    return told, bad, len(files) - len(found)


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
