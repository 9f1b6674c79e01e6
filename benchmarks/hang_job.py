"""Jobs of gloo processes with one fault in each, for `benchmarks.hang`: one interpreter loads torch and forks the ranks.

Each rank answers a line in its pipe `FOLDER/pipe_RANK` with a dump of PyTorch's Flight Recorder, `FOLDER/gloo_trace_rank_RANK`.
"""

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "2000")

import torch
import torch._inductor.codecache  # a dump asks it for the frames of compiled code: loaded once here, not by every rank at the same time
import torch.distributed as dist

LAST = 3
"""The step in which the fault happens."""
FOREVER = 600


class Rank:
    """One rank of the job: what every step needs."""

    def __init__(self, rank: int, world: int, culprit: int, folder: Path) -> None:
        self.rank, self.world, self.culprit, self.folder = rank, world, culprit, folder
        self.tensor = torch.ones(64)
        self.group: Any = None

    @property
    def guilty(self) -> bool:
        return self.rank == self.culprit


# --- faults of one rank between two calls


def sleeps(_: Rank) -> None:
    time.sleep(FOREVER)


def sleeps_deep(job: Rank) -> None:
    def postprocess(depth: int) -> None:
        postprocess(depth - 1) if depth else sleeps(job)

    postprocess(12)


def spins(_: Rank) -> None:
    number = 0
    while True:
        number += 1


def raises(_: Rank) -> None:
    raise ValueError("loss is nan")


def leaves(_: Rank) -> None:
    os._exit(0)


def killed_by(number: int) -> Callable[[Rank], None]:
    def end(_: Rank) -> None:
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
        time.sleep(FOREVER)

    return end


def locks_twice(_: Rank) -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def waits_for_lock_of_a_thread(_: Rank) -> None:
    lock = threading.Lock()

    def hold() -> None:
        with lock:
            time.sleep(FOREVER)

    threading.Thread(target=hold, daemon=True).start()
    time.sleep(0.2)
    with lock:
        pass


def waits_for_a_queue(_: Rank) -> None:
    queue.Queue[int]().get()


def waits_for_a_file_lock(job: Rank) -> None:
    path = job.folder / "cache.lock"
    with open(path, "w") as mine:
        if os.fork() == 0:
            fcntl.flock(mine, fcntl.LOCK_EX)
            time.sleep(120)
            os._exit(0)
    time.sleep(0.3)
    with open(path, "w") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)


def waits_for_an_event(_: Rank) -> None:
    multiprocessing.Event().wait()


def joins_a_thread(job: Rank) -> None:
    thread = threading.Thread(target=sleeps, args=(job,), daemon=True)
    thread.start()
    thread.join()


def reads_slowly(_: Rank) -> None:
    class Slow(torch.utils.data.Dataset[int]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, number: int) -> int:
            time.sleep(FOREVER)
            return number

    next(iter(torch.utils.data.DataLoader(Slow())))


def worker_is_stuck(_: Rank) -> None:
    class Slow(torch.utils.data.Dataset[int]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, number: int) -> int:
            time.sleep(120)
            return number

    next(iter(torch.utils.data.DataLoader(Slow(), num_workers=1)))


def reads_an_empty_pipe(job: Rank) -> None:
    def next_batch() -> bytes:
        path = job.folder / "tokens"
        os.mkfifo(path)
        with open(path, "rb") as stream:
            return stream.read(1)

    next_batch()


def generator_gives_nothing(_: Rank) -> None:
    def prefetch_batches() -> Iterator[int]:
        time.sleep(FOREVER)
        yield 1

    next(prefetch_batches())


def opens_what_nobody_writes(job: Rank) -> None:
    path = job.folder / "fifo"
    os.mkfifo(path)
    with open(path, "rb"):
        pass


def waits_for_a_program(_: Rank) -> None:
    subprocess.run(["sleep", "120"], check=False)


def asks_a_server(_: Rank) -> None:
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    client = socket.create_connection(server.getsockname())
    client.recv(1)


def handler_blocks(job: Rank) -> None:
    signal.signal(signal.SIGUSR1, lambda *_: sleeps(job))
    os.kill(os.getpid(), signal.SIGUSR1)


# --- faults of the calls


def other_call(job: Rank) -> None:
    dist.broadcast(job.tensor, 0) if job.guilty else dist.all_reduce(job.tensor)


def other_order(job: Rank) -> None:
    if job.guilty:
        dist.barrier()
        dist.all_reduce(job.tensor)
    else:
        dist.all_reduce(job.tensor)
        dist.barrier()


def other_shape(job: Rank) -> None:
    dist.all_reduce(torch.ones(32 if job.guilty else 1 << 20))


def other_type(job: Rank) -> None:
    dist.all_reduce(torch.ones(1 << 16, dtype=torch.float64 if job.guilty else torch.float32))


def one_more(job: Rank) -> None:
    if job.guilty:
        dist.barrier()
    step(job)


def one_less(job: Rank) -> None:
    if not job.guilty:
        dist.barrier()
    step(job)


def receives_from_nobody(job: Rank) -> None:
    if job.guilty:
        dist.recv(job.tensor, (job.rank + 1) % job.world)


def group_of_some(job: Rank) -> None:
    if not job.guilty:
        dist.new_group(list(range(job.world)))


def other_group(job: Rank) -> None:
    dist.all_reduce(job.tensor, group=job.group if job.guilty else None)


def waits_in_a_second_group(job: Rank) -> None:
    """The culprit is away; its neighbour waits for it in another group, the others in the first one."""
    if job.guilty:
        time.sleep(FOREVER)
    dist.all_reduce(job.tensor, group=job.group)


def comes_late(_: Rank) -> None:
    time.sleep(FOREVER)


