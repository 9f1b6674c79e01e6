"""The report as Markdown, for an issue or a message. Log text stands in fences that it cannot close."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.base.words import word
from doctor.base.notation import spans
from doctor.render.timeline import folded, skew_line

Json = dict[str, Any]
EVENTS = 60  # of the timeline of a job


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


def _lines(report: Json, lang: str) -> Iterator[str]:
    yield f"# npu-doctor: {report['verdict']}"
    yield ""
    for finding in report["findings"]:
        yield from _finding(finding, lang)
    if "job" in report:
        yield from _job(report["job"], lang)
    if report["unexplained"]:
        yield f"## {word('unexplained', lang)}"
        for cluster in report["unexplained"]:
            yield ""
            yield f"x{cluster['count']} {escape(cluster['evidence']['path'])}:{cluster['evidence']['line']}"
            yield from fence(cluster["evidence"]["text"])
        yield ""
    if report["missing_evidence"]:
        yield f"## {word('missing', lang)}"
        for one in report["missing_evidence"]:
            yield f"- {escape(one['what'][lang])}"
            yield from fence(one["how"][lang], "sh")
        yield ""
    if report["skipped"]:
        yield f"## {word('skipped', lang)}"
        yield from (f"- {escape(s['path'])}: {escape(s['reason'])}" for s in report["skipped"][:50])
        yield ""
    stats = report["stats"]
    yield f"---\nnpu-doctor {report['tool']['version']}, {stats['files']} files, {stats['bytes']} bytes, knowledge {report['knowledge']['digest']}"


def _job(job: Json, lang: str) -> Iterator[str]:
    """Ranks folded by what they did, and what happened when, as tables."""
    size = job["world_size"]
    yield f"## {word('job', lang).format(seen=job['processes'], world=size or '?')}"
    yield ""
    yield f"| {word('processes', lang)} | {word('state', lang)} | {word('rank', lang)} |"
    yield "| ---: | --- | --- |"
    for (state, about), members in folded(job):
        names = spans([m["rank"] for m in members if m["rank"] is not None])
        yield f"| {len(members)} | {escape(word('state-' + state, lang).format(about=about))} | {escape(names)} |"
    if job["missing_ranks"]:
        yield f"| {len(job['missing_ranks'])} | {escape(word('state-missing', lang))} | {escape(spans(job['missing_ranks']))} |"
    yield ""
    if skew := skew_line(job, lang):
        yield escape(skew)
        yield ""
    if job["timeline"]:
        yield f"### {word('timeline', lang)}"
        yield ""
        yield f"| {word('time', lang)} | {word('node', lang)} | {word('ahead', lang)} | {word('event', lang)} |"
        yield "| --- | --- | ---: | --- |"
        for event in job["timeline"][:EVENTS]:
            ahead = f"{event['ahead']:+.1f}" if event["ahead"] else ""
            time = event["time"].replace("T", " ")[:23]
            yield f"| {time} | {escape(event['node'] or '?')} | {ahead} | {escape(event['text'][lang])} |"
        yield ""


def _finding(finding: Json, lang: str) -> Iterator[str]:
    mark = "##" if finding["role"] == "root" else "###"
    yield f"{mark} {finding['id']} {escape(finding['title'][lang])}"
    yield ""
    yield f"{word(finding['severity'], lang)} · {finding['role']} · {finding['confidence']:.0%} · x{finding['count']}"
    yield ""
    yield escape(finding["cause"][lang])
    yield ""
    for one in finding["evidence"][: 5 if finding["role"] == "root" else 1]:
        yield f"{escape(one['path'])}:{one['line']}"
        yield from fence(one["text"])
    if finding["role"] == "root":
        for fix in finding["fixes"]:
            yield ""
            yield f"**{word(fix['goal'], lang)}**: {escape(fix['title'][lang])}"
            yield from (f"- {escape(s[lang])}" for s in fix.get("steps", ()))
            lines = [f"export {e['name']}={e['value']}    # {word('undo', lang)}: {e['undo']}" for e in fix["env"]]
            lines += [c["run"] for c in fix["commands"]]
            if lines:
                yield from fence("\n".join(lines), "sh")
            if fix.get("code"):
                yield from fence(fix["code"]["after"].rstrip(), fix["code"]["lang"])
        yield ""
        yield from (f"- <{r['url']}>" if r["url"] else f"- {escape(r['title'])}" for r in finding["references"])
    yield ""
