"""The form of a line in bytes: lines of one form have one shape, and are told apart from others without being read."""

from __future__ import annotations

from parsers.lazy import lazy

LONGEST = 2000  # bytes of a line that has a form
CODE = r"\b(?:E[A-Z0-9]\d{4}|ERR\d{5}|(?<!\d\.)[1-5]\d{5})\b"  # which a shape keeps: no fraction of a second
_CODE = lazy(CODE.encode())
_MASKS = (
    (lazy(rb"0[xX][0-9a-fA-F]+"), b"\x01"),
    (lazy(rb"\b[0-9a-fA-F]{12,}\b"), b"\x02"),
    (lazy(rb"\d+"), b"\x03"),
)


_DECIDING = lazy(rb"(strerror|(?:[Ee]rr|ERR)(?:no|NO)\b|error code)[^\d\n]{0,14}(0[xX][0-9a-fA-F]{1,20}|\d{1,20})")


def deciding(raw: bytes) -> tuple[bytes, ...]:
    """The numbers of a line that may make it an error or none: those of the operating system, and whether a code is zero."""
    if len(raw) > LONGEST:
        return (raw,)
    return tuple(_decides(word, number) for word, number in _DECIDING.findall(raw))


def _decides(word: bytes, number: bytes) -> bytes:
    if word == b"error code":
        return number.strip(b"0xX") and b"not zero"
    return number if len(number) <= 3 else b"none"


def form(raw: bytes) -> bytes:
    """Numbers and addresses masked, codes kept; empty for a line that is too long to have one."""
    if len(raw) > LONGEST:
        return b""
    codes = _CODE.findall(raw)
    for pattern, mask in _MASKS:
        raw = pattern.sub(mask, raw)
    return b"\n".join((raw, *codes)) if codes else raw
