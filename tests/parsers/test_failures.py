"""Tracebacks and error blocks: what was raised, by whom, and where."""

from __future__ import annotations

from pathlib import Path

from parsers.message import blocks
from parsers.traceback import tracebacks

DATA = Path(__file__).resolve().parent.parent / "data" / "parsers"


def log(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").rstrip("\n").split("\n")


def test_a_chained_traceback_is_one_failure_with_its_cause() -> None:
    (found,) = tracebacks(log("traceback/chained.log"))
    assert (found.type, found.message) == ("RuntimeError", "cannot resume")
    assert found.causes == (("FileNotFoundError", "[Errno 2] No such file or directory: 'ckpt.pt'"),)
    assert [(frame.function, frame.line) for frame in found.frames] == [("<module>", 88), ("main", 40)]
    assert found.frames[-1].code == 'raise RuntimeError("cannot resume") from error'


def test_interleaved_workers_are_told_apart() -> None:
    found = tracebacks(log("traceback/interleaved.log"))
    assert [(one.head.worker or f"rank{one.head.rank}", one.type) for one in found] == [
        ("Worker_TP0", "torch.OutOfMemoryError"),
        ("Worker_TP1", "AssertionError"),
        ("rank3", "_queue.Empty"),
    ]
    assert found[0].lines == (1, 3, 6, 7)
    assert found[0].frames[0].code == "self.model(batch)"


def test_a_group_is_read_through_its_margin() -> None:
    found = tracebacks(log("traceback/group.log"))
    assert [one.type for one in found] == ["ExceptionGroup", "ValueError"]
    assert found[1].message == "bad rank table"


def test_native_crashes() -> None:
    found = tracebacks(log("traceback/native.log"))
    assert (found[0].type, found[0].message) == (
        "c10::Error",
        "NPU function error: aclrtSynchronizeDevice, error code is 507035",
    )
    assert found[0].frames[0].file == "/opt/torch/lib/libc10.so"
    assert found[1].type == "Fatal Python error"
    assert [frame.function for frame in found[1].frames] == ["wait", "get"]


def test_a_truncated_traceback_names_no_exception() -> None:
    (found,) = tracebacks(["Traceback (most recent call last):", '  File "a.py", line 3, in f', "    g()"])
    assert (found.type, found.frames[0].code) == (None, "g()")


def test_text_without_a_traceback_has_none() -> None:
    assert tracebacks(["step 1", "RuntimeError: printed by somebody", "step 2"]) == ()


def test_blocks_of_all_generations() -> None:
    found = blocks(log("message/generations.log"))
    assert [block.codes for block in found] == [("EI0002",), ("EZ9999",), ("EZ9999",), ("EL0001",), ("E39999",)]
    assert found[0].solution == "Check whether the other ranks have failed."
    assert [place.function for place in found[1].trace] == ["PreCheckTaskErr", "GetError", "FuncErrorReason"]
    assert (found[2].pid, found[2].time) == (17833, "2025-12-23T07:36:19.237396")
    assert (found[3].cause, found[3].solution) == ("The device was taken by another process.", "Stop that process.")


def test_torch_npu_lines_and_the_block_below_are_one() -> None:
    first, second = blocks(log("message/torch-npu.log"))
    assert first.codes == ("ERR00100", "EZ9999")
    assert (first.pid, first.device, first.rank) == (51877, 2, 1)
    assert (second.codes, second.device, second.rank) == (("ERR99999",), None, None)
