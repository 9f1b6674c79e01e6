"""The forms of the knowledge made ready for bytes, and those that a call brings along."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

from doctor.base.errors import UsageError
from doctor.pace.stamps import STAMP, clock
from kb.pace_forms import UNITS, PaceForm, measure_of
from parsers.named import NamedTuple

AHEAD = rb"[^\n]{0,300}"  # what may stand between the head of a line and the words of a form; greedy, for the engine then looks for a literal
MOST = 1e12  # of any measure
PATIENCE_S = 3.0  # with a pattern that a call brings along, for each block of a log
OWN = "own"  # the form of a call


class Column(NamedTuple):
    """A group that is kept: its place among the groups, the measure, what a unit of it is in seconds (0: a rate)."""

    at: int
    measure: str
    scale: float
    read: Callable[[bytes], float]


class Wording(NamedTuple):
    """A form, compiled."""

    form: PaceForm
    near: bytes
    pattern: re.Pattern[bytes]
    columns: tuple[Column, ...]
    places: dict[str, int]  # the other groups
    part: re.Pattern[bytes] | None
    names: dict[bytes, str]
    stamped: re.Pattern[bytes] | None  # with the time at the head of the line in front; None: not for many lines at once
    bare: re.Pattern[bytes] | None

    @property
    def scale(self) -> float:
        return UNITS[self.form.unit]


def number(written: bytes) -> float:
    """A value as it is written; what is too large to be one is none."""
    value = float(written.replace(b",", b"")) if written else float("nan")
    return value if value < MOST else float("nan")


Compiler = Callable[[bytes], "re.Pattern[bytes]"]


def wording(form: PaceForm, compiled: Compiler = re.compile) -> Wording:
    pattern = compiled(form.pattern.encode())
    columns, places = [], {}
    for group, at in pattern.groupindex.items():
        told = measure_of(group)
        if told is None:
            places[group] = at
        else:
            measure, unit = told
            columns.append(Column(at, measure, UNITS.get(unit, 0.0), clock if unit == "clock" else number))
    single = form.about in ("step", "rate") and not form.part and not {"rank", "of"} & places.keys() and pattern.groups == len(pattern.groupindex)
    made = form.pattern.encode()
    return Wording(
        form, form.near.encode(), pattern, tuple(columns), places,
        re.compile(form.part.encode()) if form.part else None, {k.encode(): v for k, v in form.names},
        compiled(rb"\n" + STAMP + AHEAD + made) if single else None, compiled(rb"\n" + AHEAD + made) if single else None,
    )  # fmt: skip


def wordings(forms: Iterable[PaceForm], own: str | None = None) -> tuple[Wording, ...]:
    """All of them; the pattern that a call gives comes first."""
    made = [wording(form) for form in forms]
    return tuple([_own(own), *made] if own else made)


def _own(pattern: str) -> Wording:
    example = r"--line 'step (?P<step>\d+) took (?P<total_s>[\d.]+) s, data (?P<data_s>[\d.]+)'"
    try:
        groups = re.compile(pattern.encode()).groupindex
    except re.error as error:
        raise UsageError(f"--line: '{pattern}' is no regular expression: {error}", example) from None
    for group in groups:
        if group not in ("step", "rank") and measure_of(group) is None:
            raise UsageError(f"--line: the group '{group}' has no meaning", example)
    if not any(map(measure_of, groups)):
        raise UsageError("--line: no group tells a time or a rate", example)
    return wording(PaceForm(OWN, "step", "", "", pattern, "", "ms", ()), lambda made: cast("re.Pattern[bytes]", _Limited(made, pattern)))


class _Limited:
    """A pattern that somebody wrote for this call, as far as it is asked like others: one that would never end, ends."""

    def __init__(self, pattern: bytes, written: str) -> None:
        import regex

        self._pattern, self._written = regex.compile(pattern), written
        self.groupindex, self.groups = dict(self._pattern.groupindex), self._pattern.groups

    def search(self, text: bytes) -> re.Match[bytes] | None:
        with self._in_time():
            found: re.Match[bytes] | None = self._pattern.search(text, timeout=PATIENCE_S)
            return found

    def findall(self, text: bytes) -> list[tuple[bytes, ...]]:
        with self._in_time():
            found: list[tuple[bytes, ...]] = self._pattern.findall(text, timeout=PATIENCE_S)
            return found

    def finditer(self, text: bytes) -> Iterator[re.Match[bytes]]:
        with self._in_time():
            yield from self._pattern.finditer(text, timeout=PATIENCE_S)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise UsageError(
                f"--line: '{self._written}' takes too long: more than {PATIENCE_S:g} s for a mebibyte of these logs", r"no repetition inside a repetition: \d+ and [^ ]+ rather than (\d+)+ and (.*)*"
            ) from None
