"""Automata that one worker has made and the others need not make: memory that was shared before the workers were forked.

What disturbs in one file of a tree disturbs in the next, so workers want the same automata at nearly the same time. Each place
is taken by what the automaton is made of; whoever was first makes it, the others go on without it until it is there.
"""

from __future__ import annotations

import mmap
import struct
import time
import zlib
from hashlib import blake2b

PLACES = 24
ROOM = 2 << 20  # of an automaton with its head; pages that nobody writes on cost nothing
KEY = 16
LONG = 1.0  # seconds: whoever was to make one so long ago has ended, or has too much to do
_PLACES = range(0, PLACES * ROOM, ROOM)  # where each begins
_HEAD = struct.Struct(f"<{KEY}sQL")


class Shelf:
    """Without locks: two that are made at once are made twice, and what is not written to its end is not taken."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, PLACES * ROOM)
        self._asked: dict[bytes, float] = {}  # by this process, and when first
        self._own: set[bytes] = set()  # what this process is to make

    @staticmethod
    def key(content: bytes) -> bytes:
        return blake2b(content, digest_size=KEY).digest()

    def get(self, key: bytes) -> bytes | None:
        """What was made for a key, if it is there."""
        for at in _PLACES:
            held, size, crc = _HEAD.unpack_from(self._memory, at)
            if held == key and size:
                made = self._memory[at + _HEAD.size : at + _HEAD.size + size]
                return made if zlib.crc32(made) == crc else None
        return None

    def mine(self, key: bytes) -> bool:
        """Is it to be made by this process? No: another one is at it."""
        for at in _PLACES:
            held = self._memory[at : at + KEY]
            if held == key:
                return time.monotonic() - self._asked.setdefault(key, time.monotonic()) > LONG
            if not any(held):
                self._memory[at : at + KEY] = key
                self._own.add(key)
                return True
        return True

    def awaited(self) -> bool:
        """Is another process making one now? What it makes is mostly what this one needs next."""
        for at in _PLACES:
            key, size, _ = _HEAD.unpack_from(self._memory, at)
            if not any(key):
                return False
            if not size and key not in self._own and time.monotonic() - self._asked.setdefault(key, time.monotonic()) <= LONG:
                return True
        return False

    def put(self, key: bytes, made: bytes) -> None:
        """For the others; what has no room they make themselves."""
        at = next((at for at in _PLACES if self._memory[at : at + KEY] == key), None)
        if at is not None and _HEAD.size + len(made) <= ROOM:
            self._memory[at + _HEAD.size : at + _HEAD.size + len(made)] = made
            _HEAD.pack_into(self._memory, at, key, len(made), zlib.crc32(made))


def shelf() -> Shelf | None:
    """One for the workers to come; none where there is no room."""
    try:
        return Shelf()
    except OSError:
        return None
