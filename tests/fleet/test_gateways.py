"""`fleet scan` through gateways, real sshd's: ClusterShell's tree, and a jump host of the user's own ssh; both say what a direct scan says."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests_support import HANG_S

from tests.fleet.conftest import (
    ADDRESS,
    FIRST,
    ROOT,
    Ended,
    Nodes,
    begun,
    fleet,
    interrupted,
    merged_by_hand,
    of_node,
    report,
    split_job,
    start,
    stuck,
    until,
    written,
)

pytestmark = pytest.mark.slow

GATE, SECOND, GOOD, ALSO, HANGING, LOUD = (ADDRESS.format(FIRST + 20 + n) for n in range(6))
DOWN = ADDRESS.format(FIRST + 29)
BEHIND = (GOOD, ALSO, HANGING, LOUD)
ROUTES = f"[routes]\n{socket.gethostname().partition('.')[0]}: {{}}\n{{}}: {','.join(BEHIND)}\n"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two gateways; behind them two nodes of a job, one that hangs, one that does not stop talking. From here nobody gets to those."""
    folder = tmp_path_factory.mktemp("gateways")
    folder.chmod(0o755)
    stuck(folder, HANGING)
    (folder / f"sshd-more-{LOUD}").write_text("ForceCommand cat /dev/zero\n")
    for gate in (GATE, SECOND):
        (folder / f"setup-{gate}.sh").write_text(f"mount --bind {folder}/inside {folder}/config\n")
    split_job(folder, (GOOD, ALSO))
    (folder / "inside").touch()
    (folder / "config").touch()
    for made in start(folder, 6, FIRST + 20):
        (folder / "inside").write_text(made.config.read_text())
        made.config.write_text(f"Host {' '.join(BEHIND)}\n  Port 1\n" + made.config.read_text())
        (folder / "topology.conf").write_text(ROUTES.format(GATE, GATE))
        yield made


def scan(nodes: Nodes, place: Path, *words: str, path: str = "") -> Ended:
    return fleet("fleet", "scan", *words, *nodes.options, "--into", str(place / "run"), "-o", str(place / "r.json"), "--", path or str(nodes.logs))


def states(place: Path) -> dict[str, str]:
    return {row["name"]: row["state"] for row in map(json.loads, (place / "run" / "outcomes.jsonl").read_text().splitlines())}


def test_through_a_gateway(nodes: Nodes, tmp_path: Path) -> None:
    """Where nobody but the gateway gets to the nodes: the same as `merge` of their files, and as a scan over a jump host. Nothing stays on any."""
    there = tmp_path / "tree"
    there.mkdir()
    done = scan(nodes, there, f"{GOOD},{ALSO}", "--topology", str(nodes.folder / "topology.conf"))
    assert "2 of them through 1 gateways" in done.err
    assert states(there) == {GOOD: "scanned", ALSO: "scanned"}, done.err
    made = report(there / "r.json")
    assert made["job"]["processes"] == 16
    assert merged_by_hand(there / "run") == written(there / "r.json")
    jump = tmp_path / "jump"
    jump.mkdir()
    done = fleet("fleet", "scan", f"{GOOD},{ALSO}", "--option=-F", f"--option={nodes.folder}/inside", "--option=-J", f"--option={GATE}", "-o", str(jump / "r.json"), "--", str(nodes.logs))
    assert written(jump / "r.json") == written(there / "r.json"), done.err
    assert not nodes.left()
    until(lambda: all(len(of_node(server)) == 1 for name, server in nodes.servers.items() if name != HANGING))


def test_who_is_hung_or_loud_behind_a_gateway(nodes: Nodes, tmp_path: Path) -> None:
    """Each costs only itself, and has its word; a gateway that is down is passed by where another leads to the same nodes."""
    (tmp_path / "topology.conf").write_text(ROUTES.format(f"{DOWN},{SECOND}", f"{DOWN},{SECOND}"))
    done = scan(nodes, tmp_path, f"{GOOD},{ALSO},{LOUD}", "--topology", str(tmp_path / "topology.conf"))
    assert states(tmp_path) == {GOOD: "scanned", ALSO: "scanned", LOUD: "failed"}, done.err
    assert "it sent more than 4.0 MiB: cut off" in done.err
    hung = tmp_path / "hung"
    hung.mkdir()
    done = scan(nodes, hung, HANGING, "--topology", str(tmp_path / "topology.conf"), "--timeout", "1")
    assert states(hung) == {HANGING: "timed out"}, done.err
    until(lambda: not nodes.left(HANGING))


def test_a_gateway_that_cannot(nodes: Nodes, tmp_path: Path) -> None:
    """Down, and no other leads there: its nodes are unreachable, with what ssh said; no gateway is asked where none is to be."""
    (tmp_path / "topology.conf").write_text(ROUTES.format(DOWN, DOWN))
    done = scan(nodes, tmp_path, f"{GOOD},{ALSO}", "--topology", str(tmp_path / "topology.conf"))
    assert states(tmp_path) == {GOOD: "unreachable", ALSO: "unreachable"}
    assert f"its gateway {DOWN} does not answer: ssh: connect to host {DOWN}" in done.err
    (tmp_path / "topology.conf").write_text("[routes]\nelsewhere: node[1-2]\n")
    done = fleet("fleet", "scan", GOOD, "--topology", str(tmp_path / "topology.conf"))
    assert done.code == 2
    assert "is not a valid root node" in done.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_behind_a_gateway(nodes: Nodes, how: signal.Signals) -> None:
    """Ctrl-C and kill here end what runs on the node and on the gateway."""
    interrupted(nodes.folder / f"stuck-{HANGING}", how, HANGING, *nodes.options, "--topology", str(nodes.folder / "topology.conf"), "--", str(nodes.logs))
    until(lambda: not nodes.left())
    until(lambda: all(len(of_node(nodes.servers[name])) == 1 for name in (GATE, HANGING)))


def test_gateways_behind_gateways_and_one_that_dies(nodes: Nodes, tmp_path: Path) -> None:
    """Two steps deep what is scanned comes home; when a gateway dies in the middle, its nodes are told to be without one."""
    host = socket.gethostname().partition(".")[0]
    (tmp_path / "topology.conf").write_text(f"[routes]\n{host}: {GATE}\n{GATE}: {SECOND}\n{SECOND}: {GOOD},{HANGING}\n")
    call = subprocess.Popen(
        [sys.executable, "-m", "doctor", "fleet", "scan", f"{GOOD},{HANGING}", *nodes.options, "--topology", str(tmp_path / "topology.conf"), "--into", str(tmp_path / "run"), "--", str(nodes.logs)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    begun(nodes.folder / f"stuck-{HANGING}", call)
    until(lambda: (tmp_path / "run" / "nodes" / f"{GOOD}.jsonl").exists())
    for process in of_node(nodes.servers[GATE]):
        if process != nodes.servers[GATE]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    _, told = call.communicate(timeout=HANG_S)
    assert states(tmp_path) == {GOOD: "scanned", HANGING: "unreachable"}, told.decode()
    assert f"its gateway {GATE} broke off" in told.decode()
    until(lambda: not nodes.left())
