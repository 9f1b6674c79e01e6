"""Which tensor was too much for a card: told from the figures and the reader's own line, and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.api import report
from kb.knowledge import Knowledge

FULL = "RuntimeError: NPU out of memory. Tried to allocate {tried} (NPU 0; 32.00 GiB total capacity; {held} already allocated; 28.00 GiB current active; 0.70 GiB free; 29.87 GiB reserved in total by PyTorch)\n"
OLD = "RuntimeError: NPU out of memory. Tried to allocate 9.78 GiB (NPU 0; 32.00 GiB total capacity; 29.80 GiB already allocated; 1.59 GiB free; 50.34 MiB cached)\n"


def trace(line: str, file: str = "/home/li/plugh/net.py", function: str = "features") -> str:
    return f'Traceback (most recent call last):\n  File "{file}", line 82, in {function}\n    {line}\n  File "/opt/py/lib/python3.10/site-packages/torch/nn/functional.py", line 35, in normalize\n    return input / denom\n'


def first(text: str, knowledge: Knowledge) -> tuple[str, str, dict[str, Any]]:
    root = report(text, knowledge=knowledge)["findings"][0]
    return root["cause"]["en"], root["cause"]["zh"], root["fixes"][root["first_fix"]]


def test_one_large_tensor_is_the_suspect(knowledge: Knowledge) -> None:
    why, zh, fix = first(trace("x = nn.functional.normalize(x, dim=1)") + OLD, knowledge)
    assert why.startswith("net.py:82 asked for 9.78 GiB in one piece, on a card of 32.00 GiB")
    assert "is 3 times as much" in why
    assert zh.startswith("net.py:82 一次性申请了 9.78 GiB")
    assert "outside of its allocator (other processes, HCCL, the runtime) lies 574" in why
    assert "neither another process" not in why
    assert fix["title"]["en"].startswith("One tensor is too large")


@pytest.mark.parametrize(("function", "begins"), [("train_step", "Less at once where it failed: a smaller batch on each card with gradient"), ("features", "Less at once where it failed: a smaller batch or input")])
def test_a_small_one_on_a_full_card_is_of_what_is_computed_at_once(function: str, begins: str, knowledge: Knowledge) -> None:
    step = trace("h = h + torch.exp(s) * h_in", function=function)
    why, _, fix = first(step + FULL.format(tried="1.40 GiB", held="28.00 GiB"), knowledge)
    assert why.startswith("net.py:82 asked for 1.40 GiB while 28.00 GiB of 32.00 GiB were live")
    assert fix["title"]["en"].startswith(begins)


@pytest.mark.parametrize(
    ("line", "file", "held"),
    [
        ("loss.backward()", "/home/li/plugh/net.py", "28.00 GiB"),  # what is large was asked for elsewhere
        ("x = nn.functional.normalize(x, dim=1)", "/opt/py/lib/python3.10/site-packages/plugh/net.py", "28.00 GiB"),
        ("x = nn.functional.normalize(x, dim=1)", "/home/li/plugh/net.py", "8.00 GiB"),  # others hold the card, or gaps
    ],
)
def test_where_the_line_is_not_to_blame(line: str, file: str, held: str, knowledge: Knowledge) -> None:
    why, _, fix = first(trace(line, file) + FULL.format(tried="9.40 GiB", held=held), knowledge)
    assert "net.py:82" not in why
    assert "tensor is too large" not in fix["title"]["en"]


def test_who_recomputes_already_is_not_told_to(knowledge: Knowledge) -> None:
    text = trace("y = checkpoint(body, x, use_reentrant=False)", function="train_step") + FULL.format(tried="1.40 GiB", held="28.00 GiB")
    steps = [step["en"] for fix in report(text, knowledge=knowledge)["findings"][0]["fixes"] for step in fix.get("steps", ()) if "recompute is on already" in step["en"]]
    assert steps


def test_fragments_are_no_advice_where_the_card_is_full(knowledge: Knowledge) -> None:
    text = trace("h = h + h_in", function="train_step") + FULL.format(tried="1.40 GiB", held="28.00 GiB")
    assert not any("ragment" in fix["title"]["en"] for fix in report(text, knowledge=knowledge)["findings"][0]["fixes"])
