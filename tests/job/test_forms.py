"""What versions of the software print about who waits for whom: small jobs in the wordings of each, with the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover

GROUP = "10.7.0.1%eth0_60000_0_1760000000000001"


class Logs:
    """The files of a small job, one process a name."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}

    def say(self, path: str, pid: int, time: str, text: str, level: str = "ERROR", module: str = "HCCL") -> None:
        self.files.setdefault(path, []).append(
            f"[{level}] {module}({pid},python3):2025-05-05-{time}.000.000 [a.cc:1] {text}"
        )

    def agent(self, path: str, pid: int, rank: int, size: int, server: str, device: int) -> None:
        self.say(
            path,
            pid,
            "08:00:00",
            f"[{pid}][HCCL_TRACE]SetupAgent rankNum[{size}], rank[{rank}], rootInfo identifier[{GROUP}], server[{server}%eth0], serverPort[60000]deviceType[2], logicDevId[{device}], phydevId[{device}], deviceIp[10.80.0.{rank + 1}]",
            "INFO",
        )

    def diagnose(self, bench: Bench) -> Diagnosis:
        parts = [
            bench._scanner.scan(discover.given_text("\n".join(rows) + "\n", name)) for name, rows in self.files.items()
        ]
        return conclude(parts, bench.knowledge)


def root(made: Diagnosis) -> tuple[str, str, int]:
    assert made.job is not None
    first = made.job.roots[0]
    return first.verdict, first.label, first.waiters


def plog(node: int, pid: int, kind: str = "debug") -> str:
    return f"worker-{node}/process_log/{kind}/plog/plog-{pid}_20250505080000000.log"


def test_the_name_of_a_log_tells_the_process(bench: Bench) -> None:
    """Lines of another pid in a process's plog are its own: here the errors of every process carry the same strange pid."""
    logs = Logs()
    for rank in range(3):
        logs.agent(plog(rank, 500 + rank, "run"), 500 + rank, rank, 3, f"10.7.0.{rank + 1}", rank)
        logs.say(
            plog(rank, 500 + rank),
            77,
            "08:10:00",
            "[9][Recv][RaSocket]errNo[0x000000000500000d] recv fail, data[0xfff], size[2239]",
        )
    for rank in (1, 2):
        logs.say(plog(rank, 500 + rank), 77, "08:10:00", f"[9][Create][DestLink]Transport init error! createLink para:rank[443]-localUserrank[443]-localIpAddr[], dst_rank[0]-remoteUserrank[0]-remoteIpAddr[10.7.0.{rank}/{rank - 1}], machineType[1], serverId[], linkMode[1], tag[AllGather_group_name_0]")  # fmt: skip
    made = logs.diagnose(bench)
    assert made.job is not None
    assert len(made.job.processes) == 3
    assert root(made) == ("silent", "rank 0", 2)  # no event tells how the clocks of the three nodes compare


def test_peers_on_virtual_nics_and_by_device(bench: Bench) -> None:
    """Inside a server links go over addresses that are the same on every server, and P2P names the device only."""
    logs = Logs()
    for rank in range(4):
        node, device = divmod(rank, 2)
        path = plog(node, 600 + rank, "run")
        logs.agent(path, 600 + rank, rank, 4, f"10.7.0.{node + 1}", device)
        logs.say(
            path,
            600 + rank,
            "08:00:01",
            f"[1][Start][Vnic]Listen on ip[192.168.2.{10 + device}], port[16666] sucess, devPhyId[{device}], devLogicId[{device}], isAutoPort[0]",
            "INFO",
        )
    row = "[1]   |  {dest}({to})   |  16666  |   {src}({me})   |  0  |  client  | time out |"
    logs.say(plog(0, 600), 600, "08:05:00", row.format(dest="10.80.0.3", to=2, src="10.80.0.1", me=0))
    logs.say(plog(0, 601), 601, "08:05:00", row.format(dest="192.168.2.10", to=0, src="192.168.2.11", me=1))
    logs.say(
        plog(1, 602),
        602,
        "08:05:00",
        "[1][Wait][P2PConnected]connected p2p timeout, timeout:130 s. local logicDevid:0, remote physic id:1.",
    )
    made = logs.diagnose(bench)
    assert made.job is not None
    assert {(made.job.label(w.by), made.job.label(w.on.process)) for w in made.job.waits if w.on and w.on.process is not None} == {
        ("rank 0", "rank 2"), ("rank 1", "rank 0"), ("rank 2", "rank 3"),
    }  # fmt: skip
    assert root(made)[1:] == ("rank 3", 3)


