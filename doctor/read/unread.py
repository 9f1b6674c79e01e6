"""What was not read, and why: a row for each, and of very many a number for each reason."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.read.source import Skipped

MAX_NAMED = 20_000


class Unread:
    """What a walk through trees left out so far."""

    def __init__(self) -> None:
        self._rows: list[Skipped] = []
        self._further: dict[str, int] = {}

    def append(self, row: Skipped) -> None:
        if len(self._rows) < MAX_NAMED:
            self._rows.append(row)
        else:
            self._further[row.reason] = self._further.get(row.reason, 0) + 1

    def extend(self, rows: Iterable[Skipped]) -> None:
        for row in rows:
            self.append(row)

    def told(self) -> tuple[Skipped, ...]:
        return (*self._rows, *(Skipped("...", f"{count} more: {reason}") for reason, count in self._further.items()))
