"""The healthy part of a simulated job: nodes, clocks, communicators, files, and what ranks print while all is well."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

START = datetime(2026, 4, 2, 9, 0, 0)
PER_NODE = 8


class World:
    """A job of `ranks` processes, eight to a node; every node's clock is off by up to `skew` seconds."""

    def __init__(self, seed: int, ranks: int, skew: float = 30.0) -> None:
        self.random = random.Random(seed)
        r = self.random
        self.ranks = ranks
        self.nodes = (ranks + PER_NODE - 1) // PER_NODE
        self.ahead = [r.uniform(-skew, skew) for _ in range(self.nodes)]
        self.layout = r.choice(("node", "worker", "rank", "flat"))
        base = r.randrange(200, 60000)
        same_pids = r.random() < 0.5  # containers: every node has the same pids
        self.pids = [base + x % PER_NODE if same_pids else base + 3 * x for x in range(ranks)]
        self.exec_timeout = r.choice((600, 1836))
        self.connect_timeout = 120
        self.tp = r.choice([t for t in (1, 2, 4, 8) if ranks % t == 0 and t < ranks])
        self.subnet = f"10.{r.randrange(1, 200)}"
        self.ring = r.random() < 0.5
        self.screen = r.random() < 0.6
        self.chatter = r.random() < 0.4
        self.files: dict[str, list[tuple[float, str]]] = {}
        self.world = self._comm(0, 1)
        self.dead: dict[int, float] = {}  # rank -> true time after which it prints nothing

    # names

    def node(self, rank: int) -> int:
        return rank // PER_NODE

    def device(self, rank: int) -> int:
        return rank % PER_NODE

    def server(self, rank: int) -> str:
        node = self.node(rank)
        return f"{self.subnet}.{node // 250}.{node % 250 + 1}"

    def place(self, rank: int) -> str:
        return f"{self.server(rank)}/{self.device(rank)}"

    def device_ip(self, rank: int) -> str:
        return f"192.{rank // 62500 + 1}.{rank // 250 % 250}.{rank % 250 + 1}"

    def _comm(self, root: int, number: int) -> str:
        return f"{self.server(root)}%eth0_{60000 + self.device(root)}_0_17751000{number:08}"

    def tp_group(self, rank: int) -> list[int]:
        first = rank - rank % self.tp
        return list(range(first, first + self.tp))

    def dp_group(self, rank: int) -> list[int]:
        return list(range(rank % self.tp, self.ranks, self.tp))

    def tp_comm(self, rank: int) -> str:
        return self._comm(self.tp_group(rank)[0], 100 + rank // self.tp)

    def dp_comm(self, rank: int) -> str:
        return self._comm(rank % self.tp, 50000 + rank % self.tp)

    # writing

    def stamp(self, rank: int, at: float, form: str = "plog") -> str:
        moment = START + timedelta(seconds=at + self.ahead[self.node(rank)])
        if form == "plog":
            return moment.strftime("%Y-%m-%d-%H:%M:%S.") + f"{moment.microsecond // 1000:03}.{moment.microsecond % 1000:03}"
        return moment.strftime(form)

    def folder(self, rank: int) -> str:
        if self.layout == "rank":
            return f"job/rank_{rank}"
        names = {"node": "node-{}/ascend/log", "worker": "worker-{}/process_log", "flat": "h{}x"}
        return names[self.layout].format(self.node(rank))

    def path(self, rank: int, kind: str) -> str:
        began = (START + timedelta(seconds=self.ahead[self.node(rank)])).strftime("%Y%m%d%H%M%S")
        middle = "" if self.layout == "flat" else f"{kind}/plog/"
        serial = f"{rank % 1000:03}" if kind == "run" else f"{(rank + 7) % 1000:03}"
        return f"{self.folder(rank)}/{middle}plog-{self.pids[rank]}_{began}{serial}.log"

    def plog(self, rank: int, at: float, level: str, source: str, text: str, module: str = "HCCL") -> None:
        if rank in self.dead and at > self.dead[rank]:
            return
        kind = "debug" if level == "ERROR" else "run"
        pid = self.pids[rank]
        line = f"[{level}] {module}({pid},python3.10):{self.stamp(rank, at)} [{source}] {text}"
        self.files.setdefault(self.path(rank, kind), []).append((at, line))

    def device_log(self, rank: int, at: float, line: str) -> None:
        """A line of the log that the device writes for the rank's process."""
        if rank in self.dead and at > self.dead[rank]:
            return
        self.files.setdefault(self.device_path(rank), []).append((at, line))

    def device_path(self, rank: int) -> str:
        kind = "" if self.layout == "flat" else "debug/"
        return f"{self.folder(rank)}/{kind}device-{self.device(rank)}/device-{self.pids[rank]}_20260402{rank % 1000:09}.log"

    def hccl(self, rank: int, at: float, source: str, text: str, level: str = "INFO") -> None:
        self.plog(rank, at, level, source, f"[{self.pids[rank]}]{text}")

    def stdout(self, rank: int, at: float, text: str) -> None:
        """A line on the screen of the rank's node, with the launcher's prefix."""
        if rank in self.dead and at > self.dead[rank]:
            return
        name = f"job/rank_{rank}/train.log" if self.layout == "rank" else f"{self.folder(rank).split('/')[0]}/train.log"
        self.files.setdefault(name, []).append((at, f"[rank{rank}]: {text}"))

    def text(self) -> dict[str, str]:
        """All files, each in the order of true time."""
        return {
            name: "".join(f"{line}\n" for _, line in sorted(rows, key=lambda row: row[0])) for name, rows in sorted(self.files.items())
        }

    # health

    def enter(self, rank: int, at: float) -> None:
        """A process starts and asks for the communicator of the whole job."""
        self.plog(rank, at - 2, "INFO", "trace_attr.c:195", f"(tid:{self.pids[rank]}) attr init success, timeout=0ms.", "ATRACE")
        self.hccl(rank, at - 1, "externalinput.cc:598", f"[HCCL_ENV] HCCL_CONNECT_TIMEOUT set by default to [{self.connect_timeout}]s")
        how = "default" if self.exec_timeout == 1836 else "environment"
        self.hccl(rank, at - 1, "externalinput.cc:558", f"[HCCL_ENV] HCCL_EXEC_TIMEOUT set by {how} to [{self.exec_timeout}]s")
        self._entry(rank, at, self.world, self.ranks, rank, 0)
        self.hccl(rank, at + 0.05, "topoinfo_detect.cc:208",
                  f"[HCCL_TRACE]SetupAgent rankNum[{self.ranks}], rank[{rank}], rootInfo identifier[{self.world}], server[{self.server(rank)}%eth0], "
                  f"logicDevId[{self.device(rank)}], phydevId[{self.device(rank)}], deviceIp[{self.device_ip(rank)}]")  # fmt: skip

    def _entry(self, rank: int, at: float, comm: str, size: int, seat: int, root: int) -> None:
        self.hccl(rank, at, "op_base.cc:1292",
                  f"Entry-HcclCommInitRootInfoInner:ranks[{size}], rank[{seat}], rootinfo: host ip[{self.server(root)}] "
                  f"port[{60000 + self.device(root)}] nicDeploy[1] identifier[{comm}], deviceLogicId[{self.device(rank)}]")  # fmt: skip

    def joined(self, rank: int, at: float, comm: str, size: int, seat: int) -> None:
        """The end of the set-up of a communicator: a barrier."""
        at += self.random.uniform(0, 0.3)
        self.hccl(rank, at, "hccl_communicator_attrs.cc:341",
                  f"[Communicator Key Info]identifier[{comm}] rankSize[{size}] serverNum[{self.nodes}] moduleNum[1] superPodNum[0]")  # fmt: skip
        self.hccl(rank, at + 0.001, "hccl_communicator_attrs.cc:346",
                  f"[LocalRank Key Info]userRank[{seat}] hostIp[{self.server(rank)}] devicePhyId[{self.device(rank)}] server[{self.server(rank)}] "
                  f"deviceIp[{self.device_ip(rank)}] superPodId[0] useSuperPodMode[0] isStandardCard[0]")  # fmt: skip

    def group_comm(self, members: tuple[int, ...], number: int, at: float) -> str:
        """A further communicator of some ranks, set up by all of them."""
        comm = self._comm(members[0], number)
        for seat, rank in enumerate(members):
            self._entry(rank, at, comm, len(members), seat, members[0])
            self.joined(rank, at + 0.2, comm, len(members), seat)
        return comm

    def start(self) -> None:
        """All ranks are up, with the communicators of the job, of tensor and of data parallelism."""
        for rank in range(self.ranks):
            self.enter(rank, self.random.uniform(0, 5))
            self.joined(rank, 8, self.world, self.ranks, rank)
            if self.tp > 1:
                tp, dp = self.tp_group(rank), self.dp_group(rank)
                self._entry(rank, 9, self.tp_comm(rank), len(tp), tp.index(rank), tp[0])
                self.joined(rank, 10, self.tp_comm(rank), len(tp), tp.index(rank))
                if 1 < len(dp) < self.ranks:
                    self._entry(rank, 11, self.dp_comm(rank), len(dp), dp.index(rank), dp[0])
                    self.joined(rank, 12, self.dp_comm(rank), len(dp), dp.index(rank))
            for step in range(self.random.randrange(1, 4)):
                self.plog(rank, 15 + step, "INFO", "task_recycle.cc:402", f"{self.pids[rank]} RecycleTask: stream_id=3, task_id={step}, result=0x0", "RUNTIME")
            if self.screen:
                self.stdout(rank, 14, f"INFO: iteration 1/ 5000 | lm loss: {self.random.uniform(2, 9):.3f}")

    def work(self, until: float) -> None:
        """Signs of life up to a moment."""
        for rank in range(self.ranks):
            self.plog(rank, until - self.random.uniform(0.5, 5), "INFO", "stream.cc:1121", f"{self.pids[rank]} StreamSync: stream_id=3, timeout=-1ms, pending=0", "RUNTIME")
