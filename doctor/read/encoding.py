"""Bytes of logs to text."""

from __future__ import annotations


def decode(raw: bytes) -> str:
    """Log bytes to text: UTF-8, else GB18030 when that fits, else with the odd bytes shown as escapes.

    NULs are none of them: a crash, a sparse file or a copied and truncated log left them there.
    """
    raw = raw.rstrip(b"\r\n")
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"").rstrip(b"\r\n")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace")
