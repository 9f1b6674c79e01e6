r"""A record of a JSON log to the text that was logged, with what the record says about it as prefixes that `prefix` reads.

>>> unwrap(b'{"log":"[rank0]: boom\\n","stream":"stderr","time":"2026-03-02T10:21:44.118305Z"}')
b'2026-03-02T10:21:44Z stderr F [rank0]: boom'
>>> unwrap(b'{"asctime": "2026-03-02 10:21:44,118", "levelname": "ERROR", "message": "no such device", "process": 41}')
b'(pid=41) 2026-03-02 10:21:44.118000 - ERROR - no such device'
>>> unwrap(b'{"object": "error", "message": "too long", "code": 400}') is None
True
>>> unwrap(b'{"detail": "[pid=41] failed\\nEE1001: no context"}')  # what a service answered
b'[pid=41] failed\n\x00EE1001: no context'

Container runtimes (json-file), journald (`-o json`), loggers of Python, Go, Node and Java, and what collectors export. A
message of several lines gives several, parted by FOLD: they stand on one line of the file.
"""

from __future__ import annotations

import json
import time
from typing import Any

from parsers.lazy import lazy
from parsers.plog import LEVELS
from parsers.prefix import peel

FOLD = b"\n\0"
"""Parts the lines of one record. NULs are dropped from every line that is decoded, so it reads as a line break."""

LONGEST = 1 << 20  # bytes of a record that is parsed
PREFIX = 200  # bytes that a launcher may have put before it

Record = dict[str, Any]

_MESSAGE = ("message", "msg", "log", "MESSAGE", "short_message", "line", "event", "body", "text", "m", "detail")
_TIME = ("asctime", "timestamp", "@timestamp", "time", "ts", "datetime", "eventTime", "t", "created")
_LEVEL = ("levelname", "level", "severity", "lvl", "loglevel", "log.level", "severity_text", "l")
_PID = ("process", "pid", "process_id", "_PID")
_RANK = ("rank", "global_rank")
_WHERE = ("pod", "pod_name", "container_name", "container")
_FAILURE = frozenset(
    ("exc_info", "exc_text", "exception", "stack_trace", "stacktrace", "stack", "stack_info", "traceback", "error", "err", "reason", "cause", "details")
)
_OTHER = ("stream", "logger", "name", "lineno", "funcName", "caller", "thread", "hostname", "kubernetes", "labels", "__REALTIME_TIMESTAMP", "_TRANSPORT")
_WITNESSES = frozenset((*_TIME, *_LEVEL, *_PID, *_OTHER, "exc_info", "exc_text"))
_ENVELOPES = frozenset(("_source", "log", "record", "jsonPayload"))
_NUMBERED = {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}
_OF_NODE = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARNING", 50: "ERROR", 60: "FATAL"}

_STAMP = lazy(
    r"(?P<date>\d{4}[-/]\d\d[-/]\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?(?P<zone> ?(?:Z|UTC|[+-]\d\d:?\d\d))?$"
)
_parsed = json.JSONDecoder().decode
_NAME = lazy(r"[\w.@/-]{1,80}$")
# What Docker writes, in the order in which it writes it: such logs are long, and parsing each record takes ten times as long.
_DOCKER = lazy(
    rb'\s*\{"log":"([^"\\]*(?:\\.[^"\\]*)*)","stream":"(std(?:out|err))"(?:,"attrs":\{[^{}]*\})?,"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.\d]{0,10}Z"\}\s*'
)


