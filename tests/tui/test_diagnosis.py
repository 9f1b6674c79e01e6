"""The diagnosis of logs: folding, acting, stopping, failing, and text from logs that would like to be markup."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tests_support import HANG_S
from tui.support import HERE, OOM, Stage, job_logs, small_knowledge, stage
from tui.test_browse import copied

from doctor.read import discover
from doctor.scan import ranges
from doctor.tui.diagnosis import outline
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.evidence.evidence_screen import EvidenceScreen
from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.shell.session import Session, Step
from doctor.tui.shell.views import Card, Rows
from kb.build import build
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.pack import Pack
from kb.problems import Problem

__all__ = ["copied"]


def keys_of(s: object) -> list[str]:
    return [row.key for row in s.screen.query_one("#list", Rows).rows if row.key]  # type: ignore[attr-defined]


async def test_the_root_stands_first_and_its_symptom_is_folded_beneath(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        assert keys_of(s)[0] == "finding:RTS001"
        assert "finding:HCL001" not in keys_of(s)
        assert "1 symptom folded beneath" in s.text
        assert "GatherV2_1" in s.text
        await s.press("space")
        assert keys_of(s)[:2] == ["finding:RTS001", "finding:HCL001"]
        await s.press("space")
        assert "finding:HCL001" not in keys_of(s)


async def test_unexplained_errors_are_listed_with_their_place(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        cluster = next(k for k in keys_of(s) if k.startswith("cluster:"))
        s.screen.query_one("#list", Rows).select(cluster)
        await s.settle()
        assert "strange thing number 17" in s.text
        assert "Unrecognised errors" in s.text


async def test_log_text_is_shown_literally_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        cluster = [k for k in keys_of(s) if k.startswith("cluster:")][-1]
        s.screen.query_one("#list", Rows).select(cluster)
        await s.settle()
        assert "[bold red]not markup[/]" in s.text
        assert "[@click=app.quit]quit[/]" in s.text
        assert "宽字符" in s.text
        svg = s.app.export_screenshot()
        assert not any(c in svg for c in "\x1b\x07\x08\x00\x9b\u202e")
        await s.press("v")
        assert isinstance(s.screen, EvidenceScreen)
        assert "[bold red]not markup[/]" in s.text
        assert not any(c in s.app.export_screenshot() for c in "\x1b\x07\x08\x00\x9b\u202e")


async def test_links_lead_to_symptoms_evidence_and_knowledge(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        doc = s.screen.query_one("#card", Card).doc
        number = next(i for i, t in enumerate(doc.links, 1) if t.id == "HCL001")
        await s.press(str(number))
        assert s.screen.query_one("#card", Card).doc.name == "finding:HCL001"
        await s.press("K")
        assert isinstance(s.screen, BrowseScreen)
        assert s.screen.query_one("#card", Card).doc.name == "HCL001"
        await s.press("escape", "escape")
        assert isinstance(s.screen, DiagnosisScreen)
        await s.press("1")
        assert isinstance(s.screen, EvidenceScreen)


async def test_acting_copies_exports_and_tells_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    logs = job_logs(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    async with stage(DiagnosisScreen(), [str(logs)]) as s:
        await s.press("y", "Y")
        assert copied[0] == "export ASCEND_LAUNCH_BLOCKING=1"
        assert "GatherV2\\_1" in copied[1]
        await s.press("x", "enter")
        assert "RTS001" in (work / "npu-doctor-report.md").read_text()
        await s.press("x")
        s.screen.query_one("#answer").value = "r.json"  # type: ignore[attr-defined]
        await s.press("enter")
        assert json.loads((work / "r.json").read_text())["findings"][0]["id"] == "RTS001"
        await s.press("x")
        s.screen.query_one("#answer").value = "missing/r.txt"  # type: ignore[attr-defined]
        await s.press("enter")
        assert "Cannot write missing/r.txt" in s.toasts
        await s.press("c")
        assert f"npu-doctor scan {logs} --lang en" in s.screen.query_one(Card).doc.plain()


SECRET = "ImportError: libhccl.so: cannot open shared object file /home/zhangwei/x, peer 10.23.45.67 with hf_AbCdEfGhIjKlMnOpQrStUvWx"
FAULT = f"{OOM} on host train-17.corp.internal: {SECRET}"
PLANTED = ("zhangwei", "10.23.45.67", "hf_AbCd", "train-17")


async def leaving(s: Stage, copied: list[str], work: Path, name: str) -> dict[str, str]:
    """What leaves: the card, a line of the log, the report in every form."""
    copied.clear()
    await s.press("Y", "v", "y", "escape")
    told = {"card": copied[0], "line": copied[1]}
    for suffix in ("md", "json", "txt"):
        await s.press("x")
        s.screen.query_one("#answer").value = f"{name}.{suffix}"  # type: ignore[attr-defined]
        await s.press("enter")
        told[suffix] = (work / f"{name}.{suffix}").read_text()
    return told


@pytest.mark.parametrize(
    ("lang", "note", "redacted", "plain"),
    [("en", "Redacted: addresses", "redacted", "NOT REDACTED"), ("zh", "已脱敏：地址", "已脱敏", "未脱敏")],
)
async def test_what_is_for_others_is_redacted_until_the_reader_says_no(
    lang: str, note: str, redacted: str, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    """Exports, cards and lines have pseudonyms, the same name for the same thing; the switch is told, and seen while it is off."""
    (tmp_path / "plog-1_1.log").write_text(f"{FAULT}\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    async with stage(DiagnosisScreen(), [str(tmp_path / "plog-1_1.log")], lang=lang) as s:
        assert plain not in s.text
        told = await leaving(s, copied, work, "hidden")
        for form, text in told.items():
            assert [secret for secret in PLANTED if secret in text] == [], form
            assert "NPU out of memory" in text
            assert "<ip-1>" in text.replace("\\", ""), form
        assert json.loads(told["json"])["redacted"]["values"]["ip"] == 1
        assert redacted in s.toasts
        await s.press("x")
        assert note in s.text
        await s.press("escape", "P")
        assert plain in s.text
        told = await leaving(s, copied, work, "plain")
        for form, text in told.items():
            assert [secret for secret in PLANTED if secret not in text.replace("\\", "")] == [], form
        await s.press("x")
        assert plain.lower() in s.text.lower()
        await s.press("escape", "P")
        assert plain not in s.text
        assert "zhangwei" not in str(await leaving(s, copied, work, "again"))


async def test_a_line_of_a_log_without_a_report_is_redacted(tmp_path: Path, copied: list[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text(FAULT + "\n")
    async with stage(EvidenceScreen(discover.discover([str(log)]).sources[0])) as s:
        await s.press("y")
        assert [secret for secret in PLANTED if secret in copied[0]] == []
        await s.press("P", "y")
        assert copied[1] == FAULT


async def test_what_cannot_be_redacted_does_not_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    """A fault in hiding is told; nothing is copied or written instead."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("doctor.answer.redact.redactor", broken)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.log").write_text(FAULT + "\n")
    async with stage(DiagnosisScreen(), [str(tmp_path / "a.log")]) as s:
        await s.press("Y", "x", "enter")
        assert copied == []
        assert not (tmp_path / "npu-doctor-report.md").exists()
        assert "could not be redacted" in s.toasts


