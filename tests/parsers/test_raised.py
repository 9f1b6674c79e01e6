"""Who has a part in an exception: whose code raised it, whose code called that, and with which call."""

from __future__ import annotations

import doctest
import importlib

import pytest

from parsers.owners import owner
from parsers.raised import Blame, blame, cells
from parsers.traceback import failures


@pytest.mark.parametrize("name", ["owners", "raised"])
def test_docstrings(name: str) -> None:
    """The samples of the docstrings come out."""
    assert doctest.testmod(importlib.import_module(f"parsers.{name}")).failed == 0


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("/data/ms-swift/swift/megatron/train/sft.py", "swift"),
        ("/data/Megatron-LM/megatron/training/training.py", "megatron"),
        ("/vllm-workspace/vllm-ascend/vllm_ascend/ops/fused_moe.py", "vllm_ascend"),
        ("/opt/sglang/python/sglang/srt/managers/scheduler.py", "sglang"),
        ("/opt/FastChat/fastchat/train/train.py", "fastchat"),
        ("/home/u/proj/src/plugh/x.py", ""),
        ("/home/u/train/train/run.py", ""),
        ("/home/u/model.py", ""),
    ],
)
def test_code_that_runs_from_its_sources(path: str, package: str) -> None:
    """A checkout is told by its name; a folder of the user's is nobody's."""
    assert owner(path) == package


def who(text: str) -> Blame:
    (failure,) = failures(text.splitlines())
    return blame(failure, failure.raised)


def test_what_only_passes_a_call_on_is_not_blamed() -> None:
    """torch's module and the standard library stand last: whoever stands above them asked."""
    found = who(
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/vllm/models/x.py", line 3, in forward\n    self.experts(x)\n'
        '  File "/usr/lib/python3/dist-packages/vllm_ascend/moe.py", line 7, in forward\n    self.part(x)\n'
        '  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 9, in __getattr__\n    raise AttributeError(\n'
        "AttributeError: 'Plugh' object has no attribute 'part'\n"
    )
    assert (found.owner, found.caller, found.calls) == ("vllm_ascend", "vllm", "self.experts(x)")
    assert found.last is not None
    assert found.last.code == "raise AttributeError("


def test_who_looks_an_attribute_up_is_blamed_not_the_lookup() -> None:
    """A configuration looks its attributes up through the class of its library: whoever stands above asked for it."""
    found = who(
        "Traceback (most recent call last):\n"
        '  File "/opt/verl/verl/models/transformers/plugh.py", line 3, in patch\n    n = model.config.text_config.heads\n'
        '  File "/usr/lib/python3/dist-packages/transformers/configuration_utils.py", line 9, in __getattribute__\n    return super().__getattribute__(key)\n'
        "AttributeError: 'PlughConfig' object has no attribute 'text_config'\n"
    )
    assert (found.owner, found.frame and found.frame.code) == ("verl", "n = model.config.text_config.heads")
    own = who(
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/plugh/lazy.py", line 9, in __getattr__\n    return self.table[name]\n'
        "KeyError: 'x'\n"
    )
    assert own.owner == "plugh", "what fails in a lookup of its own is its own"


def test_what_calls_back_is_no_party() -> None:
    """A validator that stands between an engine and its plugin is nobody whose release has to be looked at; where it refuses itself it is."""
    above = 'Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/vllm/engine/arg_utils.py", line 3, in create\n    config = VllmConfig(\n'
    between = '  File "/usr/lib/python3/dist-packages/pydantic/_internal/_dataclasses.py", line 7, in __init__\n    s.validate(a)\n'
    plugin = '  File "/usr/lib/python3/dist-packages/vllm_ascend/ascend_config.py", line 9, in get\n    raise RuntimeError(\n'
    assert who(above + between + plugin + "RuntimeError: x\n").through == ("vllm", "vllm_ascend")
    assert who(above + between + "ValueError: x\n").through == ("vllm", "pydantic")


