"""Who runs a package from its sources gets the commands of that checkout, not those of an index."""

from __future__ import annotations

import pytest

from doctor.answer.checkouts import from_source
from doctor.answer.known_words import as_released
from doctor.findings.situation import Situation
from kb.model import Command, Fix, Text

LIES = Situation({"checkout": ("/w/verl/verl", "/w/LLaMA-Factory/src/llamafactory", "/opt/sglang/python/sglang", "/opt/my tools/lmdeploy/lmdeploy")})


def _made(run: str, situation: Situation = LIES) -> str:
    fix = Fix("resolve", "medium", Text("x", "x"), (), (), (Command(run, Text("x", "x"), Text("", "")),), None, ())
    return from_source(fix, situation).commands[0].run


@pytest.mark.parametrize(
    ("run", "made"),
    [
        ("pip install -U verl", "git -C /w/verl pull && python3 -m pip install --no-deps -e /w/verl"),
        ("pip install 'verl>=0.6' && pip check", "git -C /w/verl fetch --tags && git -C /w/verl checkout v0.6.0 && python3 -m pip install --no-deps -e /w/verl && pip check"),
        ("python3 -m pip install --no-deps -U 'sglang>=0.5.3,<0.6'", "git -C /opt/sglang fetch --tags && git -C /opt/sglang checkout v0.5.3 && python3 -m pip install --no-deps -e /opt/sglang/python"),
        (
            "pip install -U 'lmdeploy>=0.8.0' dlinfer-ascend",
            "git -C '/opt/my tools/lmdeploy' fetch --tags && git -C '/opt/my tools/lmdeploy' checkout v0.8.0 && LMDEPLOY_TARGET_DEVICE=ascend python3 -m pip install --no-deps -e '/opt/my tools/lmdeploy'"
            " && python3 -m pip install -U dlinfer-ascend",
        ),
        ("git -C LLaMA-Factory pull && python3 -m pip install --no-deps -e LLaMA-Factory", "git -C /w/LLaMA-Factory pull && python3 -m pip install --no-deps -e /w/LLaMA-Factory"),
    ],
)
def test_what_lies_in_a_checkout_is_moved_there(run: str, made: str) -> None:
    assert _made(run) == made


@pytest.mark.parametrize("run", ["pip install 'verl<0.5'", "pip install transformers==4.57.1", "pip install torch==2.5.1 verl.whl", "git -C MindSpeed pull", "pip list | grep verl"])
def test_all_else_stays(run: str) -> None:
    assert _made(run) == run


def test_a_command_of_git_without_a_folder_is_meant_for_the_checkout_that_the_fix_names() -> None:
    commands = (Command("git pull && python3 -m pip install --no-deps -e .", Text("replaces LLaMA-Factory", "x"), Text("", "")),)
    fix = Fix("resolve", "medium", Text("A later LLaMA-Factory", "x"), (), (), commands, None, ())
    assert from_source(fix, LIES).commands[0].run == "git -C /w/LLaMA-Factory pull && python3 -m pip install --no-deps -e /w/LLaMA-Factory"
    other = fix._replace(title=Text("A later MindSpeed", "x"), commands=(commands[0]._replace(changes=Text("x", "x")),))
    assert from_source(other, LIES).commands == other.commands


def test_two_checkouts_of_one_package_are_nobodys() -> None:
    assert _made("pip install -U verl", Situation({"checkout": ("/a/verl/verl", "/b/verl/verl")})) == "pip install -U verl"


def test_pip_is_asked_for_what_it_calls_a_package() -> None:
    assert as_released("python3 -m pip install -U fla") == "python3 -m pip install -U flash-linear-attention"
    assert as_released("python3 -m pip install -U flask") == "python3 -m pip install -U flask"
