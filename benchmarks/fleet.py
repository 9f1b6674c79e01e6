"""What a fleet costs: `python -m benchmarks.fleet [--nodes 1250] [--bad 0.05] [--timeout 10] [--tree 36]`.

One job of 8 ranks a node is simulated and scanned once; then stand-in nodes (an `ssh` on PATH, a shell that answers what a node
would) are asked by the real command, with its real engine, conversation, files and merge. Of them some are down, some hang,
some break off in the middle, some send garbage and some do not stop sending.

What follows tells, from what was measured, what 100 000 ranks would take: what is linear (bytes, files, reading, memory of one
merge), what is not (nodes that hang hold a place of the fan-out for the whole time limit), and what merging in a tree saves.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from doctor.fleet.far import GRACE_S
from doctor.fleet.ways import CONNECT_S
from doctor.read import discover
from doctor.scan.harvest import Harvest, merge
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load
from tests.simulate.jobs import simulate

ROOT = Path(__file__).resolve().parent.parent
RANKS = 8
ITSELF = 45  # MiB of a command that has merged nothing
KINDS = ("down", "hung", "broken", "garbage", "flood")
# The nonce is the last word of the last word, the host the word before it.
SSH = """\
#!/bin/sh
for last; do :; done
eval "host=\\${{$(($# - 1))}}"
case "$host" in
  *-down) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255 ;;
  *-hung) exec sleep 100000 ;;
  *-flood) exec cat /dev/zero ;;
esac
exec sed "s/NONCE/${{last##* }}/" "{folder}/$host"
"""


class Cost(NamedTuple):
    """What one run took."""

    nodes: int
    seconds: float
    processor: float
    mib: int
    received: int
    bad: int
    merging: float


def answers(folder: Path, nodes: int, bad: float) -> list[str]:
    """Writes what every node says; their names, the bad ones by what is wrong with them."""
    job = simulate(1, nodes * RANKS, "oom")
    scanner = Scanner(Plan(load().sought()))
    parts: dict[str, list[Harvest]] = {}
    for name, text in job.files.items():
        node = next((p for p in name.split("/") if any(c.isdigit() for c in p)), "config")
        node = str(int(node[5:]) // RANKS) if node.startswith("rank_") else node
        parts.setdefault(node, []).append(scanner.scan(discover.given_text(text, name)))
    shuffle = random.Random(1)
    ill = set(shuffle.sample(range(len(parts)), int(bad * len(parts))))
    names = []
    for number, (_, harvests) in enumerate(sorted(parts.items())):
        kind = KINDS[number % len(KINDS)] if number in ill else ""
        name = f"node{number:04}" + (f"-{kind}" if kind else "")
        text = (json.dumps({"type": "harvest", **merge(harvests)._replace(machine=f"{number:x}").json()}, separators=(",", ":")) + "\n").encode()
        said = spoken(text)
        if kind == "broken":
            said = said[: len(said) // 2]
        elif kind == "garbage":
            said = shuffle.randbytes(40_000) + b"\n" + said.replace(b"data ", b"data AAAA")
        (folder / name).write_bytes(said)
        names.append(name)
    return names


def spoken(text: bytes) -> bytes:
    """A node's words for an answer."""
    packed, digest = base64.b64encode(zlib.compress(text)).decode(), hashlib.sha256(text).hexdigest()
    end = {"code": 0, "late": False, "size": len(text), "sha256": digest, "said": "", "seconds": 1}
    rows = ["here {}", *(f"data {packed[at : at + 43688]}" for at in range(0, len(packed), 43688)), f"end {json.dumps(end)}"]
    return "".join(f"npu-doctor-fleet NONCE {row}\n" for row in rows).encode()


