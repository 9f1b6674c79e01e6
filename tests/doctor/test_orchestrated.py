"""Where another program starts the one that failed, a fix says where what it changes belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.answer.orchestrated import told
from doctor.api import report
from doctor.findings.situation import Situation
from kb.model import CodeFix, Command, Fix, Text

LONG = """\
{by}
(APIServer pid=7) INFO 07-02 03:11:02 [utils.py:233] non-default args: {{'model_tag': '/m/plugh', 'max_model_len': 131072}}
ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (11.21 GiB). Based on the available memory, the estimated maximum model length is 91776. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""


def first(text: str) -> dict[str, Any]:
    root = report(text)["findings"][0]
    made: dict[str, Any] = root["fixes"][root["first_fix"]]
    return made


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("$ docker compose -f serve.yaml up", "Compose starts it"),
        ("Jan 13 09:12:44 node-7 systemd[1]: plugh.service: Main process exited, code=exited, status=1/FAILURE", "systemd starts it"),
        ("Name:             plugh-0\nNamespace:        xyzzy\nNode:             npu-1/10.0.0.1", "A pod runs it"),
    ],
)
def test_a_command_says_who_starts_the_program(by: str, said: str) -> None:
    """The options of the advice are right, and the shell is the wrong place for them."""
    fix = first(LONG.format(by=by))
    assert fix["commands"][0]["run"] == "vllm serve /m/plugh --max-model-len 91776"
    assert fix["commands"][0]["why"]["en"].startswith(said)


def test_where_a_person_starts_it_nothing_is_added() -> None:
    """As most logs have it."""
    why = first(LONG.format(by="$ bash serve.sh"))["commands"][0]["why"]["en"]
    assert "starts it" not in why
    assert "A pod runs it" not in why


BUILD = """\
#9 [5/9] RUN pip install -e .
#9 1.2 CMake Error at CMakeLists.txt:22 (message): ASCEND_HOME_PATH is not set
ERROR: failed to solve: process "/bin/sh -c pip install -e ." did not complete successfully: exit code: 1
"""
NO_CHIP = "FileNotFoundError: npu-smi command not found, if this is an npu envir, please check if npu driver is installed correctly.\n"


def test_what_an_image_build_lacks_belongs_into_its_dockerfile() -> None:
    """A shell that is sourced somewhere else, or in a RUN of its own, changes nothing; and a build writes no plog."""
    made = report(BUILD)
    command = made["findings"][0]["fixes"][made["findings"][0]["first_fix"]]["commands"][0]
    assert command["run"].startswith("source ")
    assert command["why"]["en"].startswith("into the Dockerfile")
    assert not report(BUILD.replace("ASCEND_HOME_PATH is not set", "plugh xyzzy"))["missing_evidence"]
    assert first(NO_CHIP.join(BUILD.splitlines(keepends=True)[::2]))["code"]["lang"] == "dockerfile"


