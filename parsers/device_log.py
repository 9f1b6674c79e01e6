"""Logs from the device's side: its operating system (slog, device-os), its daemons, its firmware (TSCH, LPM, HSM).

    [EVENT] KERNEL(6120,sklogd):2020-10-21-06:48:03.517.240 [klogd.c:252][4410.208117] [ERROR] [devdrv] text
    [ERROR] TSCH(-1,null):2020-10-21-06:48:02.266.015 715 (cpuid:0) hwts_plat.c:1071 int_process: hwts aic exception
    [INFO]HSM:1970-01-01 00:02:17.408 text

The head is that of plog, but the process ids are the device's, its clock may stand at 1970, and a line that the
kernel wrote is relayed at level EVENT with its own level inside: `inner_level` reads that.

>>> from parsers.line import read_line
>>> line = read_line(__doc__.splitlines()[2].strip())
>>> line.level, inner_level(line), is_device(line)
('event', 'error', True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from parsers.lazy import lazy
from parsers.parsed import Line, Record
from parsers.plog import LEVELS
from parsers.runs import Format, begins_with, runs

KIND = "device-log"

_MODULES = frozenset(
    (
        "TSCH",
        "TS",
        "TSDUMP",
        "LPM",
        "LP",
        "HSM",
        "KERNEL",
        "BBOX",
        "SYSMONITOR",
        "IMU",
        "IMP",
        "TEEOS",
        "ROS",
        "ISP",
        "SIS",
        "DSS",
        "HSS",
    )
)
_DAEMONS = frozenset(
    (
        "sklogd",
        "slogd",
        "log-daemon",
        "tsdaemon",
        "dmp_daemon",
        "aicpu_scheduler",
        "hccp_service.bin",
        "tsd",
        "adda",
        "udevd",
        "ascend_monitor",
    )
)
_INNER = lazy(r"\]\[\s{0,8}\d{1,9}\.\d{1,6}\] ?\[(?P<level>[A-Z]{4,8})\]")


def is_device(line: Line) -> bool:
    """Whether the module or the process of a plog line lives on the device."""
    return line.kind == "plog" and (line.module in _MODULES or line.process in _DAEMONS)


def inner_level(line: Line) -> str | None:
    """The level of the relayed kernel line, or that of the head."""
    found = _INNER.search(line.text[:600])
    return LEVELS.get(found["level"], line.level) if found is not None else line.level


def _continues(_: Sequence[Line], line: Line, gap: int) -> bool:
    return gap == 0 and line.kind == "text" and line.pid is None and line.text[:1] in (" ", "\t")


FORMAT = Format(KIND, is_device, _continues)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with a line from a device."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Log lines as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
