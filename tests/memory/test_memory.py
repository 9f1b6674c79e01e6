"""Who holds the memory: classes and places of drawn snapshots, what is no snapshot, and the command as its user calls it."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.memory import named, told
from doctor.commands import memory, scan
from doctor.memory.advice import VARIABLES
from doctor.memory.classes import Kind, floors, growth, judge
from doctor.memory.evidence import Evidence, components, last_message
from doctor.memory.reading import read
from kb.knowledge import load
from parsers.meaning.memory import figures
from parsers.snapshot import NoSnapshotError, again, snapshot
from tests.simulate.memory_snapshots import KINDS, make

SEED = 20261122


@pytest.mark.parametrize("kind", [*KINDS, "even"])
def test_class_and_place(kind: str) -> None:
    """Of each class, snapshots of three seeds: the class, and the right place among the first three."""
    for number in range(3):
        made = make(kind, SEED + number)
        said, places = told(made)
        assert said == kind
        assert not made.site or named(made, places), places


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot, what is beside one, and what is none."""
    at = tmp_path_factory.mktemp("memory")
    leak = make("leak", SEED)
    (at / "leak.pickle").write_bytes(leak.data)
    (at / "even.pickle").write_bytes(make("even", SEED).data)
    (at / "cut.pickle").write_bytes(leak.data[: len(leak.data) // 2])
    (at / "hostile.pickle").write_bytes(b"\x80\x02cposix\nsystem\nq\x00X\x05\x00\x00\x00touchq\x01\x85q\x02Rq\x03.")
    (at / "foreign.pickle").write_bytes(pickle.dumps({"weights": [1, 2, 3]}))
    (at / "train.log").write_text("step 1\n" + make("other-process", SEED).log, encoding="utf-8")
    (at / "quiet.log").write_text("step 1\nstep 2\n", encoding="utf-8")
    (at / "nothing.pickle").write_bytes(b"")
    return at


def test_a_leak_is_told_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text says what, how much, where and what to do; exit code 1."""
    assert memory.main([str(folder / "leak.pickle"), "--lang", "en"]) == 1
    out = capsys.readouterr().out
    assert all(told in out for told in ("A leak", "train_loop.py:", "What to do"))
    assert memory.main([str(folder / "leak.pickle"), "--lang", "zh"]) == 1
    assert "泄漏" in capsys.readouterr().out


def test_json_tells_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.main([str(folder / "leak.pickle"), "-f", "json"]) == 1
    case = json.loads(capsys.readouterr().out)["cases"][0]
    assert case["class"] == "leak"
    assert any("train_loop.py:" in place for place in case["named"])
    assert case["snapshot"]["reserved"] >= case["snapshot"]["allocated"] > 0


def test_nothing_wrong_is_said_plainly(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.main([str(folder / "even.pickle"), "--lang", "en"]) == 0
    assert "Nothing stands out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cut.pickle", "cut off"),
        ("hostile.pickle", "posix.system"),
        ("foreign.pickle", "no memory snapshot"),
        ("quiet.log", "neither a memory snapshot"),
        ("nothing.pickle", "neither a memory snapshot"),
        ("absent.pickle", "there is no such file"),
    ],
)
def test_what_is_no_snapshot(folder: Path, name: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named with its reason, nothing is run, and the exit code is 3."""
    before = sorted(os.listdir(folder))
    assert memory.main([str(folder / name), "--lang", "en"]) == 3
    told = capsys.readouterr()
    assert why in told.err
    assert "help:" in told.err
    assert told.out == ""
    assert sorted(os.listdir(folder)) == before
    assert memory.main([str(folder / name), "--lang", "zh"]) == 3
    assert why not in capsys.readouterr().err or why == "posix.system"


def test_one_that_cannot_be_read_does_not_hide_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.main([str(folder / "cut.pickle"), str(folder / "leak.pickle")]) == 1
    assert memory.main([str(folder / "cut.pickle"), str(folder / "even.pickle")]) == 3
    capsys.readouterr()


def test_a_folder_is_looked_through(folder: Path) -> None:
    """Snapshots are told by their bytes; a log beside several of them is of none; logs that say nothing are passed."""
    found = read([str(folder)])
    assert {Path(case.path).name for case in found.cases} == {"leak.pickle", "even.pickle"}
    assert {Path(path).name for path, _ in found.refused} == {"cut.pickle", "hostile.pickle", "foreign.pickle"}


def test_a_log_alone_tells_what_it_can(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says how much is outside of this process, with file and line."""
    assert memory.main([str(folder / "train.log"), "--lang", "en"]) == 1
    out = capsys.readouterr().out
    assert "other processes" in out
    assert "train.log:2" in out


def test_a_compressed_snapshot(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "snapshot.pickle.gz"
    packed.write_bytes(gzip.compress((folder / "leak.pickle").read_bytes(), 1))
    assert [case.found.kind for case in read([str(packed)]).cases] == [Kind.LEAK]


def test_the_command_in_a_process(folder: Path) -> None:
    """ASCII output where the locale has no more, a usage error without a file."""
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", "doctor", "memory", str(folder / "leak.pickle"), "--lang", "en"], capture_output=True, env=env, check=False)
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert b"train_loop.py" in done.stdout
    assert subprocess.run([sys.executable, "-m", "doctor", "memory"], capture_output=True, env=env, check=False).returncode == 2


def test_older_snapshots_have_their_frames_in_the_history() -> None:
    """Before PyTorch 2.1 a block tells its frames in `history`; the trace may be absent."""
    frames = [{"filename": "/home/u/a.py", "line": 7, "name": "f"}]
    block = {"size": 300 << 20, "state": "active_allocated", "history": [{"addr": 1, "real_size": 300 << 20, "frames": frames}]}
    whole = {"segments": [{"total_size": 300 << 20, "blocks": [block]}]}
    made = snapshot(pickle.dumps(whole))
    assert made.holders[0].site.place.endswith("a.py:7 f")
    assert made.holders[0].held == 300 << 20


def test_odd_values_are_no_sizes() -> None:
    """Sizes that no device has, texts for numbers, frames that are none: left out, never an error."""
    odd: dict[str, Any] = {
        "segments": [{"total_size": -5, "blocks": [{"size": "x", "state": "inactive"}, {"size": 1 << 60, "state": 3, "frames": [1, None]}]}],
        "device_traces": [[{"action": "alloc", "addr": None, "size": 1}, {"action": "oom", "size": None, "frames": None}, {"action": 7}]],
    }
    made = snapshot(pickle.dumps(odd))
    assert made.reserved == made.allocated == 0
    assert judge(Evidence(made, None, {})).kind is Kind.EVEN
    with pytest.raises(NoSnapshotError):
        snapshot(pickle.dumps([1, 2]))


def test_growth_is_of_the_floor() -> None:
    """Steps that come and go are no growth, a jump at the beginning is none, and a slow rise under large steps is one."""
    steps = tuple(1000 + 900 * (n % 5) for n in range(80))
    assert growth(steps) == 0
    assert growth(tuple(1000 + 4000 * (n > 8) for n in range(80))) == 0
    assert growth(tuple(value + 10 * n for n, value in enumerate(steps))) > 300
    assert floors((1, 2)) == ()


def test_messages_and_tables() -> None:
    """Figures in any unit; the table of components is torch_npu's own; a line of something else is no message."""
    said = figures("torch.OutOfMemoryError: NPU out of memory. Tried to allocate 512.00 MiB (NPU 3; 29.50 GiB total capacity; 1.00 GiB already allocated; 20.00 KiB free; 2.00 GiB reserved in total by PyTorch)")
    assert said is not None
    assert (said.tried >> 20, said.capacity >> 20, said.free >> 10, said.outside >> 30) == (512, 30208, 20, 27)
    assert last_message(["nothing", "out of memory"], "x") is None
    assert components(["moduleName,curMemSize(MB),memPeakSize(MB)", "HCCL,400.50,500.00", "odd", "X,nan,1"])["HCCL"] == int(400.5 * (1 << 20))


def test_every_variable_that_is_advised_is_known() -> None:
    """Its name stands in the knowledge, its value among those that it may have."""
    knowledge = load()
    for pairs in VARIABLES.values():
        for name, value in pairs:
            row = knowledge.variable(name)
            assert row is not None, name
            assert not row.get("values") or value in row["values"], name


def test_scan_reads_snapshots_among_logs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The class is a warning beside the findings of the logs; one that is cut off is named as not read."""
    assert scan.main([str(folder / "leak.pickle"), str(folder / "cut.pickle"), "-f", "json", "--lang", "en"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "MEM806" in json.dumps(report["findings"])
    assert any("cut off" in json.dumps(row) for row in report["skipped"])


OOM = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/train.py", line 9, in <module>\n'
    "    loss.backward()\n"
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.11 GiB already allocated; 500.00 MiB free; "
    "59.02 GiB reserved in total by PyTorch)\n"
)


def test_a_snapshot_beside_the_message_is_one_answer(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message is the root, the snapshot stands beneath it, and its holder among what is told first."""
    (tmp_path / "train.log").write_text(OOM, encoding="utf-8")
    (tmp_path / "memory.pickle").write_bytes((folder / "leak.pickle").read_bytes())
    assert scan.main([str(tmp_path), "-f", "json", "--lang", "en"]) == 1
    found = {row["id"]: row for row in json.loads(capsys.readouterr().out)["findings"]}
    assert [row["role"] for row in found.values()].count("root") == 1
    root = found[found["MEM806"]["explained_by"]]
    assert (root["role"], root["severity"]) == ("root", "error")
    scan.main([str(tmp_path), "--lang", "en"])
    assert "train_loop.py:" in capsys.readouterr().out


def test_a_report_stands_for_its_snapshot(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who cannot send 500 MB sends what the command says: the scan reads it like the snapshot."""
    target = tmp_path / "memory.json"
    assert memory.main([str(folder / "leak.pickle"), "-o", str(target)]) == 1
    assert scan.main([str(target), "-f", "json"]) == 0
    assert "MEM806" in capsys.readouterr().out


@pytest.mark.parametrize("told", [None, [], {"holders": 3}, {"holders": [["x", "", True]], "failed": None}, {"holders": [[["a", "", True], "x", 0, 0, []]], "failed": None}])
def test_a_digest_that_is_none(told: Any) -> None:
    """Whatever stands there: it is refused as a value, and nothing else happens."""
    with pytest.raises(ValueError):
        again(told)


@pytest.mark.parametrize("whole", [{"segments": [{"total_size": -5, "blocks": [None]}]}, {"segments": [], "device_traces": 7}, {"segments": "none"}])
def test_a_snapshot_of_which_nothing_can_be_read_is_none(whole: dict[str, Any]) -> None:
    """It is not called even."""
    with pytest.raises(NoSnapshotError):
        snapshot(pickle.dumps(whole))
