"""Faults of whole groups, of the network, of rank tables, and of programs that wait in a circle."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.simulate import faults
from tests.simulate.truth import Truth
from tests.simulate.world import PER_NODE, World


def up(w: World) -> float:
    """All ranks are up and work until a random moment."""
    w.start()
    at = w.random.uniform(60, 900)
    w.work(at)
    return at


def wrong_table(w: World, _: int) -> Truth:
    """Every rank was given a rank table of other machines: no address in it is its own."""
    for rank in range(w.ranks):
        at = w.random.uniform(0, 5)
        w.enter(rank, at)
        faults.strange_address(w, rank, at + 0.2)
    return Truth("table-all", frozenset(range(w.ranks)), ("HCL033",))


def pipeline(w: World, root: int) -> Truth:
    """Stages of a pipeline: the stage of the root waits for it, its neighbours for their pair, and so on outward."""
    w.tp = 1
    stages = w.random.choice([n for n in (2, 4) if w.ranks % n == 0])
    per = w.ranks // stages
    w.start()
    comms: dict[tuple[int, int], str] = {}
    for first in range(w.ranks - per):
        pair = (first, first + per)
        comms[pair] = w.group_comm(pair, 80000 + first, 13)
    stage_comm = [w.group_comm(tuple(range(s * per, s * per + per)), 90000 + s, 14) for s in range(stages)]
    at = w.random.uniform(60, 900)
    w.work(at)
    inject, codes = w.random.choice(((faults.out_of_memory, ("MEM",)), (faults.ai_core, ("RTS001", "RTS002"))))
    inject(w, root, at)
    w.dead[root] = at + 2
    stage, column = divmod(root, per)
    for rank in range(w.ranks):
        if rank == root:
            continue
        mine, seat = divmod(rank, per)
        issued = at + 0.1 + abs(mine - stage) * 0.05
        when = issued + w.exec_timeout + w.random.uniform(0, 2)
        if seat == column:  # the one of this stage that talks to the stage nearer to the root
            nearer = rank + (per if mine < stage else -per)
            pair = (min(rank, nearer), max(rank, nearer))
            faults.gave_up(
                w, rank, when, comms[pair], 2, pair.index(rank), pair.index(nearer), issued, op="Send", nth=5
            )
        else:
            faults.gave_up(w, rank, when, stage_comm[mine], per, seat, column, issued)
    return Truth("pipeline", frozenset({root}), codes)


def circle(w: World, root: int) -> Truth:
    """Some ranks use communicators in different orders: each waits for the next; all others for one of them."""
    w.tp = 1
    w.start()
    others = [r for r in range(w.ranks) if r != root]
    members = [root, *w.random.sample(others, w.random.choice((1, 2, 3)))]
    pairs = [(a, members[(n + 1) % len(members)]) for n, a in enumerate(members)]
    comms = [w.group_comm(pair, 70000 + n, 13) for n, pair in enumerate(pairs)]
    at = w.random.uniform(60, 900)
    w.work(at)
    for pair, comm in zip(pairs, comms, strict=True):
        faults.gave_up(w, pair[0], at + w.exec_timeout + w.random.uniform(0, 2), comm, 2, 0, 1, at)
    for rank in others:
        if rank not in members:
            when = at + w.exec_timeout + w.random.uniform(0, 2)
            faults.gave_up(w, rank, when, w.world, w.ranks, rank, w.random.choice(members), at)
    return Truth("circle", frozenset(members), ("JOB005",))


def stragglers(w: World, root: int) -> Truth:
    """A whole node (of several) comes to the collective long after the others have given up."""
    w.tp = 1
    at = up(w)
    late = [r for r in range(w.ranks) if w.node(r) == w.node(root)] if w.nodes > 2 else [root, (root + 1) % w.ranks]
    came = at + w.exec_timeout + w.random.uniform(90, 400)
    for rank in range(w.ranks):
        issued = came + w.random.uniform(0, 5) if rank in late else at + w.random.uniform(0, 0.5)
        on = (rank - 1) % w.ranks if w.ring or rank in late else late[0]
        faults.gave_up(w, rank, issued + w.exec_timeout + 1, w.world, w.ranks, rank, on, issued)
    return Truth("stragglers", frozenset(late), ("JOB007",))


def oom_killer(w: World, root: int) -> Truth:
    at = up(w)
    faults.killed(w, root, at, "kernel")
    faults.victims(w, root, at, faults.LOST if w.random.random() < 0.7 else None)
    return Truth("oom-killer", frozenset({root}), ("DST017",))


def lossy_link(w: World, root: int) -> Truth:
    """Packets between two healthy ranks of different nodes are lost while the job runs."""
    w.tp = 1
    at = up(w)
    away = [r for r in range(w.ranks) if w.node(r) != w.node(root)] or [r for r in range(w.ranks) if r != root]
    peer = w.random.choice(away)
    for one, other in ((root, peer), (peer, root)):
        faults.error_cqe(w, one, other, at + w.random.uniform(0, 0.5))
    for rank in range(w.ranks):
        if rank not in (root, peer):
            issued = at + w.random.uniform(0, 0.5)
            on = w.random.choice((root, peer))
            faults.gave_up(w, rank, issued + w.exec_timeout + 1, w.world, w.ranks, rank, on, issued)
    return Truth("lossy-link", frozenset({root, peer}), ("HCL082", "JOB004"))


def device_task(w: World, root: int) -> Truth:
    """Collectives run by the AI CPU: a copy fails on one device, the schedulers of the others tell that they waited for it."""
    w.tp = 1
    at = up(w)
    faults.aicpu(w, root, at, "SDMA", (root + 1) % w.ranks)
    w.dead[root] = at + 1
    for rank in range(w.ranks):
        if rank != root:
            faults.aicpu(w, rank, at + w.exec_timeout + w.random.uniform(0, 2), "NOTIFY WAIT", root)
    return Truth("device-task", frozenset({root}), ("JOB009", "HCL", "RTS"))


def unlike_calls(w: World, root: int) -> Truth:
    """Every call is logged, the timeouts do not say in which one they stood; one rank made another call than the rest."""
    w.tp = 1
    at = up(w)
    wrong = w.random.randrange(2, 12)
    what = w.random.choice(("op", "count", "dtype"))
    for rank in range(w.ranks):
        for nth in range(wrong + 1):
            odd = rank == root and nth == wrong
            faults.call(w, rank, at + nth, "AllGather" if odd and what == "op" else "AllReduce",
                        2048 if odd and what == "count" else 4096, "float32" if odd and what == "dtype" else "bfloat16")  # fmt: skip
        on = (rank - 1) % w.ranks
        faults.plain_notify(w, rank, at + wrong + w.exec_timeout + w.random.uniform(0, 2), on)
    return Truth("calls", frozenset({root}), ("JOB003",))


def tls(w: World, root: int) -> Truth:
    """One device encrypts and the others do not: links to it cannot be made."""
    w.tp = 1
    for rank in range(w.ranks):
        w.plog(
            rank,
            1,
            "INFO",
            "rs_ssl.c:1514",
            f"tid:{w.pids[rank]},rs_ssl_init(1514) : TLS SWITCH ({int(rank == root)})",
            "HCCP",
        )
    w.start()
    at = 200.0
    for rank in range(w.ranks):
        faults.no_link(
            w, rank, (rank - 1) % w.ranks if w.ring else (root if rank != root else (root + 1) % w.ranks), at
        )
    return Truth("tls", frozenset({root}), ("JOB011", "HCL046"))


def write_table(w: World) -> None:
    """The rank table of the job, somewhere in the tree, in one of its layouts."""
    servers = []
    for node in range(w.nodes):
        ranks = range(node * PER_NODE, min(w.ranks, node * PER_NODE + PER_NODE))
        device = [{"device_id": str(w.device(r)), "device_ip": w.device_ip(r), "rank_id": str(r)} for r in ranks]
        servers.append({"server_id": w.server(ranks[0]), "device": device, "host_nic_ip": "reserve"})
    table = {
        "status": "completed",
        "version": w.random.choice(("1.0", "1.2")),
        "server_count": str(w.nodes),
        "server_list": servers,
    }
    w.files["config/hccl.json"] = [(0.0, json.dumps(table, indent=w.random.choice((None, 2))))]


MORE: dict[str, Callable[[World, int], Truth]] = {
    "table-all": wrong_table,
    "pipeline": pipeline,
    "circle": circle,
    "stragglers": stragglers,
    "oom-killer": oom_killer,
    "lossy-link": lossy_link,
    "device-task": device_task,
    "calls": unlike_calls,
    "tls": tls,
}
