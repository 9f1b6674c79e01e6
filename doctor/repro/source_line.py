"""The literals of a call in a source line: `torch.topk(scores, k=50, dim=-1)` tells k and dim, whatever scores is.

A positional one is named by its place, `@1`; a method's object has place 0. The line is parsed, never evaluated.
"""

from __future__ import annotations

import ast

from doctor.repro.call import Value

MAX_CODE = 400
MAX_ITEMS = 64


def literals(code: str, name: str) -> tuple[tuple[str, Value], ...]:
    """The literals that the call of this name gets; nothing when the line is no whole statement."""
    wanted = name.rpartition(".")[2]
    for node in ast.walk(_parsed(code)):
        if isinstance(node, ast.Call) and _called(node.func) == wanted:
            first = 1 if name.startswith("torch.Tensor.") else 0
            return (*_by_place(node.args, first), *_by_name(node.keywords))[:MAX_ITEMS]
    return ()


def _parsed(code: str) -> ast.AST:
    text = code.strip()[:MAX_CODE]
    for whole in (text, f"{text} pass", f"async def _():\n {text}", text.rstrip(",")):
        try:
            return ast.parse(whole)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([], [])


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _by_place(nodes: list[ast.expr], first: int) -> list[tuple[str, Value]]:
    found: list[tuple[str, Value]] = []
    for place, node in enumerate(nodes, first):
        if isinstance(node, ast.Starred):
            break
        known, value = _value(node)
        if known:
            found.append((f"@{place}", value))
    return found


def _by_name(nodes: list[ast.keyword]) -> list[tuple[str, Value]]:
    return [(node.arg, value) for node in nodes if node.arg is not None for known, value in (_value(node.value),) if known]


def _value(node: ast.expr) -> tuple[bool, Value]:
    """Whether it is a literal, and which; a type of torch is one as well."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
        return True, node.attr
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None
    if isinstance(value, tuple):
        value = list(value)
    plain = value is None or isinstance(value, (bool, int, float, str))
    listed = isinstance(value, list) and all(isinstance(item, (bool, int, float)) for item in value)
    return plain or listed, value
