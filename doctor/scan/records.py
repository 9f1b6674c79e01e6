"""Windows of JSON logs: each record becomes the line that was logged, before anything is looked for in it."""

from __future__ import annotations

from doctor.scan.windows import Window
from parsers.jsonline import FOLD, PREFIX, unwrap
from parsers.lazy import lazy

_HOLE = lazy(rb"\n\0+")
_MANY = 500  # braces in a window; finding the quote behind each of more costs as much as looking for both


def records(window: Window) -> Window:
    """The window with its JSON records unwrapped; most have none, and cost one look for a brace."""
    if b"{" not in window.data:
        return window
    limit = window.limit
    own = _unwrapped(window.data[:limit])
    ahead = _unwrapped(window.data[limit:])
    if own is None and ahead is None:
        return window
    own = _foldless(window.data[:limit]) if own is None else own
    ahead = (_foldless(window.data[limit:]) if ahead is None else ahead).lstrip(b"\0")
    return Window(own + ahead, len(own), _unwrapped(window.before) or window.before, window.last, limit, FOLD in own)


def _unwrapped(data: bytes) -> bytes | None:
    """Whole lines, with the records among them unwrapped; None when there is none."""
    if data.count(b"{") > _MANY and b'{"' not in data:
        return None
    pieces: list[bytes] = []
    done = 0
    at = data.find(b"{")
    while at >= 0:
        if data[at + 1 : at + 2] != b'"':
            at = data.find(b"{", at + 1)
            continue
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        start = data.rfind(b"\n", max(0, at - PREFIX - 1), at) + 1
        if (start or at <= PREFIX) and data[end - 2 : end].rstrip()[-1:] == b"}" and (told := unwrap(data[start:end])) is not None:
            pieces += (_foldless(data[done:start]), told)
            done = end
        at = data.find(b"{", end)
    if not pieces:
        return None
    pieces.append(_foldless(data[done:]))
    return b"".join(pieces)


def _foldless(data: bytes) -> bytes:
    """Lines as they are written, without what would read as a line of the same record: the NULs of a hole at their beginnings."""
    return _HOLE.sub(b"\n", data) if FOLD in data else data
