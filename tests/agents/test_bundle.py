"""A bundle: small, hidden, listed, and of the same diagnosis as the logs that it was cut out of."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
from tests_support import INCIDENTS, Diagnosed

from doctor.answer.redact import redactor
from doctor.answer.report import report
from doctor.bundle import cuts
from doctor.bundle.evidence_bundle import TooLargeError, bundle
from doctor.judge.diagnosis import conclude
from doctor.read import again, discover
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.simulate.jobs import simulate

SECRET = "10.23.45.67"


def members(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}  # type: ignore[union-attr]


def test_a_job_of_a_large_log_becomes_small(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """32 ranks, one log of many megabytes: the archive has little of it, names no address, and scans to the same roots."""
    for name, text in simulate(7, ranks=32, fault="oom").files.items():
        path = tmp_path / "job" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    long = tmp_path / "job" / "node-0" / "train-0.log"
    long.parent.mkdir(exist_ok=True)
    long.write_text(f"connect to {SECRET}\n" + "step 1 loss 0.5\n" * 400_000 + "the last line\n")
    case = tmp_path / "case.tar.gz"
    done = run("bundle", str(tmp_path / "job"), "-o", str(case), "--lang", "en")
    assert done.returncode == 0, done.stderr
    assert b"it scans to the same diagnosis" in done.stderr
    assert case.stat().st_size < 1 << 20
    inside = members(case.read_bytes())
    listed = {one["file"]: one for one in json.loads(inside["case/contents.json"])["files"]}
    assert {f"case/{name}" for name in listed} | {"case/contents.json"} == set(inside)
    assert all(sha256(inside[f"case/{name}"]).hexdigest() == one["sha256"] for name, one in listed.items())
    assert all(SECRET.encode() not in data for data in inside.values())
    assert b"the last line" in inside["case/logs/node-0/train-0.log"]
    assert sorted(re.findall(r"^  (\S+)  ", done.stdout.decode(), re.MULTILINE)) == sorted(listed)
    roots = [
        [(f["id"], f["scope"]["rank"]) for f in json.loads(run("scan", str(what), "-f", "json").stdout)["findings"] if f["role"] == "root"]
        for what in (tmp_path / "job", case)
    ]
    assert roots[0] == roots[1] != []


def test_incidents_keep_their_diagnosis(diagnosed: Diagnosed, scanner: Scanner, knowledge: Knowledge) -> None:
    """In nearly all of them with pseudonyms, too; where not, the bundle says so."""
    cases = INCIDENTS[::15]
    other = []
    for case in cases:
        sources = discover.discover([str(next(case.glob("input.*")))]).sources
        diagnosis = conclude([scanner.scan(s) for s in sources], knowledge)
        using = redactor(diagnosis, knowledge)
        made = bundle(diagnosis, report(diagnosis, knowledge), None, sources, knowledge, using.report, 1 << 22)
        if not made.same:
            other.append(case.name)
    assert len(other) <= 0.05 * len(cases), other


def test_it_is_the_same_archive_every_time(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    made = []
    for name in ("a.tar.gz", "b.tgz"):
        assert run("bundle", "kb/demo", "-o", str(tmp_path / name), "--no-env", "--no-redact").returncode == 0
        inside = members((tmp_path / name).read_bytes())
        report_ = json.loads(inside.pop("case/report.json"))
        report_["stats"].pop("seconds")
        inside.pop("case/contents.json")
        made.append((inside, report_))
    assert made[0] == made[1]


def test_a_limit_that_the_evidence_exceeds_is_told(scanner: Scanner, knowledge: Knowledge, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (source,) = discover.discover(["kb/demo/train.log"]).sources
    diagnosis = conclude([scanner.scan(source)], knowledge)
    with pytest.raises(TooLargeError):
        bundle(diagnosis, report(diagnosis, knowledge), None, [source], knowledge, lambda value: value, 100)
    for wrong in (["-o", "case.zip"], ["-o", str(tmp_path / "c.tar.gz"), "--limit", "0"], ["-o", "/none/c.tar.gz"], []):
        assert run("bundle", "kb/demo", "--no-env", *wrong).returncode == 2
    done = run("bundle", str(tmp_path / "none"), "-o", str(tmp_path / "c.tar.gz"))
    assert (done.returncode, (tmp_path / "c.tar.gz").exists()) == (3, False)


def test_a_pipe_and_an_archive_can_be_bundled(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    line = b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
    done = run("bundle", "-", "-o", str(tmp_path / "p.tar.gz"), stdin=line)
    assert done.returncode == 0, done.stderr
    assert line in members((tmp_path / "p.tar.gz").read_bytes()).values()
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(line))
    assert run("bundle", str(tmp_path / "a.log.gz"), "-o", str(tmp_path / "q.tar.gz")).returncode == 0
    assert line in members((tmp_path / "q.tar.gz").read_bytes()).values()


@pytest.mark.parametrize("piece", [5, 64, 1 << 20])
def test_lines_are_cut_out_by_their_numbers(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spans, the first and the last lines, each once, whatever the pieces in which a log is read."""
    monkeypatch.setattr(cuts, "PIECE", piece)
    monkeypatch.setattr(again, "PIECE", piece)
    data = "".join(f"line {n}\n" for n in range(1, 101)).encode()
    found = [n for n, raw in cuts.cut(io.BytesIO(data), cuts.spans([50], 1), 2) if raw == f"line {n}".encode()]
    assert found == [1, 2, 49, 50, 51, 99, 100]
    assert [n for n, _ in cuts.cut(io.BytesIO(data + b"end"), [], 1)] == [1, 101]
    assert list(cuts.cut(io.BytesIO(b""), [(1, 9)], 3)) == []
