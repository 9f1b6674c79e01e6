"""What a message itself asks for is done first: with the reader's own command, and never more than a name and a plain value."""

from __future__ import annotations

import pytest

from doctor.answer.asked import wanted
from doctor.api import report

RAISED = """\
$ vllm serve /models/plugh --port 8000
Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/xyzzy/frob.py", line 12, in frob
    raise RuntimeError(message)
RuntimeError: {message}
"""


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Cannot frob local plughs without `--allowed-plugh-path`.", ["--allowed-plugh-path"]),
        ("`--frob-overlap` needs `--plugh-async` and `--xyzzy-gemm`.", ["--plugh-async", "--xyzzy-gemm"]),
        ("Plugh is off. Please set XYZZY_ENABLE_PLUGH=0.", ["XYZZY_ENABLE_PLUGH"]),
        ('too many frobs! You can try "export XYZZY_ALL_PLUGHS=1"', ["XYZZY_ALL_PLUGHS"]),
        ("tool choice requires --tool-call-parser hermes to be set", ["--tool-call-parser"]),
        ("--frob cannot be used with --plugh", []),
        ("A frob requires enable_expert_parallel=True for plughs.", ["--enable-expert-parallel"]),
        ("Please set enforce_eager=True or not set FROB for plugh_mode.", ["--enforce-eager"]),
        ("please set tie_frob_embeddings=True", []),
        ("Launch with `--enable-frob-parallel=false` and use plughs only.", []),
        ("run it again with --debug for more", []),
        ("do not use --enforce-eager with this model", []),
        ("Command '['cmake', '--build', '.', '--target=plugh_C']' returned 2", []),
        ("To ignore this warning, set PLUGH_ALLOW_SLOW=1.", []),
        ("for debugging consider passing with PLUGH_LAUNCH_BLOCKING=1", []),
        ("please set LD_PRELOAD=/tmp/evil.so", []),
        ("please set PLUGH_API_KEY=1234", []),
        ("export XYZZY_MODE=$(reboot)", []),
        ("export XYZZY_MODE=a;reboot", ["XYZZY_MODE"]),
        ("+ export XYZZY_MODE=2", []),
        ("$ export XYZZY_MODE=2 && plugh", []),
        ("(frob) [root@n1 plugh]# export XYZZY_MODE=2", []),
    ],
)
def test_what_a_message_asks_for(message: str, names: list[str]) -> None:
    """Options that it needs and variables that it says to set; none that it forbids, none that decides what is run."""
    assert [one.name for one in wanted(message)] == names
    assert all(one.value.strip("=") == one.value and not set(one.value) & set("$;`'\"|&<> ") for one in wanted(message))


def test_the_option_is_put_into_the_readers_own_command() -> None:
    """What nobody knows is answered with what its author says: their command, the option, and a word for the value."""
    root = report(RAISED.format(message="Cannot frob local plughs without `--allowed-plugh-path`."))["findings"][0]
    first = root["fixes"][root["first_fix"]]
    assert first["commands"][0]["run"] == "vllm serve /models/plugh --port 8000 --allowed-plugh-path VALUE"
    assert first["title"] == {"en": "Do what the message asks for: --allowed-plugh-path", "zh": "按报错的要求设置：--allowed-plugh-path"}


def test_an_option_that_must_be_false_is_left_out() -> None:
    """Not the feature that the message refuses beside it."""
    text = RAISED.format(message="Plugh LoRA does not support expert parallelism. Launch with `--enable-expert-parallel=false`.").replace("--port 8000", "--enable-expert-parallel --enable-lora").replace("xyzzy", "vllm_ascend")
    root = report(text)["findings"][0]
    first = root["fixes"][root["first_fix"]]
    assert first["commands"][0]["run"] == "vllm serve /models/plugh --enable-lora"


@pytest.mark.parametrize(("given", "run"), [("--block-size 48", "vllm serve /models/plugh --block-size 64"), ("--block-size 64", None), ("--max-num-seqs 7", None)])
def test_a_number_that_must_divide_is_the_next_one_that_does(given: str, run: str | None) -> None:
    """Only where the reader's command has that option, with a number that does not."""
    text = RAISED.format(message="Plugh cache requires block_size to be a multiple of 32, got 48").replace("--port 8000", given).replace("xyzzy/", "vllm_ascend/")
    root = report(text)["findings"][0]
    asked = [fix["commands"][0]["run"] for fix in root["fixes"] if fix["title"]["en"].startswith("Do what the message asks for")]
    assert asked == ([run] if run else [])


