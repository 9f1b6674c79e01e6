"""plog: what host processes logged through CANN, one record a line with the lines it wrapped onto.

    [ERROR] HCCL(5520,python):2025-12-10-19:55:30.331.900 [hccl_socket.cc:803] [5688][Wait][LinkEstablish]timeout
        |  dest_ip(rank_id)  |  src_ip(rank_id)  |  MyRole  |  MyStatus  |

>>> [(record.head.module, record.line, record.end_line) for record in parse(__doc__.splitlines()[2:4])]
[('HCCL', 1, 2)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from parsers import device_log
from parsers.parsed import Line, Record
from parsers.runs import Format, begins_with, runs

KIND = "plog"


def _begins(line: Line) -> bool:
    return line.kind == "plog" and not device_log.is_device(line)


def _continues(_: Sequence[Line], line: Line, gap: int) -> bool:
    """A line without a head belongs to the one above, as far as its form shows it: indented, or a row of a dump."""
    return gap == 0 and line.kind == "text" and line.pid is None and line.text[:1] in (" ", "\t", "|", "{", "}")


FORMAT = Format(KIND, _begins, _continues)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with a line of a host process."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Log lines as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
