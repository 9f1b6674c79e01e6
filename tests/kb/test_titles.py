"""Titles fit where they are shown: English ones are held by `kb check`, Chinese ones by their width in a terminal."""

from __future__ import annotations

from doctor.render.layout import cells
from kb.model import Entry
from kb.placeholders import unbound

WIDE = 80  # cells: a row of the smallest terminal


def test_chinese_titles_fit_a_row(entries: tuple[Entry, ...]) -> None:
    over = [(entry.code, cells(title)) for entry in entries if cells(title := unbound(entry.title.zh)) > WIDE]
    assert over == []
