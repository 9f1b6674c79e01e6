"""The last operators in a memory-mapped file of fixed slots; each slot is one line of JSON."""

from __future__ import annotations

import json
import mmap
import os
import time
from typing import Any

FORMAT = 1
HEADER = 4096
SLOT = 2048


class Ring:
    """The last operators in a memory-mapped file of fixed slots; each slot is one line of JSON."""

    def __init__(self, directory: str, last: int) -> None:
        self.pid = os.getpid()
        self.last = last
        rank = os.environ.get("RANK", "")
        name = f"ops-{self.pid}" + (f"-rank{rank}" if rank.isdigit() else "")
        self.path = os.path.join(directory, name + ".ring")
        self.json = os.path.join(directory, name + ".json")
        self.stack = os.path.join(directory, name + ".stack")
        size = HEADER + SLOT * last
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.ftruncate(descriptor, size)
            self.memory = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self.began = time.time()
        self.set_header({})

    def set_header(self, more: dict[str, Any]) -> None:
        head = {
            "npu_doctor_record": FORMAT,
            "pid": self.pid,
            "slots": self.last,
            "slot_size": SLOT,
            "began": self.began,
        }
        text = json.dumps({**head, **more}, default=str).encode()[: HEADER - 1] + b"\n"
        self.memory[: len(text)] = text

    def entries(self) -> list[dict[str, Any]]:
        """What stands in the ring, oldest first. A slot that a crash cut in the middle is left out."""
        return parse_slots(self.memory[HEADER:], SLOT)

    def remove(self) -> None:
        for path in (self.path, self.stack):
            try:
                os.unlink(path)
            except OSError:
                pass


def parse_slots(data: bytes, size: int) -> list[dict[str, Any]]:
    found = []
    for begin in range(0, len(data), size):
        line = data[begin : begin + size].split(b"\n", 1)[0].strip(b"\0")
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("seq"), int):
            found.append(entry)
    return sorted(found, key=lambda entry: int(entry["seq"]))
