"""Where machines differ: fact by fact, folded into groups of machines, what matters first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from doctor.base.errors import UsageError
from doctor.base.notation import clean
from parsers import foreign_json
from parsers.foreign_json import ForeignJsonError
from parsers.named import NamedTuple

MAX_FILE = 8 << 20
MAX_NODES = 20_000
# What differs by its nature, and what only follows from other facts.
_NATURE = re.compile(
    r"^chip\.\d+\.(?:temp|hbm_percent|has_process)$|^machine\.host$|^network\.\d+\.(?:address|ip|gateway|netdetect)$|^pci\.family$"
    r"|^variable\.(?:HCCL_IF_IP|HOST_IP|LOCAL_IP|NODE_IP|\w*RANK\w*|MASTER_\w+|POD_\w+|\w*HOSTNAME\w*|\w*_HOST)$"
)
_DERIVED = ("fits.", "wanted.", "source.", "container.missing")
_ORDER = (
    "driver.version", "firmware.version", "driver.", "firmware.", "cann.version", "cann.", "kernels.", "nnal.", "mindie.", "chips.", "chip.", "npu_smi.",
    "pci.", "python.torch_npu", "python.torch", "python.vllm", "python.mindspore", "python.version", "python.", "device.", "container.", "variables.",
    "variable.", "network.", "limit.", "shm.", "user.", "host.", "machine.",
)  # fmt: skip


class Node(NamedTuple):
    """A machine as it was written down."""

    name: str
    facts: Mapping[str, str]


class Difference(NamedTuple):
    """A fact that is not the same everywhere: its values with the machines that have them, the rarest first; facts that go with it."""

    fact: str
    values: tuple[tuple[str, tuple[str, ...]], ...]  # the value (empty: the machine has no such fact), names of machines
    beside: tuple[str, ...]


def read(paths: Iterable[str]) -> list[Node]:
    """The machines of files that `npu-doctor env -o NODE.json` wrote; a folder stands for the files in it."""
    files = [file for path in paths for file in (sorted(Path(path).glob("*.json")) if Path(path).is_dir() else [Path(path)])]
    if len(files) > MAX_NODES:
        raise UsageError(f"more than {MAX_NODES} machines", "compare them in parts")
    found = [_read(file) for file in files]
    hosts = Counter(facts.get("machine.host", "") for _, facts in found)
    return [Node(_name(file, facts, hosts), facts) for file, facts in found]


def _name(file: str, facts: Mapping[str, str], hosts: Mapping[str, int]) -> str:
    host = facts.get("machine.host", "")
    return host if host and hosts[host] == 1 else clean(file)


def _read(path: Path) -> tuple[str, Mapping[str, str]]:
    help_ = "give files that `npu-doctor env -o NODE.json` wrote"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise UsageError(f"{path} is larger than {MAX_FILE >> 20} MiB: no such report is", help_)
        made = foreign_json.read(data)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", help_) from None
    except ForeignJsonError:
        raise UsageError(f"{path} is no JSON, or more of it than is read", help_) from None
    environment = made.get("environment") if isinstance(made, dict) else None
    facts = environment.get("facts") if isinstance(environment, dict) else None
    if not isinstance(facts, dict):
        raise UsageError(f"{path} is no report on a machine", help_)
    return path.stem, {clean(str(n)): clean(str(v)) for n, v in facts.items() if isinstance(v, str)}


def differences(nodes: Sequence[Node], everything: bool = False) -> tuple[Difference, ...]:
    """All differences; facts that part the machines in the same way stand together."""
    names = dict.fromkeys(name for node in nodes for name in node.facts)
    folded: dict[tuple[int, ...], list[str]] = {}
    for name in sorted(names, key=_rank):
        if name.startswith(_DERIVED) or (not everything and _NATURE.search(name)):
            continue
        numbers: dict[str, int] = {}
        parted = tuple(numbers.setdefault(node.facts.get(name, ""), len(numbers)) for node in nodes)
        if len(numbers) > 1:
            folded.setdefault(parted, []).append(name)
    return tuple(_difference(same, nodes) for same in folded.values())


def _difference(names: Sequence[str], nodes: Sequence[Node]) -> Difference:
    first, *beside = names
    values: dict[str, list[str]] = {}
    for node in nodes:
        values.setdefault(node.facts.get(first, ""), []).append(node.name)
    rows = sorted(values.items(), key=lambda row: (len(row[1]), row[0]))
    return Difference(first, tuple((value, tuple(who)) for value, who in rows), tuple(beside))


def _rank(name: str) -> tuple[int, str]:
    return next((n for n, prefix in enumerate(_ORDER) if name.startswith(prefix)), len(_ORDER)), name


def as_json(nodes: Sequence[Node], rows: Sequence[Difference]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "machines": [node.name for node in nodes],
        "differences": [{"fact": r.fact, "values": [{"value": v or None, "machines": list(who)} for v, who in r.values], "beside": list(r.beside)} for r in rows],
    }
