"""A package of a frame and its version in a list beside it stand in the advice, where the entry itself knows neither."""

from __future__ import annotations

from doctor.answer.callers import counted_in
from doctor.api import report
from doctor.scan.harvest import Caller
from kb.knowledge import Knowledge
from kb.model import Command, Fix, Text

LIST = "Package      Version\n------------ -------\nplugh-kit    0.4.2\ntorch        2.7.1\ntorch-npu    2.7.1\ntransformers  4.55.0\n"
CALL = '  File "/opt/py/lib/python3.10/site-packages/plugh_kit/core.py", line 35, in go\n    return {code}\n'
BEGIN = "Traceback (most recent call last):\n"


def remedy(text: str, knowledge: Knowledge) -> tuple[str, str]:
    root = report(text, knowledge=knowledge)["findings"][0]
    fix = root["fixes"][root["first_fix"]]
    return root["id"], fix["title"]["en"]


def test_the_release_that_raised(knowledge: Knowledge) -> None:
    assert remedy(BEGIN + CALL.format(code="x / y") + "ZeroDivisionError: division by zero\n" + LIST, knowledge) == ("NOT033", "plugh_kit 0.4.2 raised it: take a newer release of it, or one back, with those below that go with it")


def test_the_release_that_calls(knowledge: Knowledge) -> None:
    text = BEGIN + CALL.format(code="frob(zap=1)") + "TypeError: frob() got an unexpected keyword argument 'zap'\n" + LIST
    assert remedy(text, knowledge) == ("MNG006", "Take a newer plugh_kit than 0.4.2, or what it calls in the release that it names")


def test_two_parts_of_one_project(knowledge: Knowledge) -> None:
    """A class that carries the name of the package that calls it is of the same project."""
    text = BEGIN + CALL.format(code="PlughLossFunction.apply(x)") + "TypeError: PlughLossFunction.forward() takes from 5 to 9 positional arguments but 10 were given\n"
    assert remedy(text + LIST, knowledge) == ("MNG004", "Take a later plugh_kit (of a checkout: git pull), or go back to the release before 0.4.2")
    assert remedy(text.replace("PlughLoss", "XyzzyLoss") + LIST, knowledge)[0] == "MNG006"


def test_a_look_at_versions_holds_the_package_of_the_frame() -> None:
    look = Fix("locate", "low", Text("x", "x"), (), (), (Command("python3 -m pip list 2>/dev/null | grep -iE 'torch|vllm|sglang|transformers'", None, None),), None)

    def run(package: str) -> str:
        return counted_in(look, Caller("a.log", 9, package, "x.py:7", "f(x)")).commands[0].run

    assert run("plugh_kit").endswith("|transformers|plugh.kit'")
    assert run("vllm") == run("") == run("a'; b") == look.commands[0].run
