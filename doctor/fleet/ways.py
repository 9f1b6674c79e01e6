"""By which program a node is reached: the words of the local command for one target. Pure: words, no shell, no quoting but for ssh.

ssh joins the words it is given and hands them to the login shell of the user: only there something is quoted. Paths and
options of the scan are in no command at all, they go over standard input.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from doctor.fleet.talk import SCRIPT
from doctor.fleet.targets import Target
from parsers.named import NamedTuple

CONNECT_S = 15
WAYS = ("ssh", "srun", "kubectl", "docker", "ray")


class Way(NamedTuple):
    """The options of a call that say how nodes are reached."""

    via: str = "ssh"
    python: str = ""
    options: tuple[str, ...] = ()  # handed to ssh, srun, kubectl or docker as they are
    job: str = ""
    namespace: str = ""
    container: str = ""


def command(way: Way, target: Target, nonce: str) -> list[str]:
    """The words of the command that runs our script on the target, with a standard input that stays open."""
    return _COMMANDS[way.via](way, target, ["sh", "-c", SCRIPT, "npu-doctor", way.python, nonce])


def reach(way: Way) -> list[str]:
    """The words of ssh, but for whom it is to reach."""
    return ["ssh", "-T", "-oBatchMode=yes", f"-oConnectTimeout={CONNECT_S}", "-oServerAliveInterval=15", *way.options]


def _ssh(way: Way, target: Target, remote: list[str]) -> list[str]:
    said = [word for option, value in (("-p", target.port), ("-l", target.user), ("-i", target.key)) if value for word in (option, str(value))]
    return [*reach(way), *said, "--", target.address, shlex.join(remote)]


def _srun(way: Way, target: Target, remote: list[str]) -> list[str]:
    job = [f"--jobid={way.job}"] if way.job else []
    # Within an allocation the step shares what the job holds; without one it waits for nothing that is not free at once.
    share = ["--overlap"] if way.job else [f"--immediate={CONNECT_S}"]
    return ["srun", "--quiet", "--nodes=1", "--ntasks=1", "--input=0", "--job-name=npu-doctor", *job, *share, *way.options, f"--nodelist={target.address}", *remote]


def _kubectl(way: Way, target: Target, remote: list[str]) -> list[str]:
    return ["kubectl", "exec", "-i", *pod_options(way), *way.options, target.address, "--", *remote]


def printed(way: Way, target: Target, previous: bool) -> list[str]:
    """The words that fetch what a pod has printed."""
    return ["kubectl", "logs", *(["--previous"] if previous else []), *pod_options(way), *way.options, target.address]


def pod_options(way: Way) -> list[str]:
    """Which namespace and container, as kubectl is told."""
    return [*(["--namespace", way.namespace] if way.namespace else []), *(["--container", way.container] if way.container else [])]


def _docker(way: Way, target: Target, remote: list[str]) -> list[str]:
    return ["docker", "exec", "-i", *way.options, target.address, *remote]


_COMMANDS: Mapping[str, Callable[[Way, Target, list[str]], list[str]]] = {"ssh": _ssh, "srun": _srun, "kubectl": _kubectl, "docker": _docker}
