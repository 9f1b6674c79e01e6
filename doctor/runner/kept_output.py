"""Remembers what a program printed, within bounds: the beginning, where the first error stands, and the end."""

from __future__ import annotations

from collections import deque

HEAD = 2 << 20
TAIL = 6 << 20


class Tail:
    """Bytes as they passed. Memory never exceeds `head + tail` by more than one chunk."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._head, self._room = bytearray(), head
        self._tail: deque[bytes] = deque()
        self._size, self._limit = 0, tail
        self.dropped = 0

    def add(self, data: bytes) -> None:
        if self._room:
            taken = data[: self._room]
            self._head += taken
            self._room -= len(taken)
            data = data[len(taken) :]
        if not data:
            return
        self._tail.append(data)
        self._size += len(data)
        while self._size - len(self._tail[0]) >= self._limit:
            gone = self._tail.popleft()
            self._size -= len(gone)
            self.dropped += len(gone)

    def content(self) -> bytes:
        """Everything that is remembered; a line says how much is missing between beginning and end."""
        if not self.dropped:
            return bytes(self._head) + b"".join(self._tail)
        return bytes(self._head) + f"\n... {self.dropped} bytes are not kept ...\n".encode() + b"".join(self._tail)
