"""What pytest shows of an exception, as Python itself would print it: frames, and the line that names it.

>>> print(as_python(b'src/plugh/core.py:94: in forward\\n    return go(x)\\nE   TypeError: go() takes 1 positional argument but 2 were given').decode())
  File "src/plugh/core.py", line 94, in forward
    return go(x)
TypeError: go() takes 1 positional argument but 2 were given
"""

from __future__ import annotations

from parsers.lazy import lazy

_NAMED = lazy(rb"(?m)^E {2,7}(?=(?:[A-Za-z_]\w{0,60}\.){0,12}[A-Za-z_]\w{0,80}(?:Error|Exception)\b)")
_FRAME = lazy(rb"(?m)^(?P<file>[^\s:\"]{1,300}\.py):(?P<line>\d{1,7}): in (?P<function>[\w<>.]{1,120})[ \t\r]*$")


def as_python(data: bytes) -> bytes:
    """The text with frames of pytest as frames of Python; itself where no exception of a test stands below one."""
    if not _NAMED.search(data) or not _FRAME.search(data):
        return data
    return _NAMED.sub(b"", _FRAME.sub(rb'  File "\g<file>", line \g<line>, in \g<function>', data))