@pytest.mark.parametrize(("tag", "index"), [("AllReduce", 2), ("AllGather", 3)])
def test_an_index_or_tag_that_differs(tag: str, index: int, bench: Bench) -> None:
    """Older releases tell the collective in the base information only; here all wait in a circle, and one in another collective."""
    logs = Logs()
    for rank in range(4):
        path = plog(0, 700 + rank)
        logs.agent(path, 700 + rank, rank, 4, "10.7.0.1", rank)
        odd = rank == 1
        logs.say(
            path,
            700 + rank,
            "08:40:00",
            f"[1][TaskExceptionHandler][Callback]Task run failed, base information is streamID:[3], taskID[7], taskType[Notify Wait], tag[{tag if odd else 'AllReduce'}_{GROUP}], index[{index if odd else 3}], AlgType(level 0-1-2):[null-null-ring].",
        )
        logs.say(
            path,
            700 + rank,
            "08:40:00",
            f"[1][TaskExceptionHandler][Callback]Task run failed, para information is notify id:[0x50], stage:[ffffffff], remote rank:[{(rank + 1) % 4}].",
        )
    assert root(logs.diagnose(bench)) == ("mismatch", "rank 1", 3)


def test_a_wait_for_the_own_device_ends_the_chain(bench: Bench) -> None:
    """`remote rank:[local]`: a rank whose own task did not come."""
    logs = Logs()
    for rank, on in enumerate(("1", "2", "local")):
        path = plog(0, 800 + rank)
        logs.agent(path, 800 + rank, rank, 3, "10.7.0.1", rank)
        logs.say(
            path,
            800 + rank,
            "08:40:00",
            f"[1]Task run failed, base information is streamID:[3], taskID[7], tag[AllReduce_{GROUP}].",
        )
        logs.say(
            path,
            800 + rank,
            "08:40:00",
            f"[1]Task run failed, para information is notify id:[0x50], stage:[ffffffff], remote rank:[{on}].",
        )
    assert root(logs.diagnose(bench))[1:] == ("rank 2", 2)


def test_who_is_missing_follows_from_who_came(bench: Bench) -> None:
    """Older root ranks only list who connected; a list of which not every line was kept says nothing."""

    def told(total: int) -> Diagnosis:
        logs = Logs()
        for rank in (0, 2, 3):
            path = plog(0, 900 + rank)
            logs.agent(path, 900 + rank, rank, 4, "10.7.0.1", rank)
            if rank == 0:
                logs.say(
                    path, 900, "08:02:00", "[1][Get][Connection]topo exchange server get socket timeout! timeout[120 s]"
                )
                logs.say(
                    path,
                    900,
                    "08:02:00",
                    f"[1][DisplayConnectionedRank]total connected num is [{total}],line num is [1]",
                )
                logs.say(
                    path,
                    900,
                    "08:02:00",
                    "[1][DisplayConnectionedRank]connected rankinfo[LINE 0]: [0000000000000000],[0000000000000002],[0000000000000003];",
                )
            logs.say(
                path, 900 + rank, "08:02:03", "[1][Recv][ClusterInfoMsg]receive msg length from fdhandle failed, ret[9]"
            )
        return logs.diagnose(bench)

    assert root(told(3)) == ("absent", "rank 1", 3)
    job = told(40).job
    assert job is not None
    assert "absent" not in {r.verdict for r in job.roots}


