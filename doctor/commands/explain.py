"""`npu-doctor explain`: what a code, an entry, a variable or a card means, in any spelling found in logs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from doctor.base import exits
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.explanation import look_up, text
from doctor.render import layout
from kb.knowledge import Knowledge

if TYPE_CHECKING:
    from doctor.lookup.search import Found, Index


def arguments() -> common.Parser:
    made = common.parser(
        "explain",
        "Explain an error code in any spelling (507018, EI0006, retCode=0x28, errcode:(0x800000,0,0), 80E01801), an entry, an environment variable or a card.",
    )
    made.add_argument("what", nargs="+", metavar="CODE|ENTRY|VARIABLE")
    made.add_argument("-f", "--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    known = common.knowledge(args)
    lang = common.language(args)
    written = " ".join(args.what)
    found = look_up(written, known)
    if not any(found.values()):
        from doctor.lookup.search import Index

        index = Index(known)
        named = index.meant(written)
        if not named:
            return _unknown(written, index, lang)
        found = _meant(written, named, known, lang)
    if args.format == "json":
        common.write(json.dumps(found, ensure_ascii=False, indent=1, default=str) + "\n", None, form="json")
        return exits.CLEAN
    common.write(text(found, known, lang, layout.style_of(sys.stdout, args.color)), None)
    return exits.CLEAN


def is_known(written: str) -> bool:
    """Is it a code, an entry, a variable or a card, or plainly meant by one?"""
    from kb.knowledge import load

    known = load()
    if any(look_up(written, known).values()):
        return True
    from doctor.lookup.search import Index

    return bool(Index(known).meant(written))


def _meant(written: str, found: tuple[Found, ...], known: Knowledge, lang: str) -> dict[str, Any]:
    """What the titles of one entry, or of few, name by that word."""
    sys.stderr.write(f"npu-doctor: {word('explain.named', lang, what=clean(written)[:80], id=found[0].id)}\n")
    made = look_up(found[0].id, known)
    return {**made, "entries": [one.id for one in found[1:]]}


def _unknown(written: str, index: Index, lang: str) -> int:
    """Nothing is known: what is near in its words is offered, never another number than the one that was typed."""
    sys.stderr.write(f"npu-doctor: {word('explain.unknown', lang, what=clean(written)[:80])}\n")
    code = any(c.isdigit() for c in written) and " " not in written.strip() and "_" not in written
    near = [] if code else index.search(written, 5)
    if near:
        rows = "".join(f"     {r.id}  {r.title.pick(lang)}\n" for r in near)
        sys.stderr.write(f" = {word('explain.near', lang)}\n{rows}")
    else:
        sys.stderr.write(f" = {word('explain.elsewhere', lang)}\n")
    return exits.FINDINGS
