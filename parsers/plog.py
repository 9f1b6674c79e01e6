"""The head of a CANN log line: host plog, device log, firmware, and MindSpore's three-field form.

    [ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.118.305 [stars_engine.cc:1617]41388 ProcLogicCqReport:...
    [ERROR]HCCL(60570,):2021-08-14-11:02:55.717.090 [hccl/.../hccl_socket.cc:310][hccl-33011-0-...][3][Wait]...
    [ERROR] TSCH(-1,null):2020-10-21-06:48:02.266.015 715 (cpuid:0) hwts_plat.c:1071 int_process: ...
    [INFO]HSM:1970-01-01 00:02:17.408 text
    [ERROR] DEVICE(2420702,fffe06ffd1e0,python):2025-01-02-03:04:05.678.901 [path/file.cc:761] Func] msg

>>> found = head("[ERROR] HCCL(5520,VLLM::Worker_DP1):2025-12-10-19:55:30.331.900 [a.cc:803] [5688][Wait]x")
>>> found.pid, found.source
(5520, 'a.cc:803')
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.named import NamedTuple

LEVELS = {
    "DEBUG": "debug", "INFO": "info", "EVENT": "event", "TRACE": "trace", "WARNING": "warning", "WARN": "warning",
    "ERROR": "error", "ERR": "error", "CRITICAL": "fatal", "FATAL": "fatal", "SEVERE": "error", "EXCEPTION": "error",
    "PANIC": "fatal", "NOTICE": "info", "SUCCESS": "info", "NOTE": "info",
}  # fmt: skip
"""Level words of all loggers to ours. NULL and a plog level the library does not know have none."""

_HEAD = lazy(
    r"\[ ?(?P<level>[A-Z]{3,10}|\d{1,3}) ?\] ?(?P<module>[A-Z0-9_]{1,32})"
    r"(?:\((?P<pid>-?\d{1,19}|null|None)? ?,[^)]{0,99}\))?"
    r": ?(?P<date>\d{4}-\d\d-\d\d)[- T](?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<ms>\d{1,3})(?:\.(?P<us>\d{1,3})"
    r"|(?P<us6>\d{3})(?!\d))?)?"
)
_SOURCE = lazy(
    r" ?(?:\[status:\w{1,20}\] ?)?\[(?:[^\[\]\s]{0,300}/)?(?P<source>[^\[\]\s/]{1,100}:\d{1,7})\]"
    r"| ?\d{1,10} \(cpuid:\d+\) (?:\S{0,200}/)?(?P<firmware>[\w.-]{1,80}:\d{1,7})"
)
_RANK = lazy(r" ?\[hccl-[^\]]{1,160}\]\[(?P<rank>-?\d{1,6})\]")


class Head(NamedTuple):
    """What a log line's head says."""

    level: str | None
    module: str
    time: str
    pid: int | None
    rank: int | None
    source: str | None


def head(text: str, start: int = 0) -> Head | None:
    """The head that begins at `start`, or None. Negative process ids and ranks mean "none", in the logs and here."""
    found = _HEAD.match(text, start)
    if found is None:
        return None
    milli, micro = found["ms"] or "", found["us"] or found["us6"] or ""
    rank = None
    place = _SOURCE.match(text, found.end())
    if place is not None and place["source"]:
        group = _RANK.match(text, place.end())
        rank = int(group["rank"]) if group is not None else None
    pid = found["pid"]
    return Head(
        level=LEVELS.get(found["level"]),
        module=found["module"],
        time=f"{found['date']}T{found['clock']}.{milli:0<3}{micro:0<3}",
        pid=int(pid) if pid and pid.isdecimal() else None,
        rank=rank if rank is not None and rank >= 0 else None,
        source=(place["source"] or place["firmware"]) if place is not None else None,
    )
