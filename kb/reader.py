"""Strict reading of a parsed YAML document: every key is known, every value has its type, every fault has a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kb.invisible import steering
from kb.model import Text
from kb.problems import Problem, did_you_mean
from kb.yamldoc import Document, Path

T = TypeVar("T")
_OF_LOGS = ("text", "regex", "code", "exit", "path", "near", "misses", "where", "expect", "facts")  # what logs hold may be anything
MAX_NUMBER = 10_000_000  # of seconds, lines: what is larger is a slip


class Reader:
    """Reads one mapping of a document; faults are collected, never raised, so that one run tells them all."""

    def __init__(self, doc: Document, at: Path, problems: list[Problem], keys: Iterable[str], where: str) -> None:
        self.doc, self.at, self.problems, self.where = doc, at, problems, where
        value: Any = doc.value
        missing = False
        for step in at:
            missing = isinstance(value, dict) and step not in value
            value = None if missing else value[step]
        self.map: dict[str, Any] = value if isinstance(value, dict) else {}
        known = tuple(keys)
        if missing:
            self.fault((), f"{where} is missing")
        elif not isinstance(value, dict):
            self.fault((), f"{where} must be a mapping of keys to values")
        for key in self.map:
            if key not in known:
                self.fault((key,), f"unknown key '{key}' in {where}", did_you_mean(key, known))

    def fault(self, under: Path, what: str, help_: str = "") -> None:
        self.problems.append(self.doc.problem((*self.at, *under), what, help_))

    def sub(self, under: Path, keys: Iterable[str], where: str) -> Reader:
        return Reader(self.doc, (*self.at, *under), self.problems, keys, where)

    def string(self, key: str, default: str | None = None) -> str:
        """A scalar; without a default it is required and must not be empty."""
        value = self.map.get(key)
        if value is None and key not in self.map:
            if default is None:
                self.fault((), f"'{key}' is missing in {self.where}")
            return default or ""
        if not isinstance(value, str):
            self.fault((key,), f"'{key}' must be a single value")
            return default or ""
        if default is None and not value.strip():
            self.fault((key,), f"'{key}' is empty")
        self._seen(key, value)
        return value

    def _seen(self, key: str, value: Any) -> None:
        if key not in _OF_LOGS and (odd := steering(value)):
            self.fault((key,), f"'{key}' has {odd}, which steers a terminal or is invisible", "write plain text")

    def word(self, key: str, words: tuple[str, ...], default: str | None = None) -> str:
        value = self.string(key, default)
        if value not in words:
            if value:
                self.fault((key,), f"'{value}' is no value of '{key}'", did_you_mean(value, words))
            return default or words[0]
        return value

    def number(self, key: str, default: float | None = None) -> float | None:
        if key not in self.map:
            return default
        try:
            value = float(self.map[key])
        except (TypeError, ValueError, OverflowError):
            value = -1.0
        if not 0 <= value <= MAX_NUMBER:
            self.fault((key,), f"'{key}' must be a number from 0 to {MAX_NUMBER}")
            return default
        return value

    def text(self, key: str, required: bool = True) -> Text | None:
        if key not in self.map:
            if required:
                self.fault((), f"'{key}' is missing in {self.where}", "write both languages: {en: ..., zh: ...}")
            return None
        reader = self.sub((key,), ("en", "zh"), f"'{key}'")
        return Text(reader.string("en").strip(), reader.string("zh").strip())

    def items(self, key: str, read: Callable[[Path], T | None]) -> tuple[T, ...]:
        """A list whose members are read one by one with their path; a missing key is an empty list."""
        value = self.map.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fault((key,), f"'{key}' must be a list")
            return ()
        return tuple(got for i in range(len(value)) if (got := read((key, i))) is not None)

    def strings(self, key: str) -> tuple[str, ...]:
        """A scalar or a list of scalars."""
        value = self.map.get(key)
        if value is None:
            return ()
        self._seen(key, value)
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(value)
        self.fault((key,), f"'{key}' must be a value or a list of values")
        return ()

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A mapping of plain values, in the order written."""
        value = self.map.get(key)
        if value is None:
            return ()
        self._seen(key, value)
        if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
            return tuple(value.items())
        self.fault((key,), f"'{key}' must map words to single values")
        return ()
