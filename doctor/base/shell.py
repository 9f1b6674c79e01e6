"""A word of a shell, whatever it holds. What begins with `~/` names a place at home, and in quotes it would name nothing.

>>> word("~/.cache/x y"), word("a b"), word("~root/x"), word("~/models/plugh")
("~/'.cache/x y'", "'a b'", "'~root/x'", '~/models/plugh')
"""

from __future__ import annotations

import shlex

_HOME = "~/"


def word(value: str) -> str:
    """The value as one word."""
    return _HOME + shlex.quote(value.removeprefix(_HOME)) if value.startswith(_HOME) and value != _HOME else shlex.quote(value)
