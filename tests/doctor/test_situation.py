"""What logs tell of the situation, and how advice follows from it."""

from __future__ import annotations

import pytest

from doctor import diagnose
from doctor.answer.advice import chosen
from doctor.findings.situation import Situation, family
from doctor.scan.harvest import from_json, merge
from doctor.scan.situation import Said, joined
from kb.model import Fix, Text

TRAINING = """\
[WARNING|2025-03-17 11:51:10] llamafactory.extras.misc:168 >> Version checking has been disabled
- PyTorch version: 2.1.0+cpu (NPU)
- NPU type: Ascend910B2C
- CANN version: 8.0.RC2
  File "/opt/py/lib/python3.10/site-packages/transformers/trainer.py", line 3, in training_step
RuntimeError: InnerRun:torch_npu/csrc/framework/OpParamMaker.cpp:208 NPU error, error code is 507018
"""
CUDA = """\
| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
"""


def fix(name: str, **when: tuple[str, ...]) -> Fix:
    return Fix("resolve", "low", Text(name, name), (), (), (), None, tuple(when.items()))


def test_chip_versions_and_activity_are_told() -> None:
    facts = diagnose(TRAINING).situation.facts
    assert facts["chip"] == ("910B2C",)
    assert facts["cann"] == ("8.0.RC2",)
    assert facts["torch"] == ("2.1.0+cpu",)
    assert facts["activity"] == ("training",)
    assert facts["machine"] == ("npu",)
    assert facts["program"] == ("python",)


def test_a_machine_without_an_npu_is_told() -> None:
    assert diagnose(CUDA).situation.facts["machine"] == ("cuda",)


def test_what_a_node_tells_is_told_after_a_merge() -> None:
    harvest = diagnose(TRAINING).harvest
    again = from_json(harvest.json())
    assert merge([again, diagnose(CUDA).harvest]).situation == merge([diagnose(CUDA).harvest, harvest]).situation


def test_joining_counts_and_keeps_the_first_place() -> None:
    a, b = Said("cann", "8.0", "b.log", 2), Said("cann", "8.0", "a.log", 3)
    assert joined([a, b]) == joined([b, a]) == (Said("cann", "8.0", "a.log", 5),)


@pytest.mark.parametrize(
    ("chip", "generation"),
    [("910B4", "A2"), ("910B2C", "A2"), ("910_9362", "A3"), ("910C", "A3"), ("A3", "A3"), ("910A", "A1"), ("910PROB", "A1"), ("910", "A1"), ("310P3", "310P"), ("310B4", "310B"), ("950PR", "950")],
)  # fmt: skip
def test_generations(chip: str, generation: str) -> None:
    assert family(chip) == generation


def test_advice_for_another_situation_is_left_out() -> None:
    at = Situation({"chip": ("910B4",), "activity": ("training",), "framework": ("llamafactory", "torch_npu")})
    fixes = [fix("a", chip=("310P",)), fix("b", chip=("910B",)), fix("c", framework=("vllm",)), fix("d", activity=("training",)), fix("e")]
    assert [f.title.en for f in chosen(fixes, at)] == ["b", "d", "e"]


def test_what_logs_do_not_tell_contradicts_nothing() -> None:
    fixes = [fix("a", chip=("310P",)), fix("b", framework=("vllm",))]
    assert len(chosen(fixes, Situation({"framework": ("torch_npu",)}))) == 2


def test_a_fix_for_another_situation_is_better_than_none() -> None:
    assert len(chosen([fix("a", chip=("310P",))], Situation({"chip": ("910B4",)}))) == 1
