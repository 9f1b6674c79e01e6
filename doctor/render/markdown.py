"""The report as Markdown, for an issue or a message. Log text stands in fences that it cannot close."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render.compose import Finding, answer
from doctor.render.document import Bullet, Code, Command, Document, Fix, FixPart, Job, Pair, Prose, Reference

Json = dict[str, Any]
EVENTS = 60  # of the timeline of a job
SKIPPED = 50


def render(report: Json, lang: str) -> str:
    return "\n".join(_lines(report, lang)) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text).replace("\n", " ")


def fence(text: str, lang: str = "text") -> list[str]:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(m) for m in re.findall(r"`+", text)), default=0)
    bar = "`" * max(3, longest + 1)
    return [bar + lang, text, bar]


def script(commands: Iterable[Command], lang: str) -> str:
    """Commands for one fence, their notes as remarks; what takes one back is a remark too, as all of it gets pasted."""
    rows: list[str] = []
    for one in commands:
        notes = "; ".join(one.notes)
        if one.undo:
            rows += [f"# {word('undo', lang)}: {row}" for row in one.run.split("\n")]
        elif "\n" in one.run:
            rows += [*([f"# {notes}"] if notes else []), one.run]
        else:
            rows.append(f"{one.run}    # {notes}" if notes else one.run)
    return "\n".join(rows)


def parts(fix: Fix, lang: str, prose: Callable[[str], str] = escape) -> Iterator[str]:
    """The parts of a fix; commands that follow each other share a fence."""
    waiting: list[Command] = []
    for part in (*fix.parts, None):
        if isinstance(part, Command):
            waiting.append(part)
            continue
        if waiting:
            yield from fence(script(waiting, lang), "sh")
            waiting = []
        if part is not None:
            yield from _part(part, prose)


def _part(part: FixPart, prose: Callable[[str], str]) -> Iterator[str]:
    if isinstance(part, Bullet):
        yield f"- {prose(part.text)}"
    elif isinstance(part, Code):
        if part.note:
            yield from ("", f"{prose(part.note)}:")
        yield from fence(part.text, part.lang)


def _lines(report: Json, lang: str) -> Iterator[str]:
    made = answer(report, lang)
    yield f"# npu-doctor: {made.verdict}"
    yield ""
    if made.situation:
        yield f"{word('situation', lang)}: {escape(made.situation)}"
        yield ""
    if made.decisive is not None:
        yield f"## {escape(made.decisive.code)}: {escape(made.decisive.title)}"
        for one in made.decisive.evidence:
            yield ""
            yield notation.place(escape(one.path), one.line)
            yield from fence(one.text)
        yield ""
        yield from _caller(made.decisive)
    if made.decision is not None:
        yield f"{made.decision.label}: {escape(made.decision.text)}"
        yield ""
    for finding in made.findings:
        yield from _finding(finding, lang)
    if made.job is not None:
        yield from _job(made.job, lang)
    if made.lights:
        yield f"## {word('env.machine', lang)}"
        yield ""
        yield "| | | |\n| --- | --- | --- |"
        yield from (f"| {one.told} | {one.group} | {escape(one.text)} |" for one in made.lights)
        yield ""
    if made.unexplained:
        yield f"## {word('unexplained', lang)}"
        for cluster in made.unexplained:
            for one in cluster.evidence:
                yield ""
                yield f"{cluster.code} {notation.place(escape(one.path), one.line)}"
                yield from fence(one.text)
        yield ""
    if made.missing:
        yield f"## {word('missing', lang)}"
        for need in made.missing:
            yield f"- {escape(need.what)}"
            yield from fence(script((need.how,), lang), "sh")
        yield ""
    if made.skipped:
        yield f"## {word('skipped', lang)}"
        yield from (f"- {escape(s.label)}: {escape(s.text)}" for s in made.skipped[:SKIPPED])
        yield ""
    stats = report["stats"]
    yield f"---\nnpu-doctor {report['tool']['version']}, {stats['files']} files, {stats['bytes']} bytes, knowledge {report['knowledge']['digest']}"


def _job(job: Job, lang: str) -> Iterator[str]:
    """Ranks folded by what they did, and what happened when, as tables."""
    yield f"## {job.head}"
    yield ""
    yield f"| {word('processes', lang)} | {word('state', lang)} | {word('rank', lang)} |"
    yield "| ---: | --- | --- |"
    for group in (*job.groups, *([job.missing] if job.missing else [])):
        yield f"| {group.processes} | {escape(group.state)} | {escape(group.ranks)} |"
    yield ""
    if job.clocks:
        yield escape(job.clocks)
        yield ""
    if job.events:
        yield f"### {word('timeline-head', lang)}"
        yield ""
        yield f"| {word('time', lang)} | {word('node', lang)} | {word('ahead', lang)} | {word('event', lang)} |"
        yield "| --- | --- | ---: | --- |"
        for event in job.events[:EVENTS]:
            ahead = f"{event.ahead:+.1f}" if event.ahead else ""
            yield f"| {event.time} | {escape(event.node)} | {ahead} | {escape(event.text)} |"
        yield ""


def _caller(document: Document) -> Iterator[str]:
    """Who made the call that was refused."""
    for pair in document.section("caller").blocks:
        if isinstance(pair, Pair):
            yield f"{pair.label}: {escape(pair.text)}"
            yield ""


def _finding(finding: Finding, lang: str) -> Iterator[str]:
    root, document = finding.role == "root", finding.document
    yield f"{'##' if root else '###'} {finding.code} {escape(finding.title)}"
    yield ""
    yield f"{finding.tag} · {finding.role} · {finding.confidence} · {finding.times}"
    yield ""
    yield from (escape(block.text) for block in document.section("cause").blocks if isinstance(block, Prose))
    yield ""
    for one in document.evidence[: 5 if root else 1]:
        yield notation.place(escape(one.path), one.line)
        yield from fence(one.text)
    yield from _caller(document)
    yield from (f"- {escape(block.text)}" for block in document.section("scheduler").blocks if isinstance(block, Prose))
    if root:
        for fix in document.fixes:
            yield ""
            yield f"**{fix.goal}**: {escape(fix.headline)}"
            yield from parts(fix, lang)
        yield ""
        for reference in document.section("refs").blocks:
            if isinstance(reference, Reference):
                yield f"- <{reference.url}>" if reference.url else f"- {escape(reference.title)}"
    yield ""
