"""The page: the answer before anything else, the job as pictures, everything that proves it folded, readable dark and light."""

from __future__ import annotations

import re
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tui.test_colours import ENOUGH, contrast
from tui.test_first_sight import first_command

from doctor import diagnose
from doctor.answer.report import report
from doctor.render import html
from doctor.render.html_style import STYLE
from kb.knowledge import load
from kb.layers import HERE as KB


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    known = load()
    return report(diagnose([KB / "demo"], knowledge=known), known)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_verdict_and_first_fix_stand_before_anything_that_is_folded_or_long(demo: dict[str, Any], lang: str) -> None:
    page = html.render(demo, lang)
    body = page[page.index("<body>") :]
    fold = body[: body.index("<details>")]
    assert "RTS001" in fold
    assert "rank 3" in fold
    assert escape(first_command(lang)) in fold
    assert len(re.sub("<[^>]+>", "", fold)) < 1300  # two screens of a phone


def test_what_matched_is_marked_in_the_evidence_and_the_evidence_is_folded(demo: dict[str, Any]) -> None:
    page = html.render(demo, "en")
    marked = page.index("<mark>")
    assert page[marked:].startswith("<mark>The DDR address of the MTE instruction")
    before = page[:marked]
    assert before.count("<details>") > before.count("</details>")


def pictures(page: str) -> list[ET.Element]:
    return [ET.fromstring(one.replace("&nbsp;", " ")) for one in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def test_the_grid_has_a_seat_for_every_rank_with_its_name(demo: dict[str, Any]) -> None:
    grid = next(p for p in pictures(html.render(demo, "en")) if p.get("class") == "grid")
    seats = list(grid.iter("g"))
    assert [seat.get("class") for seat in seats] == [f"seat {'failed' if n == 3 else 'waits'}" for n in range(8)]
    assert "rank 3 failed first" in (seats[3].findtext("title") or "")
    assert [seat.findtext("text") for seat in seats[2:4]] == ["w", "×"]  # a shape as well as a colour


def test_the_line_of_time_shows_who_ended_first(demo: dict[str, Any]) -> None:
    lanes = [p for p in pictures(html.render(demo, "en")) if p.get("class") != "grid" and p.findtext("title")]
    ends = {lane.findtext("title"): float(lane.findall("rect")[-1].get("x") or 0) for lane in lanes}
    assert ends["rank 3 failed first (RTS001)"] < ends["7 ranks waited for rank 3"]


def test_a_job_of_many_kinds_folds_its_further_lanes(demo: dict[str, Any]) -> None:
    made = {**demo, "job": {**demo["job"], "ranks": [{**row, "about": f"rank {(n + 1) % 8}", "state": "waiting"} for n, row in enumerate(demo["job"]["ranks"] * 4)]}}  # fmt: skip
    made["job"]["ranks"] = [{**row, "rank": n, "about": f"rank {n + 1}"} for n, row in enumerate(made["job"]["ranks"])]
    page = html.render(made, "en")
    assert "<summary>... 24 more</summary>" in page


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_of_the_page_is_readable(dark: bool) -> None:
    sets = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)]
    colours = {**sets[0], **(sets[1] if dark else {})}
    full = {name: value if len(value) == 7 else "#" + "".join(c * 2 for c in value[1:]) for name, value in colours.items()}
    for front in ("text", "dim", "accent", "red", "amber", "blue", "green"):
        for back in ("sheet", "code"):
            assert contrast(full[front], full[back]) >= ENOUGH, (front, back)
    assert contrast(full["dim"], full["ground"]) >= ENOUGH
    assert contrast(full["on-mark"], full["mark"]) >= ENOUGH


def test_hostile_names_of_nodes_stay_text(demo: dict[str, Any]) -> None:
    evil = "<script>alert(1)</script>"
    made = {**demo, "job": {**demo["job"], "ranks": [{**row, "node": evil} for row in demo["job"]["ranks"]]}}
    page = html.render(made, "en")
    assert "<script" not in page
    assert all(p is not None for p in pictures(page))
