"""Lines that a page or a messenger ran together, apart again: each begins with the head of its worker, or is a frame.

>>> print(unfolded(b'(W pid=7) ERROR 07-05 16:08:12 [u.py:238] File "/a.py", line 1, in f (W pid=7) ERROR 07-05 16:08:12 [u.py:238] go() (W pid=7) ERROR 07-05 16:08:12 [u.py:238] RuntimeError: no room').decode())
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] File "/a.py", line 1, in f
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] go()
(W pid=7) ERROR 07-05 16:08:12 [u.py:238] RuntimeError: no room
>>> unfolded(b"one (W pid=7) ERROR 07-05 16:08:12 two")
b'one (W pid=7) ERROR 07-05 16:08:12 two'
"""

from __future__ import annotations

from parsers.lazy import lazy

_SEVERAL = 3  # heads in one line are no chance
_HEAD = lazy(rb"(?<=\S) (?=\([A-Za-z][\w ]{0,40} ?pid=\d{1,9}\) (?:ERROR|WARNING|INFO) \d\d-\d\d \d\d:\d\d:\d\d )")


def unfolded(data: bytes) -> bytes:
    """The text with a line for each head; itself where no line holds several."""
    if data.count(b" pid=") < _SEVERAL:
        return data
    rows = data.split(b"\n")
    apart = [_HEAD.sub(b"\n", row) if len(_HEAD.findall(row)) >= _SEVERAL - 1 else row for row in rows]
    return b"\n".join(apart) if apart != rows else data
