"""`npu-smi info -t TYPE -i CARD`, `-l` and `-m`: lines of `key : value`, one row a pair.

    $ npu-smi info -t health -i 5 -c 0
            Health Status                  : Critical
            Error Code                     : 80E18402

The keys decide what a line is (log lines are full of colons): a key that is not known here is a row only between
known ones. Which card a pair speaks of is printed before it (`NPU ID`), after it (`Chip ID` closes the values of `-t
ecc` and `-t usages`), or only in the command above; the rows carry it as `npu` and `chip` when any of them tells.

>>> [(row.get("topic"), row.get("key"), row.get("value"), row.get("npu")) for row in rows(__doc__.splitlines()[2:5], 1)]
[('health', 'Health Status', 'Critical', '5'), ('health', 'Error Code', '80E18402', '5')]
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.parsed import Row
from parsers.prefix import peel

_PAIR = lazy(r"\s*(?P<key>[A-Z][A-Za-z0-9 ./_-]{1,48}?)\s?(?:\((?P<unit>[A-Za-z%/]{1,8})\))? +: (?P<value>\S.*?)?\s*$")
_PROCESS = lazy(
    r"\s*Process id ?: ?(?P<pid>\d+)\s+Process name ?: ?(?P<process>.*?)\s+Process memory\(MB\) ?: ?(?P<memory>\d+)"
)
_COMMAND = lazy(r"npu-smi +info\b(?P<options>.{0,200})")
_OPTION = lazy(r"-(?P<name>[tic]) +(?P<value>[A-Za-z0-9_-]{1,40})")
_MAPPING = lazy(r"\s*NPU ID\s+Chip ID\s+Chip Logic ID")

_TOPICS = (
    ("health", r"Health|Health Status|Error Code|Error Information"),
    ("ecc", r"(?:DDR|HBM|SRAM|L2|TS)\b.*\b(?:Single|Double) Bit\b.*"),
    ("board", r"Product Name|Model|Manufacturer|Serial Number|Software Version|Firmware Version|Compatibility"),
    ("board", r"Board ID|PCB ID|BOM ID|PCIe Bus Info|Slot ID|Class ID|(?:PCI|Subsystem) (?:Vendor|Device) ID"),
    ("board", r"Faulty Chip Count|Chip Type|Chip Name|Chip Version|[VN]Die ID|Chip Position ID"),
    ("usages", r"(?:DDR|HBM|Memory)(?: Bandwidth| Hugepages)? (?:Capacity|Usage Rate|Total)"),
    ("usages", r"(?:Aicore|Aivector|Aicpu|Ctrlcpu|Vectorcore|AI Cube|NPU)\b.*(?:Usage Rate|Utilization)"),
    ("memory", r"(?:DDR|HBM|Memory) (?:Clock Speed|Temperature|Manufacturer ID|Bit Width|Rank).*"),
    ("common", r"Aicore (?:Freq|curFreq|Count)"),
    ("temp", r"(?:NPU |AICORE |Cluster |Soc )?Temperature"),
    ("power", r"NPU Real-time Power|Power Dissipation|(?:NPU )?Power"),
    ("list", r"NPU ID|Chip ID|Total Count|Card Count|Chip Count"),
    ("spod-info", r"Super Pod ID|Super Pod Size|SDID|Server Index|Scale Type"),
    ("hccs", r"hccs .*|HCCS .*|hdlc .*"),
    ("pcie-err", r"PCIE .*(?:Err|Error|Count).*|(?:Tx|Rx|Symbol|Lcrc|Dcrc|Deskew)\b.*Err.*"),
    ("device-share", r"Device-share Status"),
)
_KNOWN = tuple((topic, lazy(pattern + r"\Z")) for topic, pattern in ((t, f"(?:{p})") for t, p in _TOPICS))
# What nobody else prints: one such topic or key makes a block of pairs ours.
_STRONG = frozenset(("ecc", "usages", "memory", "spod-info", "device-share"))
_STRONG_KEYS = frozenset(
    (
        "Health Status",
        "NPU ID",
        "Total Count",
        "Card Count",
        "Faulty Chip Count",
        "Aicore Count",
        "NPU Real-time Power",
        "PCIe Bus Info",
    )
)


class _Pair(NamedTuple):
    line: int
    key: str
    value: str
    unit: str


def _topic(key: str) -> str | None:
    return next((topic for topic, pattern in _KNOWN if pattern.match(key)), None)


def _is_strong(pair: _Pair) -> bool:
    return pair.key in _STRONG_KEYS or _topic(pair.key) in _STRONG


def _pair(number: int, text: str) -> _Pair | None:
    found = _PAIR.match(text[:600])
    if found is None:
        return None
    return _Pair(number, found["key"].strip(), found["value"] or "", found["unit"] or "")


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """A row a pair of every block of pairs, a row a process of `-t proc-mem`, a row a chip of `-m`."""
    reader = _Reader()
    for number, raw in enumerate(lines, first_line):
        if " :" in raw or "Process id:" in raw or "npu-smi" in raw or "NPU ID" in raw or reader.mapping:
            reader.read(number, peel(raw).text)
        elif raw.strip():
            reader.close()
    reader.close()
    return tuple(reader.done)


class _Reader:
    """Collects pairs until something else comes; only then is it known what the block is and whose."""

    def __init__(self) -> None:
        self.done: list[Row] = []
        self.mapping = False
        self._asked: dict[str, str] = {}
        self._block: list[_Pair] = []
        self._latest: dict[str, str] = {}  # of the block's keys

    def read(self, number: int, text: str) -> None:
        if (command := _COMMAND.search(text[:600])) is not None:
            self.close()
            self._asked = {option["name"]: option["value"] for option in _OPTION.finditer(command["options"])}
        elif _MAPPING.match(text):
            self.close()
            self.mapping = True
        elif self.mapping and (mapped := _mapped(number, text)) is not None:
            self.done.append(mapped)
        elif (process := _PROCESS.match(text)) is not None:
            cells = (
                ("npu", self._latest.get("NPU ID") or self._asked.get("i", "")),
                ("chip", self._latest.get("Chip ID") or self._asked.get("c", "0")),
                ("pid", process["pid"]),
                ("process", process["process"]),
                ("memory_mb", process["memory"]),
            )
            self.done.append(Row("npu-smi.process", number, cells))
        elif (pair := _pair(number, text)) is not None:
            self._block.append(pair)
            self._latest[pair.key] = pair.value
        elif text.strip():
            self.close()

    def close(self) -> None:
        """Turns the collected pairs into rows, if they are npu-smi's."""
        block, self._block, self._latest, self.mapping = self._block, [], {}, False
        known = [pair for pair in block if _topic(pair.key) is not None]
        asked = self._asked
        if not any(map(_is_strong, block)) and len(known) < (1 if asked else 3):
            return
        self._asked = {}
        for part in _parts(block):
            self._close(part, asked)

    def _close(self, part: Sequence[_Pair], asked: dict[str, str]) -> None:
        npu, chip = _only_card(part) or asked.get("i"), asked.get("c")
        # Where the chip's number stands is told by what follows the card's: values first means the number closes them.
        keys = [pair.key for pair in part if pair.key not in ("NPU ID", "Chip Count", "Total Count", "Card Count")]
        closes = bool(keys) and keys[0] != "Chip ID" and keys[-1] == "Chip ID"
        waiting: list[tuple[_Pair, str | None]] = []
        for pair in part:
            if pair.key == "NPU ID":
                npu, chip = pair.value, asked.get("c")
            elif pair.key == "Chip ID":
                chip = pair.value
            waiting.append((pair, npu))
            if not closes or pair.key == "Chip ID":
                self._emit(waiting, chip, asked)
                waiting = []
        self._emit(waiting, asked.get("c"), asked)

    def _emit(self, pairs: list[tuple[_Pair, str | None]], chip: str | None, asked: dict[str, str]) -> None:
        for pair, npu in pairs:
            topic = _topic(pair.key) or asked.get("t") or "other"
            self.done.append(_row(pair.line, topic, pair.key, pair.value, pair.unit, npu, chip))


