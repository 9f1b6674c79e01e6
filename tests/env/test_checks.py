"""Checks prove themselves: their samples, their texts, their conditions; and a faulty one is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.env import proof
from kb.build import build, kinds
from kb.check import GROUPS, Check
from kb.checks import read_check, read_checks
from kb.knowledge import Knowledge
from kb.layers import HERE, Layer
from kb.pack import Pack

FILES = Layer("built-in", HERE).files("checks")
CHECKS = read_checks((path, str(path)) for path in FILES)[0]
KINDS = tuple(kinds())
GOOD = """\
code: CHK999
severity: warning
group: driver
kind: driver
title: {en: Old, zh: 旧的}
cause: {en: Old., zh: 旧。}
assert: {driver.version: ">= 24.1"}
references: [{title: mine}]
samples:
  fails: [{name: a, facts: {driver.version: 23.0.3}}]
  holds: [{name: b, facts: {driver.version: 24.1.rc3.1}}, {name: c, facts: {driver.version: "25.0"}}]
"""


@pytest.mark.parametrize("check", CHECKS, ids=[c.code for c in CHECKS])
def test_a_check_is_proven(check: Check, knowledge: Knowledge) -> None:
    assert proof.problems(check, knowledge, KINDS) == []


def test_every_file_is_a_check_of_its_own_name() -> None:
    assert len(CHECKS) == len(FILES) > 50
    assert {c.group for c in CHECKS} == set(GROUPS)
    assert [c.path for c in CHECKS if f"/{c.group}/{c.code.lower()}_" not in c.path] == []


@pytest.mark.parametrize(
    ("old", "new", "what", "line"),
    [
        ("severity: warning", "severity: bad", "no value of 'severity'", 2),
        ("group: driver", "group: drivers", "no value of 'group'", 3),
        ("code: CHK999", "code: MEM001", "no code of a check", 1),
        ("driver.version: \">= 24.1\"", "version: x", "no name of a fact", 7),
        ("assert:", "assertt:", "unknown key 'assertt'", 7),
        ("\">= 24.1\"", "'~ (a+)+$('", "bad regex", 7),
        ("  holds: [{name: b, facts: {driver.version: 24.1.rc3.1}}, {name: c, facts: {driver.version: \"25.0\"}}]\n", "", "needs samples", 1),
    ],
)  # fmt: skip
def test_a_fault_says_what_and_where(old: str, new: str, what: str, line: int) -> None:
    got = read_check("chk999_mine.yaml", GOOD.replace(old, new).encode())
    assert isinstance(got, list)
    assert any(what in p.what and p.line == line for p in got), [str(p) for p in got]


def test_a_sample_that_does_not_fail_is_told(knowledge: Knowledge) -> None:
    wrong = read_check("x.yaml", GOOD.replace("{driver.version: 23.0.3}", "{driver.version: 25.0}").encode())
    assert isinstance(wrong, Check)
    assert any("should fail" in p for p in proof.problems(wrong, knowledge))


@pytest.mark.parametrize("says_so", [True, False])
def test_users_add_checks_and_tables(says_so: bool, tmp_path: Path, knowledge: Knowledge) -> None:
    """A folder of one's own may hold both; a built-in check is replaced only by a folder that says so."""
    (tmp_path / "checks" / "driver").mkdir(parents=True)
    (tmp_path / "checks" / "driver" / "chk101_mine.yaml").write_text(GOOD.replace("CHK999", "CHK101"))
    (tmp_path / "compat.yaml").write_text("sources: {me: {title: mine}}\nvllm_ascend: [{vllm_ascend: 7.0, vllm: ['7.0'], cann: 7.0.0, torch: 7.0, torch_npu: 7.0, source: me, confidence: documented}]\n")
    if says_so:
        (tmp_path / "layer.yaml").write_text("overrides: [CHK101]\n")
    data, problems = build(Layer("mine", tmp_path))
    assert problems == []
    known = Knowledge((*knowledge.packs, Pack(data)))
    found = known.check("CHK101")
    assert found is not None
    assert (found.title.en == "Old") is says_so
    assert found.layer == ("mine" if says_so else "built-in")
    assert len(known.checks()) == len(CHECKS)
    assert known.compat()["vllm_ascend"][0]["vllm_ascend"] == "7.0"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("torch_npus: []\n", "no section of rows"),
        ("mindspore: [{mindspore: '1', cann: '2', source: x}]\n", "how sure it is"),
        ("mindspore: [{mindspore: '1', source: x, confidence: documented}]\n", "needs 'cann'"),
        ("driver: [{cann: '1', hdk: '2', source: x, confidence: documented}]\n", "a list of versions"),
        ("- x\n", "no mapping of sections"),
    ],
)
def test_a_faulty_table_is_told(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "compat.yaml").write_text(text)
    problems = build(Layer("mine", tmp_path))[1]
    assert any(what in p.what for p in problems), problems
