"""Failures: what was raised, by whom, through which code, and what holds for any text at all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.traceback import Failure, Frame, Speaker, failures
from tests.fuzz.pieces import ODD, PIECES

HEADER = "Traceback (most recent call last):"
FRAME = '  File "/w/train.py", line 3, in step'
CHAIN = ("", "During handling of the above exception, another exception occurred:", "")
WORKER = "(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [core.py:880] "

# Lines that no prefix stands in: what a process writes, before a launcher writes beside it.
LINES = st.sampled_from(
    [
        HEADER, FRAME, '    File "/w/other.py", line 4', "    loss.backward()", "    ^^^^^", "  [Previous line repeated 9 more times]", "RuntimeError: boom",
        "_queue.Empty", "ValueError", "a second line of the message", "", *CHAIN, "The above exception was the direct cause of the following exception:",
        "  + Exception Group Traceback (most recent call last):", "  | ExceptionGroup: two (2 sub-exceptions)", "  +-+---------------- 1 ----------------",
        "    | Traceback (most recent call last):", '    |   File "/w/a.py", line 2, in f', "    |     f()", "    | KeyError: 3", "    +---------------- 2 ----------------",
        "    +------------------------------------", "terminate called after throwing an instance of 'c10::Error'", "  what():  boom",
        "frame #0: f() + 0x3 (0xfff in /w/libx.so)", "Fatal Python error: Aborted", "Current thread 0x0000fffd (most recent call first):",
        "Segmentation fault (core dumped)", "python: symbol lookup error: /w/libx.so: undefined symbol: f", "step 3 loss 0.5", "Loading: weights",
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=30)
ANY_TEXTS = st.lists(
    st.lists(LINES | st.sampled_from(PIECES) | st.sampled_from(ODD) | st.text(max_size=6), max_size=5).map("".join), max_size=25
)


def only(lines: Sequence[str]) -> Failure:
    (found,) = failures(lines)
    return found


def told(found: Failure) -> tuple[object, ...]:
    """What a failure says, wherever it stands and whoever wrote it."""
    parts = tuple((p.type, p.message, tuple(f._replace(at=0) for f in p.frames), p.link, p.depth) for p in found.parts)
    return (found.how, parts, len(found.lines), found.cut)


def test_the_original_exception_comes_first_and_the_last_one_ended_it() -> None:
    found = only([HEADER, FRAME, "    load()", "OSError: no file", *CHAIN, HEADER, FRAME, "    main()", "RuntimeError: cannot resume"])
    assert [(p.type, p.link, len(p.frames)) for p in found.parts] == [("OSError", "", 1), ("RuntimeError", "context", 1)]
    assert (found.raised.message, found.raised.at, found.cut) == ("cannot resume", 11, False)


def test_a_group_is_what_ended_it_and_its_members_stand_behind() -> None:
    found = only(
        [
            "  + Exception Group Traceback (most recent call last):", '  |   File "/w/serve.py", line 12, in main', "  | ExceptionGroup: two (2 sub-exceptions)",
            "  +-+---------------- 1 ----------------", "    | Traceback (most recent call last):", '    |   File "/w/serve.py", line 20, in child',
            "    | ValueError: bad rank table", "    +---------------- 2 ----------------", "    | KeyError: 'hccl'", "    +------------------------------------",
        ]
    )  # fmt: skip
    assert [(p.type, p.link, p.depth) for p in found.parts] == [("ExceptionGroup", "", 1), ("ValueError", "member", 2), ("KeyError", "member", 2)]
    assert found.raised.type == "ExceptionGroup"


def test_a_member_has_causes_of_its_own() -> None:
    found = only(
        [
            "  + Exception Group Traceback (most recent call last):", "  | ExceptionGroup: one (1 sub-exception)", "  +-+---------------- 1 ----------------",
            "    | OSError: no file", "    | ", "    | The above exception was the direct cause of the following exception:", "    | ",
            "    | Traceback (most recent call last):", "    | ValueError: no model", "    | second line", "  | not of the message", "    +------------------------------------",
        ]
    )  # fmt: skip
    assert [(p.type, p.link, p.depth) for p in found.parts] == [("ExceptionGroup", "", 1), ("OSError", "member", 2), ("ValueError", "cause", 2)]
    assert found.parts[-1].message == "no model\nsecond line"


def test_a_head_begins_another_failure() -> None:
    assert [one.lines for one in failures([HEADER, FRAME, "ValueError: x", HEADER, FRAME, "ValueError: y"])] == [(1, 2, 3), (4, 5, 6)]


def test_a_message_goes_on_as_long_as_its_log_call() -> None:
    """What another place of the software logs next is not part of it, nor is what comes after an empty line."""
    lines = [HEADER, FRAME, "RuntimeError: first", "EZ9999: Inner Error!", "        Solution: none"]
    later = "(Worker_TP2 pid=1456) ERROR 03-25 06:14:05 [proc.py:17] shutting down"
    assert only([*(WORKER + line for line in lines), later]).raised.message == "first\nEZ9999: Inner Error!\n        Solution: none"
    assert only([*lines, "", "step 4"]).raised.message.endswith("Solution: none")


@pytest.mark.parametrize("typed", ["$ pip list | grep vllm", "[root@node-1 vllm]# npu-smi info", "(vllm) root@abc123:/workspace# ls", "bash-5.1# env"])
def test_what_the_reader_typed_next_is_no_message(typed: str) -> None:
    for said, message in (("AssertionError", ""), ("ValueError: bad size", "bad size")):
        found = only((HEADER, FRAME, "    assert group is not None", said, typed, "vllm 0.9.1"))
        assert found.raised.message == message


def test_workers_are_told_apart_and_named() -> None:
    mine, other = "(Worker_TP0 pid=611) ", "(Worker_TP1 pid=612) "
    found = failures([mine + HEADER, other + HEADER, other + FRAME, mine + FRAME, other + "    b()", mine + "    a()", mine + "KeyError: 1", other + "_queue.Empty"])
    assert [(one.by.worker, one.by.pid, one.raised.type, one.raised.frames[0].code) for one in found] == [
        ("Worker_TP0", 611, "KeyError", "a()"),
        ("Worker_TP1", 612, "_queue.Empty", "b()"),
    ]


def test_what_is_missing_is_left_empty() -> None:
    """No tail: no type, and it says so. No head: the frames are enough when an exception follows, and nothing without one."""
    cut = only([HEADER, FRAME, "    g()"])
    assert (cut.raised.type, cut.raised.frames[0].code, cut.cut) == ("", "g()", True)
    assert only([FRAME, "    g()", "ValueError: x"]).raised.type == "ValueError"
    assert failures([FRAME, "    g()"]) == ()


def test_text_without_a_failure_has_none() -> None:
    assert failures(["step 1", "RuntimeError: printed by somebody", "Loading: weights", "step 2"]) == ()


def test_a_line_of_cann_between_the_frames_changes_nothing() -> None:
    plog = "[ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.118.305 [a.cc:1617]41388 Func:text"
    assert told(only([HEADER, FRAME, plog, "    g()", plog, "ValueError: x"])) == told(only([HEADER, FRAME, "    g()", "ValueError: x"]))


@pytest.mark.parametrize("number", ["", " 0"])
def test_the_source_of_a_network_that_was_being_built_ends_the_chain(number: str) -> None:
    """MindSpore says where in the network it refused something: no frame of Python stands for that."""
    text = f"""\
