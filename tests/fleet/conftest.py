"""Nodes that are real but for their hardware: sshd on addresses of this machine, each in a mount namespace with logs of its own."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests_support import HANG_S

from doctor.version import __version__
from tests import starts
from tests.simulate.jobs import simulate

# What hangs on a node: an npu-doctor of this version that tells when it begins, and never ends.
STUCK = """\
#!/bin/sh
[ "$1" = version ] && {{ echo "npu-doctor {version}"; exit; }}
echo "$XDG_CACHE_HOME" > {fifo}
exec sleep 100000
"""
ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "127.0.0.{}"
FIRST = 31


def demanded(part: str, missing: str) -> None:
    """Skips where a part is missing, with the reason; the gate demands all parts (NPU_DOCTOR_FLEET_PARTS=ssh,slurm,ray)."""
    if missing and part in os.environ.get("NPU_DOCTOR_FLEET_PARTS", "").split(","):
        pytest.fail(f"{part}: {missing}")
    if missing:
        pytest.skip(f"{part}: {missing}")


class Ended(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


def path_of_nodes() -> str:
    """PATH without npu-doctor: a node with a checkout's own would compile its knowledge, every time, for its cache is a folder of the conversation."""
    return os.pathsep.join(p for p in os.environ.get("PATH", "").split(os.pathsep) if p == "/usr/local/bin" or not os.path.exists(f"{p}/npu-doctor"))


def fleet(*args: str, cwd: Path = ROOT, **env: str) -> Ended:
    """The real command."""
    done = starts.command(args, cwd=cwd, environment={**os.environ, **env})
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


class Nodes(NamedTuple):
    """Servers that run. `logs` is the same path on each of them, and another folder."""

    folder: Path
    logs: Path
    names: tuple[str, ...]
    config: Path
    servers: dict[str, int]  # their processes

    @property
    def options(self) -> list[str]:
        return ["--option=-F", f"--option={self.config}"]

    def tree(self, name: str) -> Path:
        return self.folder / "trees" / name

    def left(self, *names: str) -> list[str]:
        """What lies in the folders for temporary files of these nodes, or of all."""
        return sorted(str(path) for name in names or self.names for path in (self.folder / "tmp" / name).iterdir())


def _key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=HANG_S, stdin=subprocess.DEVNULL)


SSHD = """\
Port {port}
ListenAddress {address}
HostKey {folder}/host
AuthorizedKeysFile {authorized}
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
AcceptEnv NONE
SetEnv TMPDIR={folder}/tmp/{address}
"""

CLIENT = """\
Host {names}
  Port {port}
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking yes
  LogLevel ERROR
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind((ADDRESS.format(FIRST), 0))
        return int(one.getsockname()[1])


def stuck(folder: Path, *names: str) -> None:
    """Scans hang on these nodes: each tells the folder NAME/fifo where, when it has begun."""
    for name in names:
        place = folder / f"stuck-{name}"
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "npu-doctor").write_text(STUCK.format(version=__version__, fifo=place / "fifo"))
        (place / "bin" / "npu-doctor").chmod(0o755)
        os.mkfifo(place / "fifo")
        (folder / f"setup-{name}.sh").write_text(f"mount --bind {place}/bin /usr/local/bin\n")


def split_job(folder: Path, names: Sequence[str]) -> None:
    """The logs of one job of 16 ranks, each node's on its own."""
    job = simulate(71, 16)
    for number, name in enumerate(names):
        own = f"node-{number}/"
        write_tree(folder / "trees" / name, {path.removeprefix(own): text for path, text in job.files.items() if path.startswith(own)})


