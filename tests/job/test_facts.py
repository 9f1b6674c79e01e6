"""Facts that users' knowledge adds: whatever they are called and whatever they lack, the job is analysed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.job.facts import NEEDS
from doctor.job.waits import _READERS
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.build import build
from kb.facts import read_facts
from kb.knowledge import Knowledge
from kb.layers import HERE, Layer
from kb.pack import Pack
from kb.sought import gathered
from tests.simulate.jobs import simulate

FACTS, _ = read_facts(HERE / "facts.yaml", "kb/facts.yaml")


def diagnosed(name: str, knowledge: Knowledge, folder: Path) -> Diagnosis:
    """A job in whose logs a user's fact of that name is told."""
    (folder / "facts.yaml").write_text(
        f"- id: {name}\n  about: wait\n  forms: [{{regex: 'plugh told (?P<what>\\w+)'}}]\n"
        "  references: [{title: none}]\n  samples: [{text: plugh told xyzzy, expect: {what: xyzzy}}]\n"
    )
    data, faults = build(Layer("user", folder))
    assert faults == []
    known = Knowledge((*knowledge.packs, Pack(data)))
    signals = [s for s in known.signals() if s.form != "situation" and s.entry.startswith(("fact:", "MEM", "HCL"))]
    scanner = Scanner(Plan(gathered(signals)))
    files = dict(simulate(11, 8, "oom").files)
    path = next(path for path in files if "/plog-" in path)
    files[path] += files[path].rstrip("\n").rsplit("\n", 1)[-1].rsplit("]", 1)[0] + "] plugh told xyzzy\n"
    harvests = [scanner.scan(discover.given_text(text, path)) for path, text in files.items()]
    assert any(hit.signal == f"fact:{name}/0" for harvest in harvests for hit in harvest.facts)
    return conclude(harvests, known)


@pytest.mark.parametrize("name", ["size", "wait", "seat", "issue", "comm", "open", "xyzzy"])
def test_a_fact_is_called_as_its_author_likes(name: str, knowledge: Knowledge, tmp_path: Path) -> None:
    found = diagnosed(name, knowledge, tmp_path)
    assert found.job is not None
    assert found.job.roots
    assert found.skipped == ()


@pytest.mark.parametrize("name", ["watchdog", "rank-table", "device-address", "aicpu-task", "tls-switch"])
def test_what_lacks_what_is_read_from_it_is_left_out_and_told(name: str, knowledge: Knowledge, tmp_path: Path) -> None:
    """A user's form of a built-in fact that names too few groups costs that line, not the analysis of the job."""
    found = diagnosed(name, knowledge, tmp_path)
    assert found.job is not None
    assert found.job.roots
    assert [s.reason for s in found.skipped] == [
        "facts about the job without what is read from them, in 1 lines: left out"
    ]


def test_readers_and_facts_agree() -> None:
    """Every fact about waiting has its reader, every reader its fact; each built-in form tells what is relied on."""
    about = {fact.id: fact.about for fact in FACTS}
    assert {name for name, what in about.items() if what == "wait"} == set(_READERS)
    assert set(NEEDS) - {"rank-table"} <= set(about)
    for fact in FACTS:
        for signal in fact.signals:
            missing = set(NEEDS.get(fact.id, ())) - set(re.compile(signal.pattern).groupindex)
            assert missing == set(), signal.id
