"""Code of fixes is filled like commands, and nothing that cannot be filled is accepted."""

from __future__ import annotations

import pytest

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
