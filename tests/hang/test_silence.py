"""Who fell silent, by the last progress of each rank in its log: as `hang` says it, and a scan that finds no cause."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from simulate import recorder_dumps as made

from benchmarks.pace import silence
from doctor.cli import main
from doctor.pace import quiet
from doctor.pace.reading import Reader
from doctor.pace.wordings import Wording
from doctor.tui.shell.session import Session

BEGAN = datetime(2026, 3, 2, 9, 0, 0)


def log(folder: Path, rank: int, steps: int, goes_on: int = 0, begin: int = 1, after: int = 0) -> None:
    """Steps of one rank, a second each, and then so many seconds of lines that tell of no progress; `after`: seconds before it all."""
    said = [(at, f"iteration {at:8d}/    9000 | consumed samples: {at} | elapsed time per iteration (ms): 1000.0 |") for at in range(begin, steps + 1)]
    said += [(at, "still waiting") for at in range(steps + 10, steps + goes_on + 1, 10)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rank_{rank}.log").write_text("".join(f" [{BEGAN + timedelta(seconds=at + after)}] {line}\n" for at, line in said))


@pytest.mark.parametrize(
    ("steps", "ranks", "code"),
    [
        pytest.param((400, 400, 120, 400), [2], 1, id="one-stopped-long-before"),
        pytest.param((120, 120, 119, 120), [2], 1, id="one-step-behind-while-the-logs-go-on"),
        pytest.param((120, 120, 120, 120), [], 1, id="all-at-once-while-the-logs-go-on"),
    ],
)
def test_who_fell_silent(steps: tuple[int, ...], ranks: list[int], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the last step of each rank, without any dump; in both languages."""
    for rank, number in enumerate(steps):
        log(tmp_path / "logs", rank, number, 300)
    assert main(["hang", str(tmp_path / "logs"), "-f", "json"]) == code
    read = json.loads(capsys.readouterr().out)
    assert (read["kind"], read["ranks"]) == ("silent", ranks)
    assert str(min(steps)) in read["reasons"][0]["said"]["en"]
    main(["hang", str(tmp_path / "logs"), "--lang", "zh"])
    assert "沉默" in capsys.readouterr().out


def test_logs_that_only_end_are_no_hang(tmp_path: Path) -> None:
    """A run that is over has no silence; neither has a rank that told of progress twice only, or one that is a step behind when a log is copied."""
    for rank, number in enumerate((120, 120, 119, 120, 2)):
        log(tmp_path, rank, number)
    assert main(["hang", str(tmp_path)]) == 3


@pytest.mark.parametrize(("running", "code"), [(3, 1), (0, 3)])
def test_a_service_without_progress(running: int, code: int, tmp_path: Path) -> None:
    """Requests that run and no tokens are a silence; nothing to do is none."""
    said = [(at, 512.0, 3) for at in range(0, 300, 10)] + [(at, 0.0, running) for at in range(300, 900, 10)]
    (tmp_path / "serve.log").write_text(
        "".join(
            f"INFO {BEGAN + timedelta(seconds=at):%m-%d %H:%M:%S} [loggers.py:248] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: {made} tokens/s, "
            f"Running: {count} reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%, Prefix cache hit rate: 0.0%\n"
            for at, made, count in said
        )
    )
    assert main(["hang", str(tmp_path)]) == code


def test_silence_speaks_for_what_dumps_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The dumps decide, the order of the logs stands among the reasons."""
    made.write(tmp_path, made.away(4, 2))
    for rank in range(4):
        log(tmp_path / "logs", rank, 40 if rank == 2 else 200)
    assert main(["hang", str(tmp_path), "-f", "json"]) == 1
    read = json.loads(capsys.readouterr().out)
    assert (read["kind"], read["ranks"], read["reasons"][-1]["what"]) == ("away", [2], "silent")


def scanned(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int | None, int]]:
    """What a scan names first: entry, rank, and the line that is shown for it."""
    main(["scan", str(folder), "-f", "json"])
    read = json.loads(capsys.readouterr().out)
    return [(one["id"], one["scope"]["rank"], one["evidence"][0]["line"]) for one in read["findings"] if one["role"] == "root"]


def test_a_scan_without_a_cause_names_who_fell_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the line of the last progress; all logs of a job that is over say nothing."""
    for rank, number in enumerate((400, 400, 120, 400)):
        log(tmp_path / "one", rank, number)
        log(tmp_path / "whole", rank, 400)
    assert scanned(tmp_path / "one", capsys) == [("HNG021", 2, 120)]
    assert scanned(tmp_path / "whole", capsys) == []
    assert [f["id"] for f in Session([str(tmp_path / "one")]).look().report["findings"]] == ["HNG021"]


def test_a_scan_of_steady_logs_reads_their_last_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Who tells of progress in each line says in a few how it goes; who did so long ago is read further back."""
    made: list[quiet.Reader] = []

    def reader(forms: Sequence[Wording]) -> quiet.Reader:
        made.append(Reader(forms))
        return made[-1]

    monkeypatch.setattr(quiet, "Reader", reader)
    for rank in range(4):
        log(tmp_path, rank, 1000)
    assert scanned(tmp_path, capsys) == []
    (glance,) = made
    assert glance.made.bytes <= 4 * quiet.LAST_LINES < (tmp_path / "rank_0.log").stat().st_size
    with (tmp_path / "rank_2.log").open("a") as file:
        file.writelines(f" [{BEGAN + timedelta(seconds=second)}] still waiting\n" for second in range(1010, 2000, 2))
    for rank in (0, 1, 3):
        log(tmp_path, rank, 2000)
    assert scanned(tmp_path, capsys) == [("HNG021", 2, 1000)]


def test_a_scan_takes_no_other_job_for_a_silence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Logs of an earlier attempt beside those of a later one; and a rank that says why it ended is explained."""
    for rank in range(4):
        log(tmp_path / "two", rank, 120)
        log(tmp_path / "two" / "later", rank + 4, 900, begin=100, after=4000)
        log(tmp_path / "told", rank, 120 if rank == 2 else 400)
    with (tmp_path / "told" / "rank_2.log").open("a") as file:
        file.write("torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 2; 60.00 GiB total capacity; 58.12 GiB already allocated; 58.30 GiB current active; 1.03 GiB free)\n")
    assert scanned(tmp_path / "two", capsys) == []
    assert "HNG021" not in {entry for entry, _, _ in scanned(tmp_path / "told", capsys)}


def test_a_verdict_of_silence_in_a_file_is_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `hang -f json` said of the logs, without them."""
    for rank, number in enumerate((400, 400, 120, 400)):
        log(tmp_path / "logs", rank, number)
    main(["hang", str(tmp_path / "logs"), "-o", str(tmp_path / "said.json")])
    assert [(entry, rank) for entry, rank, _ in scanned(tmp_path / "said.json", capsys)] == [("HNG021", 2)]


def test_of_simulated_jobs_who_fell_silent_is_named_and_whole_ones_are_not() -> None:
    """Jobs of several nodes in the words of two programs, with noise, slow starts and checkpoints."""
    made = silence(7, 3, small=True)
    assert made["cut"] >= 2
    assert (made["named"], made["wrongly_named"], made["whole_ones_alarmed"]) == (made["cut"], 0, 0)


def test_clocks_that_are_apart_are_no_silence(tmp_path: Path) -> None:
    """Whoever came as far as the others has not fallen silent before them, whatever the clock of its node says."""
    for rank in range(4):
        log(tmp_path, rank, 200, after=rank * 86400)
    assert main(["hang", str(tmp_path)]) == 3
