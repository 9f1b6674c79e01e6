"""Who holds what the job could not get: processes in a table of npu-smi, and programs that listen on a port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from doctor.findings.started import Started
from parsers.lazy import lazy

MAX_NAMED = 4
MAX_OF_PROGRAM = 16
SMALLEST = 1024  # MB: what an idle process of a service takes holds up nobody

Facts = Mapping[str, tuple[str, ...]]

_PROCESS = lazy(r"\|?\s*(\d{1,3})\s+(\d{1,2})\s*\|\s*(\d{1,8})\s*\|\s*(\S[^|]{0,60}?)\s*\|\s*(\d{1,8})")
_SS = lazy(r"LISTEN\s.*?[:\]](\d{1,5})\s.*?users:\(\(\"([^\"]{1,60})\",pid=(\d{1,8})")
_NETSTAT = lazy(r"tcp6?\s.*?:(\d{1,5})\s+\S+\s+LISTEN\s+(\d{1,8})/(\S{1,60})")
_LSOF = lazy(r"(\S{1,60})\s+(\d{1,8})\s.*TCP\s+\S*?:(\d{1,5}) \(LISTEN\)")


def held(holders: Iterable[str], listeners: Iterable[str], started: Sequence[Started], visible: str, own: frozenset[int]) -> Facts:
    """Both, in one."""
    memory, port = of_memory(holders, visible, own), of_port(listeners, started)
    both = (*memory.get("held", ()), *port.get("held", ()))
    return {**memory, **port, **({"held": both} if both else {})}


class Holder(NamedTuple):
    """A process on an NPU."""

    mb: int
    pid: int
    npu: int
    chip: int
    name: str


def of_memory(rows: Iterable[str], visible: str, own: frozenset[int]) -> Facts:
    """Processes of others on the NPUs that the job may use, the largest first; who is to go is only said where they are on one, or of one program."""
    found = {Holder(int(m[5]), int(m[3]), int(m[1]), int(m[2]), m[4]) for row in rows if (m := _PROCESS.match(row))}
    dies = max((h.chip for h in found), default=0) + 1
    wanted = {int(n) for n in visible.split(",")} if visible else None
    others = sorted((h for h in found if h.pid not in own and h.mb >= SMALLEST and (wanted is None or h.npu * dies + h.chip in wanted)), reverse=True)
    if not others:
        return {}
    told = {"holders": (", ".join(f"{h.pid} ({h.name}, {h.mb} MB, NPU {h.npu})" for h in others[:MAX_NAMED]),)}
    if len({(h.npu, h.chip) for h in others}) > 1:
        of_one_program = len({h.name for h in others}) == 1 and len(others) <= MAX_OF_PROGRAM
        return {**told, "held": ("npus",), "holder_pids": (" ".join(str(pid) for pid in sorted(h.pid for h in others)),)} if of_one_program else told
    return {**told, "held": ("npu",), "holder_pid": (str(others[0].pid),)}


def of_port(rows: Iterable[str], started: Sequence[Started]) -> Facts:
    """The port that the one started service wants, and who listens on it."""
    wanted = {port for one in started if (port := one.option("port") or "").isdecimal()}
    if len(wanted) != 1:
        return {}
    port = next(iter(wanted))
    listening = {(who, pid) for at, who, pid in map(_listener, rows) if at == port}
    if len(listening) != 1:
        return {"port": (port,), "other_port": (_other(port),)}
    who, pid = next(iter(listening))
    return {"port": (port,), "other_port": (_other(port),), "held": ("port",), "listener_pid": (pid,), "listener": (who,)}


def _listener(row: str) -> tuple[str, str, str]:
    if match := _SS.search(row):
        return match[1], match[2], match[3]
    if match := _NETSTAT.search(row):
        return match[1], match[3], match[2]
    if match := _LSOF.search(row):
        return match[3], match[1], match[2]
    return "", "", ""


def _other(port: str) -> str:
    return str(int(port) + 11 if int(port) < 65000 else 8011)
