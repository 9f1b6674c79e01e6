"""Patterns that an earlier run compiled: the same objects as ever, and whatever is wrong with what was kept, nothing is lost but time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import patterns

SAMPLES = (
    (r"(?P<date>\d{4}-\d\d)[ T](?P<clock>\d\d:\d\d)|(?<!x)(z+?)", 0),
    (r"[\u4e00-\u9fff]+|[^\x00-\x7f]", 0),
    (r"^ab(?=c)", re.MULTILINE | re.IGNORECASE),
    (rb"(?P<level>ERROR|WARN)\b.{0,9}", re.DOTALL),
    (r"(?i)grüße (?P<who>\w+)", 0),
)
TEXTS = ("2026-01 12:30 yzzz", "日志 ok é", "x\nABC abc", "a WARN \n b", "Grüße DIR", "")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Each test is a process of its own."""
    state = dict(patterns._kept), dict(patterns._used), list(patterns._new), patterns._on
    _forget()
    yield
    _forget()
    patterns._kept.update(state[0])
    patterns._used.update(state[1])
    patterns._new[:], patterns._on = state[2], state[3]


def _forget() -> None:
    patterns._kept.clear()
    patterns._used.clear()
    patterns._new.clear()
    patterns._on = False


def _kept(samples: Any = SAMPLES) -> bytes:
    """What one run keeps."""
    patterns.remember(b"")
    for pattern, flags in samples:
        patterns.compiled(pattern, flags)
    data = patterns.remembered()
    assert data is not None
    _forget()
    return data


def _same(made: re.Pattern[Any], pattern: Any, flags: int) -> None:
    known = re.compile(pattern, flags)
    assert (made.pattern, made.flags, made.groups, made.groupindex) == (known.pattern, known.flags, known.groups, known.groupindex)
    for text in TEXTS:
        subject: Any = text.encode() if isinstance(pattern, bytes) else text
        assert [(m.span(), m.groups(), m.groupdict(), m.lastgroup) for m in made.finditer(subject)] == [
            (m.span(), m.groups(), m.groupdict(), m.lastgroup) for m in known.finditer(subject)
        ]


@pytest.mark.parametrize(("pattern", "flags"), SAMPLES)
def test_what_is_kept_is_the_same_pattern(pattern: Any, flags: int) -> None:
    data = _kept()
    patterns.remember(data)
    _same(patterns.compiled(pattern, flags), pattern, flags)
    assert patterns.remembered() is None, "nothing was compiled again"


def test_without_a_place_to_keep_them_nothing_is_held() -> None:
    _same(patterns.compiled(*SAMPLES[0]), *SAMPLES[0])
    assert not patterns._kept
    assert patterns.remembered() is None


def test_the_interpreter_is_a_part_of_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _kept()
    monkeypatch.setattr(patterns, "interpreter", lambda: "another")
    patterns.remember(data)
    assert not patterns._kept


@given(at=st.integers(0), byte=st.integers(0, 255), cut=st.booleans())
def test_what_is_damaged_is_not_taken(at: int, byte: int, cut: bool) -> None:
    whole = _kept()
    at %= len(whole)
    damaged = whole[:at] if cut else whole[:at] + bytes([byte]) + whole[at + 1 :]
    patterns.remember(damaged)
    for pattern, flags in SAMPLES:
        _same(patterns.compiled(pattern, flags), pattern, flags)
    assert damaged == whole or patterns.remembered() is not None, "it was compiled again"
    _forget()


def test_code_that_the_interpreter_refuses_is_compiled_again() -> None:
    patterns.remember(_kept())
    for key, made in patterns._kept.items():
        patterns._kept[key] = made._replace(code=made.code[4:])
    for pattern, flags in SAMPLES:
        _same(patterns.compiled(pattern, flags), pattern, flags)


def test_where_the_compiler_is_called_otherwise_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns._compiler.cache_clear()
    with monkeypatch.context() as other:
        other.setitem(sys.modules, "_sre", None)
        patterns.remember(b"")
        _same(patterns.compiled(*SAMPLES[0]), *SAMPLES[0])
        assert patterns.interpreter() == ""
        assert patterns.remembered() is None
    patterns._compiler.cache_clear()


def test_this_interpreter_keeps_them() -> None:
    """Where it does not, every start is slower, and nothing else would tell."""
    assert patterns.interpreter()


def test_of_very_many_those_of_the_last_run_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _kept()
    monkeypatch.setattr(patterns, "MOST", len(SAMPLES))
    patterns.remember(data)
    patterns.compiled("one more")
    kept = patterns.remembered()
    assert kept is not None
    _forget()
    patterns.remember(kept)
    assert [key[1] for key in patterns._kept] == ["one more"]


def test_a_wrong_pattern_is_told_as_ever() -> None:
    patterns.remember(b"")
    with pytest.raises(re.error):
        patterns.compiled("(")