def test_the_image_that_a_dockerfile_starts_from_tells_the_chip(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text(BUILD.replace("CMake Error", NO_CHIP + "CMake Error"), "utf-8")
    (tmp_path / "Dockerfile.mine").write_text("FROM quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11\nRUN pip install -e .\n", "utf-8")
    root = next(one for one in report([str(tmp_path)])["findings"] if one["id"] == "INS331")
    env = root["fixes"][root["first_fix"]]["env"][0]
    assert (env["value"], env["caution"]["en"][:19]) == ("ascend910b1", "into the Dockerfile")


@pytest.mark.parametrize("by", ["gpustack.worker.backends.ascend_mindie - INFO - Starting Ascend MindIE: /usr/local/plugh", "plugh"])
def test_a_file_that_the_owner_writes_is_not_changed_by_hand(by: str) -> None:
    """GPUStack makes MindIE's config.json anew at each start."""
    log = (
        f"2025-04-27 15:21:40.218773+08:00 - {by}\n"
        "[ERROR] RUNTIME(7,mindie_llm_backend_connector):2025-04-27-07:23:17.709.105 [npu_driver.cc:1274]7 DevMemAllocManaged:[drv api] halMemAlloc failed:size=32(Byte), drvRetCode=6, device_id=0!\n"
    )
    steps = [step["en"] for fix in report(log)["findings"][0]["fixes"] for step in fix.get("steps", ())]
    assert any("in config.json" in step for step in steps)
    assert any("GPUStack starts it" in step for step in steps) == by.startswith("gpustack")


NO_ROOM = "CANN error: EL0004: 2025-03-11-19:26:50.354.859 Failed to allocate memory.\n  ggml_cann: aclrtMalloc\n"


@pytest.mark.parametrize(
    ("before", "run"),
    [
        ("2026-07-02 gpustack.worker.backends.llama_box - INFO - Starting llama-box server\n", "llama-box -m MODEL.gguf"),
        ("$ llama-server -m plugh.gguf\n", "llama-server -m"),
    ],
)
def test_llama_box_is_not_told_the_command_of_llama_server(before: str, run: str) -> None:
    """It has the same options under another name, and GPUStack gives them to it."""
    made = [c for fix in report(before + NO_ROOM)["findings"][0]["fixes"] for c in fix["commands"] if c["run"].startswith("llama")]
    assert made[0]["run"].startswith(run)
    assert ("GPUStack starts it" in str(made[0]["why"])) == ("gpustack" in before)


def test_no_shell_reaches_what_gpustack_starts() -> None:
    """A variable is taken back among those of the model."""
    log = (
        "2026-07-02 gpustack.worker.backends.llama_box - INFO - Starting llama-box server\n0.1 I environ : GGML_CANN_DISABLE_BUF_POOL_CLEAN=1\n"
        + NO_ROOM
        + "4.4 E   current device: 0, in function alloc at /opt/x/ggml/src/ggml-cann/ggml-cann.cpp:284\n"
    )
    fix = first(log)
    assert fix["commands"][0]["run"] == "unset GGML_CANN_DISABLE_BUF_POOL_CLEAN"
    assert fix["commands"][0]["why"]["en"].startswith("GPUStack starts it")


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("2026-07-02T03:11:00+00:00 INFO gpustack.worker.serve_manager - serving plugh", "lost when GPUStack makes the container anew"),
        ("$ docker compose -f serve.yaml up", "lost when Compose makes the container anew"),
        ("Name:             plugh-0\nNamespace:        xyzzy\nNode:             npu-1/10.0.0.1", "lost when the pod starts again"),
        ("$ bash serve.sh", ""),
    ],
)
def test_what_is_installed_in_a_container_that_is_made_anew_is_lost(by: str, said: str) -> None:
    """pip works there once; after the next start the image is as it was."""
    fix = first(f"{by}\nImportError: frob requires plughkit but it was not found. Please run `pip install plughkit`.\n")
    pip = next(c for c in fix["commands"] if "pip install" in c["run"])
    why = pip["why"]["en"] if pip["why"] else ""
    assert why.startswith(said)
    assert ("lost when" in why) == bool(said)


def under(owner: str) -> Situation:
    return Situation(facts={"seen": (owner,)})


@pytest.mark.parametrize(
    ("owner", "said"),
    [("gpustack", "add this image as a version"), ("compose", "under image: in the Compose file")],
)
def test_an_image_that_is_pulled_is_named_where_its_container_is_made(owner: str, said: str) -> None:
    fix = Fix("resolve", "low", Text("Plugh", "普"), (), (), (Command("docker pull quay.io/plugh/vllm-ascend:v1", Text("downloads", "下载"), None),), None)
    why = told(fix, under(owner)).commands[0].why
    assert why is not None
    assert said in why.en
    assert told(fix, Situation()) == fix


def test_code_for_a_shell_says_who_starts_the_program_as_well() -> None:
    fix = Fix("resolve", "low", Text("Plugh", "普"), (), (), (), CodeFix("bash", "", "vllm serve /m/plugh --xyzzy"))
    assert "GPUStack starts it" in told(fix, under("gpustack")).steps[0].en
    assert told(fix._replace(code=CodeFix("python", "", "vllm = 1")), under("gpustack")).steps == ()
