"""Source code and settings beside a few logs: what an entry adds to its fault is found there, and nothing is decided by it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from doctor.api import diagnose
from doctor.read.discover import MAX_BESIDE, discover
from doctor.repro import gather
from doctor.scan.harvest import from_json, merge
from doctor.scan.scanner import Scanner

BUILDER = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 226, in <module>
    main()
  File "/opt/conda/lib/python3.10/site-packages/plugh/ops/fused.py", line 121, in __init__
    self.step = plugh_adam_cuda.multi_tensor_adam
AttributeError: 'PlughAdamBuilder' object has no attribute 'multi_tensor_adam'
"""
SETTINGS = '{"optimizer": {"type": "FusedAdam", "params": {"lr": 1e-4}}}\n'
NAN = "rollout_corr/kl:nan\nactor/pg_loss:0.01555\n"
SCRIPT = "DTYPE=float16\n# rollout.dtype=fp16\npython3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.dtype=$DTYPE trainer.nnodes=1\n"


def told(path: Path, name: str) -> tuple[str, ...]:
    """The values of one capture of the first root."""
    return diagnose(path).roots[0].finding.instances[0].every.get(name, ())


def test_a_setting_beside_the_log_is_told_with_the_fault(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(BUILDER)
    assert told(tmp_path, "option") == ()
    (tmp_path / "ds_config.json").write_text(SETTINGS)
    assert told(tmp_path, "option") == ("FusedAdam",)


def test_a_script_tells_what_its_variables_stand_for_and_nothing_that_was_not_done(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(NAN)
    (tmp_path / "run.sh").write_text(SCRIPT)
    assert told(tmp_path, "half") == ("float16",)


def test_it_decides_nothing(tmp_path: Path) -> None:
    """A program that could print an error has not printed it."""
    (tmp_path / "train.log").write_text("step 1 loss 0.3\n")
    (tmp_path / "stop.py").write_text(f"import sys\n\nMESSAGE = '''\n{NAN}'''\nsys.exit(MESSAGE)\n")
    assert diagnose(tmp_path).roots == ()


def test_a_checkout_beside_the_log_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(BUILDER)
    for number in range(MAX_BESIDE + 1):
        (tmp_path / f"part{number}.json").write_text(SETTINGS)
    assert told(tmp_path, "option") == ()


def test_an_archive_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(BUILDER)
    (tmp_path / "ds_config.json").write_text(SETTINGS)
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        for name in ("train.log", "ds_config.json"):
            archive.add(tmp_path / name, f"job/{name}")
            (tmp_path / name).unlink()
    assert told(tmp_path, "option") == ("FusedAdam",)


def test_harvests_carry_it(tmp_path: Path, scanner: Scanner) -> None:
    (tmp_path / "train.log").write_text(BUILDER)
    (tmp_path / "ds_config.json").write_text(SETTINGS)
    whole = merge(map(scanner.scan, discover([str(tmp_path)]).sources))
    assert [hit.entry for hit in whole.aside if dict(hit.captures).get("option") == "FusedAdam"]
    assert from_json(json.loads(json.dumps(whole.json()))).aside == whole.aside


@pytest.mark.parametrize("name", ["ds_config.json", "run.sh"])
def test_alone_it_is_nothing_to_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SETTINGS if name.endswith("json") else SCRIPT)
    assert len(discover([str(tmp_path)]).sources) == 0


def test_an_error_and_the_script_that_it_came_of_are_one_failure(tmp_path: Path) -> None:
    """NCCL was asked for: that the host has NPUs, only the script tells."""
    (tmp_path / "train.log").write_text("RuntimeError: Distributed package doesn't have NCCL built in\n")
    alone = {r.finding.entry.code for r in diagnose(tmp_path).roots}
    (tmp_path / "run.sh").write_text("source /usr/local/Ascend/ascend-toolkit/set_env.sh\ntorchrun --nproc_per_node 8 train.py\n")
    both = {r.finding.entry.code for r in diagnose(tmp_path).roots}
    assert ("DST012" in alone, "DST012" in both) == (False, True)


def test_words_that_stand_in_code_complete_nothing_that_was_only_mentioned(tmp_path: Path) -> None:
    """A list of files names attention, and a file of the library checks a block size: nothing has failed."""
    (tmp_path / "RECORD").write_text("plugh/modeling_flash_attention_utils.py,sha256=x,17050\n")
    (tmp_path / "plugh.py").write_text("import torch\n\n\ndef quant(x, block_size=128):\n    assert x.shape[-1] % block_size == 0, f'block size should be a divisor of {x.shape}'\n    return x\n")
    assert diagnose(tmp_path).roots == ()


def test_a_report_of_this_tool_quotes_logs_and_is_no_setting(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(BUILDER)
    (tmp_path / "report.json").write_text(json.dumps({"schema_version": 1, "tool": {"name": "npu-doctor"}, "findings": [{"evidence": [SETTINGS, '"type": "FusedAdam"']}]}))
    assert told(tmp_path, "option") == ()
    (tmp_path / "run.sh").write_text("npu-doctor run -- python train.py\n# an aside\nOPTIMIZER='{\"type\": \"FusedAdam\"}'\necho \"$OPTIMIZER\" > used.json\n")
    assert told(tmp_path, "option") == ("FusedAdam",)


WRITTEN = '"2026-05-01 10:00:{at:02d} iteration {at}/ 100 | elapsed time per iteration (ms): {ms}.0 | lm loss: 1.0"'


def test_nothing_but_a_diagnosis_reads_it(tmp_path: Path) -> None:
    """Lines that stand in code are no steps of a rank, a file of settings is no dump of a process, and what code could call was not called."""
    steps = [WRITTEN.format(at=at, ms=1000).strip('"') for at in range(1, 13)]
    (tmp_path / "train.log").write_text("\n".join(steps) + "\n")
    rows = ",\n    ".join(WRITTEN.format(at=at, ms=9000) for at in range(1, 13))
    (tmp_path / "expected.py").write_text(f"import os\n\n\nROWS = (\n    {rows},\n)\n\n\ndef main():\n    print(ROWS)\n")
    (tmp_path / "ds.json").write_text(SETTINGS)
    pace = run(tmp_path, "pace")
    assert "expected.py" not in pace.stdout
    assert "1.00 s a step" in pace.stdout
    found = run(tmp_path, "diff", str(tmp_path), "-f", "json")
    assert "a dump of a process" not in found.stdout
    assert found.stdout.count("ds.json") >= 1


def test_no_operator_is_read_from_code_or_settings(tmp_path: Path) -> None:
    assert [path for path, _ in gathered(tmp_path, "train.log", "ds.json", "net.py")] == ["train.log"]


def run(path: Path, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "doctor", command, str(path), *more], capture_output=True, text=True, check=False)


def gathered(path: Path, *names: str) -> list[tuple[str, object]]:
    """What `repro --from` reads of these files."""
    texts = {"train.log": "step 1\n", "ds.json": SETTINGS, "net.py": "import torch\n\n\ndef f(x):\n    return torch.matmul(x, x)\n"}
    for name in names:
        (path / name).write_text(texts[name])
    return [(Path(found).name, lines) for found, lines in gather._files(str(path))]