def start(folder: Path, count: int, first: int = FIRST) -> Iterator[Nodes]:
    """The servers; a script of its own, `setup-NAME.sh`, may change what a node sees before it starts."""
    sshd = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    missing = "" if sshd and shutil.which("ssh-keygen") else "no sshd here: apt-get install openssh-server"
    missing = missing or ("" if os.geteuid() == 0 and not subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode else "only root can make mount namespaces")
    demanded("ssh", missing)
    for name in ("user", "host", "other"):
        _key(folder / name)
    logs = folder / "logs"
    logs.mkdir()
    Path("/run/sshd").mkdir(exist_ok=True)
    port = free_port()
    names = tuple(ADDRESS.format(first + n) for n in range(count))
    known = (folder / "host.pub").read_text().split()
    (folder / "known_hosts").write_text("".join(f"[{name}]:{port} {known[0]} {known[1]}\n" for name in names))
    config = folder / "config"
    config.write_text(CLIENT.format(names=" ".join(names), port=port, folder=folder))
    servers = []
    try:
        for name in names:
            tree = folder / "trees" / name
            for place in (tree, folder / "tmp" / name):
                place.mkdir(parents=True, exist_ok=True)
            at = folder / f"sshd-{name}"
            authorized = folder / ("other.pub" if (folder / f"wrong-{name}").exists() else "user.pub")
            further = folder / f"sshd-more-{name}"
            at.write_text(SSHD.format(port=port, address=name, folder=folder, authorized=authorized) + (further.read_text() if further.exists() else ""))
            more = folder / f"setup-{name}.sh"
            script = f'mount --bind "$1" "$2" && {{ [ ! -f "$3" ] || . "$3"; }} && exec {sshd} -D -e -f "$4"'
            servers.append(subprocess.Popen(
                ["unshare", "-m", "sh", "-c", script, "sh", str(tree), str(logs), str(more), str(at)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(folder / f"log-{name}", "wb"), start_new_session=True,
            ))  # fmt: skip
        for name in names:
            _listening(name, port)
        yield Nodes(folder, logs, names, config, {name: server.pid for name, server in zip(names, servers, strict=True)})
    finally:
        for server in servers:
            end(server)


def _listening(name: str, port: int) -> None:
    """Waits until the server answers."""

    def answers() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((name, port), HANG_S) as one:
            one.settimeout(HANG_S)
            return one.recv(4) == b"SSH-"
        return False

    until(answers)


def until(holds: Callable[[], object]) -> None:
    """Waits until something holds that another process brings about."""
    end = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < end
        select.select([], [], [], 0.01)


def write_tree(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def end(server: subprocess.Popen[bytes]) -> None:
    """Ends what was started in a session of its own, with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait(HANG_S)


def of_node(server: int) -> list[int]:
    """The processes of a node: those in its namespace of mounts."""
    try:
        own = os.readlink(f"/proc/{server}/ns/mnt")
    except OSError:
        return []
    if own == os.readlink("/proc/self/ns/mnt"):
        return []
    found = []
    for path in Path("/proc").glob("[0-9]*/ns/mnt"):
        try:
            if os.readlink(path) == own:
                found.append(int(path.parts[2]))
        except OSError:
            continue
    return found


def kill_node(server: int) -> None:
    """The node loses its power."""
    for process in of_node(server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def begun(place: Path, call: subprocess.Popen[bytes]) -> Path:
    """Waits until a scan hangs; the private folder of the node. A command that ends before, or nothing for long, is a failure."""
    told, end = b"", time.monotonic() + HANG_S
    fifo = os.open(place / "fifo", os.O_RDWR | os.O_NONBLOCK)  # open for writing as well: it has no end until there is a line
    try:
        while not told.endswith(b"\n"):
            if select.select([fifo], [], [], 1)[0]:
                told += os.read(fifo, 4096)
            elif call.poll() is not None or time.monotonic() > end:
                call.kill()
                raise AssertionError(b"\n".join(part or b"" for part in call.communicate()).decode())
    finally:
        os.close(fifo)
    return Path(told.decode().strip())


def interrupted(place: Path, how: signal.Signals, *words: str, **env: str) -> Path:
    """Ends `fleet scan` while a scan hangs on a node; the private folder there, which is to be gone soon after."""
    call = subprocess.Popen(
        [sys.executable, "-m", "doctor", "fleet", "scan", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **env},
    )  # fmt: skip
    folder = begun(place, call)
    assert folder.stat().st_mode & 0o077 == 0
    call.send_signal(how)
    _, told = call.communicate(timeout=HANG_S)
    assert call.returncode == (130 if how == signal.SIGINT else -how), told
    return folder


def merged_by_hand(run: Path) -> str:
    """What `merge` writes of the files that a run kept, byte for byte but for the seconds it took."""
    fleet("merge", *map(str, sorted((run / "nodes").glob("*.jsonl"))), "-o", str(run.parent / "by-hand.json"))
    return written(run.parent / "by-hand.json")


def written(path: Path) -> str:
    """A report as it stands in its file, but for the seconds it took."""
    return json.dumps(report(path))


def report(path: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(path.read_text())
    made["stats"]["seconds"] = 0
    return made
