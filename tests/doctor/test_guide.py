"""The guide leads to places that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATH = re.compile(r"`((?:doctor|kb|parsers|tests|benchmarks)/[\w./<>*-]*)`")
# A file, and right behind it names that stand in it: `a.py` `f`; `a.py` `f` and `g`; `a.py` `f` says ..., `g` says ...
STEP = re.compile(r"`((?:doctor|kb|parsers)/[\w/]+\.py)`((?:(?!`(?:doctor|kb|parsers)/)[^;\n])*)")
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[a-z_]\w*)?)`")
OF_OTHERS = frozenset({"Harvest", "Diagnosis"})  # what comes out, made elsewhere


def names_of(path: Path) -> set[str]:
    """What a module defines at its top, and the methods of its classes."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)}
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        found |= {t.id for t in targets if isinstance(t, ast.Name)}
    return found


@pytest.mark.parametrize("path", sorted({p for p in PATH.findall(GUIDE) if not set(p) & set("<>*")}))
def test_a_place_exists(path: str) -> None:
    assert (ROOT / path).exists()


WALKS = GUIDE[GUIDE.index("## Three walks") : GUIDE.index("## A parser")]
STEPS = [(path, name) for path, rest in STEP.findall(WALKS) for name in NAME.findall(rest) if name not in OF_OTHERS]


def test_there_are_three_walks() -> None:
    assert len(re.findall(r"^\*\*.+\*\*$", WALKS, re.MULTILINE)) == 3
    assert len(STEPS) >= 30


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_a_step_of_a_walk_stands_where_it_says(path: str, name: str) -> None:
    assert name in names_of(ROOT / path)


def test_every_room_is_on_the_map() -> None:
    rooms = [p.name for p in (ROOT / "doctor").iterdir() if (p / "__init__.py").is_file()]
    assert [room for room in rooms if f"`doctor/{room}/`" not in GUIDE and f"`{room}/`" not in GUIDE] == []


def test_every_promise_of_security_names_tests_that_exist() -> None:
    """A row of the table without a test is no promise."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)[1:]
    assert len(rows) >= 10
    for promise, tests in rows:
        named = re.findall(r"`([\w/.]+)`", tests)
        assert named, promise
        for name in named:
            assert (ROOT / name).exists() or (ROOT / "tests" / "doctor" / name).exists(), name
