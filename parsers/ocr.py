"""Text that was read off a screenshot: what the reading made of error codes, undone.

>>> mended(b"call aclnnAdd failed, error code 1s 107OO1")
b'call aclnnAdd failed, error code is 107001'
>>> mended(b"EZ99g9: Inner Error!")
b'EZ9999: Inner Error!'
>>> mended(b"step 15 of 107 was as fast as 2s 107001")
b'step 15 of 107 was as fast as 2s 107001'
"""

from __future__ import annotations

import re

from parsers.lazy import lazy

_DIGITS = bytes.maketrans(b"OoQDIl|!ZSsBgq", b"00001111255899")
_LIKE = rb"0-9OoQDIl|!ZSsBgq"
_IS = lazy(rb"(?<=[Cc]ode )[1lI|!][sS5](?= -?[" + _LIKE + rb"]{3})")
_NUMBER = lazy(rb"((?:[Cc]ode|[Rr]et|errno|[Rr]esult|[Ee]rror)(?: is)?[ \t:=\[(]{1,3})([" + _LIKE + rb"]{6})(?![A-Za-z0-9_])")
_LETTERED = lazy(rb"(?<![A-Za-z0-9_])(E[A-Z])([" + _LIKE + rb"]{4})(?=[:\[(])")


def mended(text: bytes) -> bytes:
    """The text with digits where letters stand in codes, and `is` where a digit does."""
    text = _IS.sub(b"is", text)
    return _LETTERED.sub(_number, _NUMBER.sub(_number, text))


def _number(found: re.Match[bytes]) -> bytes:
    """A code has digits that were read as such; a word has none."""
    digits = found[2]
    return found[1] + digits.translate(_DIGITS) if sum(48 <= byte < 58 for byte in digits) * 2 >= len(digits) else found[0]
