"""Packs a zip archive again with the best that its own format can do: the same names, times and bytes, a twentieth less.

Archives of wheels know no other compression than deflate, and zlib does not look for its shortest form. libdeflate does.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

_LEVEL = 12
_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def pack_again(path: Path) -> None:
    """The archive in place; as it was where libdeflate is not at hand or gains nothing."""
    try:
        import deflate
    except ImportError:
        return
    body, directory, count = bytearray(), bytearray(), 0
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            data = archive.read(info)
            packed, method = bytes(deflate.deflate_compress(data, _LEVEL)), zipfile.ZIP_DEFLATED
            if len(packed) >= len(data):
                packed, method = data, zipfile.ZIP_STORED
            name = info.filename.encode("utf-8")
            year, month, day, hour, minute, second = info.date_time
            fields = struct.pack(
                "<HHHHHIIIHH", 20, 0 if name.isascii() else 0x800, method, hour << 11 | minute << 5 | second // 2,
                (year - 1980) << 9 | month << 5 | day, zlib.crc32(data), len(packed), len(data), len(name), 0,
            )  # fmt: skip
            directory += _CENTRAL + struct.pack("<H", 3 << 8 | 20) + fields + struct.pack("<HHHII", 0, 0, 0, info.external_attr, len(body)) + name
            body += _LOCAL + fields + name + packed
            count += 1
    end = _END + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    if len(body) + len(directory) + len(end) >= path.stat().st_size:
        return
    beside = path.with_suffix(".again")
    beside.write_bytes(body + directory + end)
    os.replace(beside, path)
