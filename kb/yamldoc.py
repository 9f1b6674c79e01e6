"""YAML into plain values with line numbers, safely: no tags, no duplicate keys, bounded size and depth.

Every scalar is read as a string, so that `code: 0012`, `value: off` or a version `9.10` mean what they look like.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml

from kb.problems import Problem

MAX_BYTES = 4_000_000
MAX_NODES = 400_000
MAX_DEPTH = 40

Path = tuple[Any, ...]


class Document(NamedTuple):
    """A parsed file: values, and the line on which each of them begins."""

    path: str
    value: Any
    lines: dict[Path, int]
    text: str

    def line(self, at: Path) -> int:
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at, 1)

    def excerpt(self, line: int) -> str:
        rows = self.text.splitlines()
        return rows[line - 1] if 0 < line <= len(rows) else ""

    def problem(self, at: Path, what: str, help_: str = "") -> Problem:
        line = self.line(at)
        return Problem(self.path, line, what, help_, self.excerpt(line))


class _RefusedError(Exception):
    def __init__(self, line: int, what: str, help_: str = "") -> None:
        super().__init__(what)
        self.line, self.what, self.help = line, what, help_


class _Reader:
    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.nodes = 0

    def read(self, node: yaml.Node, at: Path) -> Any:
        line = node.start_mark.line + 1
        self.nodes += 1
        if self.nodes > MAX_NODES or len(at) > MAX_DEPTH:
            raise _RefusedError(
                line, "the file is nested too deeply or has too many values", "split it; aliases count each time"
            )
        self.lines[at] = line
        if isinstance(node, yaml.ScalarNode):
            if node.tag not in _PLAIN_TAGS:
                raise _RefusedError(
                    line, f"the tag {node.tag} is not allowed", "write plain values; nothing in knowledge is executed"
                )
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [self.read(child, (*at, i)) for i, child in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode) or not node.tag.endswith(":map"):
            raise _RefusedError(
                line, f"the tag {node.tag} is not allowed", "write plain values; nothing in knowledge is executed"
            )
        found: dict[str, Any] = {}
        for key_node, child in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise _RefusedError(key_line, "a key must be a plain word")
            key = str(key_node.value)
            if key in found:
                raise _RefusedError(key_line, f"the key '{key}' stands twice", "keep one of them")
            place = (*at, key)
            found[key] = self.read(child, place)
            self.lines[place] = key_line
        return found


_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "null", "timestamp"))


def parse(path: str, data: bytes) -> Document | Problem:
    """Reads one YAML document. A fault comes back as a Problem: one broken file never hides the others."""
    if len(data) > MAX_BYTES:
        return Problem(path, 0, f"the file has {len(data)} bytes; the limit is {MAX_BYTES}", "split it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return Problem(path, line, "the file is not UTF-8", "save it as UTF-8")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, Loader=loader)
        if node is None:
            return Document(path, None, {}, text)
        reader = _Reader()
        return Document(path, reader.read(node, ()), reader.lines, text)
    except _RefusedError as refused:
        rows = text.splitlines()
        excerpt = rows[refused.line - 1] if 0 < refused.line <= len(rows) else ""
        return Problem(path, refused.line, refused.what, refused.help, excerpt)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        rows = text.splitlines()
        what = getattr(error, "problem", None) or "not valid YAML"
        excerpt = rows[line - 1] if 0 < line <= len(rows) else ""
        return Problem(path, line, f"not valid YAML: {what}", "quote values that hold ': ', '#', '{' or '['", excerpt)
    except RecursionError:
        return Problem(path, 0, "the file is nested too deeply", "flatten it")
