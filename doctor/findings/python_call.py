"""A call `LLM(model=..., ...)` of vLLM in somebody's Python, as the command that would start such an engine, and back again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from parsers.lazy import lazy

if TYPE_CHECKING:
    import ast

BEGIN = "LLM("
_THEIR_OWN = "\ue001"  # before a name that only their program knows
_NAMED = lazy(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,5}")
_SERVER_ONLY = frozenset({"host", "port", "api-key", "uvicorn-log-level", "allowed-origins", "enable-auto-tool-choice", "tool-call-parser", "chat-template"})


def words(text: str) -> tuple[str, ...] | None:
    """The call in the words of a command; None for what is no whole call, or names no model."""
    import ast  # few logs show a call

    try:
        call = ast.parse(text.strip(), mode="eval").body  # read only: nothing is run
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(call, ast.Call) or len(call.args) > 1 or any(one.arg is None for one in call.keywords):
        return None
    given = [("model", one) for one in call.args] + [(one.arg or "", one.value) for one in call.keywords]
    made = ["LLM"]
    for name, value in given:
        option = "--" + name.replace("_", "-")
        told = _literal(value)
        if told is True:
            made.append(option)
        elif told is False:
            made.append("--no-" + option[2:])
        elif isinstance(told, str):
            made += [option, told]
        elif isinstance(told, (dict, list)):
            made += [option, json.dumps(told, ensure_ascii=False)]
        elif isinstance(told, (int, float)):
            made += [option, repr(told)]
        elif _NAMED.fullmatch(name_of := ast.unparse(value)):
            made += [option, _THEIR_OWN + name_of]
        else:
            return None  # what could do anything is not shown as code again
    at = made.index("--model") + 1 if "--model" in made else len(made)
    return tuple(made) if at < len(made) and not made[at].startswith(_THEIR_OWN) else None


def written(options: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """Options of a command as the call in Python that has them."""
    import keyword

    told = []
    for name, values in options:
        if name in _SERVER_ONLY:
            continue
        off = name.startswith("no-") and not values
        parameter = name.removeprefix("no-" if off else "").replace("-", "_")
        if not parameter.isidentifier() or keyword.iskeyword(parameter):
            continue
        value = repr(not off) if not values else _python(values[0]) if len(values) == 1 else repr(list(values))
        told.append(f"{parameter}={value}")
    return f"{BEGIN}{', '.join(told)})"


def _literal(value: ast.expr) -> object:
    import ast

    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _python(value: str) -> str:
    if value.startswith(_THEIR_OWN):
        return value.removeprefix(_THEIR_OWN)
    if re.fullmatch(r"-?\d{1,12}(?:\.\d{1,6})?", value):
        return value
    if value[:1] in "[{":
        try:
            return repr(json.loads(value))
        except (ValueError, RecursionError):
            return repr(value)
    return repr(value)