Traceback (most recent call last):
  File "/home/u/train.py", line 366, in train_step
    loss = self.train_step_fn(imgs)
  File "/opt/py/lib/python3.9/site-packages/mindspore/common/api.py", line 311, in compile
    is_compile = self._graph_executor.compile(self.fn, compile_args)

#{number} In file /home/u/models/step.py:47
            loss = loss_fn(pred)
                   ^
#{number} In file /home/u/models/loss.py:133
        loss_item = ops.stack((a, b))
                    ^
TypeError: For Stack, all types should be same
"""
    [failure] = failures(text.splitlines())
    assert (failure.raised.frames[-1].file, failure.raised.frames[-1].line) == ("/home/u/models/loss.py", 133)
    assert failure.raised.frames[-1].code == "loss_item = ops.stack((a, b))"
    assert failure.raised.type == "TypeError"


def test_crashes() -> None:
    found = failures(
        [
            "terminate called after throwing an instance of 'c10::Error'", "  what():  NPU function error", "frame #0: f() + 0x3 (0xf in /o/torch_npu/lib/libtorch_npu.so)",
            "Fatal Python error: Aborted", "", "Current thread 0x1 (most recent call first):", '  File "/w/a.py", line 3 in wait',
            "python: symbol lookup error: /w/libx.so: undefined symbol: f", "Segmentation fault (core dumped)",
            "run.sh: line 98: 21933 Aborted                 (core dumped) python3 train.py",
        ]
    )  # fmt: skip
    assert [(one.how, one.raised.type, one.raised.message) for one in found] == [
        ("terminated", "c10::Error", "NPU function error"), ("fatal", "", "Aborted"),
        ("unloadable", "", "/w/libx.so: undefined symbol: f"), ("signal", "", "Segmentation fault"), ("signal", "", "Aborted"),
    ]  # fmt: skip
    assert [frame.package for one in found for frame in one.raised.frames] == ["torch_npu", ""]


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("/usr/local/lib/python3.11/site-packages/torch/nn/modules/linear.py", "torch"),
        ("/usr/lib/python3/dist-packages/six.py", "six"),
        ("C:\\Python\\Lib\\site-packages\\torch_npu\\npu\\utils.py", "torch_npu"),
        ("/vllm-workspace/vllm-ascend/vllm_ascend/worker/worker.py", "vllm_ascend"),
        ("/usr/lib/python3.10/multiprocessing/process.py", "python"),
        ("<frozen importlib._bootstrap>", "python"),
        ("/home/me/train.py", ""),
        ("<stdin>", ""),
    ],
)
def test_the_package_of_a_frame(file: str, package: str) -> None:
    assert Frame(1, file, 3, "f").package == package


@given(ANY_TEXTS)
def test_any_text_is_read_and_no_line_twice(lines: list[str]) -> None:
    found = failures(lines, 5)
    taken = [number for one in found for number in one.lines]
    assert len(taken) == len(set(taken))
    assert set(taken) <= set(range(5, 5 + len(lines)))
    for one in found:
        assert one.lines == tuple(sorted(one.lines))
        assert {p.at for p in one.parts if p.at} | {f.at for p in one.parts for f in p.frames} <= set(one.lines)
        assert one.cut or one.parts[-1].at
        assert one.raised in one.parts


@given(TEXTS, st.sampled_from([WORKER, "[rank3]: ", "2025-03-02T10:21:44.118305Z stdout F ", "(RayWorker pid=7, ip=10.0.0.1) ", "[1,3]<stderr>: "]))
def test_a_prefix_changes_nothing_but_the_speaker(lines: list[str], prefix: str) -> None:
    plain, prefixed = failures(lines), failures([prefix + line for line in lines])
    assert [told(one) for one in plain] == [told(one) for one in prefixed]
    assert {one.by for one in plain} <= {Speaker(None, None, None)}
    assert len({one.by for one in prefixed}) <= 1


@given(TEXTS, TEXTS, st.lists(st.booleans(), min_size=60, max_size=60))
def test_it_makes_no_difference_who_else_speaks(first: list[str], second: list[str], turns: list[bool]) -> None:
    mine, other = ["[rank0]: " + line for line in first], ["[rank1]: " + line for line in second]
    alone = [told(one) for one in failures(mine)], [told(one) for one in failures(other)]
    mixed = []
    for turn in turns:
        if one := (mine if turn and mine else other or mine):
            mixed.append(one.pop(0))
    found = failures(mixed)
    assert alone == tuple([told(one) for one in found if one.by.rank == rank] for rank in (0, 1))


def calls(lines: list[str]) -> int:
    """How many functions reading the lines calls: work that no busy machine changes."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        failures(lines)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        [HEADER], [FRAME], [FRAME, "    f()"], [HEADER, FRAME, "ValueError: x"], ["RuntimeError: x", "more"], list(CHAIN), [HEADER, FRAME, "KeyError", *CHAIN],
        ["  +-+---------------- 1 ----------------", "    | ValueError: x"], ["Fatal Python error: x", FRAME], ["frame #0: f (in x.so)"],
        ["(W_{} pid={}) " + HEADER, "(W_{} pid={}) " + FRAME], [HEADER, "a stranger"],
    ],
)  # fmt: skip
def test_twice_the_text_is_twice_the_work(piece: list[str]) -> None:
    def text(times: int) -> list[str]:
        return [HEADER, *(line.replace("{}", str(n)) for n in range(times) for line in piece)]

    calls(text(2))  # patterns are compiled when they are first used
    assert calls(text(800)) < 2.2 * calls(text(400))


def test_what_a_destructor_raises_is_told_as_dropped() -> None:
    """After FlagEmbedding #1252: the results were printed; the exception above it is not its message, and ended the program."""
    text = [
        "Traceback (most recent call last):",
        '  File "/w/a.py", line 3, in run',
        "    x()",
        "ValueError: real",
        "Exception ignored in: <function Pool.__del__ at 0xfff0>",
        "Traceback (most recent call last):",
        '  File "/w/a.py", line 9, in __del__',
        "AttributeError: 'NoneType' object has no attribute 'to'",
    ]
    first, second = failures(text)
    assert (first.how, first.raised.message) == ("raised", "real")
    assert (second.how, second.raised.type) == ("ignored", "AttributeError")
    assert [one.how for one in failures(text[5:])] == ["raised"]
