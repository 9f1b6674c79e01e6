"""The report as one HTML file: no script, nothing loaded from anywhere, readable on a machine without a network.

A click into a command selects the whole of it. Log text only ever stands between tags, escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from doctor.base.words import word
from doctor.base.notation import spans
from doctor.render import parts
from doctor.render.text import scope, size_text
from doctor.render.timeline import folded, skew_line

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
    by_id = {f["id"]: f for f in report["findings"]}
    causes, harmless = parts.roots(report), parts.noise(report)
    title = f"npu-doctor: {causes[0]['id']} {causes[0]['title'][lang]}" if causes else f"npu-doctor: {word(report['verdict'], lang)}"
    yield f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>npu-doctor</h1>"
    if report["verdict"] != "findings":
        yield f'<p class="tag {"clean" if report["verdict"] == "clean" else "warning"}">{escape(word(report["verdict"], lang))}</p>'
    for finding in causes:
        yield from _finding(finding, by_id, lang)
    if report.get("job"):
        yield from _job(report["job"], lang)
    yield from _unexplained(report["unexplained"], lang)
    if harmless:
        yield f"<section><h2>{escape(word('noise', lang))}</h2>"
        yield from _list(f"{f['id']} {f['title'][lang]} (x{f['count']})" for f in harmless)
        yield "</section>"
    if report["missing_evidence"]:
        yield f"<section><h2>{escape(word('missing', lang))}</h2>"
        for one in report["missing_evidence"]:
            yield f"<p>{escape(one['what'][lang])}</p>{_pre(one['how'][lang], 'paste')}"
        yield "</section>"
    if report["skipped"]:
        yield f"<section><h2>{escape(word('skipped', lang))} ({len(report['skipped'])})</h2>"
        yield from _list(f"{s['path']}: {s['reason']}" for s in report["skipped"][:SKIPPED])
        if len(report["skipped"]) > SKIPPED:
            yield f"<p>... {len(report['skipped']) - SKIPPED} {escape(word('more', lang))}</p>"
        yield "</section>"
    stats, known = report["stats"], report["knowledge"]
    yield f'<section><p class="dim">npu-doctor {escape(report["tool"]["version"])} · {stats["files"]} files, {size_text(stats["bytes"])} · {known["entries"]} entries, {escape(known["digest"])}</p></section>'
    yield "</body>\n</html>"


def _finding(finding: Json, by_id: dict[str, Json], lang: str) -> Iterator[str]:
    severity = finding["severity"]
    yield f'<section>\n<h2><span class="tag {severity}">{escape(word(severity, lang))}</span> {finding["id"]} {escape(finding["title"][lang])}</h2>'
    if told := scope(finding, lang):
        yield f'<p class="dim">{escape(told)}</p>'
    yield f"<p>{escape(finding['cause'][lang])}</p>"
    yield f'<p class="dim">{escape(word("why", lang))} ({finding["confidence"]:.0%}): {escape(finding["why"][lang])}</p>'
    yield f"<h3>{escape(word('evidence', lang))} (x{finding['count']})</h3>"
    shown, rest = finding["evidence"][:2], finding["evidence"][2:]
    yield from map(_evidence, shown)
    if rest:
        yield f"<details><summary>{len(rest)} {escape(word('more', lang))}</summary>"
        yield from map(_evidence, rest)
        yield "</details>"
    if finding["explains"]:
        yield f"<details><summary>{escape(word('explains', lang))}: {len(finding['explains'])}</summary>"
        yield from _list(f"{code} {by_id[code]['title'][lang]} (x{by_id[code]['count']})" for code in finding["explains"])
        yield "</details>"
    for number, fix in enumerate(finding["fixes"], 1):
        yield from _fix(fix, number, lang)
    if finding["references"]:
        yield f"<h3>{escape(word('refs', lang))}</h3>\n<ul>"
        for one in finding["references"]:
            told = escape(one["title"] or one["url"])
            web = one["url"].startswith(("https://", "http://"))
            yield f'<li><a href="{escape(one["url"])}" rel="noreferrer">{told}</a></li>' if web else f"<li>{told}</li>"
        yield "</ul>"
    yield "</section>"


def _evidence(one: Json) -> str:
    return f'<p class="dim">{escape(one["path"])}:{one["line"]}</p>{_pre(one["text"])}'


def _fix(fix: Json, number: int, lang: str) -> Iterator[str]:
    yield f"<h3>{number}. [{escape(word(fix['goal'], lang))}] {escape(fix['title'][lang])}</h3>"
    yield from _list(step[lang] for step in fix.get("steps", ()))
    for env in fix["env"]:
        yield _pre(f"export {env['name']}={env['value']}", "paste")
        if env["caution"]:
            yield f"<p>{escape(env['caution'][lang])}</p>"
        yield f'<p class="dim">{escape(word("undo", lang))}</p>{_pre(env["undo"], "undo")}'
    for command in fix["commands"]:
        if command["why"]:
            yield f"<p>{escape(command['why'][lang])}</p>"
        if command["changes"]:
            yield f"<p>{escape(word('changes', lang))}: {escape(command['changes'][lang])}</p>"
        yield _pre(command["run"], "paste")
    if fix.get("code"):
        if fix["code"]["before"].strip():
            yield f'<p class="dim">{escape(word("before", lang))}</p>{_pre(fix["code"]["before"].rstrip())}'
            yield f'<p class="dim">{escape(word("after", lang))}</p>'
        yield _pre(fix["code"]["after"].rstrip(), "paste")


def _job(job: Json, lang: str) -> Iterator[str]:
    size = job["world_size"] or "?"
    yield f"<section><h2>{escape(word('job', lang).format(seen=job['processes'], world=size))}</h2>\n<table>"
    yield _row("th", (word("processes", lang), word("state", lang), word("rank", lang)))
    for (state, about), members in folded(job):
        names = spans([m["rank"] for m in members if m["rank"] is not None])
        yield _row("td", (str(len(members)), word("state-" + state, lang).format(about=about), names))
    if job["missing_ranks"]:
        yield _row("td", (str(len(job["missing_ranks"])), word("state-missing", lang), spans(job["missing_ranks"])))
    yield "</table>"
    if told := skew_line(job, lang):
        yield f"<p>{escape(told)}</p>"
    if job["timeline"]:
        yield f"<details><summary>{escape(word('timeline', lang))}</summary>\n<table>"
        yield _row("th", (word("time", lang), word("node", lang), word("ahead", lang), word("event", lang)))
        for event in job["timeline"][:EVENTS]:
            ahead = f"{event['ahead']:+.1f}" if event["ahead"] else ""
            yield _row("td", (event["time"].replace("T", " ")[:23], event["node"] or "?", ahead, event["text"][lang]))
        yield "</table></details>"
    yield "</section>"


def _unexplained(clusters: list[Json], lang: str) -> Iterator[str]:
    if not clusters:
        return
    yield f"<section><h2>{escape(word('unexplained', lang))}: {sum(c['count'] for c in clusters)}</h2>"
    for cluster in clusters:
        yield f"<p>x{cluster['count']}</p>{_evidence(cluster['evidence'])}"
        decoded = [c for c in cluster["codes"] if c["meaning"]]
        yield from _list(f"{c['code']} = {c['name'] or ''} {c['meaning'][lang]}" for c in decoded)
    yield "</section>"


def _pre(text: str, kind: str = "") -> str:
    return f'<pre{f" class={kind}" if kind else ""}>{escape(text)}</pre>'


def _list(texts: Iterable[str]) -> Iterator[str]:
    rows = [f"<li>{escape(text)}</li>" for text in texts]
    if rows:
        yield "<ul>" + "".join(rows) + "</ul>"


def _row(cell: str, texts: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"
