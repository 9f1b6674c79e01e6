"""What somebody says he tried stands behind what he did not."""

from __future__ import annotations

import pytest

from doctor.answer.tried import tried_last
from doctor.findings.situation import Situation
from kb.model import CodeFix, Command, EnvFix, Fix, Text

ANY = Text("do it", "执行")


def fix(run: str = "", variable: str = "", code: str = "", goal: str = "resolve") -> Fix:
    env = (EnvFix(variable, "1", "process", f"unset {variable}", None),) if variable else ()
    return Fix(goal, "low", ANY, (), env, (Command(run, None, None),) if run else (), CodeFix("yaml", "", code) if code else None)


EAGER = fix("vllm serve MODEL --enforce-eager")
OTHER = fix("vllm serve MODEL --max-num-seqs 16")


@pytest.mark.parametrize(
    ("said", "was"),
    [
        ("I tried --enforce-eager, no change", True),
        ("enforce_eager=True 试过，不行", True),
        ("I tried another image", False),
        ("", False),
    ],
)
def test_what_was_tried(said: str, was: bool) -> None:
    at = Situation(facts={"tried": (said,)} if said else {})
    assert tried_last([EAGER, OTHER], [True, True], at) == [was, False]


def test_variables_and_settings_are_named_too() -> None:
    at = Situation(facts={"tried": ("already tried HCCL_CONNECT_TIMEOUT=1800 and cutoff_len: 2048",)})
    assert tried_last([fix(variable="HCCL_CONNECT_TIMEOUT"), fix(code="cutoff_len: 4096"), OTHER], [True] * 3, at) == [True, True, False]


def test_where_nothing_else_is_left_it_stays() -> None:
    """Nobody is left without an answer; and a fix that does more than was tried is another one."""
    at = Situation(facts={"tried": ("I tried --enforce-eager",)})
    assert tried_last([EAGER, fix("npu-smi info", goal="locate")], [True, True], at) == [False, False]
    assert tried_last([EAGER, OTHER], [True, False], at) == [False, False]
    assert tried_last([fix("vllm serve MODEL --enforce-eager --max-num-seqs 16"), OTHER], [True, True], at) == [False, False]
