"""The diagnosis of logs that are being written, and what is new in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from doctor.answer.report import report
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read.source import Source
from doctor.scan.harvest import Harvest
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.select import EVERYTHING, Select
from doctor.watch.followed_files import Follower
from kb.knowledge import Knowledge
from parsers.named import NamedTuple

Json = dict[str, Any]
MAX_TOLD = 20_000  # shapes of unexplained errors that are announced, each once


def now() -> str:
    return datetime.now().isoformat(timespec="seconds")


class Update(NamedTuple):
    """The report as it stands, and the events since the last one."""

    report: Json
    diagnosis: Diagnosis
    events: tuple[Json, ...]


class Live:
    """Looks again and again; says only what changed."""

    def __init__(
        self,
        paths: Sequence[str],
        known: Knowledge,
        select: Select = EVERYTHING,
        new_only: bool = False,
        piped: Sequence[tuple[str, Source]] = (),
        clock: Callable[[], str] = now,
    ) -> None:
        self.follower = Follower(paths, new_only, piped)
        self._known = known
        self._scanner = Scanner(Plan(known.sought()), select, digest=known.digest)
        self._clock = clock
        self._begin = time.monotonic()
        self._told: dict[str, Json] = {}  # finding -> as it was told last
        self._clusters: set[str] = set()
        self._started = False
        self.last: Update | None = None

    @property
    def files(self) -> int:
        return len(self.follower.tails)

    @property
    def size(self) -> int:
        return sum(tail.size for tail in self.follower.tails)

    def poll(self) -> Update | None:
        """One look; None when nothing changed."""
        changed = self.follower.look(self._scanner)
        events: list[Json] = []
        if self._started:
            events += [{"event": "file", "path": path} for path in self.follower.appeared]
        events += [{"event": "restarted", "path": path} for path in self.follower.restarted]
        first = not self._started
        self._started = True
        if first:
            events.insert(0, {"event": "started", "files": self.files})
        if not (changed or first or events):
            return None
        harvests: list[Harvest] = self.follower.harvests
        diagnosis = conclude(harvests, self._known, time.monotonic() - self._begin, self.follower.skipped)
        made = report(diagnosis, self._known)
        events += self._news(made)
        stamp = self._clock()
        self.last = Update(made, diagnosis, tuple({"time": stamp, **event} for event in events))
        return self.last

    def _news(self, made: Json) -> list[Json]:
        """New findings, findings that turned out to be symptoms (or causes), much repeated ones, new unexplained errors."""
        events: list[Json] = []
        for finding in made["findings"]:
            before = self._told.get(finding["id"])
            place = {k: finding[k] for k in ("role", "explained_by", "count")}
            if before is None:
                events.append({"event": "finding", "finding": finding})
            elif (before["role"], before["explained_by"]) != (place["role"], place["explained_by"]):
                events.append({"event": "changed", "id": finding["id"], **place})
            elif place["count"] >= 2 * before["count"]:
                events.append({"event": "repeated", "id": finding["id"], "count": place["count"]})
            else:
                continue
            self._told[finding["id"]] = place
        for cluster in made["unexplained"]:
            if cluster["template"] not in self._clusters and len(self._clusters) < MAX_TOLD:
                self._clusters.add(cluster["template"])
                events.append({"event": "unexplained", "cluster": cluster})
        return events

    def end(self) -> Json:
        """The last event: how it stands when watching ends."""
        verdict = self.last.report["verdict"] if self.last else "inconclusive"
        return {"time": self._clock(), "event": "ended", "verdict": verdict, "findings": len(self._told)}
