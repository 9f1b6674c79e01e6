"""What the first bytes of a file tell about it."""

from __future__ import annotations

import re

HEAD = 4096
WHOLE = 1 << 16  # up to this size a text is looked at as a whole when its beginning looks like source code
SOURCE_CODE = "source code, no log: what it would print has not happened"

# Beginnings of files that hold no log text.
_BINARY = (
    b"\x7fELF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF",
    b"\x93NUMPY",
    b"SQLite format 3",
    b"\xca\xfe\xba\xbe",
)
_UNREAD_ARCHIVES = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd", b"7z\xbc\xaf": "7z", b"Rar!": "rar"}


ZIP = b"PK\x03\x04"  # with which a zip begins, and each of its members


def archive(head: bytes) -> str:
    """What kind of archive begins so. By content, not by name: a rotated log may be called anything."""
    if head.startswith(ZIP):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "gz"
    return "tar" if head[257:262] == b"ustar" else ""


def not_text(head: bytes) -> str:
    """Why a beginning cannot be a log's; empty when it can. Some NUL bytes are fine: logs of crashed machines have them."""
    for magic, kind in _UNREAD_ARCHIVES.items():
        if head.startswith(magic):
            return f"{kind} compression is not read: unpack it first (read are gz, tar, tgz, zip)"
    if head.startswith(_BINARY):
        return "a binary file"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text is not read: convert it with iconv -f UTF-16 -t UTF-8"
    odd = sum(head.count(bytes([c])) for c in (*range(1, 7), *range(14, 27), *range(28, 32)))
    if head and head.count(0) < len(head) and odd * 10 > len(head):
        return "a binary file"
    if head.count(0) * 2 > len(head) and not any(word in head for word in (b"[", b"ERROR", b"INFO")):
        return "a binary file"
    return ""


DOCUMENTATION = "documentation, it may quote messages that were never printed: name the file itself to have it read"
_DOCUMENTATION = re.compile(r"\.(?:md|rst|html?)$", re.IGNORECASE)
_CODE_NAME = re.compile(r"\.(?:pyi?|c|cc|cpp|cxx|h|hpp|cu|cuh|java|go|rs|js|ts|cmake|sh)$")
# What only a program that ran prints, at the beginning of a line: one such line, and a text is no mere source code.
_PRINTED = re.compile(
    rb"^(?:\W{0,4}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|Traceback \(most|[\w.]*(?:Error|Exception|Warning): "
    rb"|\S+@\S+[#$] |E\w?\d{4,5}[:(]|\+-{8}|#\d+ |\S*\d\d:\d\d:\d\d| {2}File \"|\[)",
    re.MULTILINE,
)
_CODE_LINE = re.compile(
    rb"[;{},(\[:\\]\s*$|^\s*(?:[})\]@*]|#(?!\d)|//|/\*|\"\"\"|(?:async |await )?(?:def|class|import|from|return|if|elif|else|for|while|with|try"
    rb"|except|raise|assert|struct|enum|namespace|using|static|const|void|int|template|public|private|function|export|echo|fi|done|esac"
    rb"|local|set)\b|[\w.\[\]\"']+ ?[-+*|/]?= ?\S|[\w.>-]+\([^)]*\))"
)
_MIN_CODE_LINES = 8


def source_code(name: str, text: bytes, whole: bool) -> bool:
    """Is it the text of a program? Messages stand in it as literals; nothing has happened.

    Told by the name, else by the whole text: every line but a few looks like code and none like output of a program.
    """
    if _PRINTED.search(text):
        return False
    return _CODE_NAME.search(name) is not None or (whole and _all_code(text))


def no_log(name: str, text: bytes, whole: bool) -> str:
    """Why something is not read as a log; empty when it is."""
    return not_text(text) or (SOURCE_CODE if source_code(name, text, whole) else "")


def documentation(name: str) -> bool:
    """Do files of this name explain messages rather than hold them? Only asked of what nobody named."""
    return _DOCUMENTATION.search(name) is not None


def _all_code(text: bytes) -> bool:
    lines = [line for line in text.split(b"\n") if line.strip()]
    return len(lines) >= _MIN_CODE_LINES and sum(map(bool, map(_CODE_LINE.search, lines))) * 10 >= len(lines) * 9
