"""What lowers the memory of a training step is told without the settings that are in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.answer.peak import phrases
from doctor.answer.variables import there
from doctor.api import report
from doctor.findings.situation import Situation, Variable
from kb.model import EnvFix, Fix, Text

FULL = "ValueError: plugh\nRuntimeError: call aclnnPlugh failed, error code is 207001\nEL0004: Failed to allocate memory.\n"
TRAINING = "python3 -m verl.trainer.main_ppo {settings}\n(WorkerDict pid=7) torch_npu " + FULL


def test_what_is_set_is_not_advised_again() -> None:
    made = str(report(TRAINING.format(settings="actor.ppo_micro_batch_size_per_gpu=1 actor.fsdp_config.param_offload=True"))["findings"][0]["fixes"])
    assert "micro batch is 1, offload is on already" in made
    assert "Smaller micro batch" not in made
    assert "gradient checkpointing (recompute)" in made


def test_where_nothing_is_told_all_of_it_is_advised() -> None:
    made = str(report(TRAINING.format(settings="algorithm.adv_estimator=grpo"))["findings"][0]["fixes"])
    assert "Smaller micro batch size or sequence length" in made


@pytest.mark.parametrize(
    ("facts", "names"),
    [({}, set()), ({"option": ("graphs-off",)}, set()), ({"option": ("recompute-on",)}, {"less_peak", "less_memory"}), ({"option": ("recompute-on",), "activity": ("serving",)}, set())],
)
def test_only_settings_of_training_count(facts: dict[str, tuple[str, ...]], names: set[str]) -> None:
    assert set(phrases(Situation(facts=facts))) == names


@pytest.mark.parametrize(("seen", "known"), [((), True), (("ray",), False), (("ray", "ray-local"), True)])
def test_workers_of_a_ray_that_the_job_began_have_its_variables(seen: tuple[str, ...], known: bool) -> None:
    """Those of a cluster that was there before have the variables of their node."""
    env = EnvFix("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True", "process", "", None)
    fix = Fix("resolve", "low", Text("x", "x"), (), (env,), (), None, ())
    at = Situation(facts={"seen": seen}, variables=(Variable(env.name, env.value, "run.sh"),))
    assert there(fix, at) == known


@pytest.mark.parametrize(
    ("stack", "fits"),
    [(("paddle",), False), (("torch",), None), ((), None)],
)
def test_a_bound_on_software_of_another_stack_does_not_hold(stack: tuple[str, ...], fits: bool | None) -> None:
    """DeepSpeed is no matter of a run with Paddle."""
    assert Situation(facts={"stack": stack}).fits((("deepspeed", ("<0.14.4",)),)) is fits


def test_a_conversion_in_a_script_is_the_readers_own(tmp_path: Path) -> None:
    (tmp_path / "convert.sh").write_text('atc --model=model.onnx --framework=5 --output=plugh --input_shape="x:1,3,8,8" --soc_version=Ascend310P3\n', "utf-8")
    (tmp_path / "atc.log").write_text("E19999  Param:src_out_anchor is nullptr[FUNC:AddEdge]\n        Model parse to graph failed.[FUNC:ModelParseToGraph][FILE:onnx_parser.cc][LINE:8]\n", "utf-8")
    made = [c["run"] for fix in report([str(tmp_path)])["findings"][0]["fixes"] for c in fix["commands"]]
    assert any("--output=plugh" in run and "--soc_version=Ascend310P3" in run for run in made)
