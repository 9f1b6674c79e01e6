"""`fleet scan --via srun` on a real slurmctld with several slurmd, each in a mount namespace with logs of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests_support import HANG_S

from tests.fleet.conftest import (
    ROOT,
    STUCK,
    begun,
    demanded,
    end,
    fleet,
    free_port,
    interrupted,
    kill_node,
    merged_by_hand,
    path_of_nodes,
    report,
    split_job,
    until,
    written,
)

pytestmark = pytest.mark.slow

NAMES = ("n1", "n2", "n3", "n4")
DRAINED, HANGING = "n3", "n4"
CONF = """\
ClusterName=fleet
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=2
SlurmdTimeout=4
SchedulerParameters=sched_interval=1
"""


class Slurm(NamedTuple):
    folder: Path
    logs: Path
    servers: dict[str, int]


def command(*words: str) -> str:
    return subprocess.run(words, capture_output=True, timeout=HANG_S, check=False, stdin=subprocess.DEVNULL).stdout.decode()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A cluster of four nodes: two with the logs of a job, one that is drained, one on which scans hang."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    missing = [name for name in ("slurmctld", "slurmd", "munged", "srun") if not shutil.which(name, path=path)]
    demanded("slurm", "no " + ", ".join(missing) + " here: apt-get install slurm-wlm munge" if missing else "" if os.geteuid() == 0 else "only root can start it")
    folder = tmp_path_factory.mktemp("slurm")
    ports = [free_port() for _ in range(len(NAMES) + 1)]
    host = socket.gethostname().partition(".")[0]
    conf = CONF.format(host=host, ports=ports, folder=folder)
    conf += "".join(f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={p} CPUs=2\n" for n, p in zip(NAMES, ports[1:], strict=True))
    (folder / "slurm.conf").write_text(conf + "PartitionName=npu Nodes=ALL Default=YES State=UP\n")
    for name in ("state", "logs", "bin", *(f"spool-{n}" for n in NAMES)):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(256))
    (folder / "munge.key").chmod(0o400)
    stuck = folder / "bin" / "npu-doctor"
    stuck.write_text(STUCK.format(version=_version(), fifo=folder / "fifo"))
    stuck.chmod(0o755)
    os.mkfifo(folder / "fifo")
    for name in NAMES:
        (folder / "trees" / name).mkdir(parents=True)
    split_job(folder, NAMES)
    started: dict[str, subprocess.Popen[bytes]] = {}
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    before = os.environ["PATH"]  # srun takes it along: what is installed here would be found on the nodes
    os.environ["PATH"] = path_of_nodes()
    try:
        munge = [f"--{name}={folder}/munge.{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        munge[0] = f"--socket={folder}/munge.sock"
        started["munged"] = _start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", *munge)
        until(lambda: (folder / "munge.sock").exists())
        started["slurmctld"] = _start("slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        for name in NAMES:
            more = f'mount --bind "{folder}/bin" /usr/local/bin && ' if name == HANGING else ""
            script = f'mount --bind "{folder}/trees/{name}" "{folder}/logs" && {more} exec slurmd -D -N {name} -f "{folder}/slurm.conf"'
            started[name] = _start("unshare", "-m", "sh", "-c", script)
        until(lambda: "idle 4" in command("sinfo", "-h", "-o", "%T %D"))
        yield Slurm(folder, folder / "logs", {name: one.pid for name, one in started.items()})
    finally:
        os.environ.pop("SLURM_CONF", None)
        os.environ["PATH"] = before
        for name in NAMES:
            if name in started:
                kill_node(started[name].pid)
        for one in started.values():
            end(one)


def _version() -> str:
    from doctor.version import __version__

    return __version__


def _start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin"},
    )  # fmt: skip


def test_every_node_of_a_partition(slurm: Slurm, tmp_path: Path) -> None:
    """Ctrl-C leaves nothing; one is drained, one dies while it scans: both are named with what Slurm says, the others give what `merge` gives."""
    stopped = interrupted(slurm.folder, signal.SIGINT, HANGING, "--via", "srun", "--", str(slurm.logs))
    until(lambda: not stopped.exists())
    until(lambda: "idle 4" in command("sinfo", "-h", "-o", "%T %D"))
    command("scontrol", "update", f"nodename={DRAINED}", "state=drain", "reason=test")
    call = subprocess.Popen(
        [sys.executable, "-m", "doctor", "fleet", "scan", "@slurm:npu", "--via", "srun", "--timeout", "100", "--into", str(tmp_path / "run"), "-o", str(tmp_path / "r.json"), "--", str(slurm.logs)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    folder = begun(slurm.folder, call)
    kill_node(slurm.servers[HANGING])
    _, told = call.communicate(timeout=HANG_S)
    rows = {row["name"]: row for row in map(json.loads, (tmp_path / "run" / "outcomes.jsonl").read_text().splitlines())}
    assert {name: row["state"] for name, row in rows.items()} == {"n1": "scanned", "n2": "scanned", DRAINED: "refused", HANGING: rows[HANGING]["state"]}, told.decode()
    assert rows[HANGING]["state"] in ("failed", "unreachable", "timed out")  # by what Slurm notices first
    assert "busy" in rows[DRAINED]["reason"] or "not available" in rows[DRAINED]["reason"]
    assert merged_by_hand(tmp_path / "run") == written(tmp_path / "r.json")
    assert {s["path"] for s in report(tmp_path / "r.json")["skipped"]} == {DRAINED, HANGING}
    shutil.rmtree(folder, ignore_errors=True)


def test_the_nodes_of_a_job_that_runs(slurm: Slurm, tmp_path: Path) -> None:
    """Within the allocation of a job, which holds its nodes: beside its processes, without another allocation."""
    job = command("sbatch", "--parsable", "-N2", "-w", "n1,n2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1000").strip()
    until(lambda: "RUNNING" in command("squeue", "-h", "-j", job, "-o", "%T"))
    done = fleet("fleet", "scan", "--via", "srun", "--job", job, "-o", str(tmp_path / "r.json"), "--", str(slurm.logs))
    command("scancel", job)
    assert "scanned 2: n[1-2]" in done.err
    assert done.code == 1
    assert report(tmp_path / "r.json")["job"]["processes"] == 16
