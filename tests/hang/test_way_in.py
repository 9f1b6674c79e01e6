"""Dumps that lie among logs are read: what they say stands in the same report, and why one is not read is told."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
from pathlib import Path
from typing import Any

import pytest
from simulate import recorder_dumps as made

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan.harvest import from_json, merge
from doctor.scan.many_sources import scan_all
from doctor.scan.select import EVERYTHING
from kb.knowledge import Knowledge


def diagnosed(path: Path, knowledge: Knowledge) -> Diagnosis:
    found = discover.discover([str(path)])
    harvests, _ = scan_all(found.sources, knowledge, EVERYTHING, 1, "en")
    return conclude(harvests, knowledge, 0.0, found.skipped)


def reasons(diagnosis: Diagnosis) -> list[str]:
    return [one.reason for one in diagnosis.skipped]


def test_a_rank_that_does_not_arrive_is_a_finding(tmp_path: Path, knowledge: Knowledge) -> None:
    """The dumps of four ranks give the entry for the one that is missing."""
    diagnosis = diagnosed(made.write(tmp_path, made.away(4, culprit=2)), knowledge)
    assert [r.finding.entry.code for r in diagnosis.roots] == ["HNG001"]
    instance = diagnosis.roots[0].finding.instances[0]
    assert (instance.captures["who"], instance.captures["waiters"], instance.scope.rank) == ("rank 2", "3", 2)


def test_dumps_of_nodes_are_judged_together(tmp_path: Path, knowledge: Knowledge) -> None:
    """Each node is scanned by itself; the harvests travel as JSON."""
    import json

    dumps = made.away(4, culprit=3)
    harvests = []
    for node in (0, 1):
        folder = made.write(tmp_path / f"node-{node}", {rank: dumps[rank] for rank in (2 * node, 2 * node + 1)})
        harvests += scan_all(discover.discover([str(folder)]).sources, knowledge, EVERYTHING, 1, "en")[0]
    sent = from_json(json.loads(json.dumps(merge(harvests).json())))
    assert [r.finding.entry.code for r in conclude([sent], knowledge).roots] == ["HNG001"]


def test_dumps_in_an_archive_are_read(tmp_path: Path, knowledge: Knowledge) -> None:
    """As files in a folder are."""
    with tarfile.open(tmp_path / "dumps.tar.gz", "w:gz") as archive:
        for rank, value in made.away(3, culprit=0).items():
            data = pickle.dumps(value, 2)
            one = tarfile.TarInfo(f"hccl_trace_rank_{rank}")
            one.size = len(data)
            archive.addfile(one, io.BytesIO(data))
    assert [r.finding.instances[0].captures["who"] for r in diagnosed(tmp_path, knowledge).roots] == ["rank 0"]


class _Runs:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_hostile_dump_is_named_and_nothing_is_run(tmp_path: Path, knowledge: Knowledge, protocol: int) -> None:
    """What it asked for stands in the report, and the answer is no verdict."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "hccl_trace_rank_0").write_bytes(pickle.dumps({"entries": [_Runs(tmp_path / "touched")]}, protocol))
    diagnosis = diagnosed(logs, knowledge)
    assert any(f"{os.system.__module__}.system" in reason and "nothing was run" in reason for reason in reasons(diagnosis))
    assert not (tmp_path / "touched").exists()
    assert diagnosis.verdict == "inconclusive"


def test_what_is_wrong_with_a_dump_is_told(tmp_path: Path, knowledge: Knowledge) -> None:
    """Cut off, empty, of another version, and no dump at all."""
    value = made.away(2, culprit=0)[1]
    (tmp_path / "hccl_trace_rank_0").write_bytes(pickle.dumps(value, 2)[:-200])
    (tmp_path / "hccl_trace_rank_1").write_bytes(b"")
    (tmp_path / "hccl_trace_rank_2").write_bytes(pickle.dumps({**value, "version": "1.5"}, 2))
    (tmp_path / "hccl_trace_rank_3").write_bytes(b"\x80\x02]q\x00.")
    (tmp_path / "hccl_trace_rank_4").write_bytes(b"\xff" * 40)
    told = sorted(reasons(diagnosed(tmp_path, knowledge)))
    assert [part for part in ("cut off", "empty dump", "version 1.5", "has no entries", "by its bytes none") if not any(part in one for one in told)] == []


def test_other_pickles_are_binary_files(tmp_path: Path, knowledge: Knowledge) -> None:
    """A pickle that is no dump, under a name that is none, is not opened."""
    (tmp_path / "model.bin").write_bytes(pickle.dumps({"weights": [1, 2, 3] * 50}, 4))
    assert reasons(diagnosed(tmp_path, knowledge)) == ["a binary file"]


def test_a_job_that_moves_is_no_finding(tmp_path: Path, knowledge: Knowledge) -> None:
    """All calls of all ranks have ended."""
    dumps = {rank: made.dump([made.entry(number) for number in range(1, 9)], {"0": range(3)}) for rank in range(3)}
    diagnosis = diagnosed(made.write(tmp_path, dumps), knowledge)
    assert (diagnosis.verdict, diagnosis.roots) == ("clean", ())
