"""What goes wrong in a simulated job, and what everybody else prints because of it."""

from __future__ import annotations

from collections.abc import Iterable

from tests.simulate.world import World

EXCEPTION = "[TaskExecStage][Timeout][Host]Task run failed, "
LOST = ("Heartbeat Lost Occurred", "LOST", "1. Process has exited, 2. Network Disconnected")
STUCK = ("Stuck Occurred", "STUCK", "1.Host process is stuck, 2.Device task is stuck")


def out_of_memory(w: World, rank: int, at: float) -> None:
    gib = w.random.randrange(2, 20)
    w.plog(rank, at, "ERROR", "NPUCachingAllocator.cpp:1377",
           f"{w.pids[rank]} NPU out of memory. Tried to allocate {gib}.00 GiB (NPU {w.device(rank)}; 60.97 GiB total capacity; 58.50 GiB already allocated; "
           "58.50 GiB current active; 318.20 MiB free; 59.77 GiB reserved in total by PyTorch)", "APP")  # fmt: skip
    w.stdout(rank, at, f"RuntimeError: NPU out of memory. Tried to allocate {gib}.00 GiB (NPU {w.device(rank)}; 60.97 GiB total capacity; 58.50 GiB already allocated; 58.50 GiB current active; 318.20 MiB free; 59.77 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.")


def ai_core(w: World, rank: int, at: float) -> None:
    pid, device = w.pids[rank], w.device(rank)
    say = lambda n, source, text: w.plog(rank, at + n / 1000, "ERROR", source, f"{pid} {text}", "RUNTIME")  # noqa: E731
    say(0, "device_error_core_proc.cc:1195", f"ProcessStarsCoreErrorInfo:[INIT][DEFAULT]The error from device(chipId:{device}, dieId:0), serial number is 4, there is an aivec error exception, core id is 11, error code = 0x800000, dump info: pc start: 0x1240c0018000, current: 0x1240c0018a54, vec error info: 0x0, mte error info: 0x3000041.")
    say(1, "device_error_core_proc.cc:1201", "ProcessStarsCoreErrorInfo:[INIT][DEFAULT]The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fixp_error0 info: 0x41, fixp_error1 info: 0, fsmId:1, tslot:3")
    say(2, "davinci_kernel_task.cc:946", f"PrintErrorInfoForDavinciTask:[INIT][DEFAULT]Aicore kernel execute failed, device_id={device}, stream_id=7, report_stream_id=7, task_id=912, flip_num=0, fault kernel_name=GatherV2_7c0d1e_high_performance_1, fault kernel info ext=none, program id=18, hash=1123581321.")


def ecc(w: World, rank: int, at: float) -> None:
    w.plog(rank, at, "ERROR", "error_message_manage.cc:50", f"{w.pids[rank]} FuncErrorReason:[INIT][DEFAULT]rtStreamSynchronize execute failed, reason=[hbm Multi-bit ECC error]", "RUNTIME")
    w.stdout(rank, at, "RuntimeError: HBM MULTI BIT ECC ERROR.EE9999: Inner Error!")


def killed(w: World, rank: int, at: float, evidence: str) -> None:
    """SIGKILL: not a word from the process; the kernel or the launcher may tell."""
    w.dead[rank] = at
    node = f"{w.folder(rank).split('/')[0]}" if w.layout != "rank" else f"job/rank_{rank}"
    if evidence == "kernel":
        stamp = w.stamp(rank, at, "%a %b %d %H:%M:%S %Y")
        w.files.setdefault(f"{node}/dmesg.txt", []).append((at, f"[{stamp}] Out of memory: Killed process {w.pids[rank]} (python3.10) total-vm:812345678kB, anon-rss:498765432kB, file-rss:0kB, shmem-rss:1024kB, UID:0 pgtables:99kB oom_score_adj:0"))
    if evidence == "launcher":
        stamp = w.stamp(rank, at, "%m%d %H:%M:%S.000000")
        w.files.setdefault(f"{node}/launcher.log", []).append((at, f"E{stamp} 281472 torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: -9) local_rank: {w.device(rank)} (pid: {w.pids[rank]}) of binary: /opt/env/bin/python"))


