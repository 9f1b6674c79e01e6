"""The options by which a call of `fleet` says which nodes it means and how they are reached."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from doctor.base.errors import UsageError
from doctor.commands import common
from doctor.fleet import folder, slurm, targets
from doctor.fleet.pods import OF_JOB, Pod, pods
from doctor.fleet.targets import Target
from doctor.fleet.ways import WAYS, Way, pod_options
from parsers.named import NamedTuple

FANOUT = 64
SECONDS = 300.0
ASK_S = 60  # that the scheduler may take to tell what it knows


class Places(NamedTuple):
    """What is asked; within which job of Slurm; and the pods in which nothing runs: why, and whether an earlier container printed it."""

    targets: tuple[Target, ...]
    within: str = ""
    gone: Mapping[str, tuple[str, bool]] = {}


def options(made: common.Parser) -> None:
    """The same for all that is asked of nodes."""
    made.add_argument("targets", nargs="*", metavar="TARGETS", help="node sets (node[001-128], @group, @slurm:PARTITION), pods, containers, or groups of -i")
    made.add_argument("--via", choices=WAYS, default="ssh", help="by which program nodes are reached (default: ssh)")
    made.add_argument("-i", "--inventory", metavar="FILE", help="an Ansible inventory, INI or YAML; TARGETS then name its groups and hosts")
    made.add_argument("--hostfile", metavar="FILE", help="a host file of DeepSpeed or MPI")
    made.add_argument("--rank-table", metavar="FILE", help="the rank table of the job: its servers are asked")
    made.add_argument("--job", metavar="JOB", default="", help="the nodes of a job: its number in Slurm, or the name of a volcano job or PyTorchJob (--via kubectl)")
    made.add_argument("-l", "--selector", metavar="LABELS", default="", help="--via kubectl: the pods with these labels")
    made.add_argument("-n", "--namespace", metavar="NAME", default="", help="--via kubectl: the namespace of the pods")
    made.add_argument("-c", "--container", metavar="NAME", default="", help="--via kubectl: the container in the pods")
    made.add_argument("--address", metavar="ADDRESS", default="auto", help="--via ray: the running cluster (default: auto)")
    made.add_argument("--topology", metavar="FILE", default="", help="--via ssh: gateways to the nodes, as ClusterShell's topology.conf (default: that one, where there is one; none: no gateways)")
    made.add_argument("--fanout", type=int, default=FANOUT, metavar="N", help=f"how many nodes are asked at once (default: {FANOUT})")
    made.add_argument("--timeout", type=float, default=SECONDS, metavar="SECONDS", help=f"time of one node (default: {SECONDS:.0f}); what it has read by then counts")
    made.add_argument("--python", metavar="PATH", default="", help="the Python of the nodes (3.10 or newer; default: looked for)")
    made.add_argument("--no-copy", action="store_true", help="send no program: nodes without this version of npu-doctor are refused")
    made.add_argument("--keep", action="store_true", help="leave the private folder on the nodes")
    made.add_argument("--option", action="append", default=[], metavar="WORD", help="a word for ssh, srun, kubectl or docker, as it is (repeatable): --option=-J --option=gateway")
    made.add_argument("--into", metavar="DIR", default="", help="keep the answers of the nodes there (default: a folder of your own state)")
    made.add_argument("--resume", nargs="?", const=folder.LAST, metavar="DIR", help="go on with an earlier run (default: the last one): only nodes that are missing are asked")


REACHED = {"via": "ssh", "topology": "", "python": "", "option": [], "namespace": "", "container": "", "address": "auto", "no_copy": False, "keep": False, "kb": [], "fanout": FANOUT, "timeout": SECONDS}


def reached(args: argparse.Namespace) -> dict[str, Any]:
    """How the nodes of this call are reached, to be kept."""
    return {**{name: getattr(args, name) for name in REACHED}, "kb": [os.path.abspath(path) for path in args.kb]}


def restore(args: argparse.Namespace, kept: Mapping[str, Any]) -> None:
    """A run that is gone on with reaches its nodes as before, but for what this call says otherwise."""
    for name, usual in REACHED.items():
        if getattr(args, name) == usual:
            setattr(args, name, kept.get(name, usual))
    checked(args)


def checked(args: argparse.Namespace) -> None:
    """Refuses what cannot be carried out before anything is begun."""
    if args.fanout < 1 or not args.timeout > 0:
        raise UsageError("--fanout and --timeout are larger than 0")
    if args.via != "ray" and not shutil.which(args.via):
        raise UsageError(f"there is no {args.via} here", "choose another way with --via")
    if args.topology and args.via != "ssh":
        raise UsageError("--topology is for gateways that are reached by ssh", "leave it out, or use --via ssh")
    if (args.selector or args.namespace or args.container) and args.via != "kubectl":
        raise UsageError("--selector, --namespace and --container are for pods", "add --via kubectl")


def way(args: argparse.Namespace, within: str) -> Way:
    return Way(args.via, args.python, tuple(args.option), within, args.namespace, args.container)


def targets_of(args: argparse.Namespace) -> Places:
    """Everything that a call names."""
    checked(args)
    if args.via == "kubectl":
        return _pods(args)
    if args.via == "ray":
        return _of_ray(args)
    found: list[Target] = []
    within = ""
    if args.inventory:
        from doctor.fleet.inventory import of_inventory

        found += of_inventory(args.inventory, args.targets)
    elif args.targets and args.via == "docker":
        found += [Target(name) for name in args.targets]
    elif args.targets:
        found += targets.of_words(args.targets)
    found += targets.of_hostfile(args.hostfile) if args.hostfile else ()
    found += targets.of_rank_table(args.rank_table) if args.rank_table else ()
    allocation = slurm.of_job(args.job, run) if args.job else slurm.of_environment() if args.via == "srun" else None
    if allocation is not None:
        within = allocation.job
        found = found or [*targets.of_words([allocation.nodes])]
    if not found:
        raise UsageError("no nodes are named", "npu-doctor fleet scan node[001-128], or -i INVENTORY, --hostfile FILE, --rank-table FILE, --job ID")
    return Places(targets.unique(found), within)


def _of_ray(args: argparse.Namespace) -> Places:
    """The living nodes of a cluster, all of them or those that are named."""
    from doctor.fleet import rays

    living = rays.living(args.address)
    names = {target.name for target in targets.of_words(args.targets)} if args.targets else {target.name for target in living}
    return Places(targets.unique([*(t for t in living if t.name in names), *(Target(name) for name in sorted(names - {t.name for t in living}))]))


def _pods(args: argparse.Namespace) -> Places:
    """Pods by name, by labels or by their job, and how each of them fares."""
    where = pod_options(Way(namespace=args.namespace))
    listed: tuple[Pod, ...] = ()
    if args.job:
        for label in OF_JOB:
            listed = _listed([*where, "--selector", f"{label}={args.job}"])
            if listed:
                break
    elif args.selector:
        listed = _listed([*where, "--selector", args.selector])
    elif args.targets:
        listed = _listed([*where, "--ignore-not-found", *args.targets])
    if not listed and not args.targets:
        raise UsageError("no pods are there by that name", "kubectl get pods --show-labels; then --selector LABELS, or --job NAME, and --namespace NAME")
    found: list[Target] = []
    gone: dict[str, tuple[str, bool]] = {}
    for pod in listed:
        found.append(Target(pod.name))
        if not pod.runs:
            gone[pod.name] = (pod.why, pod.restarted)
        elif pod.restarted:  # the container before this one may have told why it ended
            found.append(Target(f"{pod.name}--previous", pod.name))
            gone[found[-1].name] = ("", True)
    return Places(targets.unique([*found, *map(Target, args.targets)]), "", gone)


def _listed(words: Sequence[str]) -> tuple[Pod, ...]:
    code, said, why = run(("kubectl", "get", "pods", "--output", "json", *words))
    if code:
        raise UsageError(f"kubectl does not list pods: {why.strip()[:300]}", "try it: kubectl get pods")
    return pods(said) if said.strip() else ()


def run(words: Sequence[str]) -> tuple[int, str, str]:
    """Asks a program of this machine."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program with words, no shell
            list(words), stdin=subprocess.DEVNULL, capture_output=True, timeout=ASK_S, check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return 127, "", str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
