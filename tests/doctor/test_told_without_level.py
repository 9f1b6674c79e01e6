"""A program that prints no levels reports its failures all the same, and says some of them twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import report

AT = "[2026-05-21 16:07:41 TP2] "
ANSWERED = '(SGLangEngine pid=14) [2026-05-21 16:07:41] INFO:     10.50.10.22:41 - "POST /plugh HTTP/1.1" 400 Bad Request\n'


@pytest.mark.parametrize(
    "line",
    [
        f"(SGLangEngine pid=14) {AT}Failed to frob the parameters online: plugh is not what was asked for.",
        f"{AT}Unable to frob the group: no xyzzy is left.",
        "(Plugh pid=77) Failed to frob the adapter: its rank is another",
    ],
)
@pytest.mark.parametrize("before", [0, 20_000])
def test_it_never_passes_for_a_clean_log(line: str, before: int, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(f"{AT}Decode batch. #running-req: 1\n" * before + f"{line}\n{ANSWERED * 5}")
    found = report(tmp_path)
    assert found["verdict"] != "clean"
    assert "frob" in str(found["unexplained"] or found["findings"])


@pytest.mark.parametrize(
    "line",
    [
        f"{AT}Failed to import plugh kernels: No module named 'plugh'",
        f"{AT}Failed to frob the cache: plugh is busy, retrying in 2 s",
        f"{AT}Failed to frob the config: no such key. Falling back to auto",
        f"{AT}Failed to import from custom_ar with ModuleNotFoundError(\"No module named 'plugh'\")",
        "Failed to answer this question: the text does not say it.",  # what a model wrote
    ],
)
def test_what_was_overcome_is_no_failure(line: str, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(f"{line}\n{ANSWERED * 5}")
    assert report(tmp_path)["verdict"] == "clean"


def test_an_exception_that_was_logged_as_an_object_is_no_second_error() -> None:
    head = "ERROR 06-09 12:03:57 [engine.py:164] "
    rows = [
        """AttributeError("'PlughForCausalLM' object has no attribute 'pooler'")""",
        "Traceback (most recent call last):",
        '  File "/usr/lib64/python3.9/site-packages/vllm/worker/pooling_model_runner.py", line 159, in execute_model',
        "    self.model.pooler(hidden_states=h)",
        "AttributeError: 'PlughForCausalLM' object has no attribute 'pooler'",
    ]
    found = report("".join(f"{head}{row}\n" for row in rows))
    assert found["findings"][0]["id"] == "MNG016"
    assert not found["unexplained"]


def test_lines_of_a_command_are_not_joined_with_lines_of_others(tmp_path: Path) -> None:
    """Lines in which something was found are read for what they tell; each stands alone there."""
    (tmp_path / "server.log").write_text(
        "[2026-04-10 13:17:24] Loading weights from remote instance ...\n"
        "Traceback (most recent call last):\n"
        '  File "/sgl-workspace/sglang/python/sglang/srt/plugh.py", line 150, in frob\n'
        "    torch.distributed.init_process_group(\n"
        '  File "/opt/py/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 1934, in _new_process_group_helper\n'
        '    raise RuntimeError("Distributed package doesn\'t have NCCL built in")\n'
        "RuntimeError: Distributed package doesn't have NCCL built in\n"
    )
    (tmp_path / "cmd.txt").write_text(
        "source /usr/local/Ascend/ascend-toolkit/set_env.sh\n"
        "python3 -m sglang.launch_server --model-path /m/plugh --device npu --attention-backend ascend \\\n"
        "  --port 30001 --load-format remote_instance \\\n"
        "  --remote-instance-weight-loader-backend nccl\n"
    )
    (found,) = [f for f in report(tmp_path)["findings"] if f["id"] == "DST955"]
    assert "torch_npu is not usable" not in found["title"]["en"]
    runs = [c["run"] for fix in found["fixes"] for c in fix["commands"]]
    assert "python3 -m sglang.launch_server --model-path /m/plugh --device npu --attention-backend ascend --port 30001 --load-format auto" in runs
