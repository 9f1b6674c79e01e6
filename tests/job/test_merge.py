"""Scanning a job in parts and merging gives what scanning it at once gives, however its files are split over calls."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from doctor import cli
from doctor.fleet.gather import apart
from doctor.scan.harvest import Harvest, Span, merge
from tests.simulate.jobs import simulate

NOISE = "[ERROR] HCCL({pid},python):2026-04-02-08:{minute:02}:{second:02}.000.{micro:03} [a.cc:{micro}] [{pid}][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[{rank}] timeout[120 s]\n"


def _tree(root: Path, seed: int) -> list[Path]:
    """A job, some hundred logs of processes that repeat themselves, a rank table, and a file that is not read."""
    job = simulate(seed, 16)
    shuffle = random.Random(seed)
    files = dict(job.files)
    for number in range(220):
        pid = 80000 + number
        rows = [
            NOISE.format(pid=pid, minute=n // 60, second=n % 60, micro=n, rank=shuffle.randrange(16))
            for n in range(shuffle.randrange(5, 40))
        ]
        files[f"old/n{number % 7}/plog-{pid}_20260402080000{number:03}.log"] = "".join(rows)
    table = [{"server_id": "10.9.0.1", "device": [{"device_id": "0", "device_ip": "10.9.8.1", "rank_id": "0"}]}]
    files["hccl.json"] = json.dumps({"version": "1.0", "server_list": table})
    made = []
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        made.append(path)
    (root / "core.bin").write_bytes(b"\x7fELF" + bytes(200))
    return [*made, root / "core.bin"]


def _run(*argv: str) -> int:
    return cli.main([*argv])


def _report(path: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(path.read_text())
    made["stats"]["seconds"] = 0
    return made


@pytest.mark.parametrize("seed", [71, 72, 73])
def test_any_split_and_order(seed: int, tmp_path: Path) -> None:
    """Byte for byte the same report: counts, evidence, unknown errors, what was not read, the job."""
    files = _tree(tmp_path / "logs", seed)
    shuffle = random.Random(seed)
    _run("scan", str(tmp_path / "logs"), "-f", "json", "-o", str(tmp_path / "whole.json"))
    parts: list[list[str]] = [[] for _ in range(shuffle.randrange(2, 6))]
    for path in files:  # files of one folder, even of one process, may come to different calls
        shuffle.choice(parts).append(str(path))
    named = []
    for number, part in enumerate(parts):
        named.append(str(tmp_path / f"part{number}.jsonl"))
        _run("scan", *part, "-f", "jsonl", "-o", named[-1])
    shuffle.shuffle(named)
    _run("merge", *named, "-f", "json", "-o", str(tmp_path / "merged.json"))
    whole, merged = _report(tmp_path / "whole.json"), _report(tmp_path / "merged.json")
    assert [s["path"] for s in whole["skipped"]] == [str(tmp_path / "logs" / "core.bin")]
    assert json.dumps(merged) == json.dumps(whole)


def _one(machine: str, path: str, pid: int) -> Harvest:
    return Harvest(spans=(Span(path, None, None, pid),), machine=machine)


def test_only_different_machines_are_told_apart() -> None:
    """The same folder and pid: two calls on one machine are one process, two machines are two; unknown ones are two."""
    same = apart([("a.jsonl", _one("m", "log/plog-7_1.log", 7)), ("b.jsonl", _one("m", "log/plog-7_2.log", 7))])
    assert [h.spans[0].path for h in same] == ["log/plog-7_1.log", "log/plog-7_2.log"]
    two = apart([("a.jsonl", _one("m", "log/plog-7_1.log", 7)), ("b.jsonl", _one("n", "log/plog-7_2.log", 7))])
    assert [h.spans[0].path for h in two] == ["a/log/plog-7_1.log", "b/log/plog-7_2.log"]
    unknown = apart([("x/a.jsonl", _one("", "log/plog-7_1.log", 7)), ("y/a.jsonl", _one("", "log/plog-7_1.log", 7))])
    assert [h.spans[0].path for h in unknown] == ["x/a/log/plog-7_1.log", "y/a/log/plog-7_1.log"]


def test_the_machine_of_a_merge() -> None:
    """Merged harvests are of one machine only when all of them are, in whatever grouping."""
    a, b, c = _one("m", "a", 1), _one("m", "b", 1), _one("n", "c", 1)
    assert merge([a, b]).machine == "m"
    assert merge([merge([a, b]), c]).machine == merge([a, merge([b, c])]).machine == ""
