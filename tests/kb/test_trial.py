"""Entries are tried among all others before they stand in a layer: what `npu-doctor kb check FILE` says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import cli
from doctor.judge.proof import Bench
from kb import lint, trial
from kb.knowledge import Knowledge

GOOD = """\
code: USR001
severity: warning
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence: {any: [{text: "frobnication of the gizmo went wrong"}]}
references: [{title: me}]
samples: {match: [{name: one, text: "RuntimeError: frobnication of the gizmo went wrong"}]}
"""


def told(folder: Path, known: Knowledge, *texts: str) -> str:
    """Everything that is wrong with entries."""
    files = [folder / f"usr00{number}_mine.yaml" for number, _ in enumerate(texts)]
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    tried = trial.of_files(files, known)
    context, bench = lint.Context(tried.knowledge), Bench(tried.knowledge)
    found = [problem for entry in tried.entries for problem in (*lint.check(entry, context), *bench.problems(entry))]
    return "\n".join([*map(str, tried.problems), *found])


def test_a_good_one_has_no_fault(tmp_path: Path, knowledge: Knowledge) -> None:
    assert told(tmp_path, knowledge, GOOD) == ""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (GOOD.replace("RuntimeError: frobnication", "RuntimeError: Frobnication"), "should match and does not"),
        (GOOD.replace("severity: warning", "severity: error"), "needs a fix"),
        (GOOD.replace("frobnication of the gizmo went wrong", "iteration"), "anchor it on rarer words"),
        (GOOD.replace("references:", "refines: [USR999]\nreferences:"), "USR999, which does not exist"),
        (GOOD.replace("severity:", "severty:"), "did you mean 'severity'"),
    ],
)
def test_what_is_wrong_is_said(wrong: str, said: str, tmp_path: Path, knowledge: Knowledge) -> None:
    assert said in told(tmp_path, knowledge, wrong)


def test_it_stands_in_for_the_one_of_its_code(tmp_path: Path, knowledge: Knowledge) -> None:
    """An edited copy of a built-in entry is tried, not the entry that is installed."""
    assert told(tmp_path, knowledge, GOOD.replace("USR001", "ENV001")) == ""
    first = trial.of_files([tmp_path / "usr000_mine.yaml"], knowledge).knowledge.entry("ENV001")
    assert first is not None
    assert first.title.en == "Mine"


def test_two_of_one_code(tmp_path: Path, knowledge: Knowledge) -> None:
    assert "the code USR001 is taken by" in told(tmp_path, knowledge, GOOD, GOOD)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, knowledge: Knowledge) -> None:
    tried = trial.of_files([tmp_path / "gone.yaml"], knowledge)
    assert tried.entries == ()
    assert "gone.yaml" in str(tried.problems[0])
    assert "No such file" in str(tried.problems[0])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files and folders are taken; the exit code says whether all is well."""
    (tmp_path / "usr001_mine.yaml").write_text(GOOD)
    assert cli.main(["kb", "check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 files, 0 unreadable, 0 with problems; 0 counter-examples, 6 more made of samples, 0 mutations tried\n"
    (tmp_path / "usr002_other.yaml").write_text("- a\n")
    assert cli.main(["kb", "check", str(tmp_path)]) != 0
    assert "2 files, 1 unreadable, 0 with problems" in capsys.readouterr().out
