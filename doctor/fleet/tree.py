"""ClusterShell's tree: which nodes stand behind gateways, what gateways are sent, and how it goes with each node behind them."""

from __future__ import annotations

import io
import json
import os
import pkgutil
import platform
import shlex
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doctor.base.errors import UsageError
from doctor.fleet.outcome import FAILED, TIMED_OUT, UNREACHABLE, Outcome
from doctor.fleet.talk import GATEWAY_SCRIPT, MARK, MAX_GREETING, MAX_RECEIVED, Payload, Talk, last_words
from doctor.fleet.targets import NOT_INSTALLED, Target
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet
    from ClusterShell.Topology import TopologyTree

NONE = "none"
HELP = "ClusterShell's topology.conf: [routes], then THIS-HOST: GATEWAYS and GATEWAYS: NODES; --topology none asks every node directly"
SLACK_S = 30  # that a gateway may be silent beyond the time of a node


class Routes(NamedTuple):
    """The tree as seen from here, and the nodes that are reached through a gateway."""

    tree: TopologyTree
    behind: NodeSet
    gateways: int


class Behind(NamedTuple):
    """A node behind a gateway: the command that the gateway runs, and the conversation."""

    target: Target
    words: Sequence[str]
    nonce: str
    talk: Talk


class Through(NamedTuple):
    """The nodes behind gateways, the tree in which those stand, and what each gateway is sent."""

    behind: Sequence[Behind]
    routes: Routes
    reach: Sequence[str]  # the words before the name of a gateway
    python: str
    payload: Payload | None  # the program, where it may be sent


def routes(named: str) -> Routes | None:
    """The routes of a file, or of ClusterShell's own where there is one; nothing: no node stands behind a gateway."""
    if named == NONE:
        return None
    try:
        from ClusterShell.NodeSet import NodeSet, NodeSetException
        from ClusterShell.Task import Task, _getshorthostname
        from ClusterShell.Topology import TopologyError, TopologyParser
    except ImportError:
        raise UsageError(*NOT_INSTALLED) from None
    path = named or next((path for path in Task.TOPOLOGY_CONFIGS[::-1] if os.path.exists(path)), "")
    if not path:
        return None
    if not os.access(path, os.R_OK):
        raise UsageError(f"{path} tells no routes: it cannot be read", HELP)
    try:
        tree = TopologyParser(path).tree(_getshorthostname())
    except (TopologyError, NodeSetException, ValueError) as error:
        raise UsageError(f"{path} tells no routes: {error}", HELP) from None
    behind = NodeSet()
    for group in tree.root.children():
        for below in _below(group):
            behind.update(below.nodeset)
    return Routes(tree, behind, tree.inner_node_count() - len(tree.root.nodeset))


def leads_to(known: Routes, name: str) -> bool:
    """Whether a node stands behind a gateway; what is no name of a node stands nowhere."""
    from ClusterShell.NodeSet import NodeSetException

    try:
        return name in known.behind
    except NodeSetException:
        return False


def _below(group: Any) -> list[Any]:
    found = list(group.children() or ())
    return [*found, *(deeper for one in found for deeper in _below(one))]


def parcel(through: Through, seconds: float, environment: Mapping[str, str]) -> bytes:
    """What every gateway is sent: ClusterShell as it is here, our two files, and what nodes are told. Nothing of it is a file there."""
    import ClusterShell

    asked, payload = through.behind, through.payload
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        top = Path(str(ClusterShell.__file__)).parent
        for path in sorted(top.rglob("*.py")):
            archive.write(path, f"ClusterShell/{path.relative_to(top).as_posix()}")
        for name in ("gateway", "relay"):
            archive.writestr(f"npu_doctor_{name}.py", pkgutil.get_data("doctor.fleet", f"{name}.py") or b"")
        archive.writestr("gateways", json.dumps({"reach": list(through.reach), "remote": remote(through.python)}))
        archive.writestr("opening", asked[0].talk.opening().replace(asked[0].nonce.encode("ascii"), b"NONCE"))
        for machine in (platform.machine(), "") if payload else ():
            archive.writestr(zipfile.ZipInfo(f"program/{machine}"), payload(machine)[0] if payload else b"")
        for one in asked:
            order = {"words": list(one.words), "nonce": one.nonce, "seconds": seconds, "environment": dict(environment), "largest": MAX_RECEIVED, "greeting": MAX_GREETING}
            archive.writestr(f"node/{one.target.name}", json.dumps(order))
    return made.getvalue()


