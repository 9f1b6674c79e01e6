"""`npu-smi info`: the box of chips and the box of processes, of every generation.

    +------------------------------------------------------------------------------------------------+
    | npu-smi 25.2.0                   Version: 25.2.0                                               |
    +---------------------------+---------------+----------------------------------------------------+
    | NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
    | Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
    +===========================+===============+====================================================+
    | 3     910B3               | Alarm         | 93.5        34                0    / 0             |
    | 0                         | 0000:82:00.0  | 0           0    / 0          60026/ 65536         |
    +===========================+===============+====================================================+

The width of the box and of its columns changes with the release, so cells are found by `|` and named by the headers.
One chip is two physical rows. A3 adds `Phy-ID` and 310P adds `Device` in the second row's first cell; Ascend 950 has
an `NPU ID` column of its own and leaves it empty in the second row; 26.0 adds a fifth column to the processes.

>>> row = rows(__doc__.splitlines(), 1)[1]
>>> row.table, row.line, row.get("npu"), row.get("health"), row.get("hbm_used"), row.get("hbm_percent")
('npu-smi.chip', 9, '3', 'Alarm', '60026', '91.6')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.lazy import lazy
from parsers.parsed import Row
from parsers.prefix import peel

_TITLE = lazy(r"npu-smi\s+v?(?P<tool>\S{1,40})(?:\s+Version:\s*(?P<version>\S{1,40}))?")
_PAIR = lazy(r"(?P<used>\d{1,12}|NA|-)\s*/\s*(?P<total>\d{1,12}|NA|-)")
_QUIET = lazy(r"No running processes found in NPU\s*(?P<npu>\d{1,9})")
_BUS = lazy(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\b")
_CUT = lazy(r"\d{1,9}\s+\S")
_HEALTHS = frozenset(("OK", "Warning", "Alarm", "Critical", "UNKNOWN", "Unknown"))
_COLUMNS = (
    "npu", "chip", "device", "name", "health", "power", "temp", "aicore", "hbm_used", "hbm_total", "hbm_percent",
    "mem_used", "mem_total", "hugepages_used", "hugepages_total", "has_process", "bus_id", "version",
)  # fmt: skip


@dataclass(slots=True)
class _Table:
    """One output of `npu-smi info` while its lines are read."""

    line: int
    version: str = ""
    own_id_column: bool = False
    device_column: bool = False
    usages: tuple[str, ...] = ()
    process_columns: tuple[str, ...] | None = None
    chips: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    half: dict[str, str] | None = None
    processes: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    quiet: set[str] = field(default_factory=set)
    elided: bool = False

    def begun(self) -> bool:
        return bool(self.chips or self.half or self.process_columns)


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """The rows of all tables in the lines: of each table its summary, its chips, its processes."""
    done: list[Row] = []
    table: _Table | None = None
    for number, raw in enumerate(lines, first_line):
        if "|" not in raw:
            if table is not None and raw.strip().startswith("..."):
                table.elided = True
            continue
        cells, closed = _cells(peel(raw).text)
        if not cells:
            continue
        title = _TITLE.match(cells[0])
        if title is not None or (_is_header(cells) and (table is None or table.begun())):
            done += _finish(table)
            table = _Table(number, (title["version"] or title["tool"]) if title else "")
        elif table is None:
            # Someone pasted the rows without their header, or the processes alone.
            if not _is_process_header(cells) and not _is_chip(cells):
                continue
            table = _Table(number)
        _read(table, number, cells, closed)
    return (*done, *_finish(table))


def _cells(text: str) -> tuple[list[str], bool]:
    """The cells of a row, and whether the row is whole: a terminal or a paste may have cut its right side."""
    start = text.find("|")
    if start < 0 or text[:start].strip("> \t"):
        return [], False
    body = text[start + 1 :].rstrip()
    closed = body.endswith("|")
    return [cell.strip() for cell in (body[:-1] if closed else body).split("|")], closed


def _is_header(cells: list[str]) -> bool:
    return cells[0].startswith("NPU") and any(cell == "Health" for cell in cells[1:])


def _is_process_header(cells: list[str]) -> bool:
    return cells[0].startswith("NPU") and any(cell.startswith("Process id") for cell in cells[1:])


def _is_chip(cells: list[str]) -> bool:
    return len(cells) > 2 and cells[1] in _HEALTHS and _CUT.match(cells[0]) is not None and bool(_PAIR.search(cells[2]))


def _is_id(word: str) -> bool:
    """The number of a card or chip: one that can be computed with."""
    return word.isdecimal() and len(word) < 10


def _read(table: _Table, number: int, cells: list[str], closed: bool) -> None:
    quiet = _QUIET.search(cells[0])
    if quiet is not None:
        table.quiet.add(quiet["npu"])
    elif _is_header(cells):
        table.own_id_column = cells[0] == "NPU ID"
    elif any(cell == "Bus-Id" for cell in cells):
        table.device_column = "Device" in cells[0] or "Phy-ID" in cells[0]
        last = cells[-1]
        usages = sorted(
            (at, name) for name, word in (("mem", "Memory-Usage"), ("hbm", "HBM-Usage")) if (at := last.find(word)) >= 0
        )
        table.usages = tuple(name for _, name in usages)
    elif _is_process_header(cells):
        table.process_columns = tuple(cells)
    elif table.process_columns is not None:
        _process(table, number, cells)
    else:
        _chip(table, number, cells, closed)


def _process(table: _Table, number: int, cells: list[str]) -> None:
    """Columns by header: 950 has no chip column, 26.0 a fifth one with the id inside the container."""
    found: dict[str, str] = {}
    for header, cell in zip(table.process_columns or (), cells, strict=False):
        if header.startswith("NPU"):
            ids = cell.split()
            if not ids or not _is_id(ids[0]):
                return
            found["npu"] = ids[0]
            found["chip"] = ids[1] if len(ids) > 1 else "0"
        elif header.startswith("Process id in"):
            continue
        elif header.startswith("Process id"):
            found["pid"] = cell
        elif header.startswith("Process name"):
            found["process"] = cell
        elif header.startswith("Process memory"):
            found["memory_mb"] = cell
    if found.get("pid", "").isdecimal():
        table.processes.append((number, found))


def _chip(table: _Table, number: int, cells: list[str], closed: bool) -> None:
    if table.own_id_column:
        # "0 | Ascend950PR | OK | ..." becomes "0 Ascend950PR | OK | ...": from here on as everywhere else.
        cells = [" ".join(cells[:2]), *cells[2:]]
    if len(cells) < 2:
        return
    ids = cells[0].split()
    values = cells[2] if len(cells) > 2 else ""
    second = bool(_BUS.match(cells[1])) or (table.half is not None and cells[1] in ("NA", "-"))
    if second:
        if table.half is not None:
            _second_row(table, table.half, ids, cells[1], values, closed)
            table.half = None
        return
    if len(ids) < 2 or not _is_id(ids[0]) or (len(cells) == 2 and not closed):
        return
    if not closed:
        # What stands at the cut may be half a word: "93." of 93.5.
        values = values.rpartition(" ")[0]
    first = values.split(None, 2)
    half = {"npu": ids[0], "name": " ".join(ids[1:]), "health": cells[1]}
    if first:
        half["power"] = first[0]
    if len(first) > 1:
        half["temp"] = first[1]
    if len(first) > 2 and (pages := _PAIR.search(first[2])) is not None:
        half["hugepages_used"], half["hugepages_total"] = pages["used"], pages["total"]
    table.half = half
    table.chips.append((number, half))


def _second_row(table: _Table, chip: dict[str, str], ids: list[str], bus: str, values: str, closed: bool) -> None:
    chip["bus_id"] = bus
    chip["chip"] = ids[0] if ids and _is_id(ids[0]) else "0"
    core = values.split(None, 1)
    if core and "/" not in core[0]:
        chip["aicore"] = core[0]
    pairs = list(_PAIR.finditer(values))
    names = table.usages if len(table.usages) == len(pairs) else ("mem", "hbm")
    if len(ids) > 1 and _is_id(ids[1]):
        chip["device"] = ids[1]
    elif not table.device_column and "hbm" in names[: len(pairs)]:
        # One die a card and no column for it: the card's number is the device's number.
        chip["device"] = chip["npu"]
    for name, pair in zip(names, pairs, strict=False):
        chip[f"{name}_used"] = pair["used"]
        if closed or pair.end() < len(values):
            chip[f"{name}_total"] = pair["total"]
    used, total = chip.get("hbm_used", ""), chip.get("hbm_total", "")
    if used.isdecimal() and total.isdecimal() and int(total) > 0:
        chip["hbm_percent"] = f"{100 * int(used) / int(total):.1f}"


def _finish(table: _Table | None) -> list[Row]:
    if table is None:
        return []
    made = []
    if table.chips:
        unhealthy = [chip["npu"] for _, chip in table.chips if chip["health"] not in ("OK", "", "NA", "-")]
        summary: tuple[tuple[str, str], ...] = (
            ("chips", str(len(table.chips))),
            ("missing_npus", ", ".join(_missing(table)) or "none"),
            ("unhealthy", ", ".join(dict.fromkeys(unhealthy)) or "none"),
        )
        if len(unhealthy) == len(table.chips) and len(set(unhealthy)) > 1:
            summary = (*summary, ("all_unhealthy", "yes"))
        if table.version:
            summary = (*summary, ("version", table.version))
        made.append(Row("npu-smi.summary", table.line, summary))
    busy = {(process["npu"], process["chip"]) for _, process in table.processes}
    listed = table.quiet | {npu for npu, _ in busy}
    for number, chip in table.chips:
        key = (chip["npu"], chip.get("chip", "0"))
        chip["has_process"] = "yes" if key in busy else "no" if chip["npu"] in listed else "unknown"
        if table.version:
            chip["version"] = table.version
        made.append(Row("npu-smi.chip", number, tuple((name, chip[name]) for name in _COLUMNS if name in chip)))
    for number, process in table.processes:
        made.append(Row("npu-smi.process", number, tuple(process.items())))
    return made


def _missing(table: _Table) -> list[str]:
    """Cards that a server of 8 or 16 should have and this table has not.

    A container sees only the cards given to it, in any selection, and a 310P is numbered by its slot: so only a set
    that is one or two short of a full server counts, and a card beyond either end only in a table that is known to be
    whole.
    """
    if table.elided or "hbm" not in table.usages:
        return []
    present = {int(chip["npu"]) for _, chip in table.chips}
    size = 8 if max(present) < 8 else 16
    absent = sorted(set(range(size)) - present)
    whole = table.process_columns is not None
    inner = [npu for npu in absent if min(present) < npu < max(present)]
    if max(present) < size and 0 < len(absent) <= 2 and (inner == absent or (whole and len(absent) == 1)):
        return [str(npu) for npu in absent]
    return []
