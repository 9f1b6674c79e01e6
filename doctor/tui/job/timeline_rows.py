"""The job of a report as rows: a rank a row with its end on one line of time, then what happened when. No terminal.

Reads what is there of `job` and never stumbles over what is not: reports of other versions are shown as far as they go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.base.words import word
from doctor.tui.shell.line import BLANK, Row, Span, shown
from parsers.parsed import seconds

Json = Mapping[str, Any]
NAME, NODE = 12, 14  # cells of the columns before the line of time
MAX_ROWS = 4096
FAILED, WAITS, SILENT = ("root", "fault", "stopped", "stuck"), ("waiting", "gave-up"), ("silent", "absent", "no-logs")
_CODE = re.compile(r"[A-Z]{3}\d{3}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def ranks(job: Json) -> list[Json]:
    return _maps(job.get("ranks"))[:MAX_ROWS]


def rows(job: Json, lang: str, room: int) -> list[Row]:
    """Who failed by itself first, then those that wait, then the others; then the events in their order."""
    return [*_rank_rows(job, lang, room), *_event_rows(job, lang)]


def _rank_rows(job: Json, lang: str, room: int) -> Iterator[Row]:
    all_ranks = ranks(job)
    times = {n: time for n, rank in enumerate(all_ranks) if (time := _end_of(rank, job))}
    begin, end = (min(map(seconds, times.values())), max(map(seconds, times.values()))) if times else (0.0, 0.0)
    line = max(10, min(60, room - NAME - NODE - 30))
    if times:
        right = f"+{end - begin:.1f} s"
        yield Row("", (Span(" " * (NAME + NODE) + "0".ljust(max(1, line - len(right))) + right, "dim"),))
    for number, rank in sorted(
        enumerate(all_ranks), key=lambda pair: (_order(pair[1]), times.get(pair[0], "~"), pair[0])
    ):
        state = str(rank.get("state") or "")
        style = "error" if state in FAILED else "warning" if state in WAITS else "dim" if state in SILENT else ""
        mark = "X" if state in FAILED else "x" if state in WAITS else "?" if state in SILENT else "-"
        at = round((seconds(times[number]) - begin) / max(end - begin, 1e-6) * (line - 1)) if number in times else 0
        yield Row(
            f"rank:{number}",
            (
                Span(f"{label(rank)[: NAME - 1]:<{NAME}}", "id"),
                Span(f"{shown(str(rank.get('node') or ''))[: NODE - 1]:<{NODE}}", "dim"),
                Span("─" * at, "dim"), Span(mark, style), Span(" " * (line - at + 1)),
                Span(_told(rank, state, lang), style),
            ),
        )  # fmt: skip
    for one in _list(job.get("missing_ranks")):
        yield Row(
            f"missing:{one}", (Span(f"{'rank ' + str(one):<{NAME + NODE}}", "id"), Span(word("log-of", lang), "dim"))
        )


def _event_rows(job: Json, lang: str) -> Iterator[Row]:
    events = _maps(job.get("timeline"))
    if events:
        yield Row("", BLANK)
        yield Row("", (Span(word("timeline", lang), "label"),))
    for number, event in enumerate(events):
        time = str(event.get("time") or "").replace("T", " ")
        code = str(event.get("what") or "")
        style = "error" if _CODE.fullmatch(code) else "warning"
        text = event.get("text")
        told = str(text.get(lang) or "") if isinstance(text, Mapping) else str(text or "")
        yield Row(
            f"event:{number}",
            (
                Span(f"{shown(time):<27}", "dim"),
                Span(f"{shown(str(event.get('who') or '')):<{NAME}}", "id"),
                Span(shown(f"{code}  {told}"), style),
            ),
        )


def summary(job: Json, lang: str) -> str:
    parts = [f"{word('world', lang)} {job['world_size']}"] if job.get("world_size") is not None else []
    parts.append(f"{len(ranks(job))} rank")
    skew = [
        f"{shown(str(s.get('node', '?')))} {_number(s.get('seconds_ahead')):+.1f} s" for s in _maps(job.get("skew"))[:3]
    ]
    return " · ".join([*parts, f"{word('skew', lang)} {', '.join(skew)}"] if skew else parts)


def headline(job: Json, lang: str) -> str:
    """One line: where it began, and how many wait for it."""
    told = []
    for root in _maps(job.get("roots"))[:2]:
        codes = " ".join(map(str, _list(root.get("codes"))[:2])) or str(root.get("verdict") or "")
        waiters = word("waiters", lang, n=root["waiters"]) if root.get("waiters") else ""
        told.append(f"{word('first-failed', lang)}: {root.get('who', '?')}  {codes}  {waiters}".rstrip())
    return "; ".join(told)


def finding_of(job: Json, key: str) -> str:
    """The entry that a row is about; empty when it is about none."""
    kind, _, number = key.partition(":")
    found = ranks(job) if kind == "rank" else _maps(job.get("timeline")) if kind == "event" else []
    if not number.isdigit() or int(number) >= len(found):
        return ""
    code = str(found[int(number)].get("about" if kind == "rank" else "what") or "")
    return code if _CODE.fullmatch(code) else ""


def label(rank: Json) -> str:
    """What a person calls it."""
    if rank.get("rank") is not None:
        return f"rank {rank['rank']}"
    if rank.get("device") is not None and rank.get("pid") is None:
        return f"device {rank['device']}"
    return f"pid {rank.get('pid', '?')}"


def _told(rank: Json, state: str, lang: str) -> str:
    about = str(rank.get("about") or "")
    if state in WAITS:
        return f"{word('waits-for', lang)} {shown(about or '?')}"
    if state in SILENT and not about:
        return word("silent", lang)
    time = str(rank.get("failed_at") or "").partition("T")[2]
    return shown("  ".join(p for p in (state if state != "root" else word("first-failed", lang), about, time) if p))


def _order(rank: Json) -> int:
    state = str(rank.get("state") or "")
    return 0 if state == "root" else 1 if state in FAILED else 2 if state in WAITS else 3


def _end_of(rank: Json, job: Json) -> str | None:
    """When it failed or gave up, else its last sign of life."""
    name = label(rank)
    told = [e.get("time") for e in _maps(job.get("timeline")) if e.get("who") == name]
    for value in (*told, rank.get("last_seen")):
        if isinstance(value, str) and _TIME.match(value):
            return value
    return None


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _maps(value: object) -> list[Json]:
    return [v for v in _list(value) if isinstance(v, Mapping)]
