"""Bytes of logs to text."""

from __future__ import annotations


def decode(raw: bytes) -> str:
    """Log bytes to text: UTF-8, else GB18030 when that fits, else with the odd bytes shown as escapes."""
    raw = raw.rstrip(b"\r\n")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace")
