"""Lists and cards by themselves: scrolling, marks, and that text from logs stays text wherever it is shown."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest
from tests_support import HANG_S
from tui.support import HOSTILE, job_logs, small_knowledge, stage
from tui.test_browse import copied
from tui.test_headless import JOB, process

from doctor.lookup.search import Index
from doctor.read import discover
from doctor.tui.app import DoctorApp
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.diagnosis.watch_screen import WatchScreen
from doctor.tui.evidence.evidence_screen import EvidenceScreen
from doctor.tui.job.job_screen import JobScreen
from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.knowledge.shelf import Facets, Shelf
from doctor.tui.paste.paste_screen import PasteScreen
from doctor.tui.shell.dialogs import Ask, Show
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.line import Row, RowsOf, Span
from doctor.tui.shell.session import Session
from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Bar

__all__ = ["copied"]

FORBIDDEN = "\x1b\x07\x08\x00\x9b\u202e"
WIDE = "宽字符" * 400
EVIL = [HOSTILE, "[/]" * 40, "[@click=app.quit]x[/]", WIDE, "\x1b[2J\x1b[?1049l\x1bc", "a\tb\rc\x0b\x0c\x85d\u2028e\u2066f", "x" * 1_200_000]  # fmt: skip


def hostile_log(folder: Path) -> Path:
    """Logs whose lines try everything, each of them an error that nobody knows."""
    job_logs(folder)
    head = "[ERROR] DRV(4244,python):2026-03-02-09:50:00.000.001 [devdrv.c:77]4244 "
    (folder / "plog-4245_20260302091400000.log").write_text(
        "\n".join(f"{head}kind{n} {text}" for n, text in enumerate(EVIL)) + "\n", encoding="utf-8", newline=""
    )
    return folder


def drawn(app: DoctorApp) -> str:
    """What was drawn; every line as wide as the screen, so that nothing pushed anything aside."""
    for strip in app.screen._compositor.render_strips():
        assert strip.cell_length == app.size.width
    svg = app.export_screenshot()
    assert not any(c in svg for c in FORBIDDEN)
    return svg


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_lines_change_nothing_in_the_diagnosis_and_its_evidence(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with stage(DiagnosisScreen(), [str(hostile_log(tmp_path))], size=size) as s:
        rows = s.screen.query_one("#list", Rows)
        clusters = [row.key for row in rows.rows if row.key.startswith("cluster:")]
        assert len(clusters) >= 2
        for key in clusters:
            rows.select(key)
            await s.settle()
            drawn(s.app)
            await s.press("v")
            drawn(s.app)
            await s.press("w")
            drawn(s.app)
            await s.press("escape")
        assert isinstance(s.screen, DiagnosisScreen)
        assert s.app.return_code is None


async def test_hostile_text_changes_nothing_in_any_other_place(
    tmp_path: Path, copied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files, captures in the job view, toasts, questions, boxes, the bar, pasted text, a watched log."""
    evil = HOSTILE.replace("\x00", "").replace("/", "_")[:80]
    path = tmp_path / f"{evil}.log"
    path.write_text("\n".join(EVIL), encoding="utf-8", newline="")
    root = {**JOB["roots"][0], "who": HOSTILE, "codes": [HOSTILE]}  # type: ignore[index, dict-item]
    event = {**JOB["timeline"][0], "who": HOSTILE, "what": HOSTILE, "text": {"en": HOSTILE, "zh": HOSTILE}}  # type: ignore[index, dict-item]
    job = {**JOB, "roots": [root], "ranks": [process(1, HOSTILE, "waiting", HOSTILE, None)], "timeline": [event]}
    source = discover.discover([str(path)]).sources[0]
    from doctor.watch.live_diagnosis import Live

    frames: list[Frame] = [
        JobScreen(job),
        PasteScreen("\n".join(EVIL[:-1])),
        EvidenceScreen(source),
        WatchScreen(lambda: Live([str(tmp_path)], small_knowledge()), interval=3600),
    ]
    for frame in frames:
        async with stage(frame, [str(path)], size=(80, 24)) as s:
            drawn(s.app)
            s.app.tell("saved", path=HOSTILE)
            await s.settle()
            drawn(s.app)
            s.app.push_screen(Show(HOSTILE, "\n".join(EVIL[:-1]), "sh", HOSTILE, HOSTILE))
            await s.settle()
            drawn(s.app)
            s.app.push_screen(Ask(HOSTILE, HOSTILE, HOSTILE))
            await s.settle()
            drawn(s.app)
            await s.press("escape", "escape")
            s.screen.query_one(Bar).show(HOSTILE, HOSTILE)
            await s.settle()
            assert "[bold red]not markup[/]" in s.text
            drawn(s.app)
            assert s.app.screen is frame
            assert s.app.return_code is None


