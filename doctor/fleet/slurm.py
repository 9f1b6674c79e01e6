"""Which nodes a job of Slurm has or had, and whether it still runs there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from doctor.base.errors import UsageError
from parsers.named import NamedTuple

Run = Callable[[Sequence[str]], tuple[int, str, str]]  # a command of this machine: its exit code, what it said, what it complained of
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING")


class Allocation(NamedTuple):
    """The nodes of a job, as Slurm writes them; `job`: within which a step can be started."""

    nodes: str
    job: str


def of_environment(environ: Mapping[str, str] = os.environ) -> Allocation | None:
    """The allocation that this shell stands in."""
    nodes, job = environ.get("SLURM_JOB_NODELIST", ""), environ.get("SLURM_JOB_ID", "")
    return Allocation(nodes, job) if nodes and job else None


def of_job(job: str, run: Run) -> Allocation:
    """The nodes of a job by its number: of one that runs, has just ended, or is in the accounts."""
    if not re.fullmatch(r"\d{1,12}(?:_\d{1,9})?(?:\+\d{1,4})?", job):
        raise UsageError(f"'{job}' is no number of a job", "squeue --me lists yours; npu-doctor fleet scan --job 4711")
    code, said, why = run(("scontrol", "--oneliner", "show", "job", job))
    if code == 0 and (found := shown(said)).nodes:
        return found
    code, said, _ = run(("sacct", "-n", "-X", "-P", "-j", job, "-o", "State,NodeList"))
    if code == 0 and (found := accounted(said)).nodes:
        return found
    raise UsageError(f"Slurm names no nodes of job {job}: {why.strip() or 'it has none'}", "name the nodes: npu-doctor fleet scan node[001-128] --via ssh")


def shown(said: str) -> Allocation:
    """Of `scontrol show job`."""
    state, nodes, job = (re.search(rf"(?:^|\s){name}=(\S+)", said) for name in ("JobState", "NodeList", "JobId"))
    named = nodes[1] if nodes and nodes[1] != "(null)" else ""
    return Allocation(named, job[1] if job and state and state[1] in RUNNING else "")


def accounted(said: str) -> Allocation:
    """Of `sacct -P -o State,NodeList`: jobs that have ended."""
    nodes = [row.partition("|")[2] for row in said.splitlines() if "|" in row]
    return Allocation(",".join(n for n in nodes if n and n != "None assigned"), "")
