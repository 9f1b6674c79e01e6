"""What a host must give to a container for its NPUs, for the case at hand: as a docker command, for docker compose, for a pod."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from doctor.env.facts import Fact
from parsers.named import NamedTuple

FORMS = ("docker", "compose", "pod")
IMAGE = "IMAGE"
# What Kubernetes calls the cards of a generation, in the device plugin of MindCluster.
RESOURCES = {"A1": "huawei.com/Ascend910", "A2": "huawei.com/Ascend910", "A3": "huawei.com/Ascend910", "310P": "huawei.com/Ascend310P", "310": "huawei.com/Ascend310"}
_MANAGERS = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
# Boards whose processor is the host itself have other nodes.
_BOARD = ("/dev/davinci_manager", "/dev/svm0", "/dev/ts_aisle", "/dev/upgrade", "/dev/sys", "/dev/vdec", "/dev/vpc", "/dev/pngd", "/dev/venc", "/dev/dvpp_cmdlist", "/dev/log_drv")
_MOUNTS = (
    "/usr/local/dcmi", "/usr/local/bin/npu-smi", "/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/driver/version.info", "/etc/ascend_install.info",
)  # fmt: skip
_BOARD_MOUNTS = (
    "/usr/local/sbin/npu-smi", "/usr/local/Ascend/driver/lib64", "/usr/lib64/aicpu_kernels", "/var/slogd", "/var/dmp_daemon", "/etc/sys_version.conf",
    "/etc/hdcBasic.cfg",
)  # fmt: skip
SHM = "16g"


class Case(NamedTuple):
    """What is to be given: nodes, read-only mounts, the name of the resource, how many cards."""

    cards: tuple[int, ...]
    nodes: tuple[str, ...]
    mounts: tuple[str, ...]
    resource: str
    network: bool


def case(values: Mapping[str, str]) -> Case:
    """The case of a machine: its cards when they are known, else the first one."""
    board = values.get("chips.family") == "310B" or values.get("device.svm0") == "present"
    cards = _numbers(values.get("device.cards", "")) or tuple(range(int(values.get("chips.count", "0") or 0))) or _numbers(values.get("container.asked_devices", "")) or (0,)
    multi = len(cards) > 1 and not board
    mounts = (*(_BOARD_MOUNTS if board else _MOUNTS), *(("/etc/hccn.conf",) if multi else ()))
    return Case(cards, _BOARD if board else _MANAGERS, mounts, RESOURCES.get(values.get("chips.family", ""), "huawei.com/Ascend910"), multi)


def _numbers(spans: str) -> tuple[int, ...]:
    """`0-3, 7` as numbers; at most as many as a machine has."""
    found: list[int] = []
    for low, high in re.findall(r"(\d{1,4})(?:-(\d{1,4}))?", spans):
        found += range(int(low), int(high or low) + 1)
    return tuple(dict.fromkeys(found))[:64]


def docker(one: Case) -> str:
    rows = [f"--device=/dev/davinci{n}" for n in one.cards]
    rows += [f"--device={node}" for node in one.nodes]
    rows += [f"-v {path}:{path}:ro" for path in one.mounts]
    rows += [f"--shm-size={SHM}"]
    rows += ["--network=host"] if one.network else []
    return " \\\n  ".join(["docker run -it --rm", *rows, f"{IMAGE} bash"])


def compose(one: Case) -> str:
    rows = ["services:", "  npu:", f"    image: {IMAGE}", f"    shm_size: {SHM}", "    devices:"]
    rows += [f"      - /dev/davinci{n}:/dev/davinci{n}" for n in one.cards]
    rows += [f"      - {node}:{node}" for node in one.nodes]
    rows += ["    volumes:", *(f"      - {path}:{path}:ro" for path in one.mounts)]
    rows += ["    network_mode: host"] if one.network else []
    return "\n".join(rows)


def pod(one: Case) -> str:
    """With the device plugin the nodes come with the resource; the driver comes from the host."""
    rows = ["apiVersion: v1", "kind: Pod", "metadata: {name: npu}", "spec:", "  containers:", "    - name: npu", f"      image: {IMAGE}"]
    rows += ["      resources:", f"        limits: {{{one.resource}: {len(one.cards)}}}", f"        requests: {{{one.resource}: {len(one.cards)}}}"]
    rows += ["      volumeMounts:", "        - {name: shm, mountPath: /dev/shm}"]
    rows += [f"        - {{name: {_volume(p)}, mountPath: {p}, readOnly: true}}" for p in one.mounts]
    rows += ["  volumes:", "    - {name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}"]
    rows += [f"    - {{name: {_volume(p)}, hostPath: {{path: {p}}}}}" for p in one.mounts]
    return "\n".join(rows)


def _volume(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def written(values: Mapping[str, str], form: str) -> str:
    """The specification in one form."""
    return {"docker": docker, "compose": compose, "pod": pod}[form](case(values))


def gather(values: Mapping[str, str]) -> Iterator[Fact]:
    """What advice for containers puts in: all forms, and what of the case is missing."""
    if values.get("container.kind", "none") == "none":
        return
    one = case(values)
    missing = [n for n in ("davinci_manager", "devmm_svm", "hisi_hdc") if values.get(f"device.{n}") == "absent" and f"/dev/{n}" in one.nodes]
    if values.get("device.count") == "0":
        missing.insert(0, "davinci0 ...")
    if any(f"device.{n}" in values for n in ("davinci_manager", "devmm_svm", "hisi_hdc")):
        yield Fact("container.missing_nodes", ", ".join(f"/dev/{m}" for m in missing) or "none", "/dev")
    driver = values.get("driver.library", "") or ("absent" if values.get("driver.state") == "absent" else "")
    if driver:
        yield Fact("container.driver", "absent" if driver == "absent" else "given", "/usr/local/Ascend/driver")