def node_ends(w: World, root: int, at: float, status: str) -> frozenset[int]:
    """The launcher of a node ends all ranks beside one that failed: they stop without a word of their own."""
    beside = [r for r in range(w.ranks) if w.node(r) == w.node(root) and r != root]
    if len(beside) + 1 >= w.ranks:
        return frozenset()  # somebody must be left to wait
    top = f"{w.folder(root).split('/')[0]}" if w.layout != "rank" else f"job/rank_{root}"
    rows = w.files.setdefault(f"{top}/launcher.log", [])
    stamp = w.stamp(root, at, "%m%d %H:%M:%S.000000")
    for rank in beside:
        rows.append((at, f"W{stamp} 281472 torch/distributed/elastic/multiprocessing/api.py:851] Sending process {w.pids[rank]} closing signal SIGTERM"))
        w.dead[rank] = at
    if status:
        rows.append((at + 0.1, f"E{stamp} 281472 torch/distributed/elastic/multiprocessing/api.py:826] failed ({status}) local_rank: {w.device(root)} (pid: {w.pids[root]}) of binary: /opt/env/bin/python"))
    return frozenset(beside)


def gave_up(w: World, rank: int, at: float, comm: str, size: int, seat: int, on: int | None, issued: float, op: str = "AllReduce", nth: int = 21, elements: int = 4096) -> None:
    """A notify wait timeout as the task exception handler tells it."""
    tag = f"{op}_{comm}"
    w.hccl(rank, at, "task_exception_handler.cc:915", f"{EXCEPTION}base information is streamID:[5], taskID[21], tag[{tag}], AlgType(level 0-1-2):[fullmesh-ring-NHR].", "ERROR")
    if on is not None:
        w.hccl(rank, at + 0.0001, "task_exception_handler.cc:920", f"{EXCEPTION}para information is notify id:[0x0000000000000213], stage:[0], remote rank:[{on}], tag[{tag}].", "ERROR")
    w.hccl(rank, at + 0.0002, "task_exception_handler.cc:771", f"{EXCEPTION}groupRank information is group:[{comm}], user define information[], rankSize[{size}], rankId[{seat}].", "ERROR")
    w.hccl(rank, at + 0.0003, "task_exception_handler.cc:704", f"{EXCEPTION}opData information is timeStamp:[{w.stamp(rank, issued)}], deviceId[{w.device(rank)}], index[{nth}], count[{elements}], reduceType[sum], src[0x12c0c0013000], dst[0x12c0c0014000], dataType[float32].", "ERROR")
    w.stdout(rank, at + 0.01, f"EI0002: [PID: {w.pids[rank]}] {w.stamp(rank, at)} The wait execution of the Notify register times out.")
    if w.chatter:  # what PyTorch makes of it, at every victim
        w.stdout(rank, at + 0.02, f"[ERROR] {w.stamp(rank, at, '%Y-%m-%d-%H:%M:%S')} (PID:{w.pids[rank]}, Device:{w.device(rank)}, RankID:{rank}) ERR00100 PTA call acl api failed")
        w.stdout(rank, at + 0.03, "RuntimeError: npuSynchronizeDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:479 NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507048")
        w.stdout(rank, at + 0.04, f"[Rank {rank}] Watchdog caught collective operation timeout: WorkHCCL(SeqNum={nth}, OpType=ALLREDUCE, Timeout(ms)=1836000) ran for 1836185 milliseconds before timing out.")


def heartbeat(w: World, reporters: Iterable[int], rank: int, at: float, told: float, status: tuple[str, str, str]) -> None:
    by = next(r for r in (rank + 1, rank - 1) if 0 <= r < w.ranks)
    for reporter in reporters:
        w.hccl(reporter, at, "heartbeat.cc:951", f"[TaskExecStage][HeartbeatAbnormal]local rank [{w.place(reporter)}]: crimer rank [{w.place(rank)}] status[{status[1]}] by informer rank [{w.place(by)}]")
        arrival = w.stamp(reporter, at, "%a %b %d %H:%M:%S %Y")
        w.hccl(reporter, told, "task_exception_handler.cc:622", f"[TaskExecStage][HeartbeatAbnormal]Cluster Exception Location[IP/ID]:[{w.place(rank)}], Arrival Time:[{arrival}], Discoverer:[{w.place(by)}], ExceptionType:[{status[0]}], Possible Reason:{status[2]}", "ERROR")


