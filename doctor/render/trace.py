"""A job as Chrome trace events (JSON), which Perfetto, chrome://tracing and MindStudio Insight open: nodes are processes, ranks are threads.

A rank's slice lasts from the first to the last line of its logs; what happened to it are instants on it; what the report
names as causes are instants of the whole trace. Times are microseconds from the earliest moment, clocks of nodes set right as
far as they are known: `args.time` has the moment as the log tells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import parts
from doctor.render.job import compose, said
from parsers.parsed import seconds

Json = dict[str, Any]
ALONE = 0  # the number of a node or rank that no log names


def render(report: Json, lang: str) -> str:
    """One event a line; of a report without a job, what was found and when."""
    made = report.get("job")
    events = sorted(_Trace(report, lang).events(), key=lambda e: (e["ph"] != "M", e["ts"], e["pid"], e["tid"], e["name"]))
    about = {"tool": f"npu-doctor {report['tool']['version']}", "situation": report["situation"]["line"][lang], "clocks": compose(made, lang).clocks if made else ""}
    rows = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    return f'{{"displayTimeUnit":"ms","otherData":{json.dumps(about, ensure_ascii=False)},"traceEvents":[\n{rows}\n]}}\n'


class _Trace:
    """Numbers for nodes and ranks, and the moment from which time counts."""

    def __init__(self, report: Json, lang: str) -> None:
        self._report, self._lang = report, lang
        self._job = report.get("job") or {"ranks": [], "timeline": []}
        self._ranks: list[Json] = self._job["ranks"]
        nodes = [row["node"] or "?" for row in (*self._ranks, *self._job["timeline"])]
        self._nodes = {name: number for number, name in enumerate(dict.fromkeys(nodes), 1)}
        self._seats = {_who(row): (self._nodes[row["node"] or "?"], number) for number, row in enumerate(self._ranks, 1)}
        found = [f["first_seen"] for f in report["findings"] if f["first_seen"]]
        moments = [self._at(row["first_seen"], row["ahead"]) for row in self._ranks if row["first_seen"]]
        moments += [self._at(one["time"], one["ahead"]) for one in self._job["timeline"]] + [self._at(time, None) for time in found]
        self._begin = min(moments, default=0.0)

    def _at(self, time: str, ahead: float | None) -> float:
        return seconds(time) - (ahead or 0.0)

    def _micro(self, time: str, ahead: float | None) -> int:
        return max(0, round((self._at(time, ahead) - self._begin) * 1e6))

    def events(self) -> Iterator[Json]:
        yield from self._names()
        yield from self._lives()
        yield from self._happenings()
        yield from self._found()

    def _names(self) -> Iterator[Json]:
        yield _named("process_name", ALONE, ALONE, "npu-doctor")
        for name, number in self._nodes.items():
            yield _named("process_name", number, ALONE, f"{word('node', self._lang)} {name}")
        for who, (node, seat) in self._seats.items():
            yield _named("thread_name", node, seat, who)

    def _lives(self) -> Iterator[Json]:
        for row in self._ranks:
            if row["first_seen"] and row["last_seen"]:
                node, seat = self._seats[_who(row)]
                begin, end = (self._micro(row[key], row["ahead"]) for key in ("first_seen", "last_seen"))
                told = said((row["state"], row["about"] or ""), [row], self._job, self._lang)
                args = {"state": row["state"], "about": row["about"], "pid": row["pid"], "device": row["device"], "time": notation.moment(row["first_seen"])}
                yield {"ph": "X", "name": told, "cat": "rank", "ts": begin, "dur": max(1, end - begin), "pid": node, "tid": seat, "args": args}

    def _happenings(self) -> Iterator[Json]:
        for one in self._job["timeline"]:
            node, seat = self._seats.get(one["who"], (self._nodes[one["node"] or "?"], ALONE))
            at = self._micro(one["time"], one["ahead"])
            args = {"what": one["what"], "time": notation.moment(one["time"])}
            yield {"ph": "i", "s": "t", "name": one["text"][self._lang], "cat": "event", "ts": at, "pid": node, "tid": seat, "args": args}

    def _found(self) -> Iterator[Json]:
        for one in parts.roots(self._report):
            if one["first_seen"]:
                place = notation.place(one["evidence"][0]["path"], one["evidence"][0]["line"]) if one["evidence"] else ""
                args = {"severity": one["severity"], "confidence": one["confidence"], "place": place, "time": notation.moment(one["first_seen"])}
                name = f"{one['id']} {one['title'][self._lang]}"
                yield {"ph": "i", "s": "g", "name": name, "cat": "finding", "ts": self._micro(one["first_seen"], None), "pid": ALONE, "tid": ALONE, "args": args}


def _who(row: Json) -> str:
    if row["rank"] is not None:
        return f"rank {row['rank']}"
    return f"pid {row['pid']}" if row["pid"] is not None else f"device {row['device']}"


def _named(kind: str, pid: int, tid: int, name: str) -> Json:
    return {"ph": "M", "name": kind, "ts": 0, "pid": pid, "tid": tid, "args": {"name": name}}