async def test_r_makes_the_script_of_the_operator_in_the_log(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        await s.press("r")
        assert "Gather" in s.screen.query_one(Card).doc.plain()
        await s.press("escape")
        assert "r repro" in s.text
        s.screen.query_one("#list", Rows).select(next(k for k in keys_of(s) if k.startswith("cluster:")))
        await s.settle()
        assert "r repro" not in s.text
        await s.press("r")
        assert isinstance(s.screen, DiagnosisScreen)
        await s.press("question_mark")
        assert "repro script" not in s.text


async def test_faulty_knowledge_is_told(tmp_path: Path) -> None:
    """In the bar of every screen, and with each fault beneath the findings."""
    fault = Problem("mine/abc001_x.yaml", 3, "unknown key 'titel' in entry", "did you mean 'title'?")
    known = Knowledge((Pack(build(Layer("built-in", HERE / "kb"))[0]),), (fault,))
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))], known=known) as s:
        assert "1 faulty" in s.text.split("\n")[0]
        s.screen.query_one("#list", Rows).select("faults:")
        await s.settle()
        assert "mine/abc001_x.yaml:3" in s.text
        assert "did you mean 'title'?" in s.text
    async with stage(known=known, lang="zh") as s:
        assert "1 个条目有误" in s.text.split("\n")[0]


