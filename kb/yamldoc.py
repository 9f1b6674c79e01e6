"""YAML into plain values with line numbers, safely: no tags, no duplicate keys, bounded size and depth.

Every scalar is read as a string, so that `code: 0012`, `value: off` or a version `9.10` mean what they look like.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any

import yaml

from kb import files
from kb.files import MAX_BYTES
from kb.problems import Problem
from parsers.named import NamedTuple

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
    """Values from events. libyaml makes events without recursion; its own way to nodes recurses in C and overflows the stack."""

    def __init__(self, events: list[Any]) -> None:
        self.events, self.at = events, 0
        self.lines: dict[Path, int] = {}
        self.nodes = 0
        self.anchors: dict[str, int | None] = {}  # where the event of an anchor stands; None: its value is not over yet

    def document(self) -> Any:
        """The one document of the stream."""
        self.at = 2  # the beginnings of stream and document
        value = self.read(())
        after = self.events[self.at + 1]
        if not isinstance(after, yaml.StreamEndEvent):
            raise _RefusedError(after.start_mark.line + 1, "a file holds one document", "begin a new file instead of '---'")
        return value

    def read(self, at: Path) -> Any:
        event = self.events[self.at]
        self.at += 1
        line = event.start_mark.line + 1
        self.nodes += 1
        if self.nodes > MAX_NODES or len(at) > MAX_DEPTH:  # of values: aliases are worth more than their events
            raise _too_much(line)
        if type(event) is yaml.AliasEvent:  # of events there are no kinds of kinds
            return self._again(event, line, at)
        self.lines[at] = line
        if event.tag is not None:
            self._check(event)
        if event.anchor is None:
            return self._value(event, at)
        begin = self.at - 1
        self.anchors[event.anchor] = None
        value = self._value(event, at)
        self.anchors[event.anchor] = begin
        return value

    @staticmethod
    def _check(event: Any) -> None:
        if event.tag not in (None, "!") and event.tag not in _TAGS[type(event)]:
            line = event.start_mark.line + 1
            raise _RefusedError(
                line, f"the tag {event.tag} is not allowed", "write plain values; nothing in knowledge is executed"
            )

    def _again(self, alias: Any, line: int, at: Path) -> Any:
        """What an alias stands for is read once more, so that many aliases of aliases are counted for what they are."""
        begin = self.anchors.get(alias.anchor)
        if begin is None:
            raise _RefusedError(line, f"the alias *{alias.anchor} stands for nothing that is complete here")
        back, self.at = self.at, begin + 1
        value = self._value(self.events[begin], at)
        self.at = back
        self.lines[at] = line
        return value

    def _value(self, event: Any, at: Path) -> Any:
        events, kind = self.events, type(event)
        if kind is yaml.ScalarEvent:
            return event.value
        if kind is yaml.SequenceStartEvent:
            items: list[Any] = []
            while type(events[self.at]) is not yaml.SequenceEndEvent:
                items.append(self.read((*at, len(items))))
            self.at += 1
            return items
        found: dict[str, Any] = {}
        while type(word := events[self.at]) is not yaml.MappingEndEvent:
            key_line = word.start_mark.line + 1
            if type(word) is not yaml.ScalarEvent:
                raise _RefusedError(key_line, "a key must be a plain word")
            self._check(word)
            key = str(word.value)
            self.at += 1
            if key in found:
                raise _RefusedError(key_line, f"the key '{key}' stands twice", "keep one of them")
            place = (*at, key)
            found[key] = self.read(place)
            self.lines[place] = key_line
        self.at += 1
        return found


def _too_much(line: int) -> _RefusedError:
    return _RefusedError(line, "the file is nested too deeply or has too many values", "split it; aliases count each time")


def _events(text: str) -> list[Any]:
    """All events of a text; it is refused before it costs more than a knowledge file can."""
    found: list[Any] = []
    depth = 0
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        get = loader.get_event  # without the generator of `yaml.parse`, which asks twice for each: a fifth of the time
        while (event := get()) is not None:
            found.append(event)
            kind = type(event)
            if kind in _BEGINS:
                depth += 1
            elif kind in _ENDS:
                depth -= 1
            if depth > MAX_DEPTH + 1 or len(found) > 3 * MAX_NODES:
                raise _too_much(event.start_mark.line + 1)
    finally:
        loader.dispose()
    return found


def _named(*names: str) -> frozenset[str]:
    return frozenset(f"tag:yaml.org,2002:{name}" for name in names)


_BEGINS, _ENDS = {yaml.SequenceStartEvent, yaml.MappingStartEvent}, {yaml.SequenceEndEvent, yaml.MappingEndEvent}
_TAGS: dict[type, frozenset[str]] = {
    yaml.ScalarEvent: _named("str", "int", "float", "bool", "null", "timestamp"),
    yaml.SequenceStartEvent: _named("seq"),
    yaml.MappingStartEvent: _named("map"),
}


def parse(path: str, data: bytes) -> Document | Problem:
    """Reads one YAML document. A fault comes back as a Problem: one broken file never hides the others."""
    if len(data) > MAX_BYTES:
        return Problem(path, 0, f"the file has {len(data)} bytes; the limit is {MAX_BYTES}", "split it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return Problem(path, line, "the file is not UTF-8", "save it as UTF-8")
    try:
        reader = _Reader(_events(text))
        if len(reader.events) < 3:  # nothing but blanks and comments
            return Document(path, None, {}, text)
        return Document(path, reader.document(), reader.lines, text)
    except _RefusedError as refused:
        return _problem(path, text, refused)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        what = getattr(error, "problem", None) or "not valid YAML"
        if "nesting depth" in what:  # libyaml has a bound of its own, and looks ahead: its word comes before the first event
            return _problem(path, text, _too_much(line))
        return Problem(path, line, f"not valid YAML: {what}", "quote values that hold ': ', '#', '{' or '['", _excerpt(text, line))


def _problem(path: str, text: str, refused: _RefusedError) -> Problem:
    return Problem(path, refused.line, refused.what, refused.help, _excerpt(text, refused.line))


_BEGINS_AS_MAPPING = re.compile(r"(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\n|\ufeff)*(?:- )?[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\n|$)")


def _excerpt(text: str, line: int) -> str:
    """A line of a file that begins like knowledge; what else somebody took for knowledge, a key or a list of users, is not told."""
    if not _BEGINS_AS_MAPPING.match(text):
        return ""
    rows = text.splitlines()
    return rows[line - 1] if 0 < line <= len(rows) else ""


def read_list(path: pathlib.Path, shown: str, what: str) -> tuple[Document | None, list[Problem]]:
    """A file that holds a list; nothing, and no fault, when a layer has no such file."""
    if not path.is_file():
        return None, []
    try:
        doc = parse(shown, files.read(path))
    except OSError as error:
        return None, [Problem(shown, 0, f"cannot be read: {error.strerror}")]
    if isinstance(doc, Problem):
        return None, [doc]
    if not isinstance(doc.value, list):
        return None, [Problem(shown, 1, f"{what} are a list")]
    return doc, []
