"""What wrapping a training costs: `python -m benchmarks.wrapped [--rounds N]`.

Medians of paired rounds in processor time: a program that imports and enters `watching()` beside one that does not, and a
million events of the callback beside a million calls of an empty method.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.measure import installed, machine, median, paired, run, table

STEPS = 1_000_000
PLAIN = "import contextlib, traceback\n"
WRAPPED = PLAIN + "from doctor import watching\nwith watching(): pass\n"
EMPTY = f"class C:\n    def on_step_end(self, *_, **__): pass\nc = C()\nfor n in range({STEPS}): c.on_step_end(1, 2, 3, model=None)\n"
EVENTS = f"from doctor import WatchingCallback\nc = WatchingCallback(); c.on_train_begin()\nfor n in range({STEPS}): c.on_step_end(1, 2, 3, model=None)\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with installed() as place:
        runs = {name: (lambda code=code: run([sys.executable, "-c", code], cwd=place)) for name, code in (("nothing", PLAIN), ("watching()", WRAPPED), ("a million empty calls", EMPTY), ("a million events", EVENTS))}
        paired(runs, 1)  # bytecode is there from now on
        costs = paired(runs, rounds)
    cpu = {name: median(cost) * 1000 for name, cost in costs.items()}
    start = cpu["watching()"] - cpu["nothing"]
    step = (cpu["a million events"] - cpu["a million empty calls"] - start) * 1000 / STEPS
    print(f"{machine()}; medians of {rounds} paired rounds\n")
    print(table(("what", "ms of CPU", "goal"), [*((name, f"{ms:.1f}", "") for name, ms in cpu.items()), ("start of watching()", f"{start:.1f}", "10"), ("an event, microseconds more", f"{step:.2f}", "0")]))


if __name__ == "__main__":
    main()
