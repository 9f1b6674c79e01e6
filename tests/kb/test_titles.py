"""Titles fit where they are shown: English ones are held by `kb check`, Chinese ones by their width in a terminal."""

from __future__ import annotations

import pytest

from doctor.render.layout import cells
from kb.lint import Context, decided_if_sure
from kb.model import Entry, Text
from kb.placeholders import unbound

WIDE = 80  # cells: a row of the smallest terminal


def test_chinese_titles_fit_a_row(entries: tuple[Entry, ...]) -> None:
    over = [(entry.code, cells(title)) for entry in entries if cells(title := unbound(entry.title.zh)) > WIDE]
    assert over == []


@pytest.mark.parametrize(
    ("title", "confidence", "wrong"),
    [
        ("The file is missing: not mounted, or not installed", "high", True),
        ("The file is missing: not mounted, or not installed", "medium", False),
        ("The port is taken, mostly by a program that was left over", "high", True),
        ("torch and torch_npu of different releases, or builds", "high", False),
        ("The file is missing", "high", False),
    ],
)
def test_who_offers_alternatives_is_not_sure(entries: tuple[Entry, ...], title: str, confidence: str, wrong: bool) -> None:
    """What decides between two causes is not in the log: then the entry is at most likely."""
    entry = next(e for e in entries if e.role == "cause" and e.severity == "error" and not e.variants)
    faults = list(decided_if_sure(entry._replace(title=Text(title, title), confidence=confidence), Context.__new__(Context)))
    assert bool(faults) == wrong
