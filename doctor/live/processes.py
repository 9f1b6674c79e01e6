"""Which processes of this host are ranks of a job, and what /proc says about each."""

from __future__ import annotations

from pathlib import Path

from parsers.named import NamedTuple

PROC = Path("/proc")
MAX_ENVIRONMENT = 1 << 20
_NO_RANK = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "mpirun", "deepspeed.launcher")


class Process(NamedTuple):
    """A process, as /proc tells it. `state` is `gone` when there is none of this number."""

    pid: int
    rank: int | None
    world: int | None
    local_world: int | None
    command: str
    state: str
    parent: int
    job: str = ""  # address and port where the ranks of a job meet


def one(pid: int, root: Path = PROC) -> Process:
    """What can be told of a process; of a foreign one little."""
    folder = root / str(pid)
    try:
        status = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Process(pid, None, None, None, "", "gone", 0)
    state, parent = [*status.rpartition(")")[2].split(), "", "0"][:2]
    variables = _variables(folder)
    job = f"{variables.get('MASTER_ADDR', '')}:{variables.get('MASTER_PORT', '')}" if "MASTER_PORT" in variables else ""
    return Process(
        pid, _number(variables.get("RANK")), _number(variables.get("WORLD_SIZE")), _number(variables.get("LOCAL_WORLD_SIZE")),
        _command(folder), state, int(parent) if parent.isdigit() else 0, job,
    )  # fmt: skip


def ranks(root: Path = PROC) -> tuple[Process, ...]:
    """The processes of this host that say which rank they are; of a rank's own children (data loaders), none."""
    try:
        pids = [int(name.name) for name in root.iterdir() if name.name.isdigit()]
    except OSError:
        return ()
    found = {}
    for pid in sorted(pids):
        process = one(pid, root)
        if process.rank is not None and process.state != "gone" and process.command and not any(word in process.command for word in _NO_RANK):
            found[pid] = process
    return tuple(p for p in found.values() if not _is_child_of_rank(p, found))


def _is_child_of_rank(process: Process, found: dict[int, Process]) -> bool:
    parent = found.get(process.parent)
    return parent is not None and parent.rank == process.rank



def _variables(folder: Path) -> dict[str, str]:
    try:
        with open(folder / "environ", "rb") as file:
            data = file.read(MAX_ENVIRONMENT)
    except OSError:
        return {}
    wanted = (b"RANK=", b"WORLD_SIZE=", b"LOCAL_WORLD_SIZE=", b"MASTER_ADDR=", b"MASTER_PORT=")
    pairs = (part.decode("utf-8", "replace").partition("=") for part in data.split(b"\0") if part.startswith(wanted))
    return {name: value for name, _, value in pairs}


def _command(folder: Path) -> str:
    try:
        with open(folder / "cmdline", "rb") as file:
            return file.read(4096).replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _number(written: str | None) -> int | None:
    return int(written) if written and written.isascii() and written.isdigit() and len(written) < 8 else None


def switches(pid: int, root: Path = PROC) -> int | None:
    """How often the main thread has gone to sleep by itself: of one that stands in a single wait this does not grow."""
    try:
        with open(root / str(pid) / "task" / str(pid) / "status", encoding="ascii", errors="replace") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches")), None)
    except (OSError, ValueError, IndexError):
        return None
