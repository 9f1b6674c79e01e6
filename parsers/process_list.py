"""`ps` output: who holds what, and whether its parent still lives.

    PID    PPID STAT     ELAPSED CMD
  41230       1 Sl   1-03:12:40 python -u pretrain_gpt.py

Columns are found by the header, so `ps -ef`, `ps aux` and `ps -o pid,ppid,stat,etime,cmd` are all read. A grep takes the
header away: behind `ps -ef | grep python` the columns are those of `ps -ef`.

>>> rows(["  PID PPID CMD", "   77    1 python x.py"], 5)[0].get("command")
'python x.py'
>>> rows(["$ ps -ef | grep python", "root   77    1  0 10:12 ?   00:00:03 python x.py"], 5)[0].get("ppid")
'1'
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.parsed import Row
from parsers.prefix import peel

TABLE = "ps"
_NAMES = {
    "PID": "ps_pid",
    "PPID": "ppid",
    "USER": "user",
    "UID": "user",
    "STAT": "stat",
    "S": "stat",
    "CMD": "command",
    "COMMAND": "command",
}
_FULL = ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"]  # of `ps -ef`
_FILTERED = re.compile(r"\bps -ef ?\|")
MAX_ROWS = 2000


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """One row a process, of every list in the lines."""
    found: list[Row] = []
    header: list[str] | None = None
    for number, raw in enumerate(lines):
        text = peel(raw).text
        if _FILTERED.search(raw):
            header = _FULL
            continue
        words = text.split()
        if "PID" in words and "PPID" in words and words[-1] in ("CMD", "COMMAND"):
            header = words
            continue
        if header is None:
            continue
        cells = text.split(None, len(header) - 1)
        at = header.index("PID")
        if len(cells) < len(header) or not cells[at].isdecimal() or not cells[header.index("PPID")].isdecimal():
            header = None
            continue
        named = tuple(
            (_NAMES[name], value.strip()) for name, value in zip(header, cells, strict=True) if name in _NAMES
        )
        if len(found) < MAX_ROWS:
            found.append(Row(TABLE, first_line + number, named))
    return tuple(found)
