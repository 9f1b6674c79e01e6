"""One collective between ranks on this host: hccl on NPUs, gloo on the CPU; every rank knows the right answer.

Started without torchrun the script starts its own ranks; under torchrun (RANK is set) it is one of them:
`torchrun --nproc_per_node 2 hccl_collective.py`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import socket
import subprocess
import sys
from typing import Any

from kb.repro._frame import ERROR, GRAVITY, SAME, UNUSABLE, VERDICTS, Session, main, unusable
from kb.repro._tensors import UnusableError, dtype_named, torch

# >>> slots: change these to change what is run
COLLECTIVE: str = "all_reduce"  # broadcast, all_gather, reduce_scatter, all_to_all, reduce, send_recv, barrier
DTYPE: str = "float32"
COUNT: int = 1024  # elements that each rank contributes
WORLD: int = 2
DIFFERS: str = ""  # what the last rank does otherwise than the rest: count, dtype, collective
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds after which a rank gives up")


def start_ranks(timeout: float) -> int:
    """One child for each rank; the worst exit code, and an error for a rank that was killed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORLD)}
    shared["PYTHONPATH"] = os.pathsep.join(sys.path)
    ranks = []
    for rank in range(WORLD):
        environment = {**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        ranks.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
    codes = []
    for child in ranks:
        try:
            codes.append(child.wait(timeout + 60))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            codes.append(ERROR)
    print(f"exit codes of the ranks: {codes}")
    return max((code if code in GRAVITY else ERROR for code in codes), key=GRAVITY.index)


def exchange(kind: str, rank: int, world: int, mine: Any) -> tuple[list[Any], list[Any]]:
    """What the collective gives this rank, and what it must give: rank r contributes r + 1 everywhere."""
    dist = torch.distributed
    like = torch.full_like
    total = world * (world + 1) // 2
    if kind == "all_reduce":
        dist.all_reduce(mine)
        return [mine], [like(mine, total)]
    if kind == "reduce":
        dist.reduce(mine, dst=0)
        return ([mine], [like(mine, total)]) if rank == 0 else ([], [])
    if kind == "broadcast":
        dist.broadcast(mine, src=0)
        return [mine], [like(mine, 1)]
    if kind == "all_gather":
        gathered = [torch.empty_like(mine) for _ in range(world)]
        dist.all_gather(gathered, mine)
        return gathered, [like(mine, other + 1) for other in range(world)]
    if kind == "reduce_scatter":
        piece = torch.empty_like(mine)
        dist.reduce_scatter(piece, [mine.clone() for _ in range(world)])
        return [piece], [like(mine, total)]
    if kind == "all_to_all":
        received = torch.empty([world, *mine.shape], dtype=mine.dtype, device=mine.device)
        sent = torch.stack([mine] * world)
        dist.all_to_all_single(received, sent)
        return [received], [torch.stack([like(mine, other + 1) for other in range(world)])]
    if kind == "send_recv":
        if rank == 0:
            dist.send(mine, dst=world - 1)
            return [], []
        if rank == world - 1:
            dist.recv(mine, src=0)
            return [mine], [like(mine, 1)]
        return [], []
    if kind == "barrier":
        dist.barrier()
        return [], []
    raise UnusableError(f"unknown collective {kind!r}: put a name from the comment into COLLECTIVE")


def reproduce(session: Session) -> None:
    if "RANK" not in os.environ:
        session.verdict = start_ranks(session.options.timeout)
        return
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    kind, _, first = session.device.partition(":")
    if kind == "npu":
        session.device = f"npu:{int(first or 0) + int(os.environ.get('LOCAL_RANK', rank))}"
        problem = unusable(session.device)
        if problem:
            raise UnusableError(problem)
        torch.npu.set_device(session.device)
    limit = dt.timedelta(seconds=session.options.timeout)
    torch.distributed.init_process_group("hccl" if kind == "npu" else "gloo", timeout=limit)
    try:
        other = DIFFERS if rank == world - 1 else ""
        dtype = dtype_named(DTYPE if other != "dtype" else "int32" if DTYPE != "int32" else "float32")
        mine = torch.full((COUNT + (other == "count"),), rank + 1, dtype=dtype, device=session.device)
        called = COLLECTIVE if other != "collective" else "broadcast" if COLLECTIVE != "broadcast" else "all_reduce"
        expected: list[Any] = []

        def work(_place: Any) -> list[Any]:
            got, wanted = exchange(called, rank, world, mine)
            expected.extend(wanted)
            return got

        got = session.on_device(work)
        if got:
            session.check(f"rank {rank} {COLLECTIVE}", expected, got)
    finally:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    code = main(reproduce, f"{COLLECTIVE} of {COUNT} x {DTYPE} between {WORLD} ranks", NOTES, EXPECT, options)
    if code not in (SAME, UNUSABLE) and "RANK" in os.environ:
        print(f"rank {os.environ['RANK']}: {VERDICTS[code]}", file=sys.stderr)
    raise SystemExit(code)
