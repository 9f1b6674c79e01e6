"""The open benchmark: enough incidents, each with its source and class, graded alike whatever tool answers."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from benchmarks import grade
from benchmarks.grade import Answer, Case
from kb.layers import HERE

CASES = grade.cases()


def test_there_are_enough_incidents_of_enough_classes() -> None:
    """Every labelled incident has a class, and each class is a kind of the knowledge."""
    assert len(CASES) >= 500
    assert len({case.kind for case in CASES if not case.decoy}) >= 20
    assert {case.kind for case in CASES} <= {*yaml.safe_load((HERE / "kinds.yaml").read_text(encoding="utf-8")), "none"}
    labelled = {str(p.parent.relative_to(grade.ROOT)) for place in ("tests/data/incidents/*", "benchmarks/incidents/*/*") for p in grade.ROOT.glob(f"{place}/label.json")}
    assert {case.name for case in CASES} == labelled
    assert all(case.label["source"] and (case.decoy or case.label["root_cause_keywords"]) for case in CASES)
    assert all(case.kind == "none" for case in CASES if case.decoy)


def test_no_log_is_there_twice() -> None:
    """What is counted is different incidents."""
    times = Counter(case.log.read_bytes() for case in CASES)
    assert [n for n in times.values() if n > 1] == []


@pytest.fixture
def case(tmp_path: Path) -> Case:
    log = tmp_path / "input.txt"
    log.write_text("step 1\nRuntimeError: gizmo lease refused, quorum lost\n")
    label = {"kind": "incident", "root_cause_keywords": ["quorum", "gizmo", "lease"], "fix_keywords": ["renew"]}
    return Case("x", log, label, "peer-lost", "cause")


@pytest.mark.parametrize(
    ("text", "fault", "wanted"),
    [
        ("The gizmo has lost its quorum. Renew it.", True, "A"),
        ("The gizmo has lost its quorum.", True, "B"),
        ("RuntimeError: gizmo lease refused, quorum lost", True, "C"),
        ("The disk is full.", True, "D"),
        ("", True, "E"),
        ("No fault found.", True, "E"),
        ("The gizmo has lost its quorum. Renew it.", False, "E"),
    ],
)
def test_the_scale(text: str, fault: bool, wanted: str, case: Case) -> None:
    """What is quoted from the log is no claim; what comes after thousands of characters is no answer."""
    assert grade.grade(case, Answer(text, "", fault)) == wanted
    assert grade.grade(case, Answer("unrelated words\n" * 1000 + text)) == "D"


def test_a_decoy_is_right_when_nothing_is_claimed(case: Case) -> None:
    decoy = case._replace(label={**case.label, "kind": "decoy"}, kind="none")
    assert grade.grade(decoy, Answer("")) == "right"
    assert grade.grade(decoy, Answer("whatever", "none")) == "right"
    assert grade.grade(decoy, Answer("The gizmo is broken.")) == "wrong"


def test_any_command_can_be_graded(case: Case, tmp_path: Path) -> None:
    """With the path in its call or the log on its standard input; JSON or text."""
    tool = tmp_path / "tool.py"
    tool.write_text("import json, sys\nt = open(sys.argv[1]).read() if sys.argv[1:] else sys.stdin.read()\nprint(json.dumps({'class': 'peer-lost', 'text': f'{len(t)} quorum of a gizmo: renew'}))\n")
    for line in (f"{sys.executable} {tool} {{path}}", f"{sys.executable} {tool}"):
        answer = grade.command(line)(case)
        assert answer == Answer("54 quorum of a gizmo: renew\n".rstrip("\n"), "peer-lost", True)
        assert grade.grade(case, answer) == "A"
    with pytest.raises(SystemExit, match="cannot run 'no-such-tool'"):
        grade.command("no-such-tool {path}")(case)


def test_a_rare_class_counts_as_much_as_a_frequent_one() -> None:
    assert grade.macro_f1([("a", "a")] * 9 + [("b", "a")]) == pytest.approx(((18 / 19) + 0) / 2)
    assert grade.macro_f1([("a", "a"), ("b", "b")]) == 1


def test_a_baseline_does_not_see_the_label_it_is_asked_for(tmp_path: Path) -> None:
    """The only log with a mark gets what most logs have, not its own class."""
    made = []
    for n, (kind, text) in enumerate((("a", "ValueError: x"), ("b", "KeyError: y"), ("b", "KeyError: z"), ("b", "fine"))):
        (tmp_path / f"{n}").write_text(text)
        made.append(Case(str(n), tmp_path / f"{n}", {"kind": "incident"}, kind, "cause"))
    tool = grade.baseline("exception", made)
    assert [tool(case).kind for case in made] == ["b", "b", "b", "b"]


def test_the_table_is_there() -> None:
    """`python -m benchmarks.grade --readme` writes it; the three baselines stand beside the program."""
    text = grade.GRADES.read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in (*(told for told, _ in grade.BASELINES.values()), "npu-doctor"))
    assert f"{len(CASES)} incidents" in text


def test_the_command_line_says_what_it_cannot_do() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.grade", "--only", "no such case"], cwd=grade.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no case is called" in done.stderr
