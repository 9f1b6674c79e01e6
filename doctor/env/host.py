"""The machine around the NPUs: system, container, user, memory, limits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from doctor.env.facts import Fact
from doctor.env.looking import Look, fields
from doctor.env.tree import FILE, NOTHING

_LIMITS = {"Max open files": "limit.nofile", "Max locked memory": "limit.memlock", "Max processes": "limit.nproc", "Max stack size": "limit.stack"}
_ULIMITS = {"open files": "limit.nofile", "max locked memory": "limit.memlock", "max user processes": "limit.nproc", "stack size": "limit.stack"}
_SIZE = re.compile(r"size=(\d+)([kmg]?)")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_ROOTFUL = re.compile(r"/(docker|kubepods|containerd|libpod|lxc|crio)[/.\-]|(docker-|cri-containerd-)")
MOUNTS = ("/usr/local/Ascend/driver", "/usr/local/Ascend/driver/lib64", "/usr/local/dcmi", "/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/etc/ascend_install.info", "/etc/hccn.conf")


def gather(look: Look) -> Iterator[Fact]:
    yield from _system(look)
    yield from _container(look)
    yield from _user(look)
    yield from _memory(look)
    yield from _limits(look)


def _system(look: Look) -> Iterator[Fact]:
    tree = look.tree
    name = (tree.text("/etc/hostname") or "").strip() or (os.uname().nodename if tree.live else look.outputs.ask(("hostname",)).text.strip())
    yield Fact("machine.host", name, "/etc/hostname")
    release = fields(tree.text("/etc/os-release") or tree.text("/usr/lib/os-release") or "")
    if "PRETTY_NAME" in release:
        value, line, row = release["PRETTY_NAME"]
        yield Fact("machine.os", value, "/etc/os-release", line, row)
    kernel = (tree.text("/proc/sys/kernel/osrelease") or "").strip()
    uname = " ".join((os.uname().release, os.uname().machine)) if tree.live else look.outputs.ask(("uname", "-a")).text
    if not kernel and (found := re.search(r"\b\d+\.\d+\.\d+[\w.-]*", uname)):
        kernel = found[0]
    yield Fact("machine.kernel", kernel, "/proc/sys/kernel/osrelease")
    if arch := re.search(r"\b(aarch64|x86_64)\b", f"{uname} {kernel}"):
        yield Fact("machine.arch", arch[1], "uname")
    started = tree.text("/proc/cmdline") or ""
    if told := re.search(r"\b(?:iommu\.passthrough|iommu|smmu)\S*=\S+", started):
        yield Fact("machine.iommu", told[0], "/proc/cmdline", 1, started.strip())


def _container(look: Look) -> Iterator[Fact]:
    """Is this a container, of what kind, and what was given to it?"""
    tree, variables = look.tree, look.variables
    groups = (tree.text("/proc/1/cgroup") or "") + (tree.text("/proc/self/cgroup") or "")
    mounts = tree.text("/proc/self/mountinfo") or tree.text("/proc/mounts") or ""
    pod = "KUBERNETES_SERVICE_HOST" in variables or tree.kind("/var/run/secrets/kubernetes.io") != NOTHING or "kubepods" in groups
    found = _ROOTFUL.search(groups)
    if pod:
        kind = "pod"
    elif tree.kind("/.dockerenv") == FILE or (found and "docker" in found[0]):
        kind = "docker"
    elif tree.kind("/run/.containerenv") == FILE:
        kind = "podman"
    elif found or re.search(r" / / \S+ .* overlay |^overlay / overlay", mounts, re.MULTILINE):
        kind = "container"
    else:
        kind = "none"
    known = bool(groups or mounts) or tree.kind("/.dockerenv") == FILE or kind == "pod" or tree.kind("/run/.containerenv") == FILE
    if known or tree.live:
        yield Fact("container.kind", kind, "/proc/1/cgroup", 1, groups.splitlines()[0] if groups else "")
    if kind == "none":
        return
    if mounts:
        points = {row.split()[4 if row[:1].isdigit() else 1] for row in mounts.splitlines() if len(row.split()) > 4}
        given = [m for m in MOUNTS if m in points]
        yield Fact("container.mounts", ", ".join(given) or "none", "/proc/self/mountinfo")
    status = fields(tree.text("/proc/self/status") or "", ":")
    if "CapEff" in status:
        rights = status["CapEff"][0]
        full = rights.lower().lstrip("0").startswith(("1ffffffffff", "3ffffffffff", "1ffffff"))
        yield Fact("container.privileged", "yes" if full else "no", "/proc/self/status", *status["CapEff"][1:])
    if "ASCEND_VISIBLE_DEVICES" in variables:
        yield Fact("container.asked_devices", variables["ASCEND_VISIBLE_DEVICES"] or "empty", look.variables_from)


def _user(look: Look) -> Iterator[Fact]:
    tree = look.tree
    if tree.live:
        import grp

        def name(number: int) -> str:
            try:
                return grp.getgrgid(number).gr_name
            except KeyError:
                return str(number)

        yield Fact("user.uid", str(os.getuid()))
        yield Fact("user.groups", ", ".join(sorted({name(g) for g in (os.getgid(), *os.getgroups())})))
        yield Fact("user.home", "writable" if os.access(os.environ.get("HOME", "/nonexistent"), os.W_OK) else "not writable", "$HOME")
        return
    said = look.outputs.ask(("id",))
    if said.known and (found := re.search(r"uid=(\d+)", said.text)):
        yield Fact("user.uid", found[1], said.path, 1, said.text.strip())
        yield Fact("user.groups", ", ".join(sorted(set(re.findall(r"\d+\(([^)]+)\)", said.text.partition("groups=")[2])))), said.path, 1, said.text.strip())


def _memory(look: Look) -> Iterator[Fact]:
    tree = look.tree
    known = fields(tree.text("/proc/meminfo") or "", ":")
    for name, fact in (("MemTotal", "machine.memory_gib"),):
        if name in known and (size := re.match(r"\d{1,15}", known[name][0])):
            yield Fact(fact, str(round(int(size[0]) / (1 << 20))), "/proc/meminfo", *known[name][1:])
    if "HugePages_Total" in known:
        yield Fact("host.huge_pages", known["HugePages_Total"][0], "/proc/meminfo", *known["HugePages_Total"][1:])
    nodes = [n for n in tree.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", n)]
    if nodes:
        yield Fact("machine.numa_nodes", str(len(nodes)), "/sys/devices/system/node")
    cpus = [n for n in tree.names("/sys/devices/system/cpu") if re.fullmatch(r"cpu\d+", n)]
    if cpus:
        yield Fact("machine.cpus", str(len(cpus)), "/sys/devices/system/cpu")
    for name, path in (
        ("host.overcommit", "/proc/sys/vm/overcommit_memory"), ("host.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ("host.max_map_count", "/proc/sys/vm/max_map_count"), ("host.numa_balancing", "/proc/sys/kernel/numa_balancing"),
    ):  # fmt: skip
        if text := (tree.text(path) or "").strip():
            yield Fact(name, text.split()[0], path, 1, text)
    state = tree.text("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    if found := re.search(r"\[(\w+)\]", state):
        yield Fact("host.transparent_huge_pages", found[1], "/sys/kernel/mm/transparent_hugepage/enabled", 1, state.strip())


def _limits(look: Look) -> Iterator[Fact]:
    tree = look.tree
    for number, row in enumerate((tree.text("/proc/self/limits") or "").splitlines(), 1):
        for name, fact in _LIMITS.items():
            if row.startswith(name):
                value = (row[len(name) :].split() or [""])[0]
                if value.isdigit() or value == "unlimited":
                    yield Fact(fact, value, "/proc/self/limits", number, row.strip())
    said = look.outputs.ask(("ulimit", "-a")) if not tree.live else None
    if said is not None and said.known:
        for number, row in enumerate(said.text.splitlines(), 1):
            for name, fact in _ULIMITS.items():
                if row.startswith(name):
                    yield Fact(fact, row.split()[-1], said.path, number, row.strip())
    yield from _shared(look)


def _shared(look: Look) -> Iterator[Fact]:
    """How large /dev/shm is: what processes of one job hand to each other goes through it."""
    if look.tree.live:
        try:
            state = os.statvfs("/dev/shm")  # noqa: S108 - it is looked at, not written
        except OSError:
            return
        yield Fact("shm.mib", str(state.f_blocks * state.f_frsize >> 20), "/dev/shm")  # noqa: S108
        return
    text = look.tree.text("/proc/self/mountinfo") or look.tree.text("/proc/mounts") or ""
    for number, row in enumerate(text.splitlines(), 1):
        if " /dev/shm " in row and (found := _SIZE.search(row)):
            yield Fact("shm.mib", str(int(found[1]) * _UNITS[found[2]] >> 20), "/proc/self/mountinfo", number, row.strip())
            return