def test_one_that_does_not_wait_for_the_root(bench: Bench) -> None:
    """Three ask the root rank, whose logs are missing; a fourth came and went quiet: it is told first, then the root."""
    logs = Logs()
    for rank in (4, 5, 6, 7):
        path = plog(1, 900 + rank)
        logs.agent(path, 900 + rank, rank, 8, "10.7.0.2", rank)
        if rank != 7:
            logs.say(
                path, 900 + rank, "08:02:03", "[1][Recv][ClusterInfoMsg]receive msg length from fdhandle failed, ret[9]"
            )
    made = logs.diagnose(bench)
    assert made.job is not None
    assert [(r.verdict, r.label) for r in made.job.roots] == [("stopped", "rank 7"), ("no-root", "rank 0")]


def test_a_mutual_link_outweighs_a_stray_address(bench: Bench) -> None:
    """Two cannot reach each other; a third names rank 3 of a job of three, which is nobody."""
    logs = Logs()
    row = "[1]   |  {dest}({to})   |   {src}({me})   |  client  | no connect |"
    for rank, dest, to in ((0, "10.80.0.2", 1), (1, "10.80.0.1", 0), (2, "3.0.0.0", 3)):
        logs.agent(plog(rank, 40 + rank), 40 + rank, rank, 3, f"10.7.0.{rank + 1}", 0)
        logs.say(
            plog(rank, 40 + rank),
            40 + rank,
            "08:03:00",
            row.format(dest=dest, to=to, src=f"10.80.0.{rank + 1}", me=rank),
        )
    made = logs.diagnose(bench)
    assert made.job is not None
    assert [(r.verdict, r.label, r.peers) for r in made.job.roots] == [
        ("link", "rank 0", ("rank 1",)),
        ("no-logs", "3.0.0.0", ()),
    ]


def test_an_address_without_logs_is_told_with_its_rank(bench: Bench) -> None:
    """The address is that of an NPU: the rank says whose logs are to be fetched."""
    logs = Logs()
    for pid in (41, 42):
        logs.say(plog(pid, pid), pid, "08:03:00", "[1]   |  10.80.0.9(27)  |   10.80.0.1(0)  |  client  | time out |")
    made = logs.diagnose(bench)
    assert made.job is not None
    assert [(r.verdict, r.label) for r in made.job.roots] == [("no-logs", "10.80.0.9 (rank 27 of the communicator)")]


def test_the_one_that_gave_up_much_later(bench: Bench) -> None:
    """Nobody names a peer; one began to wait when the others had already given up."""
    logs = Logs()
    for rank in range(5):
        path = plog(0, 50 + rank)
        logs.agent(path, 50 + rank, rank, 5, "10.7.0.1", rank)
        logs.say(
            path, 50 + rank, "08:00:00", "[1]environmental variable HCCL_CONNECT_TIMEOUT is set, timeOut[600]", "EVENT"
        )
        minute = 31 if rank == 3 else 20
        logs.say(
            path,
            50 + rank,
            f"08:{minute}:09",
            "[1]the connection failure between this device and the target device may be due to the following reasons:",
        )
    assert root(logs.diagnose(bench)) == ("late", "rank 3", 4)


def test_an_error_cqe_accuses_nobody(bench: Bench) -> None:
    """The other end has no logs: the entry of the error stays the answer, with the rank and device of the one that saw it."""
    logs = Logs()
    for rank in (12, 13):
        path = f"job/rank_{rank}/debug/plog/plog-{60 + rank}_20250505080000000.log"
        pid = 60 + rank
        logs.say(
            path,
            pid,
            "08:00:00",
            f"[hcom.cc:194][hccl-{pid}-0-1688-hccl_world_group][{rank}]hcom init by file success,take time [248118]us, rankTablePath[/home/user/hccl.json], rankNum[64], rank[{rank}],server[10.7.0.2], device[{rank - 8}]",
            "TRACE",
        )
        logs.say(
            path,
            pid,
            "08:30:00",
            f"[{pid}][28][Heartbeat]cqe err status[12], time:[2025-05-05 08:29:59.099518], ip:[10.80.7.{rank}]",
        )
    made = logs.diagnose(bench)
    assert made.roots[0].finding.entry.code == "HCL082"
    assert made.roots[0].finding.instances[0].scope.device in (4, 5)
    assert made.job is not None
    assert made.job.world_size == 64
    assert made.job.roots == ()


