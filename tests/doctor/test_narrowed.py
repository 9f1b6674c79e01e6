"""Who may see which NPU: lists that are narrowed for each process, numbers that are used after a list has renumbered the cards, and counts that only look like those of a node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import report
from doctor.answer.own_command import own
from doctor.findings.devices import started_with
from doctor.findings.started import read

REFUSED = "EE1001: [PID: 9231] 2026-04-18-15:43:35.112.204 The argument is invalid.Reason: Set visible device failed, invalid device={asked}, input visible devices:{shown}\n"
CALL = "RuntimeError: SetDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:191 NPU function error: aclrtSetDevice(device), error code is 107001\n"
RAY = '(RayWorkerWrapper pid=31)   File "/opt/py/site-packages/vllm/executor/ray_utils.py", line 90, in execute_method\n'
NARROWED = CALL + REFUSED


def first(folder: Path, log: str, **files: str) -> dict[str, Any]:
    (folder / "run.log").write_text(log)
    for name, text in files.items():
        (folder / f"{name}.sh").write_text(text)
    found: dict[str, Any] = report(folder)["findings"][0]
    return found


def told(found: dict[str, Any]) -> str:
    return str(found["title"]["en"]) + " ".join(c["run"] for fix in found["fixes"] for c in fix["commands"])


@pytest.mark.parametrize(
    ("text", "processes"),
    [
        ("vllm serve /m/a --tensor-parallel-size 8", 8),
        ("vllm serve /m/a --tensor-parallel-size 8 --distributed-executor-backend ray", None),
        ("vllm serve /m/a -dp 4 -tp 2 --data-parallel-backend=ray", None),
        ("vllm serve /m/a -dp 4 -tp 2 --data-parallel-address 10.0.0.2 --data-parallel-rpc-port 13389", None),
        ("vllm serve /m/a -dp 2 -tp 4 --data-parallel-rank 1", None),
        ("python3 -m vllm.entrypoints.openai.api_server --model /m/a -tp 16 --worker-use-ray", None),
        ('LLM("/m/a", tensor_parallel_size=16, distributed_executor_backend="ray")', None),
        ("mpirun -n 16 -H n1:8,n2:8 python train.py", None),
        ("mpirun -np 16 --hostfile hosts python train.py", None),
        ("mpirun -n 8 python train.py", 8),
        ("msrun --worker_num=16 --master_addr=10.0.0.2 train.py", None),
        ("accelerate launch --num_machines 2 --num_processes 16 train.py", 8),
        ("accelerate launch --num_processes 8 train.py", 8),
    ],
)
def test_a_number_that_counts_over_several_nodes_is_none_of_this_one(text: str, processes: int | None) -> None:
    made = read(text)
    assert made is not None
    assert made.processes == processes


def test_workers_of_ray_over_two_nodes_are_not_counted_against_one_worker_s_npu(tmp_path: Path) -> None:
    """Eight ranks of which four are elsewhere, and a list that Ray wrote for one of them."""
    start = "ray start --head --num-gpus=4\nray start --address=10.0.0.2:6379 --num-gpus=4\nvllm serve /m/a --tensor-parallel-size 8 --distributed-executor-backend ray\n"
    found = first(tmp_path, RAY + NARROWED.format(asked=1, shown=1), start=start)
    assert found["id"] == "CTR945"
    assert found["title"]["en"] == "Ray shows each worker one NPU (1); the worker opens device 1, and has only 0"
    assert found["fixes"][found["first_fix"]]["commands"][0]["run"] == "export RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES=1 ASCEND_RT_VISIBLE_DEVICES=0,1,2,3"


def test_a_service_that_runs_under_ray_is_not_counted_although_its_command_names_none() -> None:
    """Older releases of vLLM take Ray by themselves where a node has too few NPUs."""
    made = read("vllm serve /m/a -tp 8")
    assert made is not None
    assert started_with([made], ["0,1,2,3"])["cards"] == ("too-few",)
    assert "cards" not in started_with([made], ["0,1,2,3"], apart=True)


@pytest.mark.parametrize("wording", ["invalid device, set device=3, valid device range is [0, 1)", "invalid device id=3, valid device range is [0, 1)"])
def test_newer_wordings_of_cann_say_the_same_of_ray(wording: str, tmp_path: Path) -> None:
    found = first(tmp_path, f"{RAY}{CALL}EE1001: The argument is invalid.Reason: Set device failed, {wording}\n", start="vllm serve /m/a -tp 16 --distributed-executor-backend ray\n")
    assert "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES=1" in told(found)
    assert "unset RAY_" not in told(found)


def test_npus_of_one_engine_are_not_counted_against_all_ranks(tmp_path: Path) -> None:
    """Each engine of data parallelism is shown NPUs of its own."""
    found = first(tmp_path, "$ vllm serve /m/a -dp 4 -tp 2\n" + NARROWED.format(asked=3, shown="2,3"))
    assert found["title"]["en"] == "Device 3 is chosen twice: by ASCEND_RT_VISIBLE_DEVICES=2,3, then by its number"


def test_a_list_of_one_s_own_is_counted(tmp_path: Path) -> None:
    """Card 1 alone, two ranks: nothing is chosen twice, there are too few."""
    found = first(tmp_path, "$ export ASCEND_RT_VISIBLE_DEVICES=1\n$ vllm serve /m/a -tp 2\n" + NARROWED.format(asked=1, shown=1))
    assert found["title"]["en"] == "More processes (2) than visible NPUs (1): ASCEND_RT_VISIBLE_DEVICES=1"
    assert found["fixes"][found["first_fix"]]["env"][0]["value"] == "1,2"


def test_mindie_chooses_a_second_time(tmp_path: Path) -> None:
    """Its npuDeviceIds count within the list; another number in the list would fail again."""
    log = "[2025-11-10 16:26:20.114+08:00] [1] [1] [server] [INFO] [mindie_server.cpp:61] : [Start mindie server] [begin]\n"
    found = first(tmp_path, log + NARROWED.format(asked=6, shown=6))
    assert "npuDeviceIds" in found["title"]["en"]
    assert found["fixes"][found["first_fix"]]["code"]["after"] == '"npuDeviceIds" : [[0]]'


def test_a_list_with_a_gap_renumbers(tmp_path: Path) -> None:
    visible = ["0,1,2,5"], ["0,1,2"], ["4"]
    assert [started_with([], v)["numbering"] for v in visible] == [("shifted",), ("from-0",), ("shifted",)]
    trace = 'Traceback (most recent call last):\n  File "/opt/py/site-packages/vllm_ascend/platform.py", line 78, in get_device_name\n    return torch.npu.get_device_name(physical_device_id)\n  File "/opt/py/site-packages/torch_npu/npu/utils.py", line 84, in get_device_properties\n    raise AssertionError("Invalid device id" + pta_error(ErrCode.VALUE))\nAssertionError: Invalid device id\n'
    found = first(tmp_path, "$ export ASCEND_RT_VISIBLE_DEVICES=0,1,2,5\n$ python run.py\n" + trace)
    assert found["title"]["en"] == "Number of a card used as index: ASCEND_RT_VISIBLE_DEVICES=0,1,2,5 is no 0,1,2..."
    assert found["fixes"][found["first_fix"]]["env"][0]["value"] == "0,1,2,3"
    assert any("0.8.5rc1" in fix["title"]["en"] for fix in found["fixes"])


@pytest.mark.parametrize(
    ("theirs", "advised", "changed"),
    [
        # A cache of the model's type follows it; one of a type of its own stays.
        ("vllm serve /m/a --mamba-ssm-cache-dtype float16 --kv-cache-dtype int8 --dtype float16", "--dtype bfloat16", "vllm serve /m/a --mamba-ssm-cache-dtype bfloat16 --kv-cache-dtype int8 --dtype bfloat16"),
        # How many ranks of Ray are here nobody knows; one card is not enough.
        ("vllm serve /m/a -tp 8 --distributed-executor-backend ray", "--tensor-parallel-size 1 --max-model-len 4096", "vllm serve /m/a -tp 8 --distributed-executor-backend ray --max-model-len 4096"),
    ],
)
def test_the_reader_s_command_stays_one_that_fits_together(theirs: str, advised: str, changed: str) -> None:
    started = read(theirs)
    assert started is not None
    made = own(f"vllm serve MODEL {advised}", [started])
    assert made is not None
    assert made.run == changed


def test_sleep_mode_is_named_with_the_command_that_rebuilds(tmp_path: Path) -> None:
    found = first(tmp_path, '  File "/w/vllm-ascend/vllm_ascend/device_allocator/camem.py", line 140, in __init__\n    assert camem_available, "camem allocator is not available"\nAssertionError: camem allocator is not available\n')
    assert found["title"]["en"].startswith("Sleep mode needs custom kernels")
    assert "COMPILE_CUSTOM_KERNELS=1 pip install" in found["fixes"][found["first_fix"]]["commands"][0]["run"]
    assert any("enable_sleep_mode=False" in fix.get("code", {}).get("after", "") for fix in found["fixes"])


def test_llama_cpp_is_built_for_the_cpu_of_a_board_that_its_kernels_do_not_know(tmp_path: Path) -> None:
    log = "$ cmake -B build -DGGML_CANN=on\n-- CANN: SOC_VERSION auto-detected is:Ascend310B1\n  SOC_VERSION ascend310b1 does not support, the support list is\nCall Stack (most recent call first):\n  ggml/src/ggml-cann/kernels/CMakeLists.txt:22 (include)\n-- Configuring incomplete, errors occurred!\n"
    found = first(tmp_path, log)
    assert found["fixes"][found["first_fix"]]["commands"][0]["run"].startswith("cmake -B build-cpu -DGGML_CANN=off")