def test_rows_are_made_when_they_are_looked_at() -> None:
    made: list[str] = []

    def make(key: str) -> Row:
        made.append(key)
        return Row(key, (Span(key),))

    rows = RowsOf([str(n) for n in range(5000)], make)
    assert (len(rows), made) == (5000, [])
    assert rows[7].key == "7"
    assert [r.key for r in rows[1:3]] == ["1", "2"]
    assert made == ["7", "1", "2"]


async def test_a_list_scrolls_with_its_cursor_and_shows_where_it_is() -> None:
    async with stage(size=(80, 24)) as s:
        rows = s.screen.query_one("#list", Rows)
        rows.set_rows(RowsOf([f"k{n}" for n in range(300)], lambda key: Row(key, (Span(key),))))
        await s.press("G")
        assert (rows.cursor, rows.top) == (299, 300 - rows.height)
        assert "k299" in s.text
        assert rows._thumbed(rows.height - 1)
        await s.press("pageup")
        assert rows.cursor == 299 - max(1, rows.height - 1)
        await s.press("g")
        assert (rows.cursor, rows.top) == (0, 0)
        assert rows._thumbed(0)
        assert not rows._thumbed(rows.height - 1)
        rows.set_rows([Row("one", (Span("one"),))])
        await s.settle()
        assert not rows._thumbed(0)


async def test_what_is_too_wide_is_marked_and_scrolled_to() -> None:
    async with stage(size=(80, 24)) as s:
        from doctor.render.document import Code, Document, Section
        from doctor.tui.shell.doc import Doc

        card = s.screen.query_one("#card", Card)
        code = Code("command " + "a" * 120 + "END", "sh")
        doc = Doc("x", "en", [Document("", "", (), (Section("about", "", (code,)),))])
        card.show(doc)
        await s.settle()
        assert "a›" in s.text
        assert "END" not in s.text
        card.focus()
        await s.press(*["right"] * 20)
        assert "END" in s.text
        assert "›" not in s.text
        await s.press(*["left"] * 20)
        assert card.left == 0


async def test_the_list_is_there_before_it_can_be_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first picture needs the catalog alone; words typed meanwhile are answered once everything is read."""
    go = threading.Event()
    real = Index.__init__

    def slow(self: Index, known: object) -> None:
        go.wait(HANG_S)
        real(self, known)  # type: ignore[arg-type]

    monkeypatch.setattr(Index, "__init__", slow)
    app = DoctorApp(Session(known=small_knowledge()))
    async with app.run_test(size=(120, 40)) as pilot:
        rows = app.screen.query_one("#list", Rows)
        assert [row.key for row in rows.rows][:2] == ["entry:ENV001", "entry:HCL001"]
        app.screen.query_one("#search").value = "memory"  # type: ignore[attr-defined]
        await pilot.pause()
        assert rows.empty == "reading the knowledge"
        go.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert rows.current == "entry:MEM001"


def test_a_shelf_knows_its_entries_before_its_index() -> None:
    shelf = Shelf(small_knowledge())
    assert not shelf.ready
    assert len(shelf.items(Facets())) == 4
    assert shelf.items(Facets(text="memory")) == []
    assert {n.key: n.size for n in shelf.tree("en")}["codes"] == len(shelf.codes) == 2
    shelf.warm()
    assert shelf.ready
    assert shelf.items(Facets(text="memory"))[0].target.id == "MEM001"


async def test_the_job_view_follows_the_width() -> None:
    async with stage(JobScreen(JOB), size=(140, 30)) as s:
        wide = max(len(row.rstrip(" │")) for row in s.text.split("\n") if "✗" in row)
        await s.pilot.resize_terminal(80, 24)
        await s.settle()
        assert max(len(row.rstrip(" │")) for row in s.text.split("\n") if "✗" in row) < wide


async def test_of_several_copies_only_the_last_is_told(copied: list[str]) -> None:
    async with stage(BrowseScreen("MEM001")) as s:
        await s.press("y", "y")
        assert len(copied) == 2
        assert s.toasts.count("Copied") == 1
        assert "fix 2 of 2" in s.toasts


async def test_garbage_is_collected_once_the_interface_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.disable()
    try:
        async with stage() as s:
            s.app.settle()
            assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


async def test_knowledge_that_cannot_be_read_ends_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kb: object) -> None:
        raise ValueError("no such folder")

    monkeypatch.setattr("doctor.tui.shell.session.load", broken)
    app = DoctorApp(Session())
    async with app.run_test() as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
    assert app.return_code == 4
