"""Lines that a page or a messenger ran together, apart again: each begins with the head of its worker.

>>> apart, numbers = unfolded(b'(W pid=7) ERROR 07-05 16:08:12 [u.py:238] File "/a.py", line 1, in f (W pid=7) ERROR 07-05 16:08:12 [u.py:238] go() (W pid=7) ERROR 07-05 16:08:12 [u.py:238] RuntimeError: no room')
>>> print(apart.decode())
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] File "/a.py", line 1, in f
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] go()
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] RuntimeError: no room
>>> numbers  # which lines these were
[1, 1, 1]
>>> unfolded(b"one (W pid=7) ERROR 07-05 16:08:12 two")
"""

from __future__ import annotations

from parsers.lazy import lazy

_SEVERAL = 3  # heads in one line are no chance
_HEAD = lazy(rb"(?<=\S) (?=\([A-Za-z][\w ]{0,40} ?pid=\d{1,9}\) (?:ERROR|WARNING|INFO) \d\d-\d\d \d\d:\d\d:\d\d )")


def unfolded(data: bytes) -> tuple[bytes, list[int]] | None:
    """The text with a line for each head, and the number of the line that each was in; None where no line holds several."""
    if data.count(b" pid=") < _SEVERAL:
        return None
    apart = [_HEAD.split(row) if len(_HEAD.findall(row)) >= _SEVERAL - 1 else [row] for row in data.split(b"\n")]
    if all(len(pieces) == 1 for pieces in apart):
        return None
    return b"\n".join(piece for pieces in apart for piece in pieces), [number for number, pieces in enumerate(apart, 1) for _ in pieces]
