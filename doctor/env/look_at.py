"""One look at one machine: everything that is gathered, put together."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from doctor.base.errors import UsageError
from doctor.env import ascend, chips, container_spec, fits, host, network, packages, variables
from doctor.env.facts import Fact, Machine, table
from doctor.env.looking import Look
from doctor.env.outputs import FOLDERS, Live, Outputs, Recorded
from doctor.env.tree import Folder, Tree
from kb.knowledge import Knowledge
from parsers.named import NamedTuple

TOOLS = ("/usr/local/bin", "/usr/local/sbin", "/usr/local/Ascend/driver/tools")
_RECORDED_VARIABLES = ("env", "printenv", "environ", "export")


class Asked(NamedTuple):
    """What a call asks for."""

    root: str = "/"
    outputs: str = ""
    python: str = ""
    pid: int | None = None
    network: bool = False
    commands: bool = True  # may commands of the machine be run?


def machine(asked: Asked, known: Knowledge, environ: Mapping[str, str] = os.environ) -> Machine:
    """The facts of a machine, and the verdict on what belongs together."""
    begin = time.perf_counter()
    tree = open_tree(asked.root)
    outputs = _outputs(tree, asked.outputs, environ) if asked.commands else Outputs()
    told, told_by = _variables(tree, outputs, asked.pid, environ)
    python = os.path.abspath(asked.python) if asked.python and tree.live else asked.python
    look = Look(tree, outputs, told, told_by, python, asked.network)
    if python and not (tree.kind(python) and packages.sites(tree, packages.environment(look)[0])):
        raise UsageError(f"--python: there is no Python environment at {asked.python}", "give the folder of an environment or its bin/python")
    found = table(_all(look, known))
    found.update(table(fits.gather(found, known.compat())))
    found.update(table(container_spec.gather({n: f.value for n, f in found.items()})))
    found.update(table(_devices(found)))
    return Machine(found, tree.skipped, tree.name, time.perf_counter() - begin)


def _all(look: Look, known: Knowledge) -> Iterator[Fact]:
    """What takes time on the machine goes first, and the rest is read meanwhile."""
    variables_known = variables.Known({name: known.variable(name) or {} for name in known.variables()})
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(lambda: (*_guarded(look, "npu-smi", chips.gather(look)), *_guarded(look, "hccn_tool", network.gather(look))))
        yield from _guarded(look, "/usr/local/Ascend", ascend.gather(look))
        yield from _guarded(look, "site-packages", packages.gather(look))
        yield from _guarded(look, "/proc", host.gather(look))
        yield from _guarded(look, look.variables_from, variables.gather(look, variables_known))
        yield from slow.result()


def _guarded(look: Look, about: str, told: Iterator[Fact]) -> Iterator[Fact]:
    """What was told until something went wrong that nobody foresaw: one odd file must not hide the rest of the machine."""
    try:
        yield from told
    except Exception as error:  # noqa: BLE001 - the boundary of one area; what happened is told
        look.tree.note(about, f"could not be looked at to the end: {type(error).__name__}: {error}")


def _devices(found: Mapping[str, Fact]) -> Iterator[Fact]:
    """What the variables ask for against what is there."""
    highest, count = found.get("variables.highest_device"), found.get("chips.count") or found.get("device.count")
    if highest is not None and count is not None and count.value.isdigit() and int(count.value):
        fitting = "within" if int(highest.value) < int(count.value) else f"{highest.value} of {count.value}"
        yield Fact("variables.visible_within", fitting, highest.path, 1, highest.text)
    nodes, cards = found.get("device.count"), found.get("chips.count")
    if nodes is not None and cards is not None and nodes.value != "0":
        yield Fact("device.agree", "yes" if nodes.value == cards.value else f"{nodes.value} and {cards.value}", nodes.path)
    bus = found.get("pci.npus")
    if bus is not None and bus.value != "0" and cards is not None:
        fewer = int(cards.value) < int(bus.value)
        yield Fact("chips.all_seen", f"{cards.value} of {bus.value}" if fewer else "yes", cards.path)


def open_tree(root: str) -> Tree:
    """The tree of a folder or an archive."""
    if not os.path.exists(root):
        raise UsageError(f"--root: there is no folder or archive '{root}'", "give the folder that holds etc, usr, proc of a machine, or an archive of it")
    if os.path.isdir(root):
        return Folder(_inner(root))
    from doctor.env import archive

    return archive.read(root)


def _inner(root: str) -> str:
    """A report that was unpacked has one folder of its own around the tree."""
    try:
        names = [n for n in os.listdir(root) if not n.startswith(".")]
    except OSError as error:
        raise UsageError(f"--root: cannot list {root}: {error.strerror}", "give a folder that you may read") from None
    inside = os.path.join(root, names[0]) if len(names) == 1 else ""
    return inside if inside and os.path.isdir(os.path.join(inside, "etc")) else root


def _outputs(tree: Tree, folder: str, environ: Mapping[str, str]) -> Outputs:
    if folder:
        if not os.path.isdir(folder):
            raise UsageError(f"--outputs: there is no folder '{folder}'", "give the folder with npu-smi_info.txt and the like")
        return Recorded(Folder(os.path.abspath(folder)), ("/",))
    return Live(folders=TOOLS, environ=environ) if tree.live else Recorded(tree, FOLDERS)


def _variables(tree: Tree, outputs: Outputs, pid: int | None, environ: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """The variables of a process, of this shell, or those that were recorded."""
    if pid is not None:
        path, processes = f"/proc/{pid}/environ", Folder("/")
        text = processes.text(path)
        if text is None:
            why = next((s.reason for s in processes.skipped if s.path == path), "there is no such process")
            raise UsageError(f"--pid {pid}: {why}", "the variables of a process are its owner's and root's to read: try it as that user")
        return variables.read(text), f"process {pid}"
    if tree.live:
        return environ, "this shell"
    for name in _RECORDED_VARIABLES:
        said = outputs.ask((name,))
        if said.known:
            return variables.read(said.text), said.path
    text = tree.text("/proc/1/environ")
    return (variables.read(text), "/proc/1/environ") if text else ({}, "")

