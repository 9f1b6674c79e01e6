"""What a look at a machine and a comparison of many cost: `python -m benchmarks.environment [--nodes N] [--rounds N]`.

Medians of paired rounds of whole processes beside a Python that does nothing, in seconds of processor time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Cost, installed, machine, median, paired, run, table

GOALS = {"env of this machine": 1.0, "env of a tree": 1.0, "env diff of all nodes": 5.0}
TOOL = [sys.executable, "-m", "doctor"]
TREE = Path(__file__).resolve().parent.parent / "tests" / "data" / "env" / "torch-replaced"


def fleet(place: Path, made: dict[str, object], count: int) -> None:
    """As many nodes as a large cluster has: most are the same, some are odd in one thing, a few in several."""
    environment = made["environment"]
    assert isinstance(environment, dict)
    for number in range(count):
        facts = dict(environment["facts"])
        facts["machine.host"] = f"node{number:04}"
        facts["chip.0.temp"] = str(30 + number % 25)
        if number % 97 == 0:
            facts["driver.version"] = "24.1.rc2"
        if number % 41 == 0:
            facts[f"chip.{number % 8}.health"] = "Warning"
        if number % 211 == 0:
            facts["variable.HCCL_CONNECT_TIMEOUT"] = str(number)
        (place / f"node{number:04}.json").write_text(json.dumps({**made, "environment": {**environment, "facts": facts}}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with installed() as program, tempfile.TemporaryDirectory() as folder:
        nodes = Path(folder)
        done = subprocess.run([*TOOL, "env", "--root", str(TREE), "-f", "json"], capture_output=True, text=True, check=False, cwd=program)
        fleet(nodes, json.loads(done.stdout), options.nodes)
        costs = measure(program, nodes, options.rounds)
    rows = [(name, f"{median(c):.2f}", f"{median(c, 'wall'):.2f}", f"{GOALS[name]:.1f}" if name in GOALS else "") for name, c in costs.items()]
    print(f"{machine()}; {options.nodes} nodes; medians of {options.rounds} paired rounds, whole processes.\n")
    print(table(("what", "processor, s", "wall, s", "goal, s"), rows))


def measure(program: Path, nodes: Path, rounds: int) -> dict[str, list[Cost]]:
    return paired(
        {
            "a Python that does nothing": lambda: run([sys.executable, "-c", "pass"], cwd=program),
            "env of this machine": lambda: run([*TOOL, "env", "-f", "json"], cwd=program),
            "env of a tree": lambda: run([*TOOL, "env", "--root", str(TREE), "-f", "json"], cwd=program),
            "env diff of all nodes": lambda: run([*TOOL, "env", "diff", str(nodes)], cwd=program),
        },
        rounds,
    )


if __name__ == "__main__":
    main()
