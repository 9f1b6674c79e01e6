"""The report for a terminal: the answer first, a fix that can be pasted, the rest folded."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from doctor.base.words import word
from doctor.render import parts
from doctor.render import timeline as job
from doctor.render.layout import Style, cells, cut, paint, wrap

Json = dict[str, Any]
LABEL = 10  # cells of the label column
FULL = 3  # roots shown in full; further ones get a line each unless everything is asked for


def render(report: Json, lang: str, style: Style, everything: bool = False, timeline: bool = False) -> str:
    """The whole report as text; with the timeline of a job when it is asked for."""
    return "\n".join(_lines(report, lang, style, everything, timeline)) + "\n"


def size_text(number: int) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            return f"{number} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024  # type: ignore[assignment]
    return ""


def _lines(report: Json, lang: str, style: Style, everything: bool, timeline: bool) -> Iterator[str]:
    findings: list[Json] = report["findings"]
    by_id = {f["id"]: f for f in findings}
    noise, roots = parts.noise(report), parts.roots(report)
    if report["verdict"] != "findings":
        yield paint(word(report["verdict"], lang), "good" if report["verdict"] == "clean" else "warning", style)
        yield ""
    short = False  # a bare headline came last
    for number, finding in enumerate(roots):
        aside = finding["severity"] == "info" and roots[0]["severity"] in ("fatal", "error")
        short = not everything and (number >= FULL or aside)
        if not short:
            yield from _finding(finding, by_id, lang, style, everything)
        else:
            yield _headline(finding, lang, style)
    if short:
        yield ""
    if report.get("job"):
        yield from job.ranks(report["job"], lang, style, everything)
        if timeline and report["job"]["timeline"]:
            yield from job.timeline(report["job"], lang, style)
    yield from _unexplained(report, roots, lang, style, everything)
    if noise:
        yield paint(word("noise", lang), "bold", style)
        for finding in noise[: 20 if everything else 4]:
            yield from _bullet(f"{finding['id']} {finding['title'][lang]} (x{finding['count']})", style)
        yield ""
    if report["missing_evidence"]:
        yield paint(word("missing", lang), "bold", style)
        for missing in report["missing_evidence"]:
            yield from _bullet(missing["what"][lang], style)
            yield from _command(missing["how"][lang], style, 4)
        yield ""
    if report["skipped"]:
        yield paint(f"{word('skipped', lang)} ({len(report['skipped'])})", "bold", style)
        for one in report["skipped"][: None if everything else 5]:
            yield from _bullet(f"{one['path']}: {one['reason']}", style)
        if len(report["skipped"]) > 5 and not everything:
            yield f"  ... {len(report['skipped']) - 5} {word('more', lang)} (--all)"
        yield ""
    if roots:
        first = roots[0]["id"]
        dot = "·" if style.unicode else "|"
        told = f"{word('next', lang)}: npu-doctor explain {first} {dot} npu-doctor scan ... -o report.md"
        yield from (paint(row, "dim", style) for row in wrap(told, style.width))


def scope(finding: Json, lang: str) -> str:
    """Whose fault: node, rank, device, process, as far as the log says."""
    told = [
        f"{word(k, lang)} {finding['scope'][k]}"
        for k in ("node", "rank", "device", "pid")
        if finding["scope"][k] is not None
    ]
    if finding["first_seen"]:
        told.append(finding["first_seen"].replace("T", " "))
    return ", ".join(told)


def _headline(finding: Json, lang: str, style: Style) -> str:
    """Severity, code, title, and how sure; a long title wraps, what follows it is dropped before it is."""
    tag = word(finding["severity"], lang)
    sure = word("high" if finding["confidence"] >= 0.9 else "medium" if finding["confidence"] >= 0.7 else "low", lang)
    head = cells(tag) + len(finding["id"]) + 4
    rows = wrap(finding["title"][lang], style.width - head)
    gap = style.width - head - cells(rows[-1]) - cells(sure)
    title = ("\n" + " " * head).join(paint(row, "bold", style) for row in rows)
    tail = " " * gap + paint(sure, "dim", style) if gap >= 2 else ""
    return f"{paint(tag, finding['severity'], style)}  {paint(finding['id'], 'bold', style)}  {title}{tail}"


# The head of a plog line, from its origin up to the message: of all this, level, module and process are worth a glance.
_HEAD = re.compile(
    r"^(\[[A-Z]+\]) ?([A-Z0-9_]+\(-?\d+),[^)]*\): ?\d{4}-\d\d-\d\d[- ]([\d:]{8}[\d.]*) ?"
    r"(?:\[[^\]\s]+:\d+\])? ?(?:\[?\d+\]?|tid:\d+,)? ?(?:\w+(?:\(\d+\))? ?: ?)?(?:\[INIT\]\[DEFAULT\])?"
)


def _brief(row: str) -> str:
    """A plog line with its head shortened, so that the message is what catches the eye."""
    return _HEAD.sub(lambda m: f"{m[1]} {m[2]}) {m[3]} ", row, count=1)


def _finding(finding: Json, by_id: dict[str, Json], lang: str, style: Style, everything: bool) -> Iterator[str]:
    yield _headline(finding, lang, style)
    told = scope(finding, lang)
    if told:
        yield from _labelled(word("where", lang), told, style)
    if finding.get("note") and not everything:  # else it stands in `why`
        yield from _labelled(word("why", lang), finding["note"][lang], style)
    yield from _labelled(word("cause", lang), finding["cause"][lang], style)
    shown = finding["evidence"][: None if everything else 2]
    for number, one in enumerate(shown):
        where = f"{one['path']}:{one['line']}"
        if not number and finding["count"] > 1:
            where += f"  (x{finding['count']})"
        yield from _labelled(word("evidence", lang) if not number else "", where, style, "dim")
        for row in one["text"].split("\n")[: 12 if everything else 4]:
            text = row if everything else cut(_brief(row), 2 * (style.width - LABEL - 2))
            yield from _labelled("", text, style)
    yield from _explained(finding, by_id, lang, style, everything)
    if everything:
        yield from _labelled(word("why", lang), finding["why"][lang], style)
    yield from fixes(finding["fixes"], lang, style)
    if finding["repro"]:
        log = finding["evidence"][0]["path"]
        source = f" --from {shlex.quote(log)}" if not log.startswith("<") and "!" not in log else ""
        yield from _command_labelled(word("repro", lang), f"npu-doctor repro {finding['id']}{source} -o repro.py", style)
    for number, one in enumerate(finding["references"][: None if everything else 1]):
        yield from _labelled(
            word("refs", lang) if not number else "", f"{one['title']}  {one['url']}".strip(), style, "dim"
        )
    yield ""


def _explained(finding: Json, by_id: dict[str, Json], lang: str, style: Style, everything: bool) -> Iterator[str]:
    """What only happened because of this, a line each."""
    codes = finding["explains"]
    shown = codes if everything or len(codes) <= 5 else codes[:4]
    room = style.width - LABEL - 12
    for number, code in enumerate(shown):
        other = by_id[code]
        text = f"{code} {cut(other['title'][lang], room)} x{other['count']}"
        yield from _labelled(word("explains", lang) if not number else "", text, style, "dim")
    if len(shown) < len(codes):
        yield from _labelled("", f"... {len(codes) - len(shown)} {word('more', lang)}", style, "dim")


def fixes(found: list[Json], lang: str, style: Style) -> Iterator[str]:
    """Fixes in the order in which to try them; commands and variables stand on lines of their own, ready to be pasted."""
    for number, fix in enumerate(found):
        label = word("fix", lang) if not number else ""
        yield from _labelled(label, f"{number + 1}. [{word(fix['goal'], lang)}] {fix['title'][lang]}", style)
        for step in fix.get("steps", ()):
            yield from _labelled("", f"- {step[lang]}", style)
        for env in fix["env"]:
            note = f"    # {env['caution'][lang]}" if env["caution"] else ""
            yield from _command(f"export {env['name']}={env['value']}{note}", style, LABEL + 2)
            yield from _command(f"{env['undo']}    # {word('undo', lang)}", style, LABEL + 2, "dim")
        for command in fix["commands"]:
            notes = [command["why"][lang]] if command["why"] else []
            if command["changes"]:
                notes.append(f"{word('changes', lang)}: {command['changes'][lang]}")
            yield from _command(command["run"] + (f"    # {'; '.join(notes)}" if notes else ""), style, LABEL + 2)
        if fix.get("code"):
            if fix["code"]["before"].strip():
                yield from _labelled("", f"# {word('before', lang)}", style, "dim")
                for row in fix["code"]["before"].rstrip().split("\n"):
                    yield " " * (LABEL + 2) + paint(row, "dim", style)
                yield from _labelled("", f"# {word('after', lang)}", style, "dim")
            for row in fix["code"]["after"].rstrip().split("\n"):
                yield " " * (LABEL + 2) + paint(row, "code", style)


def _labelled(label: str, text: str, style: Style, name: str | None = None) -> Iterator[str]:
    pad = " " * max(0, LABEL - 2 - cells(label))
    for number, row in enumerate(wrap(text, max(20, style.width - LABEL - 1))):
        head = f"  {paint(label, 'label', style)}{pad}" if not number else " " * LABEL
        yield f"{head} {paint(row, name, style) if name else row}".rstrip()


def _command(text: str, style: Style, indent: int, name: str = "code") -> Iterator[str]:
    """A line to paste is never broken; its remark goes above when it does not fit."""
    command, mark, remark = text.partition("    # ")
    rows = command.split("\n")
    if mark and len(rows) == 1 and indent + cells(command) + 4 + cells(remark) <= style.width:
        yield " " * indent + paint(command, name, style) + paint(f"    # {remark}", "dim", style)
        return
    if mark:
        for row in wrap(remark, max(20, style.width - indent - 2)):
            yield " " * indent + paint(f"# {row}", "dim", style)
    for row in rows:
        yield " " * indent + paint(row, name, style)


def _command_labelled(label: str, command: str, style: Style) -> Iterator[str]:
    """A labelled line to paste: never broken."""
    pad = " " * max(0, LABEL - 2 - cells(label))
    yield f"  {paint(label, 'label', style)}{pad} {paint(command, 'code', style)}"


def _bullet(text: str, style: Style) -> Iterator[str]:
    for number, row in enumerate(wrap(text, max(20, style.width - 4))):
        yield ("  - " if not number else "    ") + row


def _unexplained(report: Json, roots: list[Json], lang: str, style: Style, everything: bool) -> Iterator[str]:
    found = report["unexplained"]
    if not found:
        return
    total = sum(c["count"] for c in found)
    limit = len(found) if everything else (2 if roots else 6)
    yield paint(f"{word('unexplained', lang)}: {total}", "bold", style)
    for cluster in found[:limit]:
        one = cluster["evidence"]
        yield from _bullet(f"x{cluster['count']}  {cut(one['text'], 3 * style.width)}", style)
        yield f"    {paint(one['path'] + ':' + str(one['line']), 'dim', style)}"
        for code in cluster["codes"][:3]:
            if code["meaning"]:
                yield from _indented(f"{code['code']} = {code['name'] or ''} {code['meaning'][lang]}", style)
        if cluster["nearest"] and not roots:
            names = ", ".join(f"{n['id']} {n['title'][lang]}" for n in cluster["nearest"][:2])
            yield from _indented(f"{word('nearest', lang)}: {names}", style)
    if len(found) > limit:
        yield f"  ... {len(found) - limit} {word('more', lang)} (--all)"
    yield ""


def _indented(text: str, style: Style) -> Iterator[str]:
    for row in wrap(text, max(20, style.width - 6)):
        yield f"      {row}"