@pytest.mark.parametrize("layout", ["server_list", "group_list"])
def test_a_rank_table_tells_ranks(layout: str, tmp_path: Path, bench: Bench) -> None:
    """Without run logs: ranks come from the table by device address, and so does the name of the one without logs."""
    logs = Logs()
    for rank in (0, 1, 2):
        path = f"node-{rank}/plog/plog-{70 + rank}_20250505080000000.log"
        logs.say(
            path,
            70 + rank,
            "08:03:00",
            f"[1]localInfo{{server[10.7.0.{rank + 1}],deviceId[0],deviceIp[10.80.0.{rank + 1}]}}",
            "INFO",
        )
        logs.say(
            path,
            70 + rank,
            "08:03:00",
            f"[1][Create][DestLink]Transport init error! createLink para:rank[{rank}]-localUserrank[{rank}]-localIpAddr[10.7.0.{rank + 1}/0], dst_rank[9]-remoteUserrank[9]-remoteIpAddr[10.7.0.4/0], machineType[1], linkMode[1], tag[x]",
        )
    rows = [(f"10.7.0.{r + 1}", "0", f"10.80.0.{r + 1}", str(r)) for r in range(4)]
    if layout == "server_list":
        table: object = {
            "version": "1.0",
            "server_list": [
                {"server_id": s, "device": [{"device_id": d, "device_ip": a, "rank_id": r}]} for s, d, a, r in rows
            ],
        }
    else:
        table = {
            "group_list": [
                {
                    "instance_list": [
                        {"rank_id": r, "server_id": s, "devices": [{"device_id": d, "device_ip": a}]}
                        for s, d, a, r in rows
                    ]
                }
            ]
        }
    logs.files["conf/hccl.json"] = [json.dumps(table, indent=1)]
    made = logs.diagnose(bench)
    assert made.job is not None
    assert [p.rank for p in made.job.processes] == [0, 1, 2]
    assert made.job.missing == (3,)
    assert root(made) == ("no-logs", "rank 3", 3)


def test_tables_that_contradict_each_other_tell_nothing(bench: Bench) -> None:
    """One table for each server, all counting from 0: no rank of the job."""
    logs = Logs()
    for node in (1, 2):
        device = [{"device_id": "0", "device_ip": f"10.80.0.{node}", "rank_id": "0"}]
        logs.files[f"n{node}/hccl.json"] = [
            json.dumps({"server_list": [{"server_id": f"10.7.0.{node}", "device": device}]})
        ]
    from doctor.job.table import NO_TABLE, tables
    from doctor.scan.harvest import merge

    parts = [bench._scanner.scan(discover.given_text("\n".join(rows), name)) for name, rows in logs.files.items()]
    facts = merge(parts).facts
    assert len(facts) == 2
    assert tables(facts) == NO_TABLE
    assert tables(facts[:1]).ranks == {("10.7.0.1", 0): 0}


def test_ranks_of_an_unknown_communicator_are_told_apart(bench: Bench) -> None:
    """Screen output names peers by their number in a communicator that no line describes: still who they are."""
    rows = []
    for rank, pid in ((11, 15618), (12, 15619), (15, 15622)):
        head = f"(Worker_TP{rank} pid={pid}) ERROR 10-11 11:32:59 [model_runner_v1.py:3556] "
        rows.append(f"{head}EI0006: [PID: {pid}] 2026-10-11-11:32:29.335.888 Getting socket times out.")
        rows += [
            f"{head}Transport init error. Reason: [Create][DestLink]Create Dest error! createLink para:rank[{rank}]"
            f"-localUserrank[{rank}]-localIpAddr[10.44.2.12], dst_rank[{peer}]-remoteUserrank[{peer}]-remote_ip_addr[10.44.2.12]"
            for peer in (8, 10)
        ]
    made = conclude([bench._scanner.scan(discover.given_text("\n".join(rows) + "\n", "serve.log"))], bench.knowledge)
    assert made.job is not None
    root = made.job.roots[0]
    assert (root.verdict, root.label, root.peers) == (
        "no-logs",
        "rank 8 of the communicator",
        ("rank 10 of the communicator",),
    )
