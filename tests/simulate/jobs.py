"""A whole job from a seed: which fault, where, and what must be said about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.simulate import faults
from tests.simulate.more import MORE, up, write_table
from tests.simulate.truth import Truth
from tests.simulate.world import PER_NODE, World


class Job(NamedTuple):
    files: dict[str, str]
    truth: Truth
    ranks: int


def simulate(seed: int, ranks: int | None = None, fault: str | None = None, hide: bool = False, skew: float = 30.0) -> Job:
    """The job of a seed; the same seed always gives the same job."""
    sizes = (8, 8, 16, 16, 24, 32, 32, 64, 64, 128, 256, 1024)
    pick = World(seed, 8).random
    size = ranks or sizes[pick.randrange(len(sizes))]
    name = fault or FAULTS_IN_ORDER[pick.randrange(len(FAULTS_IN_ORDER))]
    w = World(seed, size, skew)
    root = w.random.randrange(size)
    truth = FAULTS[name](w, root)
    if w.random.random() < 0.3:
        write_table(w)
    if hide and len(truth.ranks) < size:
        names = {w.path(r, kind) for r in truth.ranks for kind in ("run", "debug")} | {w.device_path(r) for r in truth.ranks}
        for path in list(w.files):
            if path in names or path.endswith(("dmesg.txt", "launcher.log")):
                del w.files[path]
            elif path.endswith("train.log"):
                w.files[path] = [row for row in w.files[path] if not any(row[1].startswith(f"[rank{r}]:") for r in truth.ranks)]
        truth = truth._replace(hidden=True)
    return Job({name: text for name, text in w.text().items() if text}, truth, size)


def _crash(inject: Callable[[World, int, float], None], codes: tuple[str, ...], name: str) -> Callable[[World, int], Truth]:
    def make(w: World, root: int) -> Truth:
        at = up(w)
        inject(w, root, at)
        w.dead[root] = at + w.random.uniform(0.5, 3)
        ended = faults.node_ends(w, root, at + 3, "exitcode: 1") if w.random.random() < 0.3 else frozenset()
        faults.victims(w, root, at, faults.LOST if w.random.random() < 0.7 else None, ended)
        return Truth(name, frozenset({root}), codes)

    return make


def _killed(w: World, root: int) -> Truth:
    at = up(w)
    evidence = w.random.choice(("kernel", "launcher", "none"))
    faults.killed(w, root, at, evidence)
    ended = faults.node_ends(w, root, at + 3, "") if evidence != "none" and w.random.random() < 0.3 else frozenset()
    faults.victims(w, root, at, faults.LOST if w.random.random() < 0.7 else None, ended)
    return Truth("killed", frozenset({root}), ("JOB001", "DST016", "DST017"))


def _stuck(w: World, root: int) -> Truth:
    at = up(w)
    w.plog(root, at + w.exec_timeout + 1, "INFO", "stream.cc:1121", f"{w.pids[root]} StreamSync: stream_id=3, timeout=-1ms, pending=1", "RUNTIME")
    faults.victims(w, root, at, faults.STUCK if w.random.random() < 0.7 else None)
    return Truth("stuck", frozenset({root}), ("JOB006",))


def _slow(w: World, root: int) -> Truth:
    at = up(w)
    faults.victims(w, root, at, None)
    late = at + w.exec_timeout + w.random.uniform(90, 400)
    members, comm = (w.tp_group(root), w.tp_comm(root)) if w.tp > 1 else (list(range(w.ranks)), w.world)
    seat = members.index(root)
    faults.gave_up(w, root, late + w.exec_timeout, comm, len(members), seat, (seat - 1) % len(members), late)
    return Truth("slow", frozenset({root}), ("JOB007",))


def _mismatch(w: World, root: int) -> Truth:
    at = up(w)
    what = w.random.choice(("op", "elements", "nth"))
    for rank in range(w.ranks):
        odd = rank == root
        faults.gave_up(w, rank, at + w.exec_timeout + w.random.uniform(0, 2), w.world, w.ranks, rank, (rank - 1) % w.ranks, at,
                       op="AllGather" if odd and what == "op" else "AllReduce", nth=22 if odd and what == "nth" else 21,
                       elements=2048 if odd and what == "elements" else 4096)  # fmt: skip
    return Truth("mismatch", frozenset({root}), ("JOB003",))


def _set_up_fault(name: str, codes: tuple[str, ...], say: Callable[[World, int, float], None]) -> Callable[[World, int], Truth]:
    """One rank fails before the communicator is made: the others wait for it there."""

    def make(w: World, root: int) -> Truth:
        entered = {}
        for rank in range(w.ranks):
            at = w.random.uniform(0, 5)
            w.enter(rank, at)
            if rank != root:
                entered[rank] = at
            else:
                say(w, rank, at + 0.2)
                w.dead[rank] = at + 1
        faults.not_arrived(w, [root], entered)
        return Truth(name, frozenset({root}), codes)

    return make


def _port(w: World, rank: int, at: float) -> None:
    w.hccl(rank, at, "hccl_socket.cc:110", f"[InitGroupStage][RanktableDetect] socket type[0], listen on ip[{w.device_ip(rank)}] and specific port[16666] fail. Please check the port status and whether the port is being used by other process.", "ERROR")
    w.hccl(rank, at, "hccl_socket_manager.cc:54", "[ServerInit]call trace: hcclRet -> 7", "ERROR")


def _node_down(w: World, root: int) -> Truth:
    """A whole node was never started."""
    gone = [r for r in range(w.ranks) if w.node(r) == w.node(root)] if w.nodes > 1 else [root]
    entered = {r: w.random.uniform(0, 5) for r in range(w.ranks) if r not in gone}
    for rank, at in entered.items():
        w.enter(rank, at)
    faults.not_arrived(w, gone, entered)
    return Truth("node-down", frozenset(gone if 0 not in gone else [0]), ("JOB002",) if 0 not in gone else ("JOB010",))


def _late_start(w: World, root: int) -> Truth:
    entered = {}
    for rank in range(w.ranks):
        at = w.random.uniform(0, 5) if rank != root else 5 + w.connect_timeout + w.random.uniform(80, 300)
        w.enter(rank, at)
        if rank != root:
            entered[rank] = at
    faults.not_arrived(w, [root], entered)
    return Truth("late-start", frozenset({root}), ("JOB007",))


def _link(w: World, root: int) -> Truth:
    """Two nodes (or two devices of one) cannot reach each other when links are made."""
    w.start()
    other = w.random.randrange(w.ranks - 1)
    other += other >= root
    if w.nodes > 1:
        there = w.random.choice([n for n in range(w.nodes) if n != w.node(root)])
        pairs = [(a, b) for a in range(w.ranks) if w.node(a) == w.node(root) for b in (there * PER_NODE + w.device(a),) if b < w.ranks]
    else:
        pairs = [(root, other)]
    at = 200.0
    for a, b in pairs:
        faults.no_link(w, a, b, at + w.random.uniform(0, 1))
        faults.no_link(w, b, a, at + w.random.uniform(0, 1))
    return Truth("link", frozenset(r for p in pairs for r in p), ("JOB004",))


def _two(w: World, root: int) -> Truth:
    """Two independent faults at almost the same time: either may be first, both must be told."""
    at = up(w)
    other = w.random.randrange(w.ranks - 1)
    other += other >= root
    faults.out_of_memory(w, root, at)
    faults.ai_core(w, other, at + w.random.uniform(-2, 2))
    w.dead[root] = w.dead[other] = at + 4
    faults.victims(w, root, at, None, frozenset({other}))
    return Truth("two", frozenset({root, other}), ("MEM", "RTS"), every=("MEM", "RTS"))


FAULTS: dict[str, Callable[[World, int], Truth]] = {
    "oom": _crash(faults.out_of_memory, ("MEM",), "oom"),
    "aicore": _crash(faults.ai_core, ("RTS001", "RTS002"), "aicore"),
    "ecc": _crash(faults.ecc, ("DRV002",), "ecc"),
    "killed": _killed,
    "stuck": _stuck,
    "slow": _slow,
    "mismatch": _mismatch,
    "port": _set_up_fault("port", ("HCL050",), _port),
    "ranktable": _set_up_fault("ranktable", ("HCL033",), faults.strange_address),
    "node-down": _node_down,
    "late-start": _late_start,
    "link": _link,
    "two": _two,
    **MORE,
}
FAULTS_IN_ORDER = tuple(FAULTS)
