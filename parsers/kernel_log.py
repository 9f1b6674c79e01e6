"""The host's kernel and services: dmesg, syslog, the journal. Neighbouring lines of one event are one record.

    [88123.501122] [ascend] [drv_pcie] [devdrv_load_half_probe 1290] <kworker/u387:2:90417> Device(6) load file timeout.
    [88124.000100] Call trace:
    [88124.000107]  devdrv_probe+0x11c/0x2f0 [drv_pcie_host]

>>> [(record.line, record.end_line) for record in parse(__doc__.splitlines()[2:5])]
[(1, 1), (2, 3)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from parsers.lazy import lazy
from parsers.parsed import Line, Record
from parsers.runs import Format, begins_with, runs

KIND = "kernel-log"

_STAMP = lazy(r"\s{0,16}(?:<\d{1,3}>)?\[[^\]]{1,40}\](?:\[[^\]]{1,12}\])? |\S.{0,200}? kernel: (?:\[[^\]]{1,20}\] )?")
_WITHIN = lazy(
    r"(?: |\t|Call [Tt]race:|Modules linked in:|CPU: \d|Hardware name:|pstate:|pc :|lr :|sp :|x\d{1,2}\s?:|RIP: "
    r"|RSP: |RAX: |R\d\d: |---\[ end"
    r"|Code: |[\w/]{1,80}\+0x)"
)


def _body(line: Line) -> str:
    text = line.text[:600]
    stamp = _STAMP.match(text)
    return text[stamp.end() :] if stamp is not None else text


def _begins(line: Line) -> bool:
    return line.kind == "kernel"


def _continues(_: Sequence[Line], line: Line, gap: int) -> bool:
    return (
        gap == 0
        and line.kind == "kernel"
        and _WITHIN.match(_body(line)) is not None
        and not _body(line).startswith("Call ")
    )


FORMAT = Format(KIND, _begins, _continues)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with a kernel line."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Kernel events as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
