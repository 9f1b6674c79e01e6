"""What trackers and pipelines take: fingerprints that outlive a run, GitLab's report, a trace that Perfetto opens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

LOG = (
    b"[ERROR] HCCL(%d,py):2026-01-02-03:04:05.006.007 [a.cc:1]%d unheard of trouble at stream 0x%x\n"
    b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
)


def prints(run: Any, folder: Path, pid: int, form: str) -> list[str]:
    folder.mkdir()
    log = folder / f"plog-{pid}_1.log"
    log.write_bytes(LOG % (pid, pid, pid * 4096))
    made = json.loads(run("scan", str(log), "-f", form).stdout)
    if form == "gitlab":
        return [one["fingerprint"] for one in made]
    return [one["partialFingerprints"]["npuDoctor/v1"] for one in made["runs"][0]["results"]]


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_a_fault_has_the_same_fingerprint_in_every_run(form: str, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Another process, another folder, other addresses: the same; different faults: different."""
    first, second = prints(run, tmp_path / "a", 4711, form), prints(run, tmp_path / "b", 815, form)
    assert first == second
    assert len(set(first)) == len(first) >= 2


def test_gitlab_takes_the_report(run) -> None:  # type: ignore[no-untyped-def]
    """Every row has what a code quality report must have."""
    rows = json.loads(run("demo", "-f", "gitlab", "--lang", "zh").stdout)
    assert rows[0]["check_name"] == "RTS001"
    for row in rows:
        assert set(row) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert row["location"]["lines"]["begin"] >= 1
    assert json.loads(run("scan", "tests/data/healthy/vllm-serve.log", "-f", "gitlab").stdout) == []


def valid(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The events, each as the format wants it."""
    events: list[dict[str, Any]] = trace["traceEvents"]
    for event in events:
        assert {"ph", "ts", "pid", "tid", "name", "args"} <= set(event)
        assert event["ph"] in ("M", "X", "i")
        assert all(type(event[key]) is int and event[key] >= 0 for key in ("ts", "pid", "tid"))
        assert (event["ph"] == "X") == ("dur" in event)
        assert (event["ph"] == "i") == (event.get("s") in ("t", "g"))
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} <= named
    assert {e["pid"] for e in events} == {e["pid"] for e in events if e["name"] == "process_name"}
    return events


def test_a_job_is_a_trace(run) -> None:  # type: ignore[no-untyped-def]
    """Eight ranks with their lives, the fault before the time-outs, the cause over all; ascending in time."""
    events = valid(json.loads(run("demo", "-f", "trace", "--lang", "en").stdout))
    assert [e["name"] for e in events if e["name"] == "thread_name"] == ["thread_name"] * 8
    lives = {e["args"]["pid"]: e for e in events if e["ph"] == "X"}
    assert len(lives) == 8
    fault = next(e for e in events if e.get("cat") == "event" and e["args"]["what"] == "RTS001")
    wait = next(e for e in events if e.get("cat") == "event" and e["args"]["what"] == "notify")
    assert 29 * 60e6 < wait["ts"] - fault["ts"] < 32 * 60e6
    assert any(e.get("s") == "g" and e["name"].startswith("RTS001") for e in events)
    told = [e["ts"] for e in events if e["ph"] != "M"]
    assert told == sorted(told)


@pytest.mark.parametrize("log", [b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n", b"", LOG % (1, 1, 1)])
def test_what_is_no_job_is_a_trace_too(log: bytes, run) -> None:  # type: ignore[no-untyped-def]
    valid(json.loads(run("scan", "-", "-f", "trace", stdin=log).stdout))


ASCEND = ["一、问题现象（附报错日志上下文）", "二、软件版本", "三、测试步骤", "四、日志信息"]


@pytest.mark.parametrize(
    ("to", "headings"),
    [
        ("vllm-ascend", ["Your current environment", "🐛 Describe the bug"]),
        ("verl", ["System Info", "Information", "Tasks", "Reproduction", "Expected behavior"]),
        ("torch_npu", ASCEND),
        ("mindspeed", ASCEND),
    ],
)
def test_a_draft_fills_in_the_form_of_its_tracker(to: str, headings: list[str], run) -> None:  # type: ignore[no-untyped-def]
    """The form's headings in their order, ours beneath them; the cause, the versions, the script, the brief: nothing is left out."""
    told = run("issue", "kb/demo", "--to", to, "--lang", "en").stdout.decode()
    rows, fenced = [], ""
    for row in told.splitlines():
        bar = re.match(r" *(`{3,})", row)
        if fenced:
            fenced = "" if row.strip() == fenced else fenced
        elif bar:
            fenced = bar[1]
        else:
            rows.append(row)
    assert [row[4:] for row in rows if row.startswith("### ")] == headings
    assert not [row for row in rows if row.startswith("## ")]
    plain = run("issue", "kb/demo", "--lang", "en").stdout.decode()
    ours = re.findall(r"^## (.*)$", plain, re.MULTILINE)
    assert {row[5:] for row in rows if row.startswith("#### ")} >= set(ours)
    assert "verdict: ERROR RTS001" in told
    assert "npu-doctor repro RTS001" in told
    assert "10.12.0.31" not in told
