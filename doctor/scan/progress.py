"""Progress of long work on standard error: bytes, files, rate, time left. Silent when nobody watches a terminal."""

from __future__ import annotations

import os
import sys
import time

QUIET_S = 0.7  # work that is over by then needs no progress
EVERY_S = 0.2


class Progress:
    """Written over and over in one line; erased at the end."""

    def __init__(self, total: int, files: int, lang: str) -> None:
        self._total, self._files, self._zh = total, files, lang == "zh"
        self._bytes = self._read = self._part = self._base = 0
        self._begin = time.monotonic()
        self._last = self._begin + QUIET_S - EVERY_S
        self._shown = False
        self._on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")

    def add(self, size: int, begun: int) -> None:
        """A whole range was read, or several, by a worker; `begun`: how many files that are."""
        self.begin(size, begun)
        self.done(size)

    def begin(self, size: int, begun: int) -> None:
        """A range is read from here on; 0 bytes: it is not known how many it has."""
        self._read += begun
        self._part, self._base = size, self._bytes

    def moved(self, size: int) -> None:
        """A window of the range was read; what was unpacked counts for no more than the range has."""
        self._bytes = min(self._bytes + size, self._base + self._part) if self._part else self._bytes + size
        self._tell()

    def done(self, size: int) -> None:
        self._bytes = self._base + size
        self._tell()

    def _tell(self) -> None:
        now = time.monotonic()
        if self._on and now - self._last >= EVERY_S:
            self._last = now
            self._show(now - self._begin)

    def _show(self, seconds: float) -> None:
        rate = self._bytes / max(seconds, 0.001)
        left = f"{max(0.0, self._total - self._bytes) / rate:.0f} s" if rate and self._total else "?"
        share = f"{min(100, 100 * self._bytes // self._total)} %" if self._total else ""
        told = (
            f"已读 {self._read}/{self._files} 个文件  {self._bytes >> 20} MiB {share}  {rate / 1e6:.0f} MB/s  剩余 {left}"
            if self._zh
            else f"read {self._read}/{self._files} files  {self._bytes >> 20} MiB {share}  {rate / 1e6:.0f} MB/s  {left} left"
        )
        sys.stderr.write(f"\r\x1b[K{told}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
