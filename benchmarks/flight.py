"""Our reading of Flight Recorder dumps beside PyTorch's own: `python -m benchmarks.flight --python PYTHON_WITH_TORCH [--jobs 100] [--seed 7]`.

Dumps of drawn jobs, in which ranks are away, make another call, give another shape or type, or nothing is wrong, are read by
`torch.distributed.flight_recorder` and by `npu-doctor`. Both must name the same call, the same kind of difference and part the
ranks alike. PyTorch's analyser takes the rank with which it begins for right, here the larger number is: when it begins with an odd
one, it names all others. What only one of the two can say is not asked: that all are there, that a dump is missing, who waits for whom across groups.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from simulate import recorder_dumps as made  # noqa: E402
from simulate.recorder_dumps import dump, entry  # noqa: E402

from doctor.hang import collectives  # noqa: E402
from doctor.hang.verdict import Kind, Verdict  # noqa: E402
from parsers import flight  # noqa: E402

KINDS = ("away", "op", "size", "dtype", "nothing")
PREFIX = "trace_rank_"
ASK = """
import io, logging, sys
from torch.distributed.flight_recorder import fr_trace
handlers = [one for made in logging.root.manager.loggerDict.values() for one in getattr(made, "handlers", ()) if isinstance(one, logging.StreamHandler)]
for folder in sys.stdin.read().split():
    said = io.StringIO()
    for one in handlers:
        one.setStream(said)
    sys.argv = ["torchfrtrace", folder, "-p", "%s"]
    fr_trace.main()
    print(said.getvalue(), end=chr(0), flush=True)
"""
_MISSING = re.compile(r"Not all ranks joining collective, sequence number: (\d+).*?missing ranks: \{([\d, ]+)\}", re.DOTALL)
_ERRORS = re.compile(r"Collective sequence number: (\d+) has errors.*?error msg: ([^\n]+)", re.DOTALL)
_CULPRIT = re.compile(r"Culprit rank (\d+); Error type: (\w+)")
_TYPES = {"COLLECTIVE_TYPE_MISMATCH": "op", "SIZE_OR_SYNTAX_MISMATCH": "size", "COLLECTIVE_DTYPE_MISMATCH": "dtype"}


class Said(NamedTuple):
    """What is wrong, in which call, and whose fault it is."""

    kind: str
    number: int
    ranks: frozenset[int]


class Job(NamedTuple):
    world: int
    true: Said
    dumps: dict[int, dict[str, Any]]


def draw(rng: random.Random) -> Job:
    """A job of some ranks, whose rings begin at different calls."""
    world, last, kind = rng.randrange(2, 9), rng.randrange(5, 30), rng.choice(KINDS)
    odd = frozenset(rng.sample(range(world), rng.randrange(1, max(2, (world + 1) // 2)))) if kind != "nothing" else frozenset[int]()
    dumps = {}
    for rank in range(world):
        own = [entry(number) for number in range(rng.randrange(1, 5), last)]
        if kind == "nothing":
            own.append(entry(last))
        elif rank not in odd:
            own.append(entry(last, state="started"))
        elif kind != "away":
            other: dict[str, Any] = {"op": {"op": "broadcast"}, "size": {"sizes": ((77,),)}, "dtype": {"dtype": "Float"}}[kind]
            own.append(entry(last, state="started", **other))
        dumps[rank] = dump(own, {"0": range(world)})
    return Job(world, Said(kind, last if odd else 0, odd), dumps)


def ours(job: Job) -> Said:
    verdict = collectives.decide({rank: flight.flight(flight.pickled(made.torch_pickled(value)), rank) for rank, value in job.dumps.items()})
    number = re.search(r"no\. (\d+)", verdict.call)
    return Said(_kind(verdict), int(number[1]) if number else 0, frozenset(verdict.ranks))


def _kind(verdict: Verdict) -> str:
    if verdict.kind is Kind.MISMATCH:
        return verdict.reasons[0].word.partition("parted-")[2]
    return {Kind.AWAY: "away", Kind.NONE: "nothing"}.get(verdict.kind, verdict.kind.value)


def theirs(text: str) -> Said:
    if found := _MISSING.search(text):
        return Said("away", int(found[1]), frozenset(map(int, found[2].split(","))))
    if found := _ERRORS.search(text):
        culprits = _CULPRIT.findall(found[2])
        return Said(_TYPES.get(culprits[0][1], culprits[0][1]), int(found[1]), frozenset(int(rank) for rank, _ in culprits))
    return Said("nothing", 0, frozenset())


def alike(job: Job, one: Said, other: Said) -> bool:
    others = frozenset(range(job.world)) - one.ranks if one.kind in ("op", "size", "dtype") else one.ranks
    return one[:2] == other[:2] and other.ranks in (one.ranks, others)


def compared(python: str, jobs: list[Job]) -> list[tuple[Job, Said, Said]]:
    """Each job, and what both say of it."""
    with tempfile.TemporaryDirectory() as folder:
        places = [made.write(Path(folder) / str(number), job.dumps, PREFIX) for number, job in enumerate(jobs)]
        asked = subprocess.run([python, "-c", ASK % PREFIX], input="\n".join(map(str, places)), capture_output=True, text=True, check=True)
    return [(job, ours(job), theirs(text)) for job, text in zip(jobs, asked.stdout.split("\0"), strict=False)]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--jobs", type=int, default=100)
    options.add_argument("--seed", type=int, default=7)
    args = options.parse_args()
    rng = random.Random(args.seed)
    rows = compared(args.python, [draw(rng) for _ in range(args.jobs)])
    for job, one, other in rows:
        if not alike(job, one, other):
            print(f"world {job.world}, drawn {job.true}: here {one}, there {other}")
    same = sum(alike(*row) for row in rows)
    right = sum(one == job.true or (job.world == 2 and one[:2] == job.true[:2]) for job, one, _ in rows)
    print(f"{same} of {len(rows)} alike; here {right} as drawn")
    return 0 if same == len(rows) == args.jobs else 1


if __name__ == "__main__":
    sys.exit(main())
