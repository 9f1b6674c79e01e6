"""Every command of the pages on fleets is tried word for word, on stand-ins that answer for any node; both pages have the same ones."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
from tests_support import HANG_S

from benchmarks.fleet import spoken
from doctor.scan.harvest import Harvest
from tests import starts
from tests.fleet.conftest import ROOT

pytestmark = pytest.mark.slow

PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("fleet.md", "fleet.zh.md")]


def commands(page: str) -> list[str]:
    return [line.strip() for line in page.splitlines() if line.startswith("    npu-doctor ")]


# A node's words for what is asked of it. What is to run on a gateway runs here.
NODE = """\
#!/bin/sh
for last; do :; done
nonce="${{last##* }}"
case "$*" in *"-- gateway"*) eval "exec $last" ;; esac
case "$0 $1 $2" in
  *kubectl\\ get*) cat "{here}/pods.json"; exit ;;
  *sinfo*) echo "node[001-004]"; exit ;;
  *scontrol*) echo "JobId=4711 JobState=RUNNING NodeList=node[001-002]"; exit ;;
esac
while IFS= read -r row; do echo "${{row%%NONCE*}}$nonce${{row#*NONCE}}"; done < "{here}/$SAID"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("docs")
    (here / "bin").mkdir()
    for name in ("ssh", "srun", "kubectl", "docker", "sinfo", "scontrol"):
        (here / "bin" / name).write_text(NODE.format(here=here))
        (here / "bin" / name).chmod(0o755)
    starts.program(here / "bin")
    (here / "scan").write_bytes(spoken((json.dumps({"type": "harvest", **Harvest(kinds={"plog": 1}, files=1, size=9, lines=1).json()}) + "\n").encode()))
    (here / "env").write_bytes(spoken(json.dumps({"environment": {"facts": {"npu_smi.state": "ok", "chip.0.health": "OK", "driver.version": "25.2.1"}}}).encode()))
    (here / "pods.json").write_text(json.dumps({"items": [{"metadata": {"name": f"worker-{n}"}, "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}} for n in (0, 1)]}))
    (here / "hosts.ini").write_text("[npu]\nnode[001:002]\n[spare]\nnode003\n")
    # A gateway starts a Python for each of its nodes: some are behind them, the others are reached from here.
    (here / "topology.conf").write_text(f"[routes]\n{socket.gethostname().partition('.')[0]}: gateway[1-4],node[017-128]\ngateway[1-4]: node[001-016]\n")
    (here / "ourkb").mkdir()
    (here / "hostfile").write_text("node001 slots=8\nnode002 slots=8\n")
    (here / "hccl.json").write_text(json.dumps({"server_list": [{"server_id": "10.0.0.1", "device": [{"device_id": "0", "rank_id": "0"}]}]}))
    groups = here / "config" / "clustershell" / "groups.d"
    groups.mkdir(parents=True)
    (groups / "local.cfg").write_text("rack7: node[001-004]\n")
    (groups.parent / "groups.conf").write_text("[Main]\ndefault: local\n[local]\nmap: sed -n 's/^$GROUP:\\(.*\\)/\\1/p' $CFGDIR/groups.d/local.cfg\nlist: echo rack7\n")
    return here


def test_both_pages_have_the_same_commands() -> None:
    assert commands(PAGES[0]) == commands(PAGES[1])
    assert len(commands(PAGES[0])) > 20


def test_every_command(place: Path) -> None:
    """As a shell runs them, one after the other; every node answers, so each of them says that all is well."""
    environ = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "CLUSTERSHELL_CFGDIR": str(place / "config" / "clustershell"), "XDG_STATE_HOME": str(place / "state")}
    for line in commands(PAGES[0]):
        if "--via ray" in line:
            continue  # tried on the real cluster
        said = {"SAID": "env" if line.split()[2] in ("env", "smi") else "scan"}
        done = subprocess.run(["bash", "-c", line], cwd=place, env={**environ, **said}, capture_output=True, timeout=HANG_S, check=False, stdin=subprocess.DEVNULL)
        told = done.stderr.decode()
        assert done.returncode == 0, f"{line}\n{told}{done.stdout.decode()}"
        again = "--resume" in line or " merge " in line
        assert again or "scanned" in told or "已扫描" in told, line