async def test_language_turns_the_diagnosis_and_keeps_the_row(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        await s.press("down", "L")
        assert "诊断结果" in s.text
        assert "未识别的错误" in s.text


async def test_no_job_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM + "\n")
    async with stage(DiagnosisScreen(), [str(tmp_path)]) as s:
        await s.press("t")
        assert "no ranks" in s.toasts


async def test_nothing_readable_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x7fELF" + bytes(range(256)))
    async with stage(DiagnosisScreen(), [str(tmp_path)]) as s:
        assert "all-clear" in s.text
        s.screen.query_one("#list", Rows).select("skipped:")
        await s.settle()
        assert "a binary file" in s.text


async def test_escape_stops_a_scan_and_keeps_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file is not read any more when Esc came during the first."""
    logs = job_logs(tmp_path)
    reached, go_on = threading.Event(), threading.Event()
    real = ranges.scan_one

    def slow(task: ranges.Range, scanner: object) -> object:
        reached.set()
        assert go_on.wait(HANG_S)
        return real(task, scanner)  # type: ignore[arg-type]

    monkeypatch.setattr("doctor.scan.ranges.scan_one", slow)
    screen = DiagnosisScreen()
    from doctor.tui.app import DoctorApp

    app = DoctorApp(Session([str(logs)], known=small_knowledge()), first=screen)
    async with app.run_test(size=(120, 40)) as pilot:
        assert reached.wait(HANG_S)
        assert screen.scanning
        await pilot.press("escape")
        await pilot.pause()
        go_on.set()
        while screen.scanning:
            await pilot.pause()
        assert screen.outcome is not None
        assert not screen.outcome.finished
        assert screen.outcome.diagnosis.harvest.files == 1
        assert "Cancelled" in screen.remark


async def test_a_scan_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("no [bold]luck[/]")

    monkeypatch.setattr("doctor.judge.diagnosis.conclude", broken)
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        assert "RuntimeError: no [bold]luck[/]" in s.text
        assert not s.screen.scanning  # type: ignore[attr-defined]


async def test_rescan_reads_again(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("fine\n")
    async with stage(DiagnosisScreen(), [str(log)]) as s:
        log.write_text(OOM + "\n")
        await s.press("f5")
        assert keys_of(s)[0] == "finding:MEM001"


async def test_o_asks_for_a_path_and_diagnoses_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OOM + "\n")
    async with stage() as s:
        await s.press("o")
        s.screen.query_one("#answer").value = str(tmp_path / "none")  # type: ignore[attr-defined]
        await s.press("enter")
        assert "There is no" in s.toasts
        await s.press("o")
        s.screen.query_one("#answer").value = str(log)  # type: ignore[attr-defined]
        await s.press("enter")
        assert isinstance(s.screen, DiagnosisScreen)
        assert keys_of(s)[0] == "finding:MEM001"
        await s.press("escape")
        assert isinstance(s.screen, BrowseScreen)


async def test_editor_says_when_there_is_no_file_or_no_terminal(tmp_path: Path) -> None:
    async with stage(DiagnosisScreen(), [str(job_logs(tmp_path))]) as s:
        await s.press("e")
        assert "cannot be handed to another program" in s.toasts


def test_a_session_tells_steps_and_partial_results(tmp_path: Path) -> None:
    steps: list[Step] = []
    partial: list[int] = []
    session = Session([str(job_logs(tmp_path))], known=small_knowledge())
    ticks = iter(range(0, 1000, 1))
    outcome = session.look(
        steps.append, lambda o: partial.append(len(o.report["findings"])), clock=lambda: float(next(ticks))
    )
    assert outcome.finished
    assert steps[-1].share == 100
    assert steps[-1].files == 3
    assert partial[0] == 1
    assert outcome.report["findings"][0]["id"] == "RTS001"


def test_rows_of_a_report_have_unique_keys(tmp_path: Path) -> None:
    outcome = Session([str(job_logs(tmp_path))], known=small_knowledge()).look()
    for lang in ("en", "zh"):
        rows = outline.rows(outcome.report, lang, frozenset(["finding:RTS001"]))
        keys = [r.key for r in rows if r.key]
        assert len(keys) == len(set(keys))
        for key in keys:
            assert outline.card(outcome.report, key, lang, str).plain().strip()


async def test_a_mistyped_path_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(OOM + "\n")
    async with stage() as s:
        await s.press("o")
        s.screen.query_one("#answer").value = str(tmp_path / "trian.log")  # type: ignore[attr-defined]
        await s.press("enter")
        assert f"Did you mean {tmp_path}/train.log" in s.toasts