def _parts(block: Sequence[_Pair]) -> list[Sequence[_Pair]]:
    """A part for each card, where several outputs of a loop stand in one block and a card's values begin before its number.

    Health is printed without a number, and before the counters that have one: it is of the card that follows.
    """
    first = block[0].key
    begins = [at for at, pair in enumerate(block) if pair.key == first] if first == "Health Status" else [0]
    parts = [block[at:end] for at, end in zip(begins, [*begins[1:], len(block)], strict=True)]
    return parts if all(map(_only_card, parts)) else [block]


def _only_card(part: Sequence[_Pair]) -> str | None:
    """The card that a part speaks of, where it names one."""
    named = {pair.value for pair in part if pair.key == "NPU ID"}
    return next(iter(named)) if len(named) == 1 else None


def _mapped(number: int, text: str) -> Row | None:
    """A line of `npu-smi info -m`: card, chip, logic id (the id CANN counts by), then the chip's name."""
    words = text.split(None, 3)
    if len(words) < 4 or not all(word.isdecimal() and len(word) < 10 for word in words[:2]):
        return None
    return _row(number, "mapping", "Chip Logic ID", words[2], "", words[0], words[1])


def _row(number: int, topic: str, key: str, value: str, unit: str, npu: str | None, chip: str | None) -> Row:
    cells = [("tool", "npu-smi"), ("topic", topic), ("key", key), ("value", value), ("unit", unit)]
    if npu is not None:
        cells.append(("npu", npu))
    if chip is not None:
        cells.append(("chip", chip))
    return Row("key-value", number, tuple(cells))
