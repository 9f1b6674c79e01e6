"""A fix that asks for a change of a line says which one: the place that the traceback tells."""

from __future__ import annotations

import pytest

from doctor.answer.at_line import named
from doctor.api import report
from doctor.scan.harvest import Caller
from kb.model import Command, Fix, Text

MADE = Caller("a.log", 9, "plugh", "plugh/x.py:7", "y = x.view(-1, n)")


def fix(title: Text, *steps: Text, why: Text | None = None) -> Fix:
    return Fix("resolve", "low", title, steps, (), (Command("pip list", None, why),), None)


@pytest.mark.parametrize(
    ("en", "zh", "told"),
    [
        ("In that line of it: .reshape", "在该行改用 .reshape", ("In that line (plugh/x.py:7) of it: .reshape", "在该行（plugh/x.py:7）改用 .reshape")),
        ("Print shapes before the failing line", "在出错行之前打印", ("Print shapes before the failing line (plugh/x.py:7)", "在出错行（plugh/x.py:7）之前打印")),
        ("Change that line", "改掉它", ("Change that line (plugh/x.py:7)", "改掉它（plugh/x.py:7）")),
        ("Take that line out of ~/.bashrc", "从 ~/.bashrc 去掉该行", None),
        ("Take the next release of this line", "使用同一系列的后续版本", None),
        ("At that line, plugh/x.py:7", "在 plugh/x.py:7", None),
    ],
)
def test_the_line_is_named_by_its_place(en: str, zh: str, told: tuple[str, str] | None) -> None:
    made = named(fix(Text(en, zh)), MADE).title
    assert (made.en, made.zh) == (told or (en, zh))


def test_it_is_named_once_in_title_step_or_reason_and_not_where_no_traceback_tells_it() -> None:
    step, plain = Text("Cast it in that line", "在该行转换"), Text("x", "x")
    assert named(fix(step, step), MADE).steps == (step,)
    assert named(fix(plain, plain, step), MADE).steps[1].en == "Cast it in that line (plugh/x.py:7)"
    why = named(fix(plain, why=step), MADE).commands[0].why
    assert why is not None
    assert why.zh == "在该行（plugh/x.py:7）转换"
    assert named(fix(step), None) == fix(step)


def test_a_report_names_it() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/opt/veomni/distributed/plugh.py", line 96, in f\n    return x.view(-1, n)\n'
        "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead. [npu:0] torch_npu\n"
    )
    assert "the failing line (/opt/veomni/distributed/plugh.py:96)" in str(report(text)["findings"][0]["fixes"])
