"""Code to coloured spans. Pygments is looked for when the first code is drawn; without it code is plain."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from doctor.tui.shell.line import Line, Span

_STYLES = (
    ("Comment", "code-comment"),
    ("Literal.String", "code-string"),
    ("Literal.Number", "code-number"),
    ("Keyword", "code-keyword"),
    ("Name.Builtin", "code-keyword"),
    ("Name.Function", "code-name"),
    ("Name.Class", "code-name"),
    ("Name.Decorator", "code-name"),
    ("Name.Variable", "code-name"),
)
MAX_COLOURED = 60_000  # characters; longer code is shown plain


@lru_cache(maxsize=128)
def lines(code: str, lang: str) -> tuple[Line, ...]:
    """The lines of a piece of code."""
    if len(code) > MAX_COLOURED:
        return tuple((Span(row, "code"),) for row in code.split("\n"))
    try:
        lexers, util = import_module("pygments.lexers"), import_module("pygments.util")
    except ImportError:
        return tuple((Span(row, "code"),) for row in code.split("\n"))
    try:
        lexer = lexers.get_lexer_by_name({"sh": "bash", "shell": "bash"}.get(lang, lang), stripnl=False, ensurenl=False)
    except util.ClassNotFound:
        return tuple((Span(row, "code"),) for row in code.split("\n"))
    found: list[Line] = []
    row: list[Span] = []
    for token, text in lexer.get_tokens(code):
        style = _style(str(token))
        for i, piece in enumerate(text.split("\n")):
            if i:
                found.append(tuple(row))
                row = []
            if piece:
                row.append(Span(piece, style))
    return (*found, tuple(row))


def _style(token: str) -> str:
    name = token.removeprefix("Token.")
    return next((style for head, style in _STYLES if name.startswith(head)), "code")
