"""What the reader shows of his machine decides among the alternatives of an entry; what is quoted, past, or another machine's does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import report
from kb.placeholders import fill

SHORT = "ValueError: Total available GPUs 0 is less than total desired GPUs 8\n"
USAGE = "Resources\n---------------\nTotal Usage:\n 25.0/192.0 CPU (24.0 used of 24.0 reserved in placement groups)\n{npus} 0B/1.31TiB memory\n"
CARDS = "+===+===+\n| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n+===+===+\n| 0       0                 | 402117        | ray::WorkerDict          | 51270                   |\n"
NO_CARD = 'RuntimeError: No accelerator (CUDA, XPU, HPU) is available.\n'
POD = "    spec:\n      containers:\n      - name: a\n        image: registry.local/sglang:cann8.3\n        resources:\n          limits:\n            cpu: \"24\"\n{npus}            memory: 128Gi\n{more}        volumeMounts:\n"
WAITS = "(EngineCore_DP0 pid=280) INFO 12-05 08:16:12 [shm_broadcast.py:542] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging.\n"
UP = "(APIServer pid=1) INFO:     Application startup complete.\n"
START = "(APIServer pid=1) INFO 12-05 08:11:14 [api_server.py:1351] vLLM API server version 0.13.0\nINFO 12-05 08:11:03 [__init__.py:217] Platform plugin ascend is activated\n"


def found(folder: Path, **texts: str) -> list[dict[str, Any]]:
    """The roots in some texts, each in a file of its own; a double underscore stands for the point of its name."""
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)
    return [one for one in report(folder)["findings"] if one["role"] == "root" and one["severity"] != "info"]


def acts(finding: dict[str, Any]) -> str:
    """All that its fixes tell to run, to set or to write."""
    fixes = finding["fixes"]
    return "\n".join(
        (*(c["run"] for f in fixes for c in f.get("commands", ())), *(f"{e['name']}={e['value']}" for f in fixes for e in f.get("env", ())), *(f["code"]["after"] for f in fixes if f.get("code")))
    )


@pytest.mark.parametrize(
    ("note", "title"),
    [
        (USAGE.format(npus=" 8.0/8.0 NPU (8.0 used of 8.0 reserved in placement groups)\n"), "Another job still holds the NPUs"),
        (USAGE.format(npus=" 8.0/8.0 NPU\n"), "Another job still holds the NPUs"),
        (CARDS, "Another job still holds the NPUs"),
        (USAGE.format(npus=""), "Ray was started without its NPUs"),
        (USAGE.format(npus=" 0.0/8.0 NPU\n"), "The program counts Ray's resource GPU"),
        ("", "Ray has not enough NPU resources"),
    ],
)
def test_what_ray_shows_tells_why_none_is_free(tmp_path: Path, note: str, title: str) -> None:
    first = found(tmp_path, run__log="import torch_npu\n" + SHORT, issue__md=f"```\n{note}```\n")[0]
    assert first["title"]["en"].startswith(title)


@pytest.mark.parametrize(
    ("npus", "more", "role"),
    [("", "", "The pod asks for no NPU"), ("            huawei.com/Ascend910: 1\n", "", "SGLang finds no accelerator"), ("", "        securityContext:\n          privileged: true\n", "SGLang finds no accelerator")],
)
def test_the_limits_of_a_pod_tell_why_it_has_no_card(tmp_path: Path, npus: str, more: str, role: str) -> None:
    first = found(tmp_path, pod__log=NO_CARD, issue__md=f"```yaml\n{POD.format(npus=npus, more=more)}```\n")[0]
    assert first["title"]["en"].startswith(role)
    assert ("huawei.com/Ascend910" in acts(first)) == role.startswith("The pod")


@pytest.mark.parametrize(("seen", "title"), [("core  fd  null  ptmx  tty  zero", "The container has no /dev/davinci"), ("core  davinci0  davinci_manager  null  zero", "SGLang finds no accelerator")])
def test_a_list_of_devices_without_a_card_is_the_reason(tmp_path: Path, seen: str, title: str) -> None:
    assert found(tmp_path, run__log=NO_CARD, issue__md=f"```\n$ ls /dev\n{seen}\n```\n")[0]["title"]["en"].startswith(title)


def test_a_wait_that_ended_when_the_service_came_up_is_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path, serve__log=START + WAITS + UP) == []


def test_a_wait_after_that_still_is_one(tmp_path: Path) -> None:
    assert [one["id"] for one in found(tmp_path, serve__log=START + UP + WAITS)] == ["VLM840"]


QUOTED = 'It has 27 layers, and I want four stages. Without noop layers the converter answers "number of layers should be divisible by the pipeline parallel size", so I add one.\n'
ENDED = 'Traceback (most recent call last):\n  File "/opt/plugh/convert.py", line 50, in run\n    self.n = {}\nTypeError: object of type \'int\' has no len()\n'


@pytest.mark.parametrize("note", [QUOTED, QUOTED.replace("Without noop layers the converter answers", "之前转换脚本报").replace('"', "`")])
def test_a_message_of_a_try_before_yields_to_what_ended_the_program(tmp_path: Path, note: str) -> None:
    roots = found(tmp_path, run__log=ENDED.format("len(self.noop)"), issue__md=note)
    assert [one["id"] for one in roots] == ["NOT033"]
    assert [one["role"] for one in report(tmp_path)["findings"] if one["id"] == "TRN009"] == ["context"]


@pytest.mark.parametrize("note", [QUOTED.replace("Without noop layers", "Now"), QUOTED.replace('"', "")])
def test_a_message_that_is_not_told_as_past_stands(tmp_path: Path, note: str) -> None:
    assert "TRN009" in [one["id"] for one in found(tmp_path, run__log=ENDED.format("len(self.noop)"), issue__md=note)]


def test_a_note_alone_is_all_there_is(tmp_path: Path) -> None:
    assert [one["id"] for one in found(tmp_path, issue__md=QUOTED)] == ["TRN009"]


def test_the_option_of_one_number_is_named(tmp_path: Path) -> None:
    first = found(tmp_path, run__log=ENDED.format("len(eval(self.noop_layers))"))[0]
    assert "noop_layers holds one number" in first["title"]["en"]


OLD_GPU = "    Found GPU0 NVIDIA GeForce GTX 1080 Ti which is of cuda capability 6.1.\n"
KERNEL = "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device\n"


def test_a_gpu_that_the_program_names_outranks_an_npu_of_the_note(tmp_path: Path) -> None:
    first = found(tmp_path, error__txt=OLD_GPU + KERNEL, issue__md="The same command runs on our Ascend 910B server. At home it is killed.\n")[0]
    assert first["title"]["en"].startswith("This PyTorch has no kernels for that NVIDIA GPU")
    assert "chip" not in report(tmp_path)["situation"]


def test_on_an_npu_it_stays_the_programs_way(tmp_path: Path) -> None:
    assert found(tmp_path, error__txt=KERNEL, issue__md="It runs on an Ascend 910B server.\n")[0]["title"]["en"].startswith("CUDA or NCCL error, of an NVIDIA GPU machine or")


WRONG = "AssertionError: Current device type: AscendDeviceType.A2 does not match the installed version's device type: AscendDeviceType.A3, please check your installation package.\n"
RUN = "docker run -d --name q --device /dev/davinci0 quay.io/ascend/vllm-ascend:v0.13.0-a3 vllm serve /m/a --port 8077"


def test_the_container_is_started_with_the_image_that_is_pulled(tmp_path: Path) -> None:
    told = acts(found(tmp_path, run__log=f"vllm-ascend 0.13.0\n{WRONG}", issue__md=f"```\n{RUN}\n```\n")[0])
    assert "docker pull quay.io/ascend/vllm-ascend:v0.13.0\n" in told
    assert "docker run -d --name q --device /dev/davinci0 quay.io/ascend/vllm-ascend:v0.13.0 vllm serve /m/a --port 8077" in told
    assert "-e SOC_VERSION" not in told
    assert "ascend910_9391" not in told  # of the other chip


NO_ADDRESS = "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: enp189s0f0\n"
NICS = "node-b:\n```\n$ ip -br a\nlo               UNKNOWN        127.0.0.1/8\nenp67s0f0np0     UP             172.22.10.12/24\n```\nnode-a:\n```\n$ ip -br a\nenp189s0f0       UP             172.22.10.11/24\n```\n"


def test_all_variables_with_the_wrong_interface_get_the_one_of_this_node(tmp_path: Path) -> None:
    sets = "```bash\nexport GLOO_SOCKET_IFNAME=enp189s0f0\nexport HCCL_SOCKET_IFNAME=enp189s0f0\nexport HCCL_IF_BASE_PORT=6000\nvllm serve /m/a --data-parallel-size 4 --data-parallel-address 172.22.10.11\n```\n"
    told = acts(found(tmp_path, run__log=NO_ADDRESS, issue__md=sets + NICS)[0])
    assert {"GLOO_SOCKET_IFNAME=enp67s0f0np0", "HCCL_SOCKET_IFNAME=enp67s0f0np0"} <= set(told.splitlines())


def test_a_list_keeps_what_it_holds_and_unset_says_where_it_is_set(tmp_path: Path) -> None:
    log = "INFO 01-17 10:21:40 [__init__.py:38] - ascend -> vllm_ascend:register\nRuntimeError: Failed to infer device type\n"
    first = found(tmp_path, run__log=log, issue__md="start.sh:\n```bash\nexport VLLM_PLUGINS=lora_filesystem_resolver\n```\n")[0]
    assert "VLLM_PLUGINS=ascend,lora_filesystem_resolver" in acts(first)
    changes = [c["changes"]["en"] for f in first["fixes"] for c in f.get("commands", ()) if c["run"] == "unset VLLM_PLUGINS"]
    assert changes
    assert "issue.md shows VLLM_PLUGINS=lora_filesystem_resolver" in changes[0]


def test_bytes_are_told_in_the_unit_of_the_text() -> None:
    assert fill("from {a} GiB to {b} GiB, {b} bytes", {"a": "30.9", "b": "44507467776"}, {}) == "from 30.9 GiB to 41.5 GiB, 44507467776 bytes"


@pytest.mark.parametrize(("numbers", "wanted"), [("256 != 8 * 4 * 4", '"train_batch_size": 256, "train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 8'), ("100 != 8 * 4 * 3", '"train_batch_size": 96, "train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 4')])
def test_the_batch_is_worked_out(tmp_path: Path, numbers: str, wanted: str) -> None:
    line = f"AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size {numbers}\n"
    assert wanted in acts(found(tmp_path, run__log=line)[0])


def test_the_world_size_is_the_length_of_the_list(tmp_path: Path) -> None:
    log = 'The size of npuDeviceIds (subset) does not equal to worldSize\n        "npuDeviceIds" : [[0,1,2,3,4,5,6,7]],\n  "worldSize" : 4,\n'
    assert '"worldSize" : 8' in acts(found(tmp_path, console__log=log)[0])


BANNER = "    The backend in torch.distributed.init_process_group set to hccl now..\n"
NCCL = "RuntimeError: Distributed package doesn't have NCCL built in\n"


@pytest.mark.parametrize("banner", ["", BANNER])
def test_a_translation_that_is_in_place_is_no_advice_but_its_place_is(tmp_path: Path, banner: str) -> None:
    fixes = [f["title"]["en"] for f in found(tmp_path, run__log="torchrun --nproc_per_node 4 train.py\nimport torch_npu\n" + banner + NCCL)[0]["fixes"]]
    assert any("translate the CUDA script" in title for title in fixes) == (not banner)
    assert any("before every module" in title for title in fixes) == bool(banner) or not banner
