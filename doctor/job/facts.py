"""Facts by their names, and what each must tell for those who read it."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.scan.harvest import Hit
from kb.model import FACT_PREFIX

# The named groups without which nothing can be read from a fact. A user's form, or another node's harvest, may lack them.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "aicpu-op": ("comm", "tag"),
    "aicpu-task": ("task", "on", "local"),
    "call": ("op", "count", "dtype", "tag"),
    "connected": ("have",),
    "connected-total": ("count",),
    "device-address": ("device_ip", "device"),
    "error-head": ("rank", "device"),
    "first-pair": ("server", "device", "on_server", "on_device"),
    "heartbeat": ("status",),
    "link-pair": ("on", "comm_rank"),
    "link-row": ("on", "on_ip", "comm_rank", "device_ip"),
    "listen": ("device_ip", "device"),
    "local-rank": ("comm_rank",),
    "missing-agents": ("missing",),
    "p2p": ("on_device",),
    "rank-table": ("table",),
    "root-unreachable": ("on_server",),
    "task-base": ("tag",),
    "task-group": ("comm",),
    "task-para": ("on",),
    "tls-switch": ("tls",),
    "wanted": ("size",),
    "watchdog": ("rank", "op", "index"),
}


def fact_of(hit: Hit) -> str:
    """The name of the fact that a line tells: `notify` of the signal `fact:notify/2`."""
    return hit.signal[len(FACT_PREFIX) :].partition("/")[0]


def tells_enough(hit: Hit) -> bool:
    """Does it tell what its readers rely on?"""
    return {name for name, _ in hit.captures}.issuperset(NEEDS.get(fact_of(hit), ()))
