"""Code of fixes is filled like commands, and nothing that cannot be filled is accepted."""

from __future__ import annotations

import pytest

from kb.knowledge import Knowledge
from kb.lint import code_has_single_braces
from kb.model import CodeFix, Fix, Text
from kb.placeholders import fill_code, open_slots


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("limits: {n|8}", "limits: 16"),
        ("limits: {unknown|8}", "limits: 8"),
        ("image: {image|IMAGE}", "image: quay.io/a/b:v1"),
        ("x: {odd|none}", "x: none"),
        ('print(f"{n} of {total}")', 'print(f"{n} of {total}")'),
        ("echo ${n|8}", "echo ${n|8}"),
    ],
)
def test_slots_with_a_default_are_filled(text: str, filled: str) -> None:
    """By one plain word of the log: whatever else it says would be read by the language of the code."""
    assert fill_code(text, {"n": "16", "image": "quay.io/a/b:v1", "odd": "'; import os #", "total": "3"}) == filled


@pytest.mark.parametrize(("lang", "open_ones"), [("yaml", ("n",)), ("bash", ("n",)), ("json", ("n",)), ("python", ()), ("cmake", ())])
def test_a_slot_without_a_default_is_refused(lang: str, open_ones: tuple[str, ...]) -> None:
    """But where the language writes the same itself; a variable of a shell is none."""
    assert open_slots("a: {n} ${HOME} {m|1} {{x}}", lang) == open_ones


@pytest.mark.parametrize(
    ("lang", "code", "faults"),
    [("python", 'x({{"a": 1}})', 1), ("json", '{{"a": 1}}', 1), ("python", 'print(f"{{x}}")', 0), ("python", 'x({"a": 1})', 0), ("bash", "docker ps --format '{{.Names}}'", 0)],
)
def test_doubled_braces_in_code_are_refused(knowledge: Knowledge, lang: str, code: str, faults: int) -> None:
    """Commands and sentences are written with them; code would show them."""
    entry = knowledge.entry("PRC001")
    assert entry is not None
    fix = Fix("resolve", "low", Text("x", "x"), (), (), (), CodeFix(lang, "", code), ())
    assert len(list(code_has_single_braces(entry._replace(fixes=(fix,), variants=()), None))) == faults  # type: ignore[arg-type]
