"""Advice against a lack of memory that would change nothing for this reader stands last, or not at all."""

from __future__ import annotations

import pytest

from doctor.api import report
from kb.knowledge import Knowledge

LOADING = """\
(Worker_TP0 pid=9120) ERROR 06-17 16:48:07 [multiproc_executor.py:962] WorkerProc failed to start.
(Worker_TP0 pid=9120) ERROR 06-17 16:48:07 [multiproc_executor.py:962]   File "/vllm-workspace/vllm/vllm/model_executor/model_loader/base_loader.py", line 55, in load_model
(Worker_TP0 pid=9120) ERROR 06-17 16:48:07 [multiproc_executor.py:962] torch.OutOfMemoryError: NPU out of memory. Tried to allocate 674.00 MiB (NPU 0; 61.27 GiB total capacity; 60.02 GiB already allocated; 60.02 GiB current active; 388.41 MiB free; 60.31 GiB reserved in total by PyTorch)
"""
NO_CACHE = "(Worker_TP2 pid=527) INFO 10-30 19:02:33 [worker_v1.py:259] Available memory: 0, total memory: 65452113920\n(EngineCore_DP0 pid=388) ValueError: No available memory for the cache blocks.\n"


def shown(text: str, knowledge: Knowledge) -> list[str]:
    root = report(text, knowledge=knowledge)["findings"][0]
    return [" ".join([root["fixes"][n]["title"]["en"], *(c["run"] for c in root["fixes"][n].get("commands", ()))]) for n in (root["first_fix"], *root["other_fixes"])]


@pytest.mark.parametrize(("words", "offered"), [("Plugh-K2 W4A8, TP=8\n", False), ("Plugh-K2, TP=8\n", True)])
def test_weights_of_half_the_bytes_are_no_gain_for_who_loads_a_quarter(words: str, offered: bool, knowledge: Knowledge) -> None:
    assert any("W8A8" in fix for fix in shown(words + LOADING, knowledge)) is offered


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("", "Make the weights smaller per card"),
        ("qwen-plugh, tp=8\n", "Raise the share and lower the peak"),
        ("two vllm instances on one card\n", "Start the second engine with the sum"),
    ],
)
def test_a_default_and_a_division_that_is_there_are_not_tried_first(words: str, first: str, knowledge: Knowledge) -> None:
    assert shown(words + NO_CACHE, knowledge)[0].startswith(first)
