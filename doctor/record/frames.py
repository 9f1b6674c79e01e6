"""Where a program failed: the innermost frames with the values that their lines name, and the traceback without our own frames."""

from __future__ import annotations

import ast
import linecache
import os
import traceback
from types import TracebackType
from typing import Any

from .arguments import describe

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
DISPATCHER = os.path.join("torch", "_ops.py")
MAX_CHAIN = 8  # exceptions behind one another


def without_ours(trace: Any) -> Any:
    """The traceback as it would be without the recorder: its frame, and the dispatcher's that it calls, are left out."""
    kept: list[Any] = []
    ours = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(HERE):
            ours = True
        elif not (ours and file.endswith(DISPATCHER)):
            kept.append(trace)
            ours = False
        trace = trace.tb_next
    made: Any = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made


def tidy(error: BaseException | None) -> None:
    """Takes the recorder's frames out of an exception and of those behind it."""
    for _ in range(MAX_CHAIN):
        if error is None:
            return
        error.__traceback__ = without_ours(error.__traceback__)
        error = error.__cause__ or error.__context__


def frames(trace: Any, plain: tuple[type, ...]) -> list[dict[str, Any]]:
    """The innermost frames, with the tensors that the failing lines name: checks in Python raise before any operator."""
    found = []
    for frame, line in list(traceback.walk_tb(without_ours(trace)))[-6:]:
        code = statement(frame.f_code.co_filename, line)
        told = {"file": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_name, "code": code[:400]}
        told["values"] = named_values(code, frame.f_locals, plain)
        found.append(told)
    return found


def statement(file: str, line: int) -> str:
    """The source from a line on, as many lines as make a whole statement; the first line alone when none do."""
    lines = [linecache.getline(file, number) for number in range(line, line + 12)]
    for count in range(1, len(lines) + 1):
        text = "".join(lines[:count]).strip()
        try:
            ast.parse(text + " pass" if text.endswith(":") else text)
        except (SyntaxError, ValueError):
            continue
        return text
    return lines[0].strip()


def named_values(code: str, local: dict[str, Any], plain: tuple[type, ...]) -> dict[str, Any]:
    """Tensors, numbers and modules' parameters behind the names of a line; nothing is called to find them."""
    try:
        tree = ast.parse(code + " pass" if code.endswith(":") else code)
    except (SyntaxError, ValueError):
        return {}
    values: dict[str, Any] = {}
    for node in ast.walk(tree):
        value, name = None, ""
        if isinstance(node, ast.Name):
            value, name = local.get(node.id), node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in local:
            owner = vars(local[node.value.id]) if hasattr(local[node.value.id], "__dict__") else {}
            value = owner.get(node.attr)
            if value is None:
                value = (owner.get("_parameters") or {}).get(node.attr, (owner.get("_buffers") or {}).get(node.attr))
            name = f"{node.value.id}.{node.attr}"
        if isinstance(value, plain):
            values[name] = {"tensor": describe(value)}
        elif (
            name
            and len(values) < 40
            and (isinstance(value, (bool, int, float, str)) or (value is None and name in local))
        ):
            values[name] = value[:200] if isinstance(value, str) else value
    return values
