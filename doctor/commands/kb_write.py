"""`npu-doctor kb new|import`: knowledge that somebody writes or takes over."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.commands.common import read_bytes
from kb.draft import Like
from kb.knowledge import Knowledge

MAX_IMPORT = 32_000_000
MAX_LINE = 8000


def new(args: argparse.Namespace) -> int:
    """An entry drafted from a line: its leaf, captures, a sample, a counter-example; texts to be written."""
    from kb import draft
    from parsers.line import read_line

    log, _, digits = args.place.rpartition(":")
    if not log or not digits.isdecimal() or int(digits) < 1:
        raise UsageError(f"'{args.place}' is no LOG:LINE", "npu-doctor kb new train.log:214, as reports and grep -n write a place")
    known, lang = common.knowledge(args), common.language(args)
    line = _line(log, int(digits), lang)
    message = draft.message(read_line(line).text)
    found = draft.leaf(message)
    if found is None:
        raise UsageError(word("kb.not-rare", lang, line=digits, text=clean(message)[:160]), word("kb.not-rare-help", lang))
    folder = _folder(args.output)
    code = draft.free_code({*known.codes_of_entries, *_codes_in(folder)})
    refines, like = _beside(line, message, log, known)
    name = Path(log).name if Path(log).name.startswith(("plog-", "device-")) else ""
    path = folder / f"{code.lower()}_{draft.slug(found.pattern if found.form == 'text' else message)}.yaml"
    _create({path: draft.entry(code, line, found, like, refines, name)})
    if refines:
        sys.stderr.write(word("kb.known-already", lang, codes=", ".join(refines)) + "\n")
    sys.stdout.write(word("kb.drafted", lang, path=path, code=code) + "\n")
    return exits.CLEAN


def _line(log: str, wanted: int, lang: str) -> str:
    """One line of a log, as whatever reads logs finds it: unpacked, decoded."""
    from doctor.read import discover
    from doctor.read.encoding import decode

    sources = discover.discover([log])
    if len(sources.sources) != 1:
        why = "; ".join(s.reason for s in sources.skipped[:2]) or f"it holds {len(sources.sources)} logs: name one"
        raise UsageError(f"{log}: {why}", "npu-doctor kb new train.log:214")
    number = 0
    with sources.sources[0].open() as stream:
        for number, raw in enumerate(stream, 1):
            if number == wanted:
                return decode(raw[:MAX_LINE]).rstrip("\r\n")
    raise UsageError(word("kb.no-line", lang, path=log, line=wanted, lines=number), f"grep -n WORDS {log} tells the numbers of lines")


def _beside(line: str, message: str, log: str, known: Knowledge) -> tuple[list[str], Like | None]:
    """Which entries speak of the line already, and which one is nearest in words."""
    from doctor.judge.diagnosis import conclude
    from doctor.lookup.nearest import nearest
    from doctor.read import discover
    from doctor.scan.plan import Plan
    from doctor.scan.scanner import Scanner
    scan = Scanner(Plan(known.sought())).scan(discover.given_text(line + "\n", Path(log).name))
    held = [r.finding.entry for r in conclude([scan], known).related]
    near = [*(e.code for e in held), *(row["id"] for row in nearest(message, known))]
    like = next((e for code in near if (e := known.entry(code)) is not None and e.domain != "meaning"), None)
    refines = [e.code for e in held if e.role in ("cause", "ambiguous", "symptom")]
    return refines, Like(like.code, like.kind, like.component) if like is not None else None


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder '{name}': {error.strerror}", "-o DIR names a folder that you may write") from error
    return folder


def _codes_in(folder: Path) -> set[str]:
    """Codes that files of a folder have taken, by their names: drafts need not be readable yet."""
    return {path.name[:6].upper() for path in folder.glob("*.yaml")}


def _create(files: dict[Path, str]) -> None:
    """Writes files that are not there yet: what somebody has begun to write is never lost."""
    for path in files:
        if path.exists():
            raise UsageError(f"'{path}' exists already", "move it, or name another folder with -o")
    for path, text in files.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write '{path}': {error.strerror}", "-o DIR names a folder that you may write") from error


def imported(args: argparse.Namespace) -> int:
    """Entries of what ascend-fd calls custom fault entities and masking rules; what has no place here is listed."""
    from kb import faultdiag

    lang = common.language(args)
    found = faultdiag.read(read_bytes(args.file, MAX_IMPORT))
    if isinstance(found, str):
        raise UsageError(f"'{args.file}' holds no fault entities: {found}", "the file that `ascend-fd entity --update` or `ascend-fd blacklist --file` takes")
    folder = _folder(args.output)
    made = faultdiag.entries(found, {*common.knowledge(args).codes_of_entries, *_codes_in(folder)})
    for left in made.left:
        sys.stdout.write(word("kb.left", lang, code=clean(left.code), what=clean(left.what), why=left.why) + "\n")
    _create({folder / name: text for name, text in made.files.items()})
    sys.stdout.write(word("kb.imported", lang, files=len(made.files), folder=folder, left=len(made.left)) + "\n")
    return exits.CLEAN if made.files else exits.INCONCLUSIVE
