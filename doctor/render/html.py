"""The report as one HTML file: no script, nothing loaded from anywhere, readable on a machine without a network.

A click into a command selects the whole of it. Log text only ever stands between tags, escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import pictures
from doctor.render.compose import Answer, Finding, answer
from doctor.render.document import (
    Bullet,
    Code,
    Command,
    Decoded,
    Document,
    Evidence,
    Fix,
    FixPart,
    Job,
    Link,
    Prose,
    Reference,
    Section,
)
from doctor.render.html_style import STYLE

Json = dict[str, Any]
EVENTS = 200  # of the timeline of a job
SKIPPED = 200
SENTENCES = 2  # about a job, beside its first root
SIGNS = {"fatal": "✖", "error": "✗", "warning": "!", "info": "i"}  # a severity for eyes that see no colours

def render(report: Json, lang: str) -> str:
    return "\n".join(_lines(report, lang)) + "\n"


def _lines(report: Json, lang: str) -> Iterator[str]:
    made = answer(report, lang)
    yield from _head(made, lang)
    if made.told:
        yield f'<section class="{"clean" if made.verdict == "clean" else "warning"}"><p class="tag">{escape(made.told)}</p></section>'
    if made.decisive is not None:
        yield from _decisive(made.decisive)
    for number, finding in enumerate(made.causes):
        yield from _finding(finding, made.job if not number else None, lang, "h2" if number else "h1")
        if not number and made.job is not None:
            yield from _job(made.job, lang)
    if not made.causes and made.job is not None:
        yield from _job(made.job, lang)
    if made.decision is not None:
        yield f"<p><b>{escape(made.decision.label)}</b> {escape(made.decision.text)}</p>"
    yield from _unexplained(made, lang)
    yield from _rest(made, lang)
    stats, known = report["stats"], report["knowledge"]
    yield f'<p class="dim">npu-doctor {escape(report["tool"]["version"])} · {stats["files"]} files, {notation.size(stats["bytes"])} · {known["entries"]} entries, {escape(known["digest"])}</p>'
    yield "</main>\n</body>\n</html>"


def _head(made: Answer, lang: str) -> Iterator[str]:
    first = made.causes[0] if made.causes else None
    title = f"npu-doctor: {f'{first.code} {first.title}' if first else word(made.verdict, lang)}"
    yield f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    facts = "".join(f"<span>{escape(told)}</span>" for told in (made.situation, made.read) if told)
    yield f"<header><b>npu-doctor</b>{facts}</header>\n<main>"


def _rest(made: Answer, lang: str) -> Iterator[str]:
    """What is no answer: lights of the machine, what stands beside it, noise, evidence that would help, what was not read."""
    if made.lights:
        yield f"<section><h2>{escape(word('env.machine', lang))}</h2>\n<table>"
        yield from (_row("td", (one.told, one.group, one.text)) for one in made.lights)
        yield "</table></section>"
    if made.context:
        yield f"<section><h2>{escape(word('context', lang))}</h2>"
        yield from listed(f"{f.code} {f.title}: {f.note}" for f in made.context)
        yield "</section>"
    if made.noise:
        yield f"<section><h2>{escape(word('noise', lang))}</h2>"
        yield from listed(f"{f.code} {f.title} ({f.times})" for f in made.noise)
        yield "</section>"
    if made.missing:
        yield f"<section><h2>{escape(word('missing', lang))}</h2>"
        for need in made.missing:
            yield f"<p>{escape(need.what)}</p>"
            yield from command(need.how, lang)
        yield "</section>"
    if made.skipped:
        yield f"<section><h2>{escape(word('skipped', lang))} ({len(made.skipped)})</h2>"
        yield from listed(f"{s.label}: {s.text}" for s in made.skipped[:SKIPPED])
        if len(made.skipped) > SKIPPED:
            yield f"<p>{escape(word('n-more', lang, n=len(made.skipped) - SKIPPED))}</p>"
        yield "</section>"


def _decisive(one: Document) -> Iterator[str]:
    yield f'<section class="error"><p class="tag">{escape(one.code)}</p><h1>{escape(one.title)}</h1>'
    yield "".join(map(_evidence, one.evidence))
    yield from listed(_decoded(one))
    yield "</section>"


def _finding(finding: Finding, job: Job | None, lang: str, heading: str) -> Iterator[str]:
    """Verdict, where, why and the first fix stand open; what proves them is folded."""
    document = finding.document
    yield f'<section class="{finding.severity}">\n<p><span class="tag">{SIGNS[finding.severity]} {escape(finding.tag)}</span> <span class="code">{finding.code}</span>'
    yield f'<span class="dim">{finding.confidence} ({escape(finding.sure)})</span></p>\n<{heading}>{escape(finding.title)}</{heading}>'
    told = job.told[:SENTENCES] if job is not None else _texts(document.section("note"))
    facts = (("where", finding.where), *(("of-job" if not n else "", text) for n, text in enumerate(told)), ("reason", finding.reason),
             ("against", word("semicolon", lang).join(finding.against)), ("action", finding.action))  # fmt: skip
    yield "<dl>" + "".join(_fact(word(name, lang) if name else "", text) for name, text in facts if text) + "</dl>"
    others = [one for one in document.fixes if one not in (finding.check, finding.first)]
    if finding.check is not None:
        yield from fix(finding.check, lang, "check")
    if finding.first is not None:
        yield from fix(finding.first, lang)
    if others:
        yield f"<details><summary>{escape(word('more:fixes' if len(others) > 1 else 'more:fix', lang, n=len(others)))}</summary>"
        for one in others:
            yield from fix(one, lang)
        yield "</details>"
    yield f"<h3>{escape(word('cause', lang))}</h3>"
    yield from (f"<p>{escape(text)}</p>" for text in _texts(document.section("cause")))
    yield from (f"<p>{escape(text)}</p>" for text in _texts(document.section("scheduler")))
    yield from _proof(finding, lang)
    yield "</section>"


def _fact(name: str, text: str) -> str:
    return f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"


def _texts(section: Section) -> list[str]:
    return [block.text for block in section.blocks if isinstance(block, Prose)]


def _proof(finding: Finding, lang: str) -> Iterator[str]:
    """Evidence, what it explains, why it is believed, how to see it again, where more is written: each folded."""
    document = finding.document
    if document.evidence:
        first = document.evidence[0]
        place = notation.place(first.path, first.line)
        yield f"<details><summary>{escape(word('evidence', lang))} ({finding.times}) · {escape(place)}</summary>"
        yield from map(_evidence, document.evidence)
        yield "</details>"
    for name in ("explained_by", "explains"):
        section = document.section(name)
        links = [b for b in section.blocks if isinstance(b, Link)]
        if links:
            yield f"<details><summary>{escape(section.label)}: {len(links)}</summary>"
            yield from listed(f"{link.target.id} {link.text} ({link.aside})" for link in links)
            yield "</details>"
    if why := _texts(document.section("why")):
        yield f"<details><summary>{escape(word('how-matched', lang))} ({finding.confidence})</summary>"
        yield from (f"<p>{escape(text)}</p>" for text in why)
        yield "</details>"
    for block in document.section("repro").blocks:
        if isinstance(block, Command):
            yield f"<details><summary>{escape(document.section('repro').label)}</summary>"
            yield from command(block, lang)
            yield "</details>"
    references = [b for b in document.section("refs").blocks if isinstance(b, Reference)]
    if references:
        yield f"<details><summary>{escape(document.section('refs').label)}: {len(references)}</summary>\n<ul>"
        yield from map(reference, references)
        yield "</ul></details>"


def _evidence(one: Evidence) -> str:
    """The place, and the line with what matched marked in it."""
    before, found, after = one.text.partition(one.matched) if one.matched else (one.text, "", "")
    marked = f"<mark>{escape(found)}</mark>" if found else ""
    place = notation.place(escape(one.path), one.line)
    return f'<p class="dim">{place}</p><pre>{escape(before)}{marked}{escape(after)}</pre>'


def reference(one: Reference) -> str:
    told = escape(one.title or one.url)
    web = one.url.startswith(("https://", "http://", "file:///"))  # a file of this machine: a page of the reader's own site
    return f'<li><a href="{escape(one.url)}" rel="noreferrer">{told}</a></li>' if web else f"<li>{told}</li>"


def fix(fix: Fix, lang: str, label: str = "fix") -> Iterator[str]:
    yield f'<div class="fix"><h3>{escape(word(label, lang) + word("colon", lang))}{escape(fix.title)} {escape(fix.aside)}</h3>'
    for plain_text, several in groupby(fix.parts, lambda part: isinstance(part, Bullet)):
        if plain_text:
            yield from listed(part.text for part in several if isinstance(part, Bullet))
        else:
            for part in several:
                yield from _part(part, lang)
    yield "</div>"


def _part(part: FixPart, lang: str) -> Iterator[str]:
    if isinstance(part, Command):
        yield from command(part, lang)
    elif isinstance(part, Code):
        if part.note:
            yield f'<p class="dim">{escape(part.note)}</p>'
        yield preformatted(part.text, "" if part.old else "paste")


def command(one: Command, lang: str) -> Iterator[str]:
    """Notes stand above: who pastes has read them."""
    yield from (f"<p>{escape(note)}</p>" for note in one.notes)
    if one.undo:
        yield f'<p class="dim">{escape(word("undo", lang))}</p>{preformatted(one.run, "undo")}'
    else:
        yield preformatted(one.run, "paste")


def _job(job: Job, lang: str) -> Iterator[str]:
    """The grid and the line of time as pictures; the same as tables, folded, for who cannot see them."""
    yield f"<section><h2>{escape(job.head)}</h2>"
    if sum(len(row.seats) for row in job.grid.rows) > 2:
        yield from pictures.grid(job.grid)
    yield from pictures.times(job, lang)
    yield f"<details><summary>{escape(word('state', lang))}</summary>\n<table>"
    yield _row("th", (word("processes", lang), word("state", lang), word("rank", lang)))
    for group in (*job.groups, *([job.missing] if job.missing else [])):
        yield _row("td", (str(group.processes), group.said, group.ranks))
    yield "</table></details>"
    if job.clocks:
        yield f'<p class="dim">{escape(job.clocks)}</p>'
    if job.events:
        yield f"<details><summary>{escape(word('timeline-head', lang))}</summary>\n<table>"
        yield _row("th", (word("time", lang), word("node", lang), word("ahead", lang), word("event", lang)))
        for event in job.events[:EVENTS]:
            yield _row("td", (event.time, event.node, f"{event.ahead:+.1f}" if event.ahead else "", event.text))
        yield "</table></details>"
    yield "</section>"


def _unexplained(made: Answer, lang: str) -> Iterator[str]:
    if not made.unexplained:
        return
    yield f"<section><h2>{escape(word('unexplained', lang))}: {made.unexplained_times}</h2>"
    for cluster in made.unexplained:
        yield f"<p>{cluster.code}</p>{''.join(map(_evidence, cluster.evidence))}"
        yield from listed(_decoded(cluster))
    yield "</section>"


def _decoded(cluster: Document) -> Iterator[str]:
    for block in cluster.section("codes").blocks:
        if isinstance(block, Decoded):
            yield block.told


def preformatted(text: str, kind: str = "") -> str:
    return f'<pre{f" class={kind}" if kind else ""}>{escape(text)}</pre>'


def listed(texts: Iterable[str]) -> Iterator[str]:
    rows = [f"<li>{escape(text)}</li>" for text in texts]
    if rows:
        yield "<ul>" + "".join(rows) + "</ul>"


def _row(cell: str, texts: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
