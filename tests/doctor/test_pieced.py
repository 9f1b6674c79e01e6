"""What somebody put together about one failure, each piece in a file of its own, is read as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor import diagnose
from doctor.findings import evaluate
from kb.knowledge import Knowledge

EVENT = "[EVENT] KERNEL(1790,event_server):2026-04-20-16:24:16.988.102 [fault_manager] event_id: [0x80E01809], device id: [2], severity: [major], assertion: [occur]\n"
RECORD = "[2454.830694] {6}[Hardware Error]:  Error 0, type: recoverable\n[2454.830701] {6}[Hardware Error]:   error_type: 3, multi-bit ECC\n"
CRASH = "[ERROR] 2026-04-20-16:24:18 (PID:118820, Device:2, RankID:2) ERR00100 PTA call acl api failed\nRuntimeError: ACL stream synchronize failed, error code:507015\n"


def _roots(folder: Path, knowledge: Knowledge, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return [related.finding.entry.code for related in diagnose(folder, knowledge=knowledge).roots]


def test_an_event_in_one_file_and_the_record_of_it_in_another(tmp_path: Path, knowledge: Knowledge) -> None:
    """Neither alone tells of broken memory; together they do, and explain the crash, though the record has no date."""
    assert _roots(tmp_path, knowledge, console=CRASH, device_os=EVENT, kbox=RECORD)[0] == "DRV954"


@pytest.mark.parametrize("left_out", ["device_os", "kbox"])
def test_one_piece_alone_is_not_enough(tmp_path: Path, knowledge: Knowledge, left_out: str) -> None:
    """An event of the patrol hits no job, and a record that names no memory is none of it."""
    pieces = {"console": CRASH, "device_os": EVENT, "kbox": RECORD}
    del pieces[left_out]
    assert "DRV954" not in _roots(tmp_path, knowledge, **pieces)


def test_the_logs_of_many_are_not_put_together(tmp_path: Path, knowledge: Knowledge) -> None:
    """In a tree of a job each file speaks for itself."""
    others = {f"other{n}": f"worker {n} started\n" for n in range(evaluate.FEW_FILES)}
    assert "DRV954" not in _roots(tmp_path, knowledge, console=CRASH, device_os=EVENT, kbox=RECORD, **others)


def test_two_ranks_are_not_put_together(tmp_path: Path, knowledge: Knowledge) -> None:
    """What one rank says does not complete what another says."""
    ranks = {f"rank{n}": "".join(f"[rank{n}]: {line}\n" for line in text.splitlines()) for n, text in enumerate((EVENT, RECORD))}
    assert "DRV954" not in _roots(tmp_path, knowledge, **ranks)


UNDATED = (
    "[   21.529310] [ascend] [ERROR] [drv_pcie] [devdrv_admin_msg_chan_init 611] <insmod:1311,1311> dev id 0, The address dont comply with"
    " the NVME protocol(must be aligned with 4KB). \n"
)


def test_the_kernels_own_record_counts_where_nothing_has_a_date(tmp_path: Path, knowledge: Knowledge) -> None:
    """What somebody typed has no time either, and names no cause: the kernel's line beside it does."""
    assert _roots(tmp_path, knowledge, console="$ npu-smi info\ndcmi module initialize failed. ret is -8005\n", dmesg=UNDATED) == ["DRV844"]


def test_a_record_without_a_date_is_none_of_a_run_that_has_one(tmp_path: Path, knowledge: Knowledge) -> None:
    """The run tells of itself when it was; the record may be of last year."""
    assert "DRV844" not in _roots(tmp_path, knowledge, console=CRASH, dmesg=UNDATED)


CQE = "[ERROR] HCCP(2040,python):2025-09-15-08:38:12.776.650 [ra_hdc_lite.c:794]tid:1,poll : [create][ra_hdc_period_poll]failed CQE status[12], wr[0]\n"
PORT = "[root@n2 ~]# hccn_tool -i 5 -optical -g\noptical info:\npresent              : present\nRx Power0            : 0.0801 mW\nRxPower Low Thres    : 0.1445 mW\n"


def test_what_adds_to_a_fault_may_stand_in_another_file(tmp_path: Path, knowledge: Knowledge) -> None:
    """A table of the network beside the log names the port; whose error it is stays as the log says."""
    (tmp_path / "plog.txt").write_text(CQE)
    (tmp_path / "net.txt").write_text(PORT)
    (found,) = (related.finding for related in diagnose(tmp_path, knowledge=knowledge).roots)
    assert found.entry.code == "HCL082"
    assert found.instances[0].captures.items() >= {"npu": "5", "host": "n2", "power": "0.0801", "low": "0.1445"}.items()
    assert found.instances[0].scope.pid == 2040


def test_what_another_process_says_is_not_told_of_this_one(tmp_path: Path, knowledge: Knowledge) -> None:
    """The addresses in a message belong to the process that printed it."""
    (tmp_path / "a.txt").write_text(CQE)
    (tmp_path / "b.txt").write_text("[PID: 77] 2025-09-15-08:38:20.000.001 Local information: server 10.1.1.9, device ID 3, device IP 10.2.3.9. Peer information: server 10.1.1.5, device ID 3, device IP 10.2.3.5.\n")
    (found,) = (related.finding for related in diagnose(tmp_path, knowledge=knowledge).roots)
    assert "peer_ip" not in found.instances[0].captures


def test_the_traceback_of_the_same_rank_names_the_call(tmp_path: Path, knowledge: Knowledge) -> None:
    """The plog has the counts, the console the line of the program: of this rank, and of no other."""
    said = "The arguments for collective communication are inconsistent between ranks:tag[A], parameter[count], local[1], remote [2]"
    for rank in (5, 6):
        (tmp_path / f"plog-90{rank}_20251025161049411.log").write_text(
            f"[ERROR] HCCL(90{rank},python):2025-10-25-16:11:16.831.640 [rank_consistentcy_checker.cc:429] [90{rank}][ReportCmdInfoCheckFailed]CMD information count check fail. local[1], remote[2]\n"
        )
    frames = ('  File "/w/pool.py", line 12, in step', "    dist.all_reduce(x)", '  File "/o/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py", line 2501, in all_reduce', "    work = group.allreduce([tensor], opts)")
    lines = ("Traceback (most recent call last):", *frames, "RuntimeError: InnerRunOpApi:x.ts:281 OPS function error: HcclAllreduce, error code is 1", f"EI0005: [PID: 905] 2025-10-25-16:11:16.833.599 {said}")
    (tmp_path / "console.log").write_text("".join(f"[rank5]: {line}\n" for line in lines))
    (found,) = (related.finding for related in diagnose(tmp_path, knowledge=knowledge).roots)
    assert {(one.scope.pid, one.captures.get("own")) for one in found.instances} == {(905, "/w/pool.py:12"), (906, None)}