Fault = Callable[[Rank], None]
ALONE: dict[str, Fault] = {
    "sleeps": sleeps, "sleeps-deep": sleeps_deep, "spins": spins, "raises": raises, "leaves": leaves, "killed": killed_by(signal.SIGKILL),
    "segfaults": killed_by(signal.SIGSEGV), "aborts": killed_by(signal.SIGABRT), "terminated": killed_by(signal.SIGTERM),
    "stopped": killed_by(signal.SIGSTOP), "locks-twice": locks_twice, "lock-of-a-thread": waits_for_lock_of_a_thread, "queue": waits_for_a_queue,
    "file-lock": waits_for_a_file_lock, "event": waits_for_an_event, "joins": joins_a_thread, "slow-dataset": reads_slowly,
    "stuck-worker": worker_is_stuck, "empty-pipe": reads_an_empty_pipe, "generator": generator_gives_nothing, "fifo": opens_what_nobody_writes,
    "program": waits_for_a_program, "server": asks_a_server, "signal-handler": handler_blocks,
}  # fmt: skip
"""One rank does this in a step, the others go on to the next call."""
TOGETHER: dict[str, Fault] = {
    "other-call": other_call, "other-order": other_order, "other-shape": other_shape, "other-type": other_type, "one-more": one_more,
    "one-less": one_less, "receives": receives_from_nobody, "second-group": waits_in_a_second_group,
}  # fmt: skip
"""All ranks do this in a step."""
AT_THE_START: dict[str, Fault] = {"never-started": leaves, "late": comes_late}
FAULTS = (*ALONE, *TOGETHER, *AT_THE_START)


# --- what is slow, and no fault


def compiles(job: Rank) -> None:
    if job.guilty:
        torch._dynamo.config.recompile_limit = 100_000

        def many(x: torch.Tensor, times: int) -> torch.Tensor:
            for number in range(times):
                x = torch.sin(x) * number + torch.cos(x)
            return x

        end, times = time.monotonic() + FOREVER, 40
        while time.monotonic() < end:
            torch._dynamo.reset()
            torch.compile(many, backend="eager")(torch.ones(4), times)
            times = times % 80 + 40


def saves(job: Rank) -> None:
    def save_checkpoint() -> None:
        state = {f"layer{number}": torch.ones(1 << 16) for number in range(64)}
        end = time.monotonic() + FOREVER
        while time.monotonic() < end:
            torch.save(state, job.folder / "checkpoint.pt")

    if job.guilty:
        save_checkpoint()


def evaluates(job: Rank) -> None:
    def evaluate() -> None:
        end = time.monotonic() + FOREVER
        layer = torch.nn.Linear(64, 64)
        while time.monotonic() < end:
            layer(torch.ones(8, 64)).sum().item()

    if job.guilty:
        evaluate()


def trains(job: Rank) -> None:
    end = time.monotonic() + FOREVER
    while time.monotonic() < end:
        (torch.ones(64, 64) @ torch.ones(64, 64)).sum().item()
        step(job)


DECOYS: dict[str, Fault] = {"compiles": compiles, "saves": saves, "evaluates": evaluates, "trains": trains}


def step(job: Rank) -> None:
    dist.all_reduce(job.tensor)


def train(job: Rank, name: str) -> None:
    for number in range(LAST + 2):
        step(job)
        if number != LAST:
            continue
        (job.folder / f"at_{job.rank}").touch()
        if name in ALONE and job.guilty:
            ALONE[name](job)
        elif name in TOGETHER or name in DECOYS:
            (TOGETHER.get(name) or DECOYS[name])(job)


def answer(job: Rank) -> None:
    """What the recorder's pipe does."""
    import torch._C._distributed_c10d as recorder

    pipe = job.folder / f"pipe_{job.rank}"
    while True:
        with open(pipe, "rb") as stream:
            stream.read()
        data = recorder._dump_fr_trace()
        made = job.folder / f"gloo_trace_rank_{job.rank}.part"
        made.write_bytes(data)
        made.rename(made.with_suffix(""))


def run(job: Rank, name: str) -> None:
    os.mkfifo(job.folder / f"pipe_{job.rank}")
    threading.Thread(target=answer, args=(job,), daemon=True, name="recorder pipe").start()
    if name in AT_THE_START:
        (job.folder / f"at_{job.rank}").touch()
        if job.guilty:
            AT_THE_START[name](job)
    dist.init_process_group("gloo", store=dist.FileStore(str(job.folder / "store"), job.world), rank=job.rank, world_size=job.world)
    neighbour = (job.culprit + 1) % job.world
    job.group = dist.new_group(sorted({job.culprit, neighbour}))
    try:
        train(job, name)
    except RuntimeError:
        clean_up()  # a peer was lost, or the backend found the calls unlike: what HCCL would wait for
        raise
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()


def clean_up() -> None:
    threading.Event().wait(FOREVER)


def job(name: str, world: int, culprit: int, folder: Path) -> None:
    """Forks the ranks and waits for them; the group of processes is the job's own, so it can be ended as one."""
    os.setpgid(0, 0)
    torch.set_num_threads(1)
    pids = []
    for rank in range(world):
        pid = os.fork()
        if pid == 0:
            try:
                run(Rank(rank, world, culprit, folder), name)
            except BaseException as error:  # noqa: BLE001 - a rank that fails is what is measured
                (folder / f"error_{rank}").write_text(repr(error))
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    (folder / "pids.part").write_text(" ".join(map(str, (os.getpid(), *pids))))
    (folder / "pids.part").rename(folder / "pids")
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    os._exit(0)


def main() -> None:
    """A line `FAULT WORLD CULPRIT FOLDER` of standard input is a job."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        name, world, culprit, folder = line.split()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            job(name, int(world), int(culprit), Path(folder))


if __name__ == "__main__":
    main()
