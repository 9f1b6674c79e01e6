"""How far a run has come, in one line that is written over and over; silent when nobody watches a terminal."""

from __future__ import annotations

import os
import sys
import time

from doctor.base.notation import size
from doctor.base.words import word
from doctor.fleet.outcome import Outcome

EVERY_S = 0.2


class Live:
    """Counts what began and what ended, and shows it."""

    def __init__(self, count: int, language: str) -> None:
        self._count, self._language = count, language
        self._began = self._done = self._failing = self._received = 0
        self._last = 0.0
        self._shown = False
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")

    def began(self) -> None:
        self._began += 1
        self._tell()

    def done(self, outcome: Outcome) -> None:
        self._done += 1
        self._failing += not outcome.answered
        self._received += outcome.received
        self._tell()

    def line(self) -> str:
        running = max(0, self._began - self._done)
        return word(
            "fleet.progress", self._language, done=self._done, all=self._count, failing=self._failing, running=running,
            waiting=max(0, self._count - self._done - running), received=size(self._received),
        )  # fmt: skip

    def _tell(self) -> None:
        now = time.monotonic()
        if self._on and now - self._last >= EVERY_S:
            self._last, self._shown = now, True
            sys.stderr.write(f"\r\x1b[K{self.line()}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
