"""What a device, a host or another machine recorded, beside what the console of the victim says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import report
from kb.knowledge import Knowledge

CRASH = """\
EZ9999: [PID: 40882] {day}-16:24:17.266.310 The error from device(chipId:2, dieId:0), serial number is 1, there is an aicore error exception, core id is 11, error code = 0, dump info: pc start: 0x1241400a2000
        The extend info: errcode:(0, 0, 0x8) errorStr: timeout or trap error. fixp_error0 info: 0x60000ba, fsmId:1, tslot:3
        rtDeviceSynchronize execute failed, reason=[aicore exception][FUNC:FuncErrorReason][FILE:error_message_manage.cc][LINE:53]
"""
EVENT = "[EVENT] FAULT_MGR(1705,fault_manager):{day}-16:24:16.992.804 [fault_report.c:311][fault_manager] event_id: [{code}], assertion: [1], severity: [3], devid: [2]\n"
RECORD = "[2454.830696] {6}[Hardware Error]  section_type: memory error\n[2454.830701] {6}[Hardware Error]  error_type: 3, multi-bit ECC\n"


def _roots(where: Path, knowledge: Knowledge, **files: str) -> list[dict[str, Any]]:
    for name, text in files.items():
        path = where / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [f for f in report([str(where)], knowledge=knowledge)["findings"] if f["role"] == "root"]


@pytest.mark.parametrize("record", ["", RECORD])
def test_ecc_event_of_the_device_log_comes_before_the_trap_of_the_console(tmp_path: Path, knowledge: Knowledge, record: str) -> None:
    day = "2024-04-20"
    files = {"console_dot_log": CRASH.format(day=day), "slog__dev-os-2__device-os_dot_log": EVENT.format(day=day, code="0x80E01809")}
    if record:
        files["hisi_logs__device-2__bbox__kbox_dot_txt"] = record
    roots = _roots(tmp_path, knowledge, **files)
    assert [r["id"] for r in roots] == ["DRV954"]
    assert "device 2" in roots[0]["title"]["en"]
    assert ("record" in roots[0]["title"]["en"]) == bool(record)


def test_ecc_event_of_another_day_leaves_the_trap_its_place(tmp_path: Path, knowledge: Knowledge) -> None:
    files = {"console_dot_log": CRASH.format(day="2024-04-20"), "slog__dev-os-2__device-os_dot_log": EVENT.format(day="2024-04-18", code="0x80E01809")}
    assert "DRV954" not in [r["id"] for r in _roots(tmp_path, knowledge, **files)]


@pytest.mark.parametrize("code", ["0x80DF8009", "0x80E1800A", "0x80F18000", "0x80FB8005"])
def test_event_at_which_the_card_is_reset_comes_before_the_trap(tmp_path: Path, knowledge: Knowledge, code: str) -> None:
    day = "2024-04-20"
    roots = _roots(tmp_path, knowledge, console_dot_log=CRASH.format(day=day), device_dot_log=EVENT.format(day=day, code=code))
    assert roots[0]["id"] == "DRV018"


def test_card_in_two_containers_stands_in_the_file_beside(tmp_path: Path, knowledge: Knowledge) -> None:
    """The console says 507008 alone; what docker inspect printed on the host says why."""
    inspected = "".join(f'                    "PathOnHost": "/dev/{one}",\n' for one in ("davinci1", "davinci_manager") * 2)
    roots = _roots(
        tmp_path,
        knowledge,
        console_dot_log="RuntimeError: Initialize: NPU function error: aclInit(json_path_ptr), error code is 507008\n",
        host_dot_txt="# docker inspect llm-a llm-b | grep PathOnHost\n" + inspected,
    )
    assert roots[0]["id"] == "CTR005"
    assert "/dev/davinci1 is given to two containers" in roots[0]["cause"]["en"]


def test_full_shared_memory_is_no_full_disk_and_gpustack_has_its_own_setting(tmp_path: Path, knowledge: Knowledge) -> None:
    roots = _roots(
        tmp_path,
        knowledge,
        model_dot_log=(
            "[2026-03-25 05:44:21,087 I 1 1] gpustack.worker.backends.vllm - Starting vLLM model instance: m\n"
            "[2026-03-25 05:44:29,435 W 39 39] (raylet) store_runner.cc:83: System memory request exceeds memory available in /dev/shm. "
            "The request is for 10200547328 bytes, and the amount available is 9663676416 bytes.\n"
            "[2026-03-25 05:44:29,436 C 39 39] (raylet) dlmalloc.cc:141: Check failed: (allocated_once) "
            "Failed to fallback allocate/initialize plasma store: No space left on device\n"
        ),
    )
    assert [r["id"] for r in roots] == ["HST005"]
    mends = [f for f in roots[0]["fixes"] if f["goal"] == "resolve"]
    assert "GPUSTACK_MODEL_RUNTIME_SHM_SIZE_GIB" in str(mends[0])
    assert "docker run" not in str(mends)


def test_rank_table_of_cards_without_network_ports(tmp_path: Path, knowledge: Knowledge) -> None:
    told = "Failed to call hccn_tool, try to read /etc/hccn.conf instead\n    device_ip = device_ips[device_id]\nKeyError: '0'\n"
    beside = "MindSpore 2.2.0, Ascend {}\n"
    pro = _roots(tmp_path / "pro", knowledge, console_dot_log=told, env_dot_txt=beside.format("300I Pro"))[0]
    assert "no RoCE port" in pro["title"]["en"]
    assert "msrun" not in str(pro["fixes"])
    assert "docker run" not in str(pro["fixes"])
    server = _roots(tmp_path / "server", knowledge, console_dot_log=told, env_dot_txt=beside.format("910A"))[0]
    assert "hccn.conf" in server["title"]["en"]
    assert "msrun" not in str(server["fixes"])


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("[    7.902114] armchina 14260000.aipu: AIPU KMD (v5.11.0) probe start...", "Zhouyi"),
        ("HCCL demo error: In function initDevice(): synDeviceAcquire(&h, nullptr) failed with synapse error: 20", "Gaudi"),
        ("[   11.204411] RKNPU fdab0000.npu: RKNPU: failed to wait job, task counter: 0", "Rockchip"),
        ("rpc error: code = Unknown desc = error creating nvml.Device 5: nvml: GPU is lost, which is unexpected", "NVIDIA GPU"),
    ],
)
def test_accelerators_of_other_vendors_are_named(tmp_path: Path, knowledge: Knowledge, line: str, named: str) -> None:
    roots = _roots(tmp_path, knowledge, console_dot_log=line + "\nrun 2: hangs\n")
    assert roots
    assert named in roots[0]["title"]["en"]


def test_what_npu_smi_answered_is_no_record_without_a_date(tmp_path: Path, knowledge: Knowledge) -> None:
    """Somebody asked after the failure: the code below `Critical` is the reason, and the card is named."""
    roots = _roots(
        tmp_path,
        knowledge,
        console_dot_log="EI0002: [PID: 40880] 2026-04-20-16:34:16.266.310 The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank [5].\n",
        health_dot_txt="\tNPU ID                         : 5\n\tHealth Status                  : Critical\n\tError Code                     : 80E01801\n\tError Information              : HBM multi-bit ECC\n",
    )
    assert roots[0]["id"] == "DRV002"
    assert "-i 5" in str(roots[0]["fixes"])


@pytest.mark.parametrize(
    ("retcode", "title", "fix"),
    [
        ("0x26", "neither trap nor time limit", "npu-smi info -t ecc -i 2"),
        ("0x27", "assertion (trap)", "max_position_embeddings"),
        ("0x25", "time limit", "look at the other ranks first"),
    ],
)
def test_return_code_says_why_a_kernel_with_empty_registers_stopped(tmp_path: Path, knowledge: Knowledge, retcode: str, title: str, fix: str) -> None:
    told = CRASH.format(day="2024-04-20") + f"        Kernel task happen error, retCode={retcode}, [aicore exception].[FUNC:PreCheckTaskErr][FILE:task_info.cc][LINE:1776]\n"
    root = _roots(tmp_path, knowledge, console_dot_log=told)[0]
    assert root["id"] == "RTS005"
    assert title in root["title"]["en"]
    assert fix in str(root["fixes"])
    assert ("Which of the two" in str(root["fixes"])) is False


def test_the_card_of_an_ecc_error_is_told_by_counters_that_were_asked_for(tmp_path: Path) -> None:
    """The process names no card; a loop over the cards prints health before each number, and has no date."""
    plog = tmp_path / "plog"
    plog.mkdir()
    (plog / "plog-4242_20260301000000000.log").write_text("[ERROR] RUNTIME(4242,python3):2026-03-01-03:22:18.350.940 [stream.cc:1207]4301 GetError:stream_id=2, hbm Multi-bit ECC error, retCode=0x7150035\n")
    cards = [f"        Health Status                            : {health}\n        NPU ID                                   : {npu}\n        HBM Double Bit Error Count               : {count}\n" for npu, health, count in ((0, "OK", 0), (5, "Alarm", 3))]
    (tmp_path / "cards.txt").write_text("".join(cards))
    root = report(tmp_path)["findings"][0]
    assert root["id"] == "DRV002"
    assert root["fixes"][0]["commands"][0]["run"] == "npu-smi info -t health -i 5"
