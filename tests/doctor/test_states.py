"""Where weights, gradients and optimizer states alone fill the cards, the sum is told, and the stage of ZeRO that leaves room."""

from __future__ import annotations

import pytest

from doctor.api import report

FULL = (
    "{settings}\n"
    "[INFO|2026-11-02 09:12:11] llamafactory.hparams.parser:143 >> Process rank: 2, world size: {world}, device: npu:2, distributed training: True\n"
    '[rank0]:   File "/opt/py310/lib/python3.10/site-packages/transformers/trainer.py", line 3698, in training_step\n'
    "[rank0]:     self.accelerator.backward(loss, **kwargs)\n"
    "[rank0]: RuntimeError: NPU out of memory. Tried to allocate 1.39 GiB (NPU 0; 60.97 GiB total capacity; 58.12 GiB already allocated; 58.12 GiB current active; "
    "802.00 MiB free; 59.33 GiB reserved in total by PyTorch)\n"
)
SETTINGS = "model_name_or_path: /models/Plugh-{size}B\nfinetuning_type: {how}\ndeepspeed: examples/deepspeed/ds_{stage}_config.json"


def told(size: int, how: str, stage: str, world: int = 8) -> dict[str, object]:
    first = report(FULL.format(settings=SETTINGS.format(size=size, how=how, stage=stage), world=world))["findings"][0]
    made: dict[str, object] = first["fixes"][first["first_fix"]] | {"cause": first["cause"]["en"]}
    return made


@pytest.mark.parametrize(
    ("size", "stage", "sum_told", "file"),
    [
        (14, "z2", "need 49 GiB on each card of 61 GiB (14B x 16 bytes, ZeRO-2, 8 cards): ZeRO-3 leaves 26 GiB", "ds_z3_config.json"),
        (32, "z2", "ZeRO-3 with offload leaves 15 GiB, and takes 384 GB of host memory", "ds_z3_offload_config.json"),
        (32, "z3", "ZeRO-3, 8 cards): ZeRO-3 with offload leaves 15 GiB", "ds_z3_offload_config.json"),
    ],
)
def test_the_stage_that_leaves_room_is_told_first(size: int, stage: str, sum_told: str, file: str) -> None:
    shown = told(size, "full", stage)
    assert sum_told in str(shown["title"])
    assert f"deepspeed: examples/deepspeed/{file}" in str(shown["code"])


def test_what_no_stage_makes_room_for_needs_more_cards() -> None:
    assert "more cards, or LoRA" in str(told(405, "full", "z3")["title"])


@pytest.mark.parametrize(
    ("size", "how", "stage", "world"),
    [(7, "full", "z2", 8), (14, "lora", "z2", 8), (14, "full", "z2_offload", 8), (14, "freeze", "z2", 8)],
)
def test_where_there_is_room_or_something_is_not_told_there_is_no_sum(size: int, how: str, stage: str, world: int) -> None:
    assert "Adam states need" not in str(told(size, how, stage, world))


def test_of_lora_nobody_says_that_its_states_are_large() -> None:
    shown = told(14, "lora", "z2")
    assert "Only LoRA" in str(shown["cause"])
    assert "Lower the peak" in str(shown["title"])
