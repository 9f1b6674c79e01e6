"""What stands beneath the title `TraceBack` of an error block of CANN: the way of an error upwards, innermost line first.

    EE1001: [PID: 21477] 2026-03-18-10:02:45.811.307 The argument is invalid.Reason: rtKernelGetAddrAndPrefCnt execution failed
            TraceBack (most recent call last):
            Binary register failed, elf machine or arch does not match the device.
            rtKernelLaunch execution failed, reason=invalid value[FUNC:FuncErrorReason][FILE:error_message_manage.cc][LINE:65]

A line with a function and a file is known by them. One in plain words has neither level nor code, and is often the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.lazy import lazy

TITLE = b"TraceBack (most recent call last)"
MARK = "TraceBack (most recent call"
LINES = 12
_INDENTED = lazy(rb"(?:[ ]{2,40}|\t{1,4}|(?:&nbsp;){2,40})(?=[^\s])")
_SAYS = lazy(rb"\s*(?!raise |return |File |During |\[\[)[^\n]{0,200}?[A-Za-z]{2,}[ ,.:]+[A-Za-z\d(\[<'\"]+[ ,.:]+[A-Za-z\d(\[<'\"]")  # three words, not code
_KNOWN = (b"][FILE:", b"] [FILE:", b'File "', b"[THREAD:")


BEGINS = (b" ", b"\t", b"&")  # how a line may begin that stands beneath a title


def any_beneath(data: bytes, eol: int) -> bool:
    """May lines follow that stand beneath a title which ends at `eol`? Told without reading them."""
    start = eol + 1
    return data.startswith(BEGINS, start) and data.find(TITLE, start, data.find(b"\n", start)) < 0


def beneath(data: bytes, eol: int) -> Iterator[tuple[int, int]]:
    """Where the lines in plain words begin and end that follow a title which ends at `eol`."""
    for _ in range(LINES):
        start = eol + 1
        eol = data.find(b"\n", start, start + 4096)
        if eol < 0 or _INDENTED.match(data, start, eol) is None or data.find(TITLE, start, eol) >= 0:  # that one has lines of its own
            return
        if _SAYS.match(data, start, eol) is not None and not any(data.find(sign, start, eol) >= 0 for sign in _KNOWN):
            yield start, eol
