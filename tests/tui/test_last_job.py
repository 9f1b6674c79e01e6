"""Who just types the name: the last job of the usual places is offered when it failed, and nothing is when it did not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tui.support import job_logs, small_knowledge, stage

from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.knowledge import last_job as module
from doctor.tui.knowledge.browse_screen import OFFER, BrowseScreen
from doctor.tui.knowledge.last_job import last_job
from doctor.tui.shell.session import Session
from doctor.tui.shell.views import Rows

CALM = "[EVENT] GE(1,python):2026-03-02-09:14:44.000.000 [g.cc:1]1 step 1\n"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that CANN writes to unless it is told otherwise."""
    for name in ("ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "ascend" / "log"
    folder.mkdir(parents=True)
    monkeypatch.setattr("doctor.read.discover.usual_places", lambda: [str(folder)])
    return folder


def session() -> Session:
    return Session(known=small_knowledge())


async def test_the_failed_job_is_offered_first_and_enter_opens_it(logs: Path) -> None:
    job_logs(logs)
    async with stage(BrowseScreen(offer=True)) as s:
        rows = s.screen.query_one("#list", Rows)
        assert rows.current == OFFER
        assert "The last job failed" in s.text
        assert "ASCEND_LAUNCH_BLOCKING" in s.text
        await s.press("L")
        assert "最近的作业" in s.text
        await s.press("enter")
        assert isinstance(s.screen, DiagnosisScreen)
        assert "RTS001" in s.text
        await s.press("escape", "slash")
        await s.type("memory")
        assert OFFER not in [row.key for row in rows.rows]


async def test_a_reader_on_the_way_is_not_torn_away(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job_logs(logs)
    async with stage(BrowseScreen()) as s:
        await s.press("down")
        found = last_job(session(), 0.0)
        assert found is not None
        from doctor.tui.knowledge.browse_screen import JobFound

        s.screen.post_message(JobFound(found))
        await s.settle()
        rows = s.screen.query_one("#list", Rows)
        assert rows.rows[0].key == OFFER
        assert rows.current == "entry:HCL001"


def test_only_the_last_job_counts(logs: Path) -> None:
    """An old failure beside logs of a job that went well is no offer."""
    job_logs(logs)
    (logs / "plog-1_20260302100000000.log").write_text(CALM)
    now = (logs / "plog-1_20260302100000000.log").stat().st_mtime
    for path in logs.glob("plog-42*"):
        os.utime(path, (now - 86400, now - 86400))
    assert last_job(session(), now) is None


def test_it_is_told_how_long_ago(logs: Path) -> None:
    job_logs(logs)
    ended = max(path.stat().st_mtime for path in logs.iterdir())
    found = last_job(session(), ended + 14 * 60)
    assert found is not None
    assert found.headline("en", ended + 14 * 60).startswith("The last job failed 14 min ago")


def test_too_much_is_offered_unread(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job_logs(logs)
    monkeypatch.setattr(module, "MOST", 10)
    found = last_job(session(), 0.0)
    assert found is not None
    assert found.report is None
    assert "KiB" in found.headline("zh", 0.0)


def test_nothing_there_is_nothing_offered(logs: Path) -> None:
    assert last_job(session(), 0.0) is None
