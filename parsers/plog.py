"""The head of a CANN log line: host plog, device log, firmware, and MindSpore's three-field form.

    [ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.118.305 [stars_engine.cc:1617]41388 ProcLogicCqReport:...
    [ERROR]HCCL(60570,):2021-08-14-11:02:55.717.090 [hccl/.../hccl_socket.cc:310][hccl-33011-0-...][3][Wait]...
    [ERROR] TSCH(-1,null):2020-10-21-06:48:02.266.015 715 (cpuid:0) hwts_plat.c:1071 int_process: ...
    [INFO]HSM:1970-01-01 00:02:17.408 text
    [ERROR] DEVICE(2420702,fffe06ffd1e0,python):2025-01-02-03:04:05.678.901 [path/file.cc:761] Func] msg

>>> head("[ERROR] HCCL(5520,VLLM::Worker_DP1):2025-12-10-19:55:30.331.900 [a.cc:803] [5688][Wait]x").process
'VLLM::Worker_DP1'
"""

from __future__ import annotations

from typing import NamedTuple

from parsers.lazy import lazy

LEVELS = {
    "DEBUG": "debug", "INFO": "info", "EVENT": "event", "TRACE": "trace", "WARNING": "warning", "WARN": "warning",
    "ERROR": "error", "ERR": "error", "CRITICAL": "fatal", "FATAL": "fatal", "SEVERE": "error", "EXCEPTION": "error",
    "PANIC": "fatal", "NOTICE": "info", "SUCCESS": "info", "NOTE": "info",
}  # fmt: skip
"""Level words of all loggers to ours. NULL and a plog level the library does not know have none."""

_HEAD = lazy(
    r"\[ ?(?P<level>[A-Z]{3,10}|\d{1,3}) ?\] ?(?P<module>[A-Z0-9_]{1,32})"
    r"(?:\((?P<pid>-?\d{1,19}|null|None)? ?,(?: ?(?P<tid>[0-9a-f]{6,16}),)?(?P<process>[^)]{0,80})\))?"
    r": ?(?P<date>\d{4}-\d\d-\d\d)[- T](?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<ms>\d{1,3})(?:\.(?P<us>\d{1,3})"
    r"|(?P<us6>\d{3})(?!\d))?)?"
)
_SOURCE = lazy(
    r" ?(?:\[status:\w{1,20}\] ?)?\[(?:[^\[\]\s]{0,300}/)?(?P<source>[^\[\]\s/]{1,100}:\d{1,7})\]"
    r"| ?\d{1,10} \(cpuid:\d+\) (?:\S{0,200}/)?(?P<firmware>[\w.-]{1,80}:\d{1,7})"
)
_TID = lazy(
    r" ?(?:\[hccl-[^\]]{1,160}\]\[(?P<rank>-?\d{1,6})\])?(?: ?\[(?P<bracket>\d{1,19})\]|(?P<plain>\d{1,19}) "
    r"| (?P<spaced>\d{1,19}) "
    r"|.{0,48}?\b[tT]id:(?P<named>\d{1,19})|.{0,16}?\[curpid: ?\d+, ?(?P<driver>\d{1,19})\])?"
)


class Head(NamedTuple):
    """What a log line's head says; `end` is where the text after time, source and thread begins at the earliest."""

    level: str | None
    module: str
    time: str
    pid: int | None
    tid: int | None
    process: str | None
    rank: int | None
    source: str | None
    end: int


def head(text: str, start: int = 0) -> Head | None:
    """The head that begins at `start`, or None. Negative process ids and ranks mean "none", in the logs and here."""
    found = _HEAD.match(text, start)
    if found is None:
        return None
    milli, micro = found["ms"] or "", found["us"] or found["us6"] or ""
    end = found.end()
    source = None
    tid = int(found["tid"], 16) if found["tid"] else None
    rank = None
    place = _SOURCE.match(text, end)
    if place is not None:
        source = place["source"] or place["firmware"]
        end = place.end()
        if tid is None and place["source"]:
            thread = _TID.match(text, end)
            if thread is not None:
                digits = thread["bracket"] or thread["plain"] or thread["spaced"] or thread["named"] or thread["driver"]
                tid = int(digits) if digits else None
                if thread["rank"]:
                    rank = int(thread["rank"])
    pid = found["pid"]
    process = (found["process"] or "").strip()
    return Head(
        level=LEVELS.get(found["level"]),
        module=found["module"],
        time=f"{found['date']}T{found['clock']}.{milli:0<3}{micro:0<3}",
        pid=int(pid) if pid and pid.isdecimal() else None,
        tid=tid,
        process=process if process not in ("", "null", "None") else None,
        rank=rank if rank is not None and rank >= 0 else None,
        source=source,
        end=end,
    )
