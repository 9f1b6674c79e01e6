"""The bounds are those that CONTRIBUTING.md names, and each is told where it is reached."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path

import pytest

from doctor import discover, report
from doctor.diagnose import conclude
from doctor.harvest import Cluster, Harvest, Place, Skipped
from doctor.scan.clusters import FURTHER, MAX_CLUSTERS, Clusters
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.windows import MAX_LINE
from doctor.source import Source, hints
from kb.knowledge import Knowledge

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = re.findall(r"^\| [^|]+ \| `([\w.]+)\.(\w+)` \| (\d+) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
PLACE = Place("a.log", 1, 1, None, "error", None, "text", None, None, None, None, None, "x")


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize(("module", "name", "value"), ROWS)
def test_a_bound_is_what_the_page_says(module: str, name: str, value: str) -> None:
    assert getattr(importlib.import_module(module), name) == int(value)


def told(found: Harvest, knowledge: Knowledge) -> list[str]:
    return [row["reason"] for row in report.report(conclude([found], knowledge), knowledge)["skipped"]]


def test_long_lines_are_counted(knowledge: Knowledge) -> None:
    line = b"x" * (MAX_LINE * 2) + b" ImportError: libhccl.so: cannot open shared object file: No such file\n"
    data = line * 3
    found = Scanner(Plan(knowledge.signals()), engine="plain").scan(Source("a.log", lambda: io.BytesIO(data), len(data), hints("a.log")))
    assert any("longer than 64 KiB" in why and "in 3 places" in why for why in told(found, knowledge)), found.skipped


def test_too_many_files_are_named(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_text("x\n")
    found = discover.discover([str(tmp_path)], max_files=3)
    assert len(found.sources) == 3
    assert [s.reason for s in found.skipped] == ["more than 3 files: the rest was not read"]


def test_shapes_beyond_the_bound_are_counted() -> None:
    clusters = Clusters()
    words = [f"{a}{b}{c}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij"]
    for word in words:
        clusters.add(PLACE._replace(text=f"Error: {word}"))
    made = {c.template: c.total for c in clusters.result()}
    assert len(made) <= MAX_CLUSTERS + 1
    assert sum(made.values()) == clusters.total == len(words)
    assert made[FURTHER] == len(words) - MAX_CLUSTERS


def test_what_a_report_leaves_out_is_counted(knowledge: Knowledge) -> None:
    clusters = tuple(Cluster(f"kind {n}", 1, PLACE._replace(line=n + 1), ()) for n in range(report.MAX_CLUSTERS + 7))
    skipped = tuple(Skipped(f"{n}", "why") for n in range(report.MAX_SKIPPED + 9))
    reasons = told(Harvest(clusters=clusters, skipped=skipped, errors=len(clusters)), knowledge)
    assert "7 more kinds of errors that nothing explains" in reasons
    assert "9 more" in reasons
