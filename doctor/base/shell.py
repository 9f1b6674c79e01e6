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


def setting(name: str, value: str) -> str:
    """The command that sets a variable: what a shell would end the command at stands in quotes.

    >>> setting("HCCL_ALGO", "level0:NA;level1:NHR"), setting("HCCL_BUFFSIZE", "200")
    ("export HCCL_ALGO='level0:NA;level1:NHR'", 'export HCCL_BUFFSIZE=200')
    """
    return f"export {name}={word(value)}"