def test_who_only_knows_what_kind_of_thing_failed_lets_the_message_speak_first() -> None:
    text = RAISED.format(message="Frobs have no plugh here. Please set XYZZY_ENABLE_PLUGH=0.").replace("xyzzy/", "vllm_ascend/")
    root = report(text)["findings"][0]
    assert root["id"] == "VLM708"
    assert root["fixes"][root["first_fix"]]["env"][0]["name"] == "XYZZY_ENABLE_PLUGH"


def test_the_variable_is_set_and_can_be_taken_back() -> None:
    root = report(RAISED.format(message="Plugh is off. Please set XYZZY_ENABLE_PLUGH=0."))["findings"][0]
    first = root["fixes"][root["first_fix"]]
    assert [(e["name"], e["value"], e["undo"]) for e in first["env"]] == [("XYZZY_ENABLE_PLUGH", "0", "unset XYZZY_ENABLE_PLUGH")]


@pytest.mark.parametrize(("set_to", "message", "titles"), [
    ("0", "Plugh is off. Please set VLLM_ASCEND_ENABLE_PLUGH=0.", []),
    ("1", "Plugh is off. Please set VLLM_ASCEND_ENABLE_PLUGH=0.", ["VLLM_ASCEND_ENABLE_PLUGH=0"]),
    ("0", "Plugh is off. Please set VLLM_ASCEND_ENABLE_PLUGH=0. It requires --plugh-async.", ["--plugh-async"]),
])  # fmt: skip
def test_what_is_set_so_is_not_asked_for_again(set_to: str, message: str, titles: list[str]) -> None:
    """The option that is asked for beside it still is."""
    root = report(f"$ export VLLM_ASCEND_ENABLE_PLUGH={set_to}\n" + RAISED.format(message=message))["findings"][0]
    told = [fix["title"]["en"] for fix in root["fixes"] if fix["title"]["en"].startswith("Do what the message asks for")]
    assert len(told) == len(titles)
    assert all(title in one for title, one in zip(titles, told, strict=True))


def test_of_known_fixes_the_one_that_the_message_names_comes_first() -> None:
    """Triton's message names the variable; where only the limit is told, the kernel is changed."""
    limit = "RuntimeError: grid should be less than 65536!"
    named = report(f'{limit} You can try "export TRITON_ALL_BLOCKS_PARALLEL=1" to avoid it\n')["findings"][0]
    assert [e["name"] for e in named["fixes"][named["first_fix"]]["env"]] == ["TRITON_ALL_BLOCKS_PARALLEL"]
    other = report(f"{limit}\n")["findings"][0]
    assert other["fixes"][other["first_fix"]]["env"] == []


def test_what_a_message_says_to_leave_out_goes_from_the_readers_command() -> None:
    """Nothing has to be filled in for that; a word behind an option is no value of it."""
    message = "No plughs were found. Please specify --plugh-nodes explicitly or disable --plugh-bind."
    assert [(one.name, one.value) for one in wanted(message)] == [("--plugh-nodes", "")]
    root = report(RAISED.format(message=message).replace("--port 8000", "--port 8000 --plugh-bind"))["findings"][0]
    assert root["first_check"] is None
    assert root["fixes"][root["first_fix"]]["commands"][0]["run"] == "vllm serve /models/plugh --port 8000"


@pytest.mark.parametrize(
    ("message", "title", "run"),
    [
        ("Frobs are off, please run `pip install -U frob-kit[cli]>=1.2`.", "Do what the message asks for: install frob-kit[cli]>=1.2", "python3 -m pip install --no-deps 'frob-kit[cli]>=1.2'"),
        ("Please install frobkit to enable plughs.", "Do what the message asks for: install frobkit", None),
        ("Frobs are off, run pip install frob$(reboot)", None, None),
        ("Frobs are off, try pip install git+https://h/frob", None, None),
        ("Please install torch first.", None, None),
        ("Frobs are off, run pip install frob --index-url http://h/", None, None),
        ("Command 'pip install frob' returned 1", None, None),
    ],
)
def test_a_package_that_a_message_says_to_install_is_the_fix(message: str, title: str | None, run: str | None) -> None:
    """By its plain name; nothing that a shell, an index or a set of versions that belong together would take otherwise."""
    text = RAISED.format(message=message).replace("RuntimeError", "KeyError").replace("xyzzy/", "vllm_ascend/")
    root = report(text)["findings"][0]
    made = [fix for fix in root["fixes"] if fix["title"]["en"].startswith("Do what the message asks for")]
    assert [fix["title"]["en"] for fix in made] == ([title] if title else [])
    assert [command["run"] for fix in made for command in fix["commands"]] == ([run] if run else [])
    assert not made or root["fixes"][root["first_fix"]] == made[0]
