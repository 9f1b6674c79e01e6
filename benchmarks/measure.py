"""Running commands and telling what they cost: seconds of processor, seconds of wall clock, and the largest memory."""

from __future__ import annotations

import compileall
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    cpu: float
    wall: float
    rss: int  # bytes, of the process itself


def run(command: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Cost:
    """One run, output thrown away."""
    begin = time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env={**os.environ, **(env or {})}, cwd=cwd
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode < 0:
        raise RuntimeError(f"{command[0]} was killed by signal {-process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss << 10)


def paired(runs: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, list[Cost]]:
    """Every run once a round, so that a noisy machine disturbs all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in runs}
    for number in range(rounds):
        for name in list(runs) if number % 2 == 0 else list(runs)[::-1]:
            costs[name].append(runs[name]())
    return costs


def median(costs: Sequence[Cost], what: str = "cpu") -> float:
    return float(statistics.median(getattr(c, what) for c in costs))


def ratio(of: Sequence[Cost], to: Sequence[Cost], what: str = "cpu") -> float:
    """The median of the ratios of the rounds: how often `of` stands in `to`."""
    return float(statistics.median(getattr(b, what) / getattr(a, what) for a, b in zip(of, to, strict=True)))


def machine() -> str:
    """What this was measured on."""
    model = platform.machine()
    try:
        rows = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((r.partition(":")[2].strip() for r in rows if r.startswith("model name")), model)
    except OSError:
        pass
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left, figures to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def write_between(path: Path, name: str, text: str) -> bool:
    """Puts a text between the markers of a generated table; False when the markers are not there."""
    begin, end = f"<!-- table: {name} -->", "<!-- end -->"
    old = path.read_text(encoding="utf-8")
    at = old.find(begin)
    stop = old.find(end, at)
    if at < 0 or stop < 0:
        return False
    path.write_text(f"{old[: at + len(begin)]}\n{text}\n{old[stop:]}", encoding="utf-8")
    return True




@contextmanager
def installed() -> Iterator[Path]:
    """A folder with the program as a wheel installs it: the knowledge compiled, nothing to build at run time."""
    from kb.build import build
    from kb.layers import HERE, Layer

    with tempfile.TemporaryDirectory(prefix="npu-doctor-bench-") as name:
        place = Path(name)
        for room in ("doctor", "kb", "parsers"):
            shutil.copytree(HERE.parent / room, place / room, ignore=shutil.ignore_patterns("__pycache__", "entries"))
        pack, _ = build(Layer("built-in", HERE))
        target = place / "kb" / "_compiled" / "knowledge.pack"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(pack)
        compileall.compile_dir(place, quiet=1)
        yield place
