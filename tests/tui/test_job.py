"""The job on screen: groups, the grid, the line of time and its zoom, the way from who waits to who failed; large jobs."""

from __future__ import annotations

from typing import Any

import pytest
from tui.support import stage
from tui.test_headless import JOB, process

from doctor.render.layout import cells
from doctor.tui.job.job_screen import JobScreen
from doctor.tui.job.timeline_rows import View, Window
from doctor.tui.shell.line import Row, plain
from doctor.tui.shell.views import Rows


def crowd(ranks: int) -> dict[str, Any]:
    """A job in which one rank fails and all others wait for it, sixteen on a node."""
    made = [
        process(n, f"n{n // 16}", "waiting", "rank 28", f"2026-03-02T09:{30 + n % 20:02}:00.000000", n) for n in range(ranks)
    ]
    made[28] = process(28, "n1", "root", "RTS001", "2026-03-02T09:15:00.000000", 28)
    root = {**JOB["roots"][0], "who": "rank 28", "waiters": ranks - 1}  # type: ignore[index, dict-item]
    return {**JOB, "world_size": ranks, "processes": ranks, "roots": [root], "ranks": made, "missing_ranks": []}


def texts(rows: list[Row]) -> list[str]:
    return [plain(row.left) for row in rows]


def test_ranks_that_did_the_same_are_one_row() -> None:
    view = View(crowd(1024), "en")
    rows = view.rows(120)
    assert len(rows) < 20
    told = next(row for row in rows if row.key.startswith("group:waiting"))
    assert "1023 ranks waited for rank 28" in plain(told.left)
    assert [row.key for row in rows if row.key.startswith("rank:")] == ["rank:28"]
    opened = view.rows(120, frozenset({told.key}))
    assert sum(row.key.startswith("rank:") for row in opened) == 1024


def test_the_grid_shows_who_failed_and_folds_nodes_that_ended_alike() -> None:
    rows = [text for text in texts(View(crowd(1024), "en").rows(120)) if "✗" in text and " w w " in text]
    assert [row.split()[0] for row in rows] == ["n1"]
    assert any("+" in text.split(" w")[0] for text in texts(View(crowd(1024), "en").rows(120)) if " w w" in text)


@pytest.mark.parametrize("room", [78, 118, 198])
def test_every_row_fits(room: int) -> None:
    for job in (JOB, crowd(64)):
        for opened in (frozenset[str](), frozenset({"group:waiting|rank 28", "group:waiting|rank 3"})):
            for text in texts(View(job, "zh").rows(room, opened)):
                if "2026-03" not in text:
                    assert cells(text) <= room


def test_who_failed_early_ends_early_on_the_line_of_time() -> None:
    rows = {row.key: plain(row.left) for row in View(JOB, "en").rows(120)}
    assert rows["rank:2"].rstrip().endswith("✗")
    assert rows["group:waiting|rank 3"].rstrip().endswith("w")
    assert cells(rows["rank:2"].rstrip()) < cells(rows["group:waiting|rank 3"].rstrip())


def test_zooming_keeps_the_moment_and_never_leaves_the_job() -> None:
    window = Window(0, 100).zoomed(0.5, 90, 100)
    assert window == Window(50, 100)
    assert window.zoomed(0.1, 60, 100) == Window(57.5, 62.5)
    assert window.moved(5, 100) == Window(50, 100)
    assert window.moved(-5, 100) == Window(0, 50)
    assert window.zoomed(2, 0, 100).zoomed(2, 0, 100) == Window(0, 100)


def test_what_lies_outside_the_window_is_pointed_at() -> None:
    rows = {row.key: plain(row.left) for row in View(JOB, "en").rows(120, window=Window(1000, 1200))}
    assert rows["rank:2"].rstrip().endswith("‹")  # it ended after 900 s
    assert rows["group:waiting|rank 3"].rstrip().endswith("›")
    early = {row.key: plain(row.left) for row in View(JOB, "en").rows(120, window=Window(0, 950))}
    assert early["rank:2"].rstrip().endswith("─✗")


async def test_enter_on_who_waits_goes_to_whom_it_waits_for() -> None:
    async with stage(JobScreen(crowd(64)), size=(120, 40)) as s:
        rows = s.screen.query_one("#ranks", Rows)
        rows.select("group:waiting|rank 28")
        await s.press("space", "down", "down")
        assert rows.current == "rank:1"
        await s.press("enter")
        assert rows.current == "rank:28"


async def test_zoom_and_search_on_the_screen() -> None:
    async with stage(JobScreen(crowd(64)), size=(120, 40)) as s:
        rows = s.screen.query_one("#ranks", Rows)
        before = s.text
        await s.press("plus", "plus", "greater_than_sign", "less_than_sign", "minus")
        assert s.text != before
        await s.press("0")
        assert s.text == before
        await s.press("slash")
        await s.type("rank 17")
        assert {row.key for row in rows.rows if row.key} == {"rank:17"}
        await s.press("enter", "enter")
        assert rows.current == "rank:28"


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_moving_among_a_thousand_ranks_draws_two_lines(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A key makes no row anew, and of the screen only the rows that the cursor leaves and reaches are drawn."""
    async with stage(JobScreen(crowd(1024)), size=size) as s:
        rows = s.screen.query_one("#ranks", Rows)
        await s.press("space")
        rows.select("group:waiting|rank 28")
        await s.press("space")
        assert len(rows.rows) > 1000
        drawn: list[int] = []
        real = Rows.render_line
        monkeypatch.setattr(Rows, "render_line", lambda self, y: (drawn.append(y), real(self, y))[1])
        monkeypatch.setattr(View, "rows", None)
        await s.press("down")
        assert len(set(drawn)) <= 4
        await s.press("G", "g")
        assert len(rows.rows) > 1000


async def test_the_language_turns_and_the_place_stays() -> None:
    async with stage(JobScreen(crowd(64)), size=(120, 40)) as s:
        rows = s.screen.query_one("#ranks", Rows)
        await s.press("down")
        before = rows.current
        await s.press("L")
        assert rows.current == before
        assert "等待" in s.text


async def test_the_job_grows_while_more_is_read_of_it() -> None:
    async with stage(JobScreen(crowd(32)), size=(120, 40)) as s:
        assert "31 ranks waited" in s.text
        s.app.job_changed(crowd(64))
        await s.settle()
        assert "63 ranks waited" in s.text
