"""What `npu-doctor repro ENTRY` writes for every entry of the knowledge: its own template, or a plain refusal."""

from __future__ import annotations

import argparse
from statistics import median

import pytest

from doctor.base.errors import UsageError
from doctor.judge.diagnosis import Diagnosis
from doctor.repro import repro_command
from kb.knowledge import Knowledge

OWN = {
    "RTS022": "x.sum().backward()  # on the CPU", "OPR034": "for size in", "OPR044": ".backward()", "RTS501": "torch.stack(", "RTS021": "two devices in one thread",
    "MEM001": "in one piece can be had", "HCL090": "dist.all_reduce", "PRC001": "are not finite on the device", "OPR011": "torch.matmul(",
    "OPR024": "torch.arange(0, 10, 1, device=device)", "PTA980": "torch.nn.functional.embedding(", "OPR019": "torch_npu.npu_fused_infer_attention_score(", "OPR027": "torch.nn.Sequential(",
}  # fmt: skip


def written(code: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The script; empty when the command refuses."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="en")
    repro_command.add_arguments(parser)

    def diagnose(_: object) -> Diagnosis:
        raise AssertionError("there are no logs")

    try:
        repro_command.run(parser.parse_args([code, "--no-try", *more]), diagnose, knowledge)
    except UsageError:
        return ""
    return capsys.readouterr().out


@pytest.mark.parametrize(("code", "part"), OWN.items())
def test_an_entry_has_its_own_template(code: str, part: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str]) -> None:
    assert part in written(code, knowledge, capsys)


def test_nothing_is_shown_because_nothing_is_known(knowledge: Knowledge, capsys: pytest.CaptureFixture[str]) -> None:
    """torch.max is the example of a template; no entry is about it, and none gets it. The scripts are short."""
    scripts = {brief.code: made for brief in knowledge.catalog() if (made := written(brief.code, knowledge, capsys))}
    assert [code for code, made in scripts.items() if "torch.max(" in made] == []
    assert len(scripts) > 120
    assert "OPR004" not in scripts  # which operator refuses a type stands in the log
    assert "the program asked for" not in scripts["MEM001"]
    assert median(made.count("\n") for made in scripts.values()) <= 40


def test_the_template_of_an_entry_takes_the_operator_of_the_log(knowledge: Knowledge, capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    log = tmp_path / "train.log"
    log.write_text("RuntimeError: call aclnnMatmul failed, detail:EZ1001: The k-axis of the two inputs are different [5,4096], [8,4096]\n")
    made = written("OPR004", knowledge, capsys, "--from", str(log))
    assert "for dtype in" in made
    assert "torch.matmul(" in made