def remote(python: str) -> str:
    """What the shell of a gateway runs."""
    return shlex.join(["sh", "-c", GATEWAY_SCRIPT, "npu-doctor", python])


Done = Callable[[Target, Outcome], None]


def branch(asked: Sequence[Behind], command: str, quiet: float, done: Done, began: Callable[[Target], None]) -> Any:
    """The worker that hears all nodes behind gateways. `quiet`: seconds after which a gateway that says nothing is given up."""
    from ClusterShell.NodeSet import NodeSet
    from ClusterShell.Propagation import RouteResolvingError
    from ClusterShell.Worker.Tree import TreeWorker

    class Branch(TreeWorker):  # type: ignore[misc]
        """All of them in one: ClusterShell distributes them over their gateways."""

        def __init__(self) -> None:
            super().__init__(NodeSet.fromlist([one.target.name for one in asked]), handler=None, timeout=None, command=command, stderr=True, remote=False)
            self.left = {one.target.name: one for one in asked}
            self.since: dict[str, float] = {}
            self.late: set[str] = set()
            self.heard: dict[str, float] = {}  # of a gateway, when
            self.last: dict[str, bytes] = {}  # words of a gateway of its own
            self.why: dict[str, Outcome] = {}  # what became of a gateway is what becomes of its nodes

        def _on_remote_node_msgline(self, node: str, msg: bytes, sname: str, gateway: Any) -> None:
            self.heard[str(gateway)] = time.monotonic()
            one = self.left.get(node)
            if one is None:
                self.last[str(gateway)] = self.last.get(str(gateway), b"")[-2000:] + msg + b"\n"
            elif sname == self.SNAME_STDERR:
                one.talk.said(msg + b"\n")
            elif msg == MARK + one.nonce.encode("ascii") + b" asked":
                self.since[node] = time.monotonic()
                began(one.target)
            elif msg == MARK + one.nonce.encode("ascii") + b" late":
                self.late.add(node)
            else:
                one.talk.heard(msg + b"\n")

        def _on_remote_node_close(self, node: str, rc: int, gateway: Any) -> None:
            self.heard[str(gateway)] = time.monotonic()
            self.ended(node, self.why.get(str(gateway)), rc)
            super()._on_remote_node_close(node, rc, gateway)

        def ended(self, node: str, why: Outcome | None, code: int | None) -> None:
            one = self.left.pop(node, None)
            if one is not None:
                seconds = time.monotonic() - self.since.get(node, time.monotonic())
                done(one.target, why._replace(seconds=seconds) if why else one.talk.outcome(code, node in self.late, seconds))

        def _gateway_abort(self, gateway: str) -> None:
            self.why.setdefault(gateway, Outcome(UNREACHABLE, f"its gateway {gateway} broke off{self.words(gateway)}"))
            super()._gateway_abort(gateway)

        def _relaunch(self, previous_gateway: str) -> None:
            """Where another gateway leads to the same nodes, that is asked; else it is told why this one did not answer."""
            waiting = set(self.gwtargets[previous_gateway])
            try:
                super()._relaunch(previous_gateway)
            except RouteResolvingError:
                for node in waiting:
                    self.ended(node, Outcome(UNREACHABLE, f"its gateway {previous_gateway} does not answer{self.words(previous_gateway)}"), None)

        def words(self, gateway: str) -> str:
            told = last_words(self.last.get(gateway, b""))
            return f": {told}" if told else ""

        def look(self) -> None:
            """Gives gateways up that have said nothing for longer than any node may take."""
            now = time.monotonic()
            for gateway in list(self.gwtargets):
                if now - self.heard.setdefault(gateway, now) > quiet and gateway in self.task.gateways:
                    self.why[gateway] = Outcome(TIMED_OUT, f"its gateway {gateway} does not answer any more")
                    self.task.gateways[gateway][0].abort()

        def finish(self) -> None:
            for node in list(self.left):
                self.ended(node, Outcome(FAILED, "ClusterShell did not tell what became of it"), None)

    return Branch()
