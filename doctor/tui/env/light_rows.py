"""A report on a machine as rows and cards: a light a group, its checks beneath, facts and fixes beside. No terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import named, word
from doctor.render import compose
from doctor.render.document import Block, Document, Evidence, Pair, Section, pasted
from doctor.render.fixes import fixes as made_fixes
from doctor.render.layout import cells
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.line import BLANK, Row, Span, plain, shown

Json = dict[str, Any]
# Each light has a sign of its own: not every terminal, and not every eye, has colours.
LIGHTS = {"red": ("✗", "error"), "yellow": ("!", "warning"), "green": ("✓", "good"), "grey": ("·", "dim")}
_MARKS = {"holds": ("✓", "good"), "fails": ("✗", "error"), "not known": ("?", "dim"), "not for it": ("-", "dim")}
# Which facts a group shows on its card, by how their names begin.
FACTS: dict[str, tuple[str, ...]] = {
    "driver": ("driver.", "firmware.", "npu_smi."),
    "cann": ("cann.", "kernels.", "nnal.", "mindie.", "mxvision."),
    "python": ("python.",),
    "chips": ("chips.", "chip.", "pci."),
    "container": ("container.", "device.", "user."),
    "host": ("machine.", "host.", "limit.", "shm."),
    "network": ("network.",),
    "variables": ("variables.", "variable."),
}
MAX_FACTS = 200
NAME = 12  # cells of the names of groups


def rows(report: Json, lang: str, opened: frozenset[str], wanted: str = "") -> list[Row]:
    """A row a group; beneath it what fails, and when it is unfolded all of its checks.

    `wanted`: only rows in which all the words of a search stand, of whichever group.
    """
    if words := wanted.casefold().split():
        every = frozenset(f"group:{group['name']}" for group in report["environment"]["groups"])
        return [row for row in rows(report, lang, every) if row.key and all(w in plain(row.left).casefold() for w in words)]
    found: list[Row] = []
    if told := report["situation"]["line"][lang]:
        found += [Row("", (Span(shown(told), "dim"),)), Row("", BLANK)]
    for group in report["environment"]["groups"]:
        found += _group(group, report, lang, opened)
    if report["skipped"]:
        found += [Row("", BLANK), Row("skipped:", (Span(f"{word('skipped', lang)} ({len(report['skipped'])})", "label"),))]
    return found


def _group(group: Json, report: Json, lang: str, opened: frozenset[str]) -> Iterator[Row]:
    key, name = f"group:{group['name']}", named("env.group", group["name"], lang)
    sign, style = LIGHTS[group["light"]]
    fold = ("▾ " if key in opened else "▸ ") if group["checks"] else "  "
    pad = " " * max(1, NAME - cells(name))
    yield Row(key, (Span(fold), Span(f"{sign} ", style), Span(name, "title"), Span(pad), Span(shown(group["line"]), "dim")))
    failing = {f["id"]: f for f in report["findings"]}
    for check in group["checks"]:
        one = failing.get(check["id"])
        if one is not None:
            severity = Span(f"{word(one['severity'], lang)} ", one["severity"])
            yield Row(f"finding:{one['id']}", (Span("    "), severity, Span(f"{one['id']} ", "id"), Span(shown(one["title"][lang]), "title")))
        elif key in opened:
            mark, colour = _MARKS[check["state"]]
            state = named("env.state", check["state"].replace(" ", "-"), lang)
            yield Row(f"check:{check['id']}", (Span(f"    {mark} ", colour), Span(f"{check['id']} ", "id"), Span(check["slug"], "dim")), (Span(f" {state}", "dim"),))


def summary(report: Json, lang: str) -> str:
    """How many checks came out how."""
    states = [c["state"] for g in report["environment"]["groups"] for c in g["checks"]]
    told = [(named("env.state", state.replace(" ", "-"), lang), states.count(state)) for state in ("fails", "holds", "not known")]
    return " · ".join(f"{text} {count}" for text, count in told)


def card(report: Json, key: str, lang: str, kinds: Callable[[str], str] = str) -> Doc:
    """What stands beside a row."""
    kind, _, name = key.partition(":")
    one = next((f for f in report["findings"] if kind == "finding" and f["id"] == name), None)
    if one is not None:
        return Doc(key, lang, (_unlinked(compose.finding(one, report, lang, kinds).document),))
    if kind == "check":
        return Doc(key, lang, (_check(report, name, lang),))
    if kind == "skipped":
        blocks = tuple(Pair(s["path"], s["reason"]) for s in report["skipped"])
        return Doc(key, lang, (Document("", word("skipped", lang), (), (Section("skipped", "", blocks),)),))
    return Doc(key, lang, (_facts(report, name, lang),) if name in FACTS else ())


def _unlinked(document: Document) -> Document:
    """Places of a machine's tree are told, not linked: they may be of another machine."""

    def told(block: Block) -> Block:
        return Pair(notation.place(block.path, block.line), block.text) if isinstance(block, Evidence) else block

    return document._replace(sections=tuple(s._replace(blocks=tuple(map(told, s.blocks))) for s in document.sections))


def _check(report: Json, code: str, lang: str) -> Document:
    check = next(c for g in report["environment"]["groups"] for c in g["checks"] if c["id"] == code)
    state = named("env.state", check["state"].replace(" ", "-"), lang)
    return Document(code, check["slug"], (state,), (Section("about", "", (Pair(word("env.would-say", lang), check["title"][lang]),)),))


def _facts(report: Json, group: str, lang: str) -> Document:
    facts = report["environment"]["facts"]
    shown_facts = [(n, v) for n, v in facts.items() if n.startswith(FACTS[group])][:MAX_FACTS]
    return Document("", named("env.group", group, lang), (), (Section("facts", "", tuple(Pair(n, v) for n, v in shown_facts)),))


def fixes(report: Json, key: str, lang: str) -> list[tuple[str, str]]:
    """Titles of fixes and what can be pasted of each."""
    code = key.partition(":")[2]
    one = next((f for f in report["findings"] if f["id"] == code), None)
    return [(fix.title, pasted(fix)) for fix in made_fixes(one["fixes"], lang)] if one is not None else []
