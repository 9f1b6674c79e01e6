"""How many processes a command makes on the node where it is given; None where it does not say so.

A number that counts over several nodes, or over ranks that other commands start, is no number of this node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SERVICES = ("vllm", "sglang", "lmdeploy", "llm")
# How many processes the other ones make is told by a variable.
BY_VARIABLE = {"swift": "NPROC_PER_NODE", "llamafactory": "NPROC_PER_NODE"}
# With one of these a service runs on several nodes, or each command starts some of its ranks.
_SPREAD = frozenset({"headless", "data-parallel-size-local", "data-parallel-address", "data-parallel-rank", "data-parallel-start-rank", "data-parallel-hybrid-lb"})
_BY_RAY = ("distributed-executor-backend", "data-parallel-backend")  # Ray lays workers on whichever nodes have NPUs left
_RAY = frozenset({"worker-use-ray", "engine-use-ray", "use-ray"})
_HOSTS = frozenset({"host", "H", "hosts", "hostfile", "machinefile", "f"})  # of mpirun


def made_here(kind: str, counts: Sequence[str], given: Mapping[str, str], env: Mapping[str, str], loads: bool) -> int | None:
    """Of a command of this kind, its options and variables; `counts`: the options that number its processes, `loads`: it names a model."""
    if variable := BY_VARIABLE.get(kind):
        return number(env.get(variable, ""))
    if kind == "deepspeed" and (chosen := given.get("include")) and "@" not in chosen:
        return len(chosen.partition(":")[2].split(","))
    found = [n for name in counts if (n := number(given.get(name, ""))) is not None]
    if not found:
        return 1 if kind in SERVICES and loads else None
    if kind not in SERVICES:
        return _of_launcher(kind, found[0], given)
    if not _SPREAD.isdisjoint(given) or not _RAY.isdisjoint(given) or any(given.get(name) == "ray" for name in _BY_RAY):
        return None
    if kind == "lmdeploy" and given.get("dp") not in (None, "1"):
        return None
    made = 1
    for n in found:
        made *= n
    return _share(made, given.get("nnodes", ""))


def _of_launcher(kind: str, count: int, given: Mapping[str, str]) -> int | None:
    if kind == "mpirun" and not _HOSTS.isdisjoint(given):
        return None
    if kind == "msrun" and "local-worker-num" not in given:
        return None  # all workers; how many of them start here is left to its default
    return _share(count, given.get("num-machines", ""))


def _share(count: int, nodes: str) -> int | None:
    several = number(nodes) or 1
    return count // several if count % several == 0 else None


def number(text: str) -> int | None:
    """A whole number, as an option writes it."""
    sign = text.startswith("-")
    return int(text) if text[sign:].isdecimal() and text.isascii() and len(text) <= 6 + sign else None
