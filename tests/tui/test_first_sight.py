"""What is seen of a diagnosis before any key is pressed: the fix among it, at the sizes that terminals have."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from tui.support import stage

from doctor import diagnose
from doctor.answer.report import report
from doctor.render.layout import cells
from doctor.tui.diagnosis import outline
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.shell.line import Row, Span, between, cut, plain
from doctor.tui.shell.views import Card, Rows
from kb.knowledge import Knowledge, load

ROOT = Path(__file__).resolve().parent.parent.parent
DEMO = str(ROOT / "kb" / "demo")
SIZES = [(80, 24), (120, 40), (200, 50)]


@lru_cache(maxsize=1)
def shipped() -> Knowledge:
    return load()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", SIZES)
async def test_the_first_command_to_try_is_on_the_first_screen(size: tuple[int, int], lang: str) -> None:
    """Code, where, why and the first fix with its command, without any key."""
    async with stage(DiagnosisScreen(), [DEMO], lang, size, shipped()) as s:
        text = s.text
    assert "RTS001" in text
    assert "rank 3, device 3" in text
    assert "31" in text
    assert first_command(lang)[:40] in text  # a long one runs out of its pane


@pytest.mark.parametrize("size", SIZES)
async def test_the_list_leaves_the_room_to_the_detail(size: tuple[int, int]) -> None:
    """35 to 65 beside each other; on a small terminal six rows at most above it."""
    async with stage(DiagnosisScreen(), [DEMO], "en", size, shipped()) as s:
        rows, card = s.screen.query_one("#list", Rows), s.screen.query_one("#card", Card)
        if size[0] < 100:
            assert 3 <= rows.height <= 6
            assert card.height >= 13
        else:
            assert abs(rows.size.width / (rows.size.width + card.size.width) - 0.35) < 0.02


async def test_a_short_list_takes_no_more_rows_than_it_has(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("[EVENT] GE(1,python):2026-03-02-09:14:44.000.000 [g.cc:1] step 1\n")
    async with stage(DiagnosisScreen(), [str(tmp_path)], size=(80, 24)) as s:
        view = s.screen.query_one("#list", Rows)
        assert view.height == max(1, len(view.rows))


@lru_cache(maxsize=1)
def demo_report() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(report(diagnose([DEMO], knowledge=shipped()), shipped())))
    return made


def first_command(lang: str) -> str:
    """What of the demo's fault is to be tried first."""
    return first_paste(lang).split("\n")[0]


def first_paste(lang: str) -> str:
    """The same, whole."""
    return next(text for _, text in outline.fixes(demo_report(), "finding:RTS001", lang) if text)


@pytest.mark.parametrize("room", [36, 60, 120])
def test_rows_fit_and_their_titles_end_with_a_word(room: int) -> None:
    """No column touches the next, no word is cut, and what is left out is marked."""
    words = {w.strip("(:,;") for f in demo_report()["findings"] for w in f["title"]["en"].split()}
    for row in outline.rows(demo_report(), "en", frozenset(), room):
        drawn = between(row.left, row.right, room)
        assert cells(plain(drawn)) <= room
        for span in drawn:
            if span.style == "title" and span.text.endswith(".."):
                assert span.text.removesuffix("..").split()[-1].strip("(:,;") in words


def test_what_goes_on_beneath_a_row_belongs_to_it() -> None:
    made = outline.rows(demo_report(), "en", frozenset(), 36)
    at = next(i for i, row in enumerate(made) if row.key == "finding:RTS001")
    below = made[at + 1 : at + 4]
    assert [row.of for row in below] == ["finding:RTS001"] * 3
    assert "symptoms" in plain(below[-1].left)


def test_the_card_reads_from_where_to_what_proves_it() -> None:
    """Where, why, fix, cause, evidence, symptoms, how it matches."""
    card = outline.card(demo_report(), "finding:RTS001", "en", str)
    heads = [plain(line).split("  ")[0].strip() for line in card.layout(76)]
    order = ["where", "why", "fix", "cause", "evidence", "explains", "how it matches", "repro", "see"]
    assert [h for h in heads if h in order] == order


def test_a_hit_is_one_line_beneath_its_file() -> None:
    lines = [plain(line) for line in outline.card(demo_report(), "finding:RTS001", "en", str).layout(76)]
    hits = [line for line in lines if re.match(r"\[\d\] line \d+", line)]
    assert "DDR address" in hits[0] or "errcode" in hits[0]
    assert lines[lines.index(hits[0]) - 1].endswith("plog-41233_20260302090118103.log")
    assert all(cells(line) <= 76 for line in hits)


def test_without_a_note_the_first_sentence_of_the_cause_says_why() -> None:
    changed = json.loads(json.dumps(demo_report()))
    finding = next(f for f in changed["findings"] if f["id"] == "RTS001")
    finding["note"] = None
    finding["cause"]["en"] = "The 2.5 GiB that were asked for are more than was free. Something else."
    lines = [plain(line) for line in outline.card(changed, "finding:RTS001", "en", str).layout(76)]
    assert any(" ".join(line.split()) == "why The 2.5 GiB that were asked for are more than was free." for line in lines)


def test_cut_keeps_long_names_and_whole_words() -> None:
    assert plain(cut((Span("several words here"),), 12)) == "several.."
    assert plain(cut((Span("a/very/long/path/without/any/blank"),), 12)) == "a/very/lon.."
    assert plain(cut((Span("短的中文标题没有空格"),), 9)) == "短的中.."
    assert Row("k", ()).of == ""
