"""Compiled libraries: for which machine they are, and what of them a program needs."""

from __future__ import annotations

import struct

MACHINES = {62: "x86_64", 183: "aarch64"}


def machine(data: bytes) -> str | None:
    """The machine of an ELF file of 64 bits; None when it is none."""
    if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        return None
    number = struct.unpack_from("<H", data, 18)[0]
    return MACHINES.get(number, str(number))


def needed(data: bytes) -> bytes:
    """The file without what no program loads: symbols and debugging sections behind the last segment."""
    if machine(data) is None:
        return data
    made = bytearray(data)
    (table,) = struct.unpack_from("<Q", made, 32)
    size, count = struct.unpack_from("<HH", made, 54)
    end = table + size * count
    for at in range(table, end, size):
        offset, length = struct.unpack_from("<Q", made, at + 8)[0], struct.unpack_from("<Q", made, at + 32)[0]
        end = max(end, offset + length)
    struct.pack_into("<Q", made, 40, 0)  # no table of sections any more
    struct.pack_into("<HH", made, 60, 0, 0)
    return bytes(made[:end])
