"""What a call names to what is asked: node sets, inventories, host files, rank tables to Targets. Reading files is all it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from doctor.base.errors import UsageError
from doctor.scan.rank_table import compact
from parsers import foreign_json
from parsers.foreign_json import ForeignJsonError
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet

MAX_FILE = 16 << 20
MAX_TARGETS = 200_000
NOT_INSTALLED = ("the engine of fleets, ClusterShell, is not installed", "pip install 'npu-doctor[fleet]'")


class Target(NamedTuple):
    """One node, pod or container: what it is called, and how it is reached where that differs."""

    name: str
    host: str = ""  # its address; empty: the name
    user: str = ""
    port: int | None = None
    key: str = ""  # file of the private key
    ranks: tuple[int, ...] = ()  # that are known to run there

    @property
    def address(self) -> str:
        return self.host or self.name


def unique(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Each name once, as it was first told, in order."""
    found: dict[str, Target] = {}
    for target in targets:
        found.setdefault(target.name, target)
        if len(found) > MAX_TARGETS:
            raise UsageError(f"more than {MAX_TARGETS} targets", "ask them in parts, and merge what comes of them")
    return tuple(found.values())


# --- node sets


def node_set(words: Sequence[str]) -> NodeSet:
    """The nodes of ClusterShell's expressions: node[001-128], @group, @slurm:partition."""
    try:
        from ClusterShell.NodeSet import NodeSet, NodeSetException, std_group_resolver
        from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError, UpcallGroupSource
    except ImportError:
        raise UsageError(*NOT_INSTALLED) from None
    why = "a group that is not known, or empty"
    found = NodeSet()
    try:
        resolver = std_group_resolver()
        if any("@slurm:" in word for word in words) and "slurm" not in resolver.sources():
            resolver.add_source(UpcallGroupSource("slurm", **SLURM))
        for word in words:
            found.update(NodeSet(word, resolver=resolver))
    except (NodeSetException, GroupResolverError, GroupSourceError, ValueError) as error:
        found, why = NodeSet(), str(error)
    if not found:
        raise UsageError(f"{' '.join(words)} names no nodes: {why}", "node[001-128], node1,node2, @group, @slurm:PARTITION; or -i INVENTORY")
    return found


# As ClusterShell's own example of a group source for Slurm: its packages install it, pip does not.
SLURM = {
    "map_upcall": 'sinfo -h -o "%N" -p $GROUP',
    "all_upcall": 'sinfo -h -o "%N"',
    "list_upcall": 'sinfo -h -o "%R"',
    "reverse_upcall": 'sinfo -h -N -o "%R" -n $NODE',
}


def of_words(words: Sequence[str]) -> tuple[Target, ...]:
    return unique(Target(name) for name in node_set(words))


# --- files


def text_of(path: str, what: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", f"name {what} that you may read") from None
    if len(data) > MAX_FILE:
        raise UsageError(f"{path} is larger than {MAX_FILE >> 20} MiB: it is not {what}")
    return data.decode("utf-8", "surrogateescape")


def of_hostfile(path: str) -> tuple[Target, ...]:
    """A host file of DeepSpeed (`worker-1 slots=8`), Open MPI or MPICH (`node1:8`). Slots tell ranks: they are counted through."""
    found: list[Target] = []
    first = 0
    for number, line in enumerate(text_of(path, "a host file").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, _, count = words[0].partition(":") if words[0].count(":") == 1 else (words[0], "", "")
        slots = next((w.partition("=")[2] for w in words[1:] if w.lower().startswith(("slots=", "slot="))), count)
        if (slots and not slots.isdigit()) or len(slots) > 6 or name.startswith("-"):
            raise UsageError(f"{path}:{number} is no line of a host file: {line.strip()[:80]}", "write NODE slots=8, or NODE:8, or NODE alone")
        ranks = tuple(range(first, first + int(slots or 0)))
        first += len(ranks)
        found.append(Target(name, ranks=ranks))
    if not found:
        raise UsageError(f"there is no node in {path}", "write NODE slots=8, or NODE:8, or NODE alone")
    return unique(found)


def of_rank_table(path: str) -> tuple[Target, ...]:
    """The servers of a rank table, with their ranks."""
    try:
        table = compact(foreign_json.read(text_of(path, "a rank table")))
    except ForeignJsonError:
        table = ""
    if not table:
        raise UsageError(f"{path} is no rank table", "give the JSON file that HCCL is given: RANK_TABLE_FILE names it")
    found = []
    for row in table.split(";"):
        server, _, devices = row.partition("=")
        found.append(Target(server, ranks=tuple(int(device.rpartition("/")[2]) for device in devices.split(","))))
    return unique(found)

