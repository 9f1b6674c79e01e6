"""Bytes of logs to text."""

from __future__ import annotations

from parsers.lazy import lazy

# What pastes through web pages leave behind. Other entities may well be a log's own words.
_ENTITY = lazy(rb"&(nbsp|quot|amp|lt|gt|apos|#39|#34|#160);")
_MEANT = {b"nbsp": b" ", b"quot": b'"', b"amp": b"&", b"lt": b"<", b"gt": b">", b"apos": b"'", b"#39": b"'", b"#34": b'"', b"#160": b" "}
_BLANK = "\N{NO-BREAK SPACE}"


def decode(raw: bytes) -> str:
    """Log bytes to text: UTF-8, else GB18030 when that fits, else with the odd bytes shown as escapes.

    NULs are none of them: a crash, a sparse file or a copied and truncated log left them there. Entities and blanks of a
    web page that a log was copied from are what they stand for.
    """
    raw = raw.rstrip(b"\r\n")
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"").rstrip(b"\r\n")
    if b"&" in raw:
        raw = _ENTITY.sub(lambda found: _MEANT[found[1]], raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return text if text.isascii() else text.replace(_BLANK, " ")
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace")
