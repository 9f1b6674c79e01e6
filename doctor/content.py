"""What the first bytes of a file tell about it."""

from __future__ import annotations

HEAD = 4096

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
