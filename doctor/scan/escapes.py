"""Terminal escapes, as programs write them that colour their lines."""

from __future__ import annotations

from parsers.lazy import lazy

ESCAPE = b"\x1b"
_SEQUENCE = lazy(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_]|[()][A-Z0-9])?")


def without_escapes(data: bytes) -> bytes:
    """The text that a terminal shows; line breaks stay."""
    return _SEQUENCE.sub(b"", data)
