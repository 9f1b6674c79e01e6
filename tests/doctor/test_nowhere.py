"""What is told of the machine where logs say nothing of an NPU, and what is not asked for there."""

from __future__ import annotations

import pytest

from doctor.api import report

FRAME = 'Traceback (most recent call last):\n  File "{path}", line 97, in proxy\n    raise PlughError("no such thing")\n{error}: no such thing\n'
PLAIN = FRAME.format(path="/opt/py/site-packages/plugh/routes.py", error="RuntimeError")
NOWHERE = "no word of an NPU in these logs"


def line(text: str) -> str:
    return str(report(text)["situation"]["line"]["en"])


def test_a_failure_of_any_machine_is_told_so() -> None:
    assert NOWHERE in line(PLAIN)
    assert "日志中没有任何 NPU 字样" in report(PLAIN)["situation"]["line"]["zh"]


@pytest.mark.parametrize(
    "word",
    ["the tensor is on npu:0", "torch_npu 2.5.1", "EZ9999: Inner Error!", "[ERROR] RUNTIME(12,python3):2026-01-01-10:00:00.000.001 [npu_driver.cc:1] plugh failed, ret=7",
     "MindSpeed-LLM 1.0", "device 0: CANN0 (type: 1)", "CUDA error: out of memory"],
)
def test_a_word_of_a_machine_is_one(word: str) -> None:
    assert NOWHERE not in line(f"{word}\n{PLAIN}")


def test_what_was_not_read_whole_is_no_proof() -> None:
    assert NOWHERE not in line("step: 1 loss: 0.5\n" * 12000 + PLAIN)


def test_no_log_of_cann_is_asked_for() -> None:
    text = FRAME.format(path="/opt/py/site-packages/plugh/routes.py", error="plugh.PlughError")
    assert NOWHERE in line(text)
    assert not any("ASCEND" in one["how"]["en"] or "plog" in one["how"]["en"] for one in report(text)["missing_evidence"])


def test_what_a_note_hopes_to_see_did_not_happen() -> None:
    note = "如果环境正确，在命令行输入 atc 应该返回：\n\n    E10007: [--framework] is required.\n\n但返回 Segmentation fault (core dumped)\n"
    assert "E10007" not in str(report(note)["findings"])
    assert "E10007" in str(report(note.replace("应该返回", "返回"))["findings"])
