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
    Link,
    Pair,
    Prose,
    Reference,
    Section,
)
from doctor.render.job import Job

Json = dict[str, Any]
EVENTS = 200  # of the timeline of a job
SKIPPED = 200

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #777; --red: #c62828; --amber: #b26a00; --blue: #1565c0; --green: #2e7d32; --box: #8881; }
@media (prefers-color-scheme: dark) { :root { --dim: #999; --red: #ff7b72; --amber: #f0b450; --blue: #79b8ff; --green: #7ee787; } }
body { font: 15px/1.5 system-ui, "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; } h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 4px; padding: .5rem .7rem; margin: .3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre.paste { user-select: all; border-left: 3px solid var(--green); } pre.undo { user-select: all; opacity: .75; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .15rem .6rem; text-align: left; vertical-align: top; }
.dim { color: var(--dim); } .tag { font-weight: 700; } .fatal, .error { color: var(--red); } .warning { color: var(--amber); } .info { color: var(--blue); }
.clean { color: var(--green); } section { border-top: 1px solid var(--line); } details { margin: .3rem 0; } summary { cursor: pointer; }
"""


def render(report: Json, lang: str) -> str:
    return "\n".join(_lines(report, lang)) + "\n"


def _lines(report: Json, lang: str) -> Iterator[str]:
    made = answer(report, lang)
    first = made.causes[0] if made.causes else None
    title = f"npu-doctor: {f'{first.code} {first.title}' if first else word(made.verdict, lang)}"
    yield f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>npu-doctor</h1>"
    if made.told:
        yield f'<p class="tag {"clean" if made.verdict == "clean" else "warning"}">{escape(made.told)}</p>'
    if made.situation:
        yield f'<p class="dim">{escape(made.situation)}</p>'
    if made.decisive is not None:
        yield f'<section><h2><span class="tag error">{escape(made.decisive.code)}</span> {escape(made.decisive.title)}</h2>'
        yield "".join(map(_evidence, made.decisive.evidence))
        yield from _list(_decoded(made.decisive))
        yield "</section>"
    if made.decision is not None:
        yield f"<p><b>{escape(made.decision.label)}</b> {escape(made.decision.text)}</p>"
    for finding in made.causes:
        yield from _finding(finding, lang)
    if made.job is not None:
        yield from _job(made.job, lang)
    if made.lights:
        yield f"<section><h2>{escape(word('env.machine', lang))}</h2>\n<table>"
        yield from (_row("td", (one.told, one.group, one.text)) for one in made.lights)
        yield "</table></section>"
    yield from _unexplained(made, lang)
    if made.context:
        yield f"<section><h2>{escape(word('context', lang))}</h2>"
        yield from _list(f"{f.code} {f.title}: {f.note}" for f in made.context)
        yield "</section>"
    if made.noise:
        yield f"<section><h2>{escape(word('noise', lang))}</h2>"
        yield from _list(f"{f.code} {f.title} ({f.times})" for f in made.noise)
        yield "</section>"
    if made.missing:
        yield f"<section><h2>{escape(word('missing', lang))}</h2>"
        for need in made.missing:
            yield f"<p>{escape(need.what)}</p>"
            yield from _command(need.how, lang)
        yield "</section>"
    if made.skipped:
        yield f"<section><h2>{escape(word('skipped', lang))} ({len(made.skipped)})</h2>"
        yield from _list(f"{s.label}: {s.text}" for s in made.skipped[:SKIPPED])
        if len(made.skipped) > SKIPPED:
            yield f"<p>... {len(made.skipped) - SKIPPED} {escape(word('more', lang))}</p>"
        yield "</section>"
    stats, known = report["stats"], report["knowledge"]
    yield f'<section><p class="dim">npu-doctor {escape(report["tool"]["version"])} · {stats["files"]} files, {notation.size(stats["bytes"])} · {known["entries"]} entries, {escape(known["digest"])}</p></section>'
    yield "</body>\n</html>"


def _finding(finding: Finding, lang: str) -> Iterator[str]:
    yield f'<section>\n<h2><span class="tag {finding.severity}">{escape(finding.tag)}</span> {finding.code} {escape(finding.title)}</h2>'
    for section in finding.document.sections:
        yield from _section(section, finding, lang)
    yield "</section>"


def _section(section: Section, finding: Finding, lang: str) -> Iterator[str]:
    if section.name == "evidence":
        yield f"<h3>{escape(section.label)} ({finding.times})</h3>"
        yield from _folded(finding.document.evidence, lang)
    elif section.name == "explains":
        yield f"<details><summary>{escape(section.label)}: {len(section.blocks)}</summary>"
        links = (b for b in section.blocks if isinstance(b, Link))
        yield from _list(f"{link.target.id} {link.text} ({link.aside})" for link in links)
        yield "</details>"
    elif section.name == "fix":
        for number, fix in enumerate(finding.document.fixes, 1):
            yield from _fix(fix, number, lang)
    elif section.name == "refs":
        yield f"<h3>{escape(section.label)}</h3>\n<ul>"
        yield from (_reference(b) for b in section.blocks if isinstance(b, Reference))
        yield "</ul>"
    elif section.name != "note":  # it stands in `why` as well
        yield from _said(section, finding)


def _said(section: Section, finding: Finding) -> Iterator[str]:
    for block in section.blocks:
        if isinstance(block, Pair):
            yield f'<p class="dim">{escape(block.text)}</p>'
        elif isinstance(block, Prose) and section.name == "why":
            yield f'<p class="dim">{escape(section.label)} ({finding.confidence}): {escape(block.text)}</p>'
        elif isinstance(block, Prose):
            yield f"<p>{escape(block.text)}</p>"


def _folded(found: tuple[Evidence, ...], lang: str) -> Iterator[str]:
    yield from map(_evidence, found[:2])
    if found[2:]:
        yield f"<details><summary>{len(found) - 2} {escape(word('more', lang))}</summary>"
        yield from map(_evidence, found[2:])
        yield "</details>"


def _evidence(one: Evidence) -> str:
    return f'<p class="dim">{notation.place(escape(one.path), one.line)}</p>{_pre(one.text)}'


def _reference(one: Reference) -> str:
    told = escape(one.title or one.url)
    web = one.url.startswith(("https://", "http://"))
    return f'<li><a href="{escape(one.url)}" rel="noreferrer">{told}</a></li>' if web else f"<li>{told}</li>"


def _fix(fix: Fix, number: int, lang: str) -> Iterator[str]:
    yield f"<h3>{number}. [{escape(fix.goal)}] {escape(fix.headline)}</h3>"
    for listed, several in groupby(fix.parts, lambda part: isinstance(part, Bullet)):
        if listed:
            yield from _list(part.text for part in several if isinstance(part, Bullet))
        else:
            for part in several:
                yield from _part(part, lang)


def _part(part: FixPart, lang: str) -> Iterator[str]:
    if isinstance(part, Command):
        yield from _command(part, lang)
    elif isinstance(part, Code):
        if part.note:
            yield f'<p class="dim">{escape(part.note)}</p>'
        yield _pre(part.text, "" if part.old else "paste")


def _command(one: Command, lang: str) -> Iterator[str]:
    """Notes stand above: who pastes has read them."""
    yield from (f"<p>{escape(note)}</p>" for note in one.notes)
    if one.undo:
        yield f'<p class="dim">{escape(word("undo", lang))}</p>{_pre(one.run, "undo")}'
    else:
        yield _pre(one.run, "paste")


def _job(job: Job, lang: str) -> Iterator[str]:
    yield f"<section><h2>{escape(job.head)}</h2>\n<table>"
    yield _row("th", (word("processes", lang), word("state", lang), word("rank", lang)))
    for group in (*job.groups, *([job.missing] if job.missing else [])):
        yield _row("td", (str(group.processes), group.state, group.ranks))
    yield "</table>"
    if job.clocks:
        yield f"<p>{escape(job.clocks)}</p>"
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
        yield from _list(_decoded(cluster))
    yield "</section>"


def _decoded(cluster: Document) -> Iterator[str]:
    for block in cluster.section("codes").blocks:
        if isinstance(block, Decoded):
            yield f"{block.code} = {block.name} {block.meaning}"


def _pre(text: str, kind: str = "") -> str:
    return f'<pre{f" class={kind}" if kind else ""}>{escape(text)}</pre>'


def _list(texts: Iterable[str]) -> Iterator[str]:
    rows = [f"<li>{escape(text)}</li>" for text in texts]
    if rows:
        yield "<ul>" + "".join(rows) + "</ul>"


def _row(cell: str, texts: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