def measure(folder: Path, names: list[str], timeout: float, fanout: int) -> Cost:
    """The real command on all of them."""
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text(SSH.format(folder=folder))
    (folder / "bin" / "ssh").chmod(0o755)
    (folder / "hostfile").write_text("".join(f"{name}\n" for name in names))
    call = ["fleet", "scan", "--hostfile", str(folder / "hostfile"), "--timeout", f"{timeout:g}", "--fanout", str(fanout), "--into", str(folder / "run"), "-o", str(folder / "report.json"), "--", "/logs"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "doctor", *call], capture_output=True, check=False, cwd=ROOT, env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
    )  # fmt: skip
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    outcomes = [json.loads(row) for row in (folder / "run" / "outcomes.jsonl").read_text().splitlines()]
    wrong = {row["name"] for row in outcomes if row["state"] != "scanned"} ^ {name for name in names if "-" in name}
    made = json.loads((folder / "report.json").read_text())
    assert len(outcomes) == len(names)
    assert not wrong, wrong
    assert len(made["skipped"]) >= min(500, sum("-" in name for name in names))
    print(done.stderr.decode())
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(len(names), seconds, processor, after.ru_maxrss >> 10, sum(row["received"] for row in outcomes if row["state"] == "scanned"), sum("-" in n for n in names), made["stats"]["seconds"])


def tree(folder: Path, group: int) -> tuple[float, int, int]:
    """Merging in two steps: processor seconds and memory of the largest step, and the bytes that reach the last one."""
    files = sorted(map(str, (folder / "run" / "nodes").glob("*.jsonl")))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    parts = []
    for number in range(0, len(files), group):
        parts.append(f"{folder}/part{number}.jsonl")
        subprocess.run([sys.executable, "-m", "doctor", "merge", *files[number : number + group], "-o", parts[-1]], check=False, cwd=ROOT, capture_output=True)
    subprocess.run([sys.executable, "-m", "doctor", "merge", *parts, "-o", str(folder / "tree.json")], check=False, cwd=ROOT, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    flat, of_tree = (json.loads((folder / name).read_text()) for name in ("report.json", "tree.json"))
    assert flat["findings"] == of_tree["findings"]
    assert flat["job"]["roots"] == of_tree["job"]["roots"]
    return after.ru_utime - before.ru_utime, len(parts), sum(Path(p).stat().st_size for p in parts)


def calculation(cost: Cost, timeout: float, fanout: int) -> str:
    """From what was measured to 100 000 ranks, in words."""
    nodes = 100_000 // RANKS
    factor = nodes / cost.nodes
    each = cost.received / max(1, cost.nodes - cost.bad)
    hung = nodes * 0.01
    waits = hung * (timeout + CONNECT_S + 2 * GRACE_S) / fanout
    return (
        f"100 000 ranks = {nodes} nodes x {RANKS}, {factor:.0f} times what was measured:\n"
        f"  over the line      {each * nodes / 1e6:8.0f} MB   {each / 1e3:.1f} kB a node: linear, and no bottleneck\n"
        f"  asking             {cost.processor * factor:8.0f} s    of a processor, linear: a process for each node, its answer checked and kept\n"
        f"  merging at once    {cost.merging * factor:8.0f} s    {max(0, cost.mib - ITSELF) * factor / 1024:.1f} GiB: linear in what nodes told; this is what a tree cuts\n"
        f"  1 % that hang      {waits:8.0f} s    in which they hold the fan-out of {fanout}: a fan-out of 256, or a shorter --timeout, divides it\n"
        "  in a tree: ask a rack at a time (npu-doctor fleet scan @rack7 -f jsonl -o rack7.jsonl, on a head of each rack), then\n"
        "  npu-doctor merge rack*.jsonl: every step holds one rack in memory, racks are merged side by side, and the answer is the same.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--bad", type=float, default=0.05)
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("--fanout", type=int, default=64)
    parser.add_argument("--tree", type=int, default=0, help="also merge in two steps, so many nodes in each of the first")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = answers(folder, args.nodes, args.bad)
        cost = measure(folder, names, args.timeout, args.fanout)
        print(f"{cost.nodes} nodes, {cost.nodes * RANKS} ranks, {cost.bad} bad: {cost.seconds:.1f} s ({cost.processor:.1f} s of a processor), {cost.mib} MiB, "
              f"{cost.received / max(1, cost.nodes - cost.bad) / 1e3:.1f} kB a node, fan-out {args.fanout}, merging {cost.merging:.1f} s")  # fmt: skip
        if args.tree:
            processor, parts, size = tree(folder, args.tree)
            print(f"in a tree of {parts}: {processor:.1f} s of a processor, {size / 1e6:.1f} MB reach the last step")
        print(calculation(cost, args.timeout, args.fanout))


if __name__ == "__main__":
    main()