def unwrap(raw: bytes) -> bytes | None:
    """What a line that holds a JSON record logs; None when it is no such line, and stays what it is."""
    at = raw.find(b'{"')
    if not 0 <= at <= PREFIX or len(raw) > LONGEST or not raw.rstrip().endswith(b"}"):
        return None
    if (plain := _DOCKER.fullmatch(raw)) is not None:
        text = plain[1].removesuffix(rb"\n")
        if b"\\" not in text and b"\0" not in text:
            return b"%bZ %b F %b" % (plain[3], plain[2], text)
    try:
        record = _parsed(raw[at:].decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    before = raw[:at].decode("utf-8", "replace").lstrip("\ufeff")
    if before.strip() and peel(before + "X").text != "X":  # words before it: the record is what a line tells about
        return None
    told = _told(record)
    if told is None:
        return None
    return (before + told).replace("\0", "").encode("utf-8", "backslashreplace").replace(b"\n", FOLD)


def _told(record: Record) -> str | None:
    """The record as lines of text."""
    for name in record.keys() & _ENVELOPES:  # collectors wrap the record of the program once more
        if isinstance(record[name], dict) and _message(record[name]) is not None:
            record = {**record, **record[name], name: None}
    message = _message(record)
    if message is None or not (len(record) == 1 or not _WITNESSES.isdisjoint(record)):
        return None
    message = message.rstrip("\r\n")
    rest = "".join(f"\n{text}" for text in _failures(record) if text not in message)
    if "__REALTIME_TIMESTAMP" in record:
        return f"{_journal(record)}{message}{rest}"
    if "log" in record and isinstance(record.get("stream"), str):
        return f"{_pod(record)}{_runtime(record)}{message}{rest}"
    return f"{_pod(record)}{_process(record)}{_logger(record, message)}{message}{rest}"


def _message(record: Record) -> str | None:
    for name in _MESSAGE:
        value = record.get(name)
        if isinstance(value, str):
            return value
        if name == "MESSAGE" and isinstance(value, list) and all(isinstance(b, int) and 0 <= b < 256 for b in value):
            return bytes(value).decode("utf-8", "replace")  # journald's way to write what is no UTF-8
    return None


def _failures(record: Record) -> list[str]:
    """What fields beside the message tell about a failure: stacks, causes."""
    found: list[str] = []
    for name in sorted(record.keys() & _FAILURE):
        value = record[name]
        inner = [value.get(key) for key in ("message", "stack_trace", "stack")] if isinstance(value, dict) else [value]
        found += [text.strip("\r\n") for text in inner if isinstance(text, str) and text.strip()]
    return list(dict.fromkeys(found))


def _runtime(record: Record) -> str:
    """As the container runtime itself writes it. Its time is UTC and the line's own is local, so only the first is dropped."""
    written = record.get("time")
    stamp = _STAMP.match(written) if isinstance(written, str) else None
    return f"{stamp['date']}T{stamp['clock']}Z {record['stream'][:6]} F " if stamp is not None and record["stream"] in ("stdout", "stderr") else ""


def _journal(record: Record) -> str:
    """A line of the kernel as `journalctl -o short-iso` writes it; a service's own words need nothing before them."""
    moment = _epoch(record.get("__REALTIME_TIMESTAMP"))
    host = record.get("_HOSTNAME")
    if moment is None or "kernel" not in (record.get("_TRANSPORT"), record.get("SYSLOG_IDENTIFIER")):
        return ""
    return f"{moment.replace(' ', 'T')}Z {host if isinstance(host, str) and _NAME.match(host) else 'host'} kernel: "


def _pod(record: Record) -> str:
    of_collector = record.get("kubernetes")
    inside = of_collector if isinstance(of_collector, dict) else {}
    pod = inside.get("pod")
    name = inside.get("pod_name") or (pod.get("name") if isinstance(pod, dict) else None) or _first(record, _WHERE)
    return f"[pod/{name}] " if isinstance(name, str) and "/" not in name and _NAME.match(name) else ""


def _process(record: Record) -> str:
    pid, rank = _whole(_first(record, _PID)), _whole(_first(record, _RANK))
    return (f"(pid={pid}) " if pid else "") + (f"[rank{rank}]: " if rank and len(rank) < 7 else "")


def _logger(record: Record, message: str) -> str:
    """Time and level as Python's loggers write them."""
    level, moment = _level(record), _time(record)
    if level:
        return f"{moment} - {level} - " if moment else f"[{level}|json] >> "
    return f"{moment} | " if moment and message[:1].strip() else ""


def _level(record: Record) -> str:
    value = _first(record, _LEVEL)
    if isinstance(value, int) and not isinstance(value, bool):
        return (_OF_NODE if "hostname" in record else _NUMBERED).get(value, "")
    if isinstance(value, dict):  # loguru
        value = value.get("name")
    word = value.upper() if isinstance(value, str) and len(value) < 12 else ""
    word = {"WARN": "WARNING", "ERR": "ERROR", "PANIC": "FATAL", "INFORMATION": "INFO"}.get(word, word)
    return word if LEVELS.get(word) and word not in ("EVENT", "NOTE") else ""


def _time(record: Record) -> str:
    for name in _TIME:
        value = record.get(name)
        if isinstance(value, dict):  # loguru
            value = value.get("repr") or value.get("timestamp")
        if isinstance(value, str) and (stamp := _STAMP.match(value)) is not None:
            return f"{stamp['date'].replace('/', '-')} {stamp['clock']}.{(stamp['fraction'] or '')[:6]:0<6}"
        if (moment := _epoch(value)) is not None:
            return moment
    return ""


def _epoch(value: object) -> str | None:
    """Seconds, milli-, micro- or nanoseconds since 1970, by their size."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    while number > 1e11:
        number /= 1000
    if isinstance(value, bool) or not 1e9 < number < 4e9:
        return None
    seconds, micro = divmod(round(number * 1e6), 1_000_000)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds))}.{micro:06}"


def _whole(value: object) -> str:
    text = str(value)
    return text if type(value) in (int, str) and text.isascii() and text.isdecimal() and len(text) < 19 else ""


def _first(record: Record, names: tuple[str, ...]) -> object:
    for name in names:
        value = record.get(name)
        if value is not None:
            return value
    return None