@pytest.mark.parametrize(
    ("line", "calls"),
    [("model, tokens = get_model(", "get_model(...)"), ("return await hub.load(", "hub.load(...)"), ("x[0], self.y = a.b.c(", "a.b.c(...)"), ("plugh.inner(1)", "plugh.inner(1)"), ("y = f(x)(", "y = f(x)(")],
)
def test_a_call_that_goes_on_in_further_lines_is_cut_as_a_call(line: str, calls: str) -> None:
    """Only its first line stands in a traceback: the name that was called is told, no half of an assignment."""
    script = f'Traceback (most recent call last):\n  File "/home/u/run.py", line 3, in main\n    {line}\n'
    found = who(script + '  File "/usr/lib/python3/dist-packages/plugh/core.py", line 7, in inner\n    return table[x]\nKeyError: 1\n')
    assert found.calls == calls


def test_the_users_own_file_is_blamed_only_when_it_raised() -> None:
    """A library that the user's file called raised on its own; a mere script raised itself."""
    script = 'Traceback (most recent call last):\n  File "/home/u/run.py", line 3, in main\n    plugh.go(1)\n'
    inner = '  File "/usr/lib/python3/dist-packages/plugh/core.py", line 7, in go\n    return table[x]\n'
    library, own = who(script + inner + "KeyError: 1\n"), who(script + "KeyError: 1\n")
    assert (library.origin, library.caller, library.calls, library.own) == ("library", "user", "plugh.go(1)", "/home/u/run.py:3")
    assert (own.origin, own.owner, own.own) == ("user", "", "/home/u/run.py:3")


def test_without_frames_nobody_is_blamed() -> None:
    """The head of a traceback and its last line say nothing of who raised."""
    assert who("Traceback (most recent call last):\nKeyError: 1\n").origin == "unknown"


def test_who_only_answers_that_there_is_no_such_attribute_did_not_ask() -> None:
    """A module with `__getattr__` raises for whoever asked it; another error inside of it is its own."""
    asks = 'Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/vllm_ascend/plugh.py", line 9, in go\n    envs.XYZZY\n'
    answers = '  File "/usr/lib/python3/dist-packages/vllm/envs.py", line 5, in __getattr__\n    raise AttributeError(name)\n'
    assert who(asks + answers + "AttributeError: module 'vllm.envs' has no attribute 'XYZZY'\n").owner == "vllm_ascend"
    assert who(asks + answers + "KeyError: 'XYZZY'\n").owner == "vllm"


def test_of_an_engine_the_names_on_the_way_are_told() -> None:
    """Innermost first, without what a message quotes; of other packages none."""
    outer = 'Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/plugh/run.py", line 9, in frob\n    go()\n'
    inner = '  File "/usr/lib/python3/dist-packages/vllm_ascend/eplb/adaptor.py", line 7, in load\n    log("not flashcomm", self.heat)\n'
    assert who(outer + inner + "KeyError: 1\n").way == "eplb adaptor load log self heat"
    assert who(outer + "KeyError: 1\n").way == ""


@pytest.mark.parametrize(
    ("code", "message", "what"),
    [
        ("assert plugh.store is not None", "", "AssertionError: assert plugh.store is not None"),
        ("assert isinstance(plugh, Frob), (", "", "AssertionError: assert isinstance(plugh, Frob)"),
        ("assert plugh.store", "no store", "AssertionError: no store"),
        ("raise AssertionError", "", "AssertionError"),
    ],
)
def test_an_assertion_without_words_says_what_it_asked_for(code: str, message: str, what: str) -> None:
    (failure,) = failures(["Traceback (most recent call last):", '  File "/w/site-packages/plugh/frob.py", line 7, in frob', f"    {code}", "AssertionError" + (f": {message}" if message else "")])
    assert dict(cells(blame(failure, failure.raised), "AssertionError", message))["what"] == what
