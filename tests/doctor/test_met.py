"""Advice that the logs show as followed already, and alternatives that stand alone."""

from __future__ import annotations

import pytest

from doctor.answer.advice import chosen
from doctor.answer.met import met
from doctor.findings.situation import Situation
from doctor.findings.started import read
from doctor.render.fixes import alone, fixes
from kb.model import Command, EnvFix, Fix, Text

OLD = Situation({"cann": ("8.3.RC1",), "torch_npu": ("2.7.1",), "transformers": ("4.55.0",)})
NEW = Situation({"cann": ("8.5.1",), "torch_npu": ("2.8.0.post2",), "transformers": ("4.57.1",), "driver": ("25.5.2",)})


def fix(title: str, run: str = "", goal: str = "resolve") -> Fix:
    commands = (Command(run, Text("x", "x"), None),) if run else ()
    return Fix(goal, "low", Text(title, title), (), (), commands, None)


@pytest.mark.parametrize(
    ("title", "run", "old", "new"),
    [
        ("Upgrade CANN to a newer release", "", False, False),
        ("Use CANN 8.5 or later with its triton-ascend", "", False, True),
        ("CANN 8.5 with torch_npu 2.8 or later lifts the limit", "", False, True),
        ("Upgrade HDK (driver 25.5.1 or later) and CANN", "", False, None),
        ("Take torch_npu 2.8 or newer, or transformers below 4.50", "", False, False),
        ("Install a newer transformers", "python3 -m pip install 'transformers>=4.56'", False, True),
        ("Install the pair", "pip install torch-npu==2.8.0.post2 vllm-ascend==0.13.0", False, None),
        ("Install it", "pip install 'torch-npu==2.8.0.*' transformers==VERSION", False, False),
        ("Upgrade docker 20.10.10 or later", "", False, False),
    ],
)
def test_what_is_there_already(title: str, run: str, old: bool | None, new: bool | None) -> None:
    """A release is asked for by the words of a fix; it is met when all that is asked for is told and new enough."""
    assert (met(fix(title, run), OLD), met(fix(title, run), NEW)) == (old, new)


def test_variables_of_an_npu_are_no_advice_for_another_machine() -> None:
    """But for what nobody else knows either."""
    moved = Fix("mitigate", "low", Text("Move", "x"), (), (EnvFix("ASCEND_PROCESS_LOG_PATH", "/data/log", "process", "unset ASCEND_PROCESS_LOG_PATH", None),), (), None)
    freed = fix("Remove what is not needed")
    assert chosen((moved, freed), Situation({"machine": ("npu",)})) == (moved, freed)
    assert chosen((moved, freed), Situation({"machine": ("cuda",)})) == (freed,)
    assert chosen((moved,), Situation({"machine": ("cuda",)})) == (moved,)


def test_the_image_that_runs_is_not_fetched_again() -> None:
    """Whatever registry it comes from; another tag of it is another image."""
    command = read("docker run -it --device /dev/davinci0 mirror.example/ascend/vllm-ascend:v0.10.1rc1-310p bash")
    assert command is not None
    here = Situation({"vllm_ascend": ("0.10.1rc1",)}, started=(command,))
    assert met(fix("Pull", "docker pull quay.io/ascend/vllm-ascend:v{vllm_ascend|X.Y.Z}-310p"), here) is True
    assert met(fix("Pull", "docker pull quay.io/ascend/vllm-ascend:v{vllm_ascend|X.Y.Z}"), here) is False


def test_a_look_is_never_met() -> None:
    """What only looks at something asks for no release."""
    assert met(fix("CANN 8.5 or later?", goal="locate"), NEW) is False


def test_advice_that_was_followed_is_left_out_unless_it_is_all_there_is() -> None:
    """An upgrade that the logs show as done goes, one that is half done stands last, and something always stays."""
    upgrade, half, workaround = fix("CANN 8.5 or later"), fix("CANN 8.5 with vllm-ascend 0.13 or later"), fix("Capture fewer graphs")
    assert chosen((upgrade, half, workaround), NEW) == (workaround, half)
    assert chosen((upgrade, workaround), OLD) == (upgrade, workaround)
    assert chosen((upgrade,), NEW) == (upgrade,)


def shown(title: str, lang: str = "en") -> dict[str, object]:
    return {"goal": "resolve", "title": {lang: title}, "env": [], "commands": []}


@pytest.mark.parametrize(("title", "lang", "told"), [("Or use gloo", "en", "Use gloo"), ("或使用 gloo", "zh", "使用 gloo"), ("Order the ranks", "en", "Order the ranks")])
def test_the_first_fix_is_no_alternative(title: str, lang: str, told: str) -> None:
    """Where nothing stands before it, "Or" says nothing; further fixes keep it in a list."""
    first, second = fixes((shown(title, lang), shown(title, lang)), lang)
    assert (first.title, second.title, alone(second).title) == (told, title, told)


def test_no_container_is_started_on_a_bare_host() -> None:
    """What starts containers is no advice there, unless nothing else is known."""
    start, path = fix("Pass the devices", "docker run -it IMAGE bash"), fix("Put the driver on the path", "export LD_LIBRARY_PATH=/usr/local/Ascend/driver/lib64")
    host = Situation({"place": ("host",)})
    assert chosen((start, path), host) == (path,)
    assert chosen((start,), host) == (start,)
    both = start._replace(commands=start.commands + path.commands)
    assert [one.commands for one in chosen((both,), host)] == [path.commands]
    assert start in chosen((start, path), Situation({"place": ("container",)}))
    assert start in chosen((start, path), Situation())


def test_graphs_are_not_switched_off_twice() -> None:
    """Only where every engine of the logs was started without them, and the advice is nothing else."""
    step = Text("{graphs_off|Switch graphs off}: slower", "{graphs_off|关闭图模式}：较慢")
    off, more = fix("Without graphs")._replace(steps=(step,)), fix("Smaller")._replace(steps=(step, Text("And less", "x")))
    assert met(off, Situation({"option": ("graphs-off",)})) is True
    assert met(off, Situation({"option": ("graphs-off", "graphs-on")})) is False
    assert met(more, Situation({"option": ("graphs-off",)})) is False
    assert met(off, Situation()) is False
