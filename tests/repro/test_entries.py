"""What `npu-doctor repro ENTRY` writes for every entry of the knowledge: its own template, or a plain refusal."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from doctor.api import diagnose
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.judge.diagnosis import Diagnosis
from doctor.repro import repro_command
from kb.knowledge import Knowledge
from kb.model import NO_SCRIPT, Entry

Execute = Callable[..., tuple[int, str]]

OWN = {
    "RTS022": "x.sum().backward()  # on the CPU", "OPR034": "for size in", "OPR044": ".backward()", "RTS501": "torch.stack(", "RTS021": "two devices in one thread",
    "MEM001": "in one piece can be had", "HCL090": "dist.all_reduce", "PRC001": "are not finite on the device", "OPR011": "torch.matmul(",
    "OPR024": "torch.arange(0, 10, 1, device=device)", "PTA980": "torch.nn.functional.embedding(", "OPR019": "torch_npu.npu_fused_infer_attention_score(", "OPR027": "torch.nn.Sequential(",
}  # fmt: skip


def written(code: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The script; empty when the command refuses."""
    try:
        asked(code, knowledge, *more)
    except UsageError:
        return ""
    return capsys.readouterr().out


def refused(code: str, knowledge: Knowledge, *more: str) -> str:
    """Why there is no script."""
    with pytest.raises(UsageError) as caught:
        asked(code, knowledge, *more)
    return str(caught.value)


def asked(code: str, knowledge: Knowledge, *more: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="en")
    repro_command.add_arguments(parser)

    def unwanted(_: object) -> Diagnosis:
        raise AssertionError("there are no logs")

    repro_command.run(parser.parse_args([code, "--no-try", *more]), unwanted, knowledge)


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


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log in which one operator failed."""
    path = tmp_path / "train.log"
    path.write_text("RuntimeError: call aclnnMatmul failed, detail:EZ1001: The k-axis of the two inputs are different [5,4096], [8,4096]\n")
    return path


def test_the_template_of_an_entry_takes_the_operator_of_the_log(knowledge: Knowledge, capsys: pytest.CaptureFixture[str], log: Path) -> None:
    made = written("OPR004", knowledge, capsys, "--from", str(log))
    assert "for dtype in" in made
    assert "torch.matmul(" in made


SHOWN = frozenset((
    "operator-parameter", "operator-unsupported", "operator-compile", "kernel-missing", "device-exception", "aicpu-exception", "device-timeout",
    "precision", "out-of-memory", "comm-buffer", "graph-mode", "graph-capture", "collective-mismatch",
))  # fmt: skip


def test_every_fault_that_a_call_can_show_names_its_template_or_says_why_none(entries: list[Entry]) -> None:
    """Operators, precision, memory, graphs and collectives: nothing is left to a guess by the kind."""
    about = [entry for entry in entries if entry.kind in SHOWN]
    assert len(about) > 200
    assert [entry.code for entry in about if entry.repro is None and not entry.no_repro] == []
    assert all(word(f"repro.{reason}", lang) for reason in NO_SCRIPT for lang in ("en", "zh"))
    assert {entry.no_repro for entry in entries} == {"", *NO_SCRIPT}


@pytest.mark.parametrize(("lang", "part"), [("en", "the model file with the command"), ("zh", "请用模型文件")])
def test_why_there_is_no_script_is_told(lang: str, part: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str], log: Path) -> None:
    """Unless a log names an operator: then that one is written."""
    assert part in refused("CMP009", knowledge, "--lang", lang)
    assert "torch.matmul(" in written("CMP009", knowledge, capsys, "--from", str(log))


@pytest.mark.parametrize("code", ["GRF003", "GRF004", "GRF005", "GRF006", "GRF013"])
def test_scripts_of_graphs_run_on_the_cpu(code: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str], execute: Execute) -> None:
    """What the capture must not hold stands in the script; a CPU captures nothing, and it says so."""
    status, printed = execute(written(code, knowledge, capsys), "cpu")
    assert (status, "no error" in printed) == (0, True), printed
    status, printed = execute(written(code, knowledge, capsys, "--harness"), "--device", "cpu")
    assert (status, "verdict: same" in printed) == (0, True), printed


@pytest.mark.parametrize(("code", "parts"), [("HCL090", ("1024 + last,",)), ("DST025", ("if last:", "    dist.broadcast(", "    dist.all_reduce(")), ("HCL100", ("dtype=torch.float64",))])
def test_scripts_of_collectives_do_what_the_ranks_did(code: str, parts: tuple[str, ...], knowledge: Knowledge, capsys: pytest.CaptureFixture[str]) -> None:
    made = written(code, knowledge, capsys)
    assert all(part in made for part in parts)
    assert f"# {code}: " in made  # the fault that it shows


def test_a_graph_template_takes_the_operator_of_the_log(knowledge: Knowledge, capsys: pytest.CaptureFixture[str], log: Path) -> None:
    made = written("GRF012", knowledge, capsys, "--from", str(log))
    assert "torch.compile(run" in made
    assert "torch.matmul(" in made
    assert "tells no operator" in refused("GRF012", knowledge)


@pytest.mark.parametrize(("incident", "part"), [("hccl-watchdogs-other-collective", "if last:"), ("graph-mask-item-in-capture", "torch.npu.graph(graph)")])
def test_a_script_of_a_log_does_what_its_finding_tells(incident: str, part: str, knowledge: Knowledge, capsys: pytest.CaptureFixture[str]) -> None:
    """Ranks that waited in different collectives, an operator inside a capture: so does the script."""
    log = Path(__file__).parents[1] / "data" / "incidents" / incident / "input.txt"
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="en")
    repro_command.add_arguments(parser)
    repro_command.run(parser.parse_args(["--no-try", "--from", str(log)]), lambda paths: diagnose(paths, knowledge=knowledge), knowledge)
    assert part in capsys.readouterr().out


def test_a_log_that_tells_too_little_gives_no_script(knowledge: Knowledge, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One that stops at its first line helps nobody; the long one can be filled in."""
    log = tmp_path / "train.log"
    log.write_text("[ERROR] fault kernel_name=my_decode_layer_incore, fault kernel info ext=none\n")
    assert "tells too little for a script" in refused("RTS002", knowledge, "--from", str(log))
    assert "INCOMPLETE" in written("RTS002", knowledge, capsys, "--from", str(log), "--harness")
