"""The bounds are those that doctor/base/BOUNDS.md names, and each is told where it is reached."""

from __future__ import annotations

import gzip
import importlib
import io
import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from doctor.answer import report
from doctor.base import limits
from doctor.judge.diagnosis import conclude
from doctor.read import archives, discover, inflate
from doctor.read.source import Skipped, Source, hints
from doctor.scan import factscan
from doctor.scan.clusters import FURTHER, Clusters
from doctor.scan.floods import MAX_SHAPES
from doctor.scan.harvest import Cluster, Harvest, Place
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.windows import MAX_LINE
from doctor.watch.followed_files import Follower
from kb.knowledge import Knowledge

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "doctor" / "base" / "BOUNDS.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|]+ \| `([\w.]+)\.(\w+)` \| (\d+) \|", PAGE, re.MULTILINE)
PLACE = Place("a.log", 1, 1, None, "error", None, "text", None, None, None, None, None, "x")


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize(("module", "name", "value"), ROWS)
def test_a_bound_is_what_the_page_says(module: str, name: str, value: str) -> None:
    assert getattr(importlib.import_module(module), name) == int(value)


def test_the_table_names_what_moves_them() -> None:
    moved = re.findall(r"^\| [^|]+ \| `[\w.]+` \| \d+ \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(moved) == set(limits.ALL)
    for page in ("docs/faq.md", "docs/faq.zh.md"):
        assert [v for v in limits.ALL if v not in (ROOT / page).read_text(encoding="utf-8")] == []


def told(found: Harvest, knowledge: Knowledge) -> list[str]:
    return [row["reason"] for row in report.report(conclude([found], knowledge), knowledge)["skipped"]]


def test_long_lines_are_counted(knowledge: Knowledge) -> None:
    line = b"x" * (MAX_LINE * 2) + b" ImportError: libhccl.so: cannot open shared object file: No such file\n"
    data = line * 3
    found = Scanner(Plan(knowledge.sought()), engine="plain").scan(Source("a.log", lambda: io.BytesIO(data), len(data), hints("a.log")))
    assert any("longer than 64 KiB" in why and "in 3 places" in why for why in told(found, knowledge)), found.skipped


def test_too_many_files_are_named(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_text("x\n")
    found = discover.discover([str(tmp_path)], max_files=3)
    assert len(found.sources) == 3
    assert [s.reason for s in found.skipped] == ["more than 3 files: the rest was not read (NPU_DOCTOR_MAX_FILES moves that)"]


def test_shapes_beyond_the_bound_are_counted() -> None:
    clusters = Clusters()
    words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij"]
    for word in words:
        clusters.add(PLACE._replace(text=f"Error: {word}"))
    made = {c.template: c.total for c in clusters.result()}
    assert len(made) <= MAX_SHAPES + 1
    assert sum(made.values()) == clusters.total == len(words)
    assert made[FURTHER] == len(words) - MAX_SHAPES


def test_facts_of_ever_new_processes_are_kept_of_the_first_ones(scanner: Scanner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that names another rank in each line does not fill the memory with what each of them is doing."""
    monkeypatch.setattr(factscan, "MAX_OWNERS", 5)
    monkeypatch.setattr(factscan, "KEEP_OF_OWNER", 3)
    rows = [f"[rank{n % 100}]: Entry-HcclAllReduce: tag[AllReduce_x], count[3], dataType[bfloat16], op[sum]" for n in range(300)]
    found = scanner.scan(discover.given_text("\n".join(rows), "a.log"))
    assert Counter(hit.place.rank for hit in found.facts) == {0: 3, 1: 3, 2: 3, 3: 3, 4: 3, 5: 1, 6: 1, 7: 1}


def test_what_a_report_leaves_out_is_counted(knowledge: Knowledge) -> None:
    clusters = tuple(Cluster(f"kind {n}", 1, PLACE._replace(line=n + 1), ()) for n in range(report.MAX_CLUSTERS + 7))
    skipped = tuple(Skipped(f"{n}", "why") for n in range(report.MAX_SKIPPED + 9))
    reasons = told(Harvest(clusters=clusters, skipped=skipped, errors=len(clusters)), knowledge)
    assert "7 more kinds of errors that nothing explains" in reasons
    assert "9 more" in reasons


def packed(text: bytes, times: int) -> bytes:
    for _ in range(times):
        text = gzip.compress(text, mtime=0)
    return text


def archive(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as made:
        for name, data in files.items():
            one = tarfile.TarInfo(name)
            one.size = len(data)
            made.addfile(one, io.BytesIO(data))


@pytest.mark.parametrize("variable", [limits.FILES, limits.MEMBERS, limits.DEPTH, limits.RATIO, limits.UNPACKED])
def test_a_bound_of_reading_is_moved_both_ways(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge
) -> None:
    """With a tighter one the answer names it; with a wider one than the constant, everything is read."""
    log = b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
    archive(tmp_path / "a.tar.gz", {"1.log": log, "2.log": log, "deep.log.gz.gz": packed(log, 2)})
    (tmp_path / "b.log").write_bytes(log)
    (tmp_path / "c.log.gz").write_bytes(gzip.compress(log + b"step\n" * 20000))
    for place, name in ((discover, "MAX_FILES"), (archives, "MAX_MEMBERS"), (archives, "MAX_DEPTH"), (inflate, "MAX_RATIO"), (inflate, "MAX_MEMBER")):
        if name.removeprefix("MAX_") in (variable.removeprefix("NPU_DOCTOR_MAX_"), "MEMBER" if variable == limits.UNPACKED else ""):
            monkeypatch.setattr(place, name, 1)
    monkeypatch.setattr(inflate, "RATIO_GRACE", 1)

    def scanned() -> list[str]:
        found = discover.discover([str(tmp_path)])
        scanner = Scanner(Plan(knowledge.sought()), engine="plain")
        return [s.reason for s in (*found.skipped, *(s for one in found.sources for s in scanner.scan(one).skipped))]

    assert any(f"({variable} moves that)" in why for why in scanned())
    monkeypatch.setenv(variable, "1000000")
    assert scanned() == []


def test_a_bound_of_the_report_is_moved(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = tuple(Cluster(f"kind {n}", 1, PLACE._replace(line=n + 1), ()) for n in range(report.MAX_CLUSTERS + 7))
    skipped = tuple(Skipped(f"{n}", "why") for n in range(report.MAX_SKIPPED + 9))
    diagnosis = conclude([Harvest(clusters=clusters, skipped=skipped, errors=len(clusters))], knowledge)
    monkeypatch.setenv(limits.UNEXPLAINED, "1000")
    monkeypatch.setenv(limits.SKIPPED, "1000")
    made = report.report(diagnosis, knowledge)
    assert len(made["unexplained"]) == len(clusters)
    assert len(made["skipped"]) == len(skipped)


def test_a_report_tells_the_first_findings_and_how_many_it_leaves_out(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand causes of one line are knowledge gone wrong: composing them all kept a reader waiting for those he looks at."""
    scanner = Scanner(Plan(knowledge.sought()), engine="plain")
    log = (
        "[ERROR] HCCL(1,p):2026-03-02-09:50:00.000.001 [a.cc:1]1 connection fail: connect timeout\n"
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory\nRuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n"
        "EJ0001: Failed to initialize the HCCP process. Reason: Maybe the last training process is running.\n"
    )
    diagnosis = conclude([scanner.scan(discover.given_text(log, "a.log"))], knowledge)
    whole = report.report(diagnosis, knowledge)
    assert len(whole["findings"]) > 2
    assert not whole["skipped"]
    monkeypatch.setattr(report, "MAX_FINDINGS", 2)
    made = report.report(diagnosis, knowledge)
    assert [f["id"] for f in made["findings"]] == [f["id"] for f in whole["findings"]][:2]
    assert made["skipped"] == [{"path": "...", "reason": f"{len(whole['findings']) - 2} more findings, of those that are told last (NPU_DOCTOR_MAX_FINDINGS moves that)"}]
    told = {f["id"] for f in made["findings"]}
    assert all(told.issuperset(f["explains"]) for f in made["findings"])
    monkeypatch.setenv(limits.FINDINGS, "1000")
    assert report.report(diagnosis, knowledge)["findings"] == whole["findings"]


def test_the_evidence_of_a_finding_is_moved(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "[ERROR] X({0},p):2026-03-02-09:50:00.000.001 [a.c:1]1 ImportError: libhccl.so: cannot open shared object file: No such file\n"
    texts = [discover.given_text(row.format(n), f"plog-{n}_1.log") for n in range(1, 31)]
    scanner = Scanner(Plan(knowledge.sought()), engine="plain")
    diagnosis = conclude([scanner.scan(text) for text in texts], knowledge)
    assert len(report.report(diagnosis, knowledge)["findings"][0]["evidence"]) == report.MAX_EVIDENCE
    monkeypatch.setenv(limits.EVIDENCE, "25")
    assert len(report.report(diagnosis, knowledge)["findings"][0]["evidence"]) == 25


@pytest.mark.parametrize("written", ["0", "-1", "many", "1e6", "9" * 40, "\u0661"])
def test_a_slip_is_told_before_anything_is_read(written: str, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.log").write_text("x\n")
    done = run("scan", str(tmp_path), NPU_DOCTOR_MAX_RATIO=written)
    assert done.returncode == 2
    assert b"is no bound" in done.stderr
    assert b"give a whole number" in done.stderr


def test_files_beyond_the_bound_of_watch_are_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_text("x\n")
    monkeypatch.setenv(limits.FILES, "3")
    follower = Follower([str(tmp_path)])
    scanner = Scanner(Plan(knowledge.sought()), engine="plain")
    follower.look(scanner)
    follower.look(scanner)
    assert len(follower.tails) == 3
    assert [s.reason for s in follower.skipped] == ["more than 3 files: the rest is not followed (NPU_DOCTOR_MAX_FILES moves that)"]
