"""`npu-doctor hang` on real jobs with real faults, and on the dumps of very many ranks.

    python -m benchmarks.hang --python PYTHON_WITH_TORCH [--worlds 2,4,8] [--faults sleeps,spins] [--seed 7]
    python -m benchmarks.hang --dumps 1024x2000

Real: gloo processes of PyTorch (`hang_job.py`), stacks by py-spy, dumps by PyTorch's Flight Recorder. The culprit is right when the
verdict names that rank and no other as the one that holds the job up. A decoy is right when the verdict is no hang.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

HERE = Path(__file__).resolve().parent
SETTLE_S = 1.5
START_S = 90.0
ANSWER_S = 8.0
ANYBODY = ("one-more", "one-less")
"""Faults in which, of two ranks, either is the odd one: what counts is that the calls are said to differ."""


class Case(NamedTuple):
    name: str
    world: int
    culprit: int
    decoy: bool


class Result(NamedTuple):
    case: Case
    answer: str
    kind: str
    ranks: tuple[int, ...]
    seconds: float
    mode: str

    @property
    def right(self) -> bool:
        if self.case.decoy:
            return self.answer in ("slow", "none")
        if self.case.world == 2 and (self.case.name in ANYBODY or self.case.name.startswith("other-")):
            return self.kind == "mismatch" or self.ranks == (self.case.culprit,)
        return self.answer != "none" and self.ranks == (self.case.culprit,)


class Server:
    """The interpreter that forks jobs."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen([python, str(HERE / "hang_job.py")], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        assert self._process.stdin is not None
        self._stdin: IO[bytes] = self._process.stdin

    def start(self, case: Case, folder: Path) -> None:
        self._stdin.write(f"{case.name} {case.world} {case.culprit} {folder}\n".encode())
        self._stdin.flush()

    def end(self) -> None:
        self._stdin.close()
        self._process.wait()


def run(server: Server, case: Case, modes: Iterable[str], shown: bool) -> list[Result]:
    """One job, and the verdicts about it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        server.start(case, folder)
        pids = _wait(folder, case.world)
        if pids is None:
            return []
        try:
            return [_verdict(case, folder, pids[1:], mode, shown) for mode in modes]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pids[0], signal.SIGKILL)


def _wait(folder: Path, world: int) -> list[int] | None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        time.sleep(0.1)
        if (folder / "pids").exists() and sum((folder / f"at_{rank}").exists() for rank in range(world)) >= world:
            time.sleep(SETTLE_S)
            return [int(pid) for pid in (folder / "pids").read_text().split()]
    return None


def _verdict(case: Case, folder: Path, pids: list[int], mode: str, shown: bool) -> Result:
    call = [sys.executable, "-m", "doctor", "hang", "--world", str(case.world), "-f", "json"]
    if mode != "dumps":
        call += [part for rank, pid in enumerate(pids) for part in ("--pid", f"{rank}={pid}")]
    if mode != "stacks":
        dumps = folder / "dumps"
        dumps.mkdir(exist_ok=True)
        _ask(folder, case.world, dumps)
        call.append(str(dumps))
    begin = time.perf_counter()
    ran = subprocess.run(call, capture_output=True, text=True, check=False, cwd=HERE.parent)
    took = time.perf_counter() - begin
    try:
        told: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        print(ran.stderr[-400:])
        return Result(case, "failed", "", (), took, mode)
    made = Result(case, told["answer"], told["kind"], tuple(told["ranks"]), took, mode)
    if shown or not made.right:
        said = "; ".join(reason["said"]["en"] for reason in told["reasons"])
        print(f"  {'' if made.right else 'WRONG '}{mode} {case.name} x{case.world} culprit {case.culprit}: {made.kind} {list(made.ranks)} in {took:.1f} s: {said}", flush=True)
    return made


def _ask(folder: Path, world: int, dumps: Path) -> None:
    """A line into the pipe of each rank, and their answers; who cannot answer gives none."""
    asked = []
    for rank in range(world):
        with contextlib.suppress(OSError):
            pipe = os.open(folder / f"pipe_{rank}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(pipe, b"dump\n")
            os.close(pipe)
            asked.append(folder / f"gloo_trace_rank_{rank}")
    end = time.monotonic() + ANSWER_S
    while time.monotonic() < end and not all(made.exists() for made in asked):
        time.sleep(0.05)
    for made in asked:
        if made.exists():
            made.rename(dumps / made.name)


def real(args: argparse.Namespace) -> None:
    faults, decoys = _names()
    chance = random.Random(args.seed)
    wanted = args.faults.split(",") if args.faults else [*faults, *decoys]
    worlds = [int(world) for world in args.worlds.split(",")]
    cases = [Case(name, world, chance.randrange(world), name in decoys) for world in worlds for name in wanted]
    server = Server(args.python)
    results = [result for case in cases for result in run(server, case, args.modes.split(","), args.verbose)]
    server.end()
    for mode in args.modes.split(","):
        mine = [r for r in results if r.mode == mode]
        right = [r for r in mine if not r.case.decoy]
        calm = [r for r in mine if r.case.decoy]
        slowest = max((r.seconds for r in mine), default=0.0)
        print(f"{mode}: culprit {_share(right)}, decoys {_share(calm)}, slowest verdict {slowest:.1f} s")


def _share(results: list[Result]) -> str:
    right = sum(result.right for result in results)
    return f"{right}/{len(results)} = {100 * right / len(results):.1f} %" if results else "-"


def _names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the job knows, without loading torch for it."""
    import ast

    tree = ast.parse((HERE / "hang_job.py").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Dict):
            found[node.target.id] = tuple(key.value for key in node.value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
    return (*found["ALONE"], *found["TOGETHER"], *found["AT_THE_START"]), found["DECOYS"]


def dumps(args: argparse.Namespace) -> None:
    """Dumps of very many ranks, one of which did not come."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from simulate import recorder_dumps

    world, calls = (int(number) for number in args.dumps.split("x"))
    culprit = random.Random(args.seed).randrange(world)
    with tempfile.TemporaryDirectory() as made:
        folder = recorder_dumps.large(Path(made), world, calls, culprit)
        size = sum(path.stat().st_size for path in folder.iterdir())
        begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([sys.executable, "-m", "doctor", "hang", str(folder), "-f", "json"], capture_output=True, text=True, check=False, cwd=HERE.parent)
        took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        told = json.loads(ran.stdout)
        processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        print(f"{world} ranks x {calls} calls, {size / 1e6:.0f} MB: {told['kind']} {told['ranks']} (culprit {culprit}), "
              f"{took:.1f} s, {processor:.1f} processor seconds, {after.ru_maxrss / 1024:.0f} MB")  # fmt: skip


def main() -> None:
    made = argparse.ArgumentParser()
    made.add_argument("--python", default=sys.executable)
    made.add_argument("--worlds", default="2,4,8")
    made.add_argument("--faults", default="")
    made.add_argument("--modes", default="stacks,both")
    made.add_argument("--seed", type=int, default=7)
    made.add_argument("--dumps", default="")
    made.add_argument("-v", "--verbose", action="store_true")
    args = made.parse_args()
    (dumps if args.dumps else real)(args)


if __name__ == "__main__":
    main()