def victims(w: World, root: int, at: float, status: tuple[str, str, str] | None, skip: frozenset[int] = frozenset()) -> None:
    """All others run into their timeouts: the root's tensor group waits for it, other groups for members of that group."""
    group = w.tp_group(root)
    for rank in range(w.ranks):
        if rank == root or rank in skip:
            continue
        issued = at + w.random.uniform(0.01, 0.5)
        when = issued + w.exec_timeout + w.random.uniform(0, 2)
        if w.tp > 1 and rank in group:
            members, comm, on = group, w.tp_comm(rank), root
        else:
            members, comm = (w.dp_group(rank), w.dp_comm(rank)) if w.tp > 1 else (list(range(w.ranks)), w.world)
            on = next(r for r in members if r in group)
            if w.tp == 1:
                on = root
        seat, target = members.index(rank), members.index(on)
        if w.ring and len(members) > 2 and (seat - 1) % len(members) != target:
            target = (seat - 1) % len(members)  # in a ring everybody waits for the one before
        gave_up(w, rank, when, comm, len(members), seat, target, issued)
    if status is not None:
        near = [r for r in range(w.ranks) if r != root and r not in skip]
        heartbeat(w, w.random.sample(near, min(len(near), 1 + len(near) // 3)), root, at + 32, at + w.exec_timeout + 2.5, status)


def not_arrived(w: World, missing: list[int], entered: dict[int, float]) -> None:
    """The root rank misses some others, and tells all who came."""
    server = 0 if 0 in entered else None
    came = sorted(entered)
    at = min(entered.values()) + w.connect_timeout + 0.5
    if server is None:
        for rank in came:
            w.hccl(rank, entered[rank] + w.connect_timeout, "topoinfo_exchange_agent.cc:190", f"[InitGroupStage][RanktableDetect]topo exchange agent get socket timeout! timeout[{w.connect_timeout}]", "ERROR")
            w.hccl(rank, entered[rank] + w.connect_timeout, "topoinfo_exchange_agent.cc:41", f"[TopoInfoExchangeAgent][Setup]TopoExchangeAgent: connect server[{w.server(0)} : 60000] failed", "ERROR")
        return
    w.hccl(0, at, "topoinfo_exchange_server.cc:314", f"[InitGroupStage][RanktableDetect]topo exchange server get socket timeout! timeout[{w.connect_timeout} s]", "ERROR")
    w.hccl(0, at, "topoinfo_exchange_server.cc:501", f"[InitGroupStage][DisplayConnectionedRank]total connected num is [{len(came)}],line num is [{len(came) // 8 + 1}]", "ERROR")
    w.hccl(0, at, "topoinfo_exchange_server.cc:503", f"[InitGroupStage][DisplayConnectionedRank]need connect rankNum is [{w.ranks}]", "ERROR")
    listed = "".join(f"{r}," for r in missing)
    for rank in came:
        w.hccl(rank, at + 0.1, "topoinfo_exchange_base.cc:145", f'[InitGroupStage][RanktableDetect] TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[{listed}]"]', "ERROR")


def no_link(w: World, rank: int, peer: int, at: float) -> None:
    w.hccl(rank, at, "hccl_socket_manager.cc:803", f"[Wait][LinkEstablish]wait socket establish timeout, role[{int(rank > peer)}] rank[{rank}] timeout[{w.connect_timeout} s]", "ERROR")
    role = "client" if rank > peer else "server"
    w.hccl(rank, at, "hccl_socket_manager.cc:623", "   _________________________LINK_ERROR_INFO___________________________", "ERROR")
    w.hccl(rank, at, "hccl_socket_manager.cc:583", f"   |  {w.device_ip(peer)}({peer})   |  16666  |   {w.device_ip(rank)}({rank})   |  3234403008  |  {role}  | time out |   DISABLE  | LinkInfo", "ERROR")
    w.hccl(rank, at + 0.1, "transport_manager.cc:1325", f"[InitChannelStage][Timeout]Transport init error! createLink para:rank[{rank}]-localUserrank[{rank}]-localIpAddr[{w.place(rank)}], remoteRank[{peer}]-remoteUserrank[{peer}]-remoteIpAddr[{w.place(peer)}], machineType[1], linkMode[1], isUsedRdma[1], tag[AllReduce_{w.world}]", "ERROR")


def strange_address(w: World, rank: int, at: float) -> None:
    w.plog(rank, at, "ERROR", "ra_peer.c:210", f"tid:{w.pids[rank]},ra_peer_init(210) : the IP address({w.device_ip(rank)}) in the ranktable is inconsistent with the IP address(192.168.250.1) of the network adapter.", "HCCP")


def error_cqe(w: World, rank: int, peer: int, at: float) -> None:
    told = w.stamp(rank, at, "%Y-%m-%d %H:%M:%S.000000")
    w.hccl(rank, at, "heartbeat.cc:1229", f"[TaskExecStage][HeartbeatAbnormal][ROCE CQE ERROR]cqe error status[12], time:[{told}],localInfo{{server[{w.server(rank)}],deviceId[{w.device(rank)}],deviceIp[{w.device_ip(rank)}]}}, remoteIP{{server[{w.server(peer)}],deviceId[{w.device(peer)}],deviceIp[{w.device_ip(peer)}]}}", "ERROR")


def aicpu(w: World, rank: int, at: float, task: str, remote: int) -> None:
    """What the scheduler on the device tells of a task that failed, in the device's log of the process."""
    say = lambda text, source: w.device_log(rank, at, f"[ERROR] HCCL({9000 + rank % 500},aicpu_scheduler):{w.stamp(rank, at)} [{source}] [5792]{text}")  # noqa: E731
    say("Task {devId: 1 streamId: 149 sqId: 153 cqId: 259 type: 2} run failed of exception, idx:[0], info:[streamId :149 taskId :26063 errorCode :10 errorType :1]", "aicpu_hccl_sqcq.cc:330")
    say(f"[TaskException]base information is streamId:149, sqid:153, head:1487, tail:127, type:{task}, localRank:{rank}, remoteRank:{remote}, taskId:26063, notifyId:0, addr1High:0x12eb, addr1Low:0x50000000.", "aicpu_communicator.cc:3083")
    say(f"[TaskException]opData information is tag:AllReduce_{w.world}AllReduceRing_device, group:{w.world}, opIndex:390, count:1048576, dataType:11, opType:2, rootId:4294967295, dstAddr:0x12d6c2c04000, srcAddr:0x12d6c2c04000.", "aicpu_communicator.cc:3806")


def call(w: World, rank: int, at: float, op: str, count: int, dtype: str) -> None:
    w.hccl(rank, at, "op_base.cc:2210", f"Entry-Hccl{op}: tag[{op}_{w.world}], sendBuf[0x12c0c0013000], recvBuf[0x12c0c0014000], count[{count}], dataType[{dtype}], op[sum], localRank[{rank}], streamId[2], deviceLogicId[{w.device(rank)}]")


def plain_notify(w: World, rank: int, at: float, on: int) -> None:
    """A notify wait timeout that names the peer and the communicator only."""
    w.hccl(rank, at, "task_exception_handler.cc:454", f"[TaskExceptionHandler][Callback]Task run failed, para information is notify id:[0x0000000000000050], stage:[ffffffff], remote rank:[{on}].", "ERROR")
    w.hccl(rank, at, "task_exception_handler.cc:458", f"[TaskExceptionHandler][Callback]Task run failed, groupRank information is group:[{w.world}], user define information[], rankSize[{w.ranks}], rankId[{rank}].", "ERROR")
    w.stdout(rank, at + 0.01, f"EI0002: [PID: {w.pids[rank]}] {w.stamp(rank, at)} The wait execution of the Notify register times out.")
