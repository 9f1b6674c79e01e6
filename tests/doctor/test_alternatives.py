"""A pattern taken apart holds where the whole one matches."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.read import dumps
from doctor.scan.alternatives import alternatives
from kb.knowledge import Knowledge

PATTERNS = (
    r"a|b", r"\bnpu(?:-smi|:\d)|\bNPU\b", r"(?:^|\n)[IW]\d{1,2} |x", r"(?:^|\n)/\S{1,3}\.cc", r"[a|]b", r"a\|b|c", r"a?b|nn*u|x{0,2}y", r"(a|b)\1", r"(?i:A)b|c",
    r"n+pu", r"(?<=a)b|(?!a)n", r"[^]|a]b", r"a{1}b",
)  # fmt: skip
TEXTS = st.text(alphabet="abcnpuNPUxyI W/1.|:\n-smi", max_size=30)


def _holds(pattern: str, text: bytes, start: int, end: int) -> bool:
    return any(one.holds(text, start, end) for one in alternatives(pattern))


@given(st.sampled_from(PATTERNS), TEXTS, st.integers(0, 8), st.integers(0, 40))
def test_a_pattern_taken_apart_holds_where_it_matches(pattern: str, text: str, start: int, end: int) -> None:
    """In any part of a text, as the expression itself says."""
    data = text.encode()
    assert _holds(pattern, data, start, end) == (re.compile(pattern.encode()).search(data, start, end) is not None)


@pytest.mark.parametrize(("pattern", "words"), [
    (r"HCCL_\d|google::LogMessage", [b"HCCL_", b"google::LogMessage"]), (r"(?:^|\n)abc?d", [b"ab"]), (r"a\.b+c", [b"a.b"]), (r"[ab](?:cd|e)f", [b"f"]), (r"(?P<v>a)|b", [b""]),
])  # fmt: skip
def test_the_word_of_an_alternative(pattern: str, words: list[bytes]) -> None:
    """The longest run of characters that must stand in what it matches."""
    assert [one.word for one in alternatives(pattern)] == words


def test_the_words_of_stacks_are_those_of_their_pattern() -> None:
    """They are written out where every small log is asked: one that is missing would hide a kind of stack."""
    assert [one.word for one in alternatives(dumps._STACKS.pattern.decode())] == list(dumps._STACK_WORDS)


def test_every_constant_form_holds_in_the_samples_in_which_it_matches(knowledge: Knowledge) -> None:
    """Samples of all forms, each asked by each."""
    from doctor.scan.plan import Plan

    forms = [form.pattern for form in Plan(knowledge.sought()).situation if "=" in form.id and not form.id.rpartition("/")[0].endswith("=")]
    assert len(forms) > 40
    text = b"\n".join(p.encode() for p in forms)
    lines = text.replace(b"\\n", b"\n").replace(b"\\", b"").split(b"\n")
    for pattern in forms:
        whole = re.compile(pattern.encode())
        assert [_holds(pattern, line, 0, len(line)) for line in lines] == [whole.search(line) is not None for line in lines]
