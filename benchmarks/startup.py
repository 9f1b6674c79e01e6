"""What a cold command costs: `python -m benchmarks.startup [--rounds N]`.

Medians of paired rounds of whole processes, next to a Python that does nothing; and what loading the knowledge takes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Cost, installed, machine, median, paired, run, table

NOTHING = "python -c pass"
GOALS = {"--help": 40, "traceback of 200 lines on stdin": 120, "explain 507018": 100, "mcp, until its tools are listed": 1500}  # ms more than nothing takes
TRACEBACK = "".join(
    ["Traceback (most recent call last):\n"]
    + [f'  File "/opt/train/step_{n}.py", line {n + 7}, in forward\n    return self.layer_{n}(hidden)\n' for n in range(98)]
    + [
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.11 GiB already allocated; "
        "58.11 GiB current active; 500.00 MiB free; 59.02 GiB reserved in total by PyTorch)\n",
        "[ERROR] 2026-03-01-10:00:00 (PID:4242, Device:0, RankID:-1) ERR00100 PTA call acl api failed\n",
    ]
)
# What a client says until it knows the tools; the server ends with its standard input.
LISTED = b"".join(
    f'{{"jsonrpc":"2.0",{row}}}\n'.encode()
    for row in (
        '"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"benchmark","version":"1"}}',
        '"method":"notifications/initialized"',
        '"id":2,"method":"tools/list"',
    )
)
LOAD = (
    "import time; b = time.perf_counter()\n"
    "from kb.knowledge import load\n"
    "m = time.perf_counter(); k = load(); n = len(k.signals()); k.decode('507018'); print((time.perf_counter() - m) * 1000)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with installed() as place:
        costs, loads = measure(place, options.rounds)
    least = median(costs[NOTHING])
    rows = [
        (name, f"{median(c, 'wall') * 1000:.0f}", f"{median(c) * 1000:.0f}", f"{(median(c) - least) * 1000:.0f}", str(GOALS.get(name, "")))
        for name, c in costs.items()
    ]
    rows.append(("load all knowledge", f"{statistics.median(loads):.0f}", "", "", ""))
    print(f"{machine()}; medians of {options.rounds} paired rounds\n")
    print(table(("cold command", "ms", "ms of CPU", "more than Python alone", "goal"), rows))


def measure(place: Path, rounds: int) -> tuple[dict[str, list[Cost]], list[float]]:
    tool = [sys.executable, "-m", "doctor"]
    runs = {
        NOTHING: lambda: run([sys.executable, "-c", "pass"], cwd=place),
        "--help": lambda: run([*tool, "--help"], cwd=place),
        "traceback of 200 lines on stdin": lambda: run(tool, TRACEBACK.encode(), cwd=place),
        "explain 507018": lambda: run([*tool, "explain", "507018"], cwd=place),
        "mcp, until its tools are listed": lambda: run([*tool, "mcp", "--root", "."], LISTED, cwd=place),
    }
    paired(runs, 1)  # bytecode is there from now on
    costs = paired(runs, rounds)
    loads = [
        float(subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True, cwd=place).stdout)
        for _ in range(rounds)
    ]
    return costs, loads


if __name__ == "__main__":
    main()
