"""Error numbers of the operating system: the number alone becomes the words that readers understand.

    rename error. errno is 30
    ioctl failed, errno=19
    halMemCtl error, strerror 12

>>> in_words("rename error. errno is 30")
'rename error. errno is 30 (Read-only file system)'
>>> in_words("[Errno 28] No space left on device")
'[Errno 28] No space left on device'
>>> in_words("poll returned, errno=0")
'poll returned, errno=0'
"""

from __future__ import annotations

from parsers.lazy import lazy

# As Linux numbers them; what a program goes on after (interrupted, try again, in progress) is told by `PASSING`.
WORDS = {
    1: "Operation not permitted", 2: "No such file or directory", 5: "Input/output error", 6: "No such device or address",
    9: "Bad file descriptor", 10: "No child processes", 11: "Resource temporarily unavailable", 12: "Cannot allocate memory",
    13: "Permission denied", 14: "Bad address", 16: "Device or resource busy", 17: "File exists", 19: "No such device",
    20: "Not a directory", 21: "Is a directory", 22: "Invalid argument", 23: "Too many open files in system",
    24: "Too many open files", 25: "Inappropriate ioctl for device", 26: "Text file busy", 27: "File too large",
    28: "No space left on device", 30: "Read-only file system", 32: "Broken pipe", 36: "File name too long",
    38: "Function not implemented", 39: "Directory not empty", 61: "No data available", 71: "Protocol error",
    95: "Operation not supported", 98: "Address already in use", 99: "Cannot assign requested address", 100: "Network is down",
    101: "Network is unreachable", 104: "Connection reset by peer", 107: "Transport endpoint is not connected",
    110: "Connection timed out", 111: "Connection refused", 112: "Host is down", 113: "No route to host",
    116: "Stale file handle", 122: "Disk quota exceeded",
}  # fmt: skip
PASSING = frozenset({4, 11, 115})
_TOLD = lazy(r"(?<![A-Za-z])(?:strerror|(?:[Ee]rr|ERR)(?:no|NO)\b)(?: ?(?:is|=|:|num|code)| ?\[| ?\(){0,2} ?(?P<number>\d{1,3})\b(?!\.\d)")


def number(text: str) -> int | None:
    """The error number that a text tells, None when it tells none or that nothing failed."""
    found = _TOLD.search(text)
    return int(found["number"]) or None if found is not None else None


def in_words(text: str) -> str:
    """The text with the words of its error number behind it, where it has them not yet."""
    found = _TOLD.search(text)
    words = WORDS.get(int(found["number"])) if found is not None else None
    if found is None or words is None or words.lower() in text.lower():
        return text
    end = found.end() + (1 if text[found.end() : found.end() + 1] in ("]", ")") else 0)
    return f"{text[:end]} ({words}){text[end:]}"
