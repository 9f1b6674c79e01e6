"""What leaves the interface for others - exported reports, copied cards and lines of logs - has pseudonyms instead of names.

Commands to paste (fixes, the command line of a view) stay as they are: they are for the reader's own terminal.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kb.knowledge import Knowledge

if TYPE_CHECKING:  # the first picture needs none of it
    from doctor.answer.redact import Redactor
    from doctor.tui.shell.session import Outcome

Json = dict[str, Any]


class Pseudonyms:
    """The pseudonyms of one outcome: the same in everything that is made of it. Made in a thread: large reports take seconds."""

    def __init__(self, outcome: Outcome, known: Knowledge, own_words: Sequence[str] = ()) -> None:
        self._outcome, self._known, self._own = outcome, known, own_words
        self._lock = threading.Lock()
        self._using: Redactor | None = None
        self._report: Json = {}

    def report(self) -> Json:
        """The report as others may see it."""
        with self._lock:
            if self._using is None:
                from doctor.answer.redact import redactor

                using = redactor(self._outcome.diagnosis, self._known, own=self._own)
                self._report = using.report(self._outcome.report)
                self._report["redacted"] = using.told
                self._using = using
            return self._report

    def text(self, text: str) -> str:
        """A line of a log as others may see it: what the whole report has told to be a name is none in it."""
        self.report()
        with self._lock:
            assert self._using is not None
            return self._using.text(text)
