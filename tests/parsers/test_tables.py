"""Rows of npu-smi and hccn_tool, as the matcher asks for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers import tables
from parsers.parsed import Row

DATA = Path(__file__).resolve().parent.parent / "data" / "parsers"
TABLE_LOGS = sorted(
    log for kind in ("npu-smi", "npu-smi-query", "hccn", "mixed") for log in (DATA / kind).glob("*.log")
)
HEAD = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.2.0                   Version: 25.2.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
PROCESSES = """\
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
"""
RULE = "+===========================+===============+====================================================+\n"


def chip(npu: int, health: str = "OK", hbm: str = "3392 / 65536") -> str:
    return (
        f"| {npu:<5} 910B3               | {health:<13} | 90.0        36                0    / 0             |\n"
        f"| 0                         | 0000:C1:00.0  | 0           0    / 0          {hbm:<20} |\n" + RULE
    )


def box(npus: Sequence[int], processes: bool = True) -> str:
    return HEAD + "".join(chip(npu) for npu in npus) + (PROCESSES if processes else "")


def parsed(text: str, table: str = "npu-smi.chip") -> list[Row]:
    return [row for row in tables.rows(text.split("\n"), 1) if row.table == table]


def values(text: str, key: str) -> list[str | None]:
    return [row.get("value") for row in parsed(text, "key-value") if row.get("key") == key]


@pytest.mark.parametrize(
    ("npus", "missing"),
    [
        (range(8), "none"),
        (range(16), "none"),
        ([0, 1, 2, 3, 4, 5, 7], "6"),
        ([0, 1, 2, 5, 6, 7], "3, 4"),
        (range(7), "7"),
        (range(1, 8), "0"),
        ([0, *range(2, 16)], "1"),
        ([4, 5, 6, 7], "none"),
        ([0, 2], "none"),
        ([0, 1, 2, 3, 4, 5], "none"),
        ([0, 3, 5, 7], "none"),
        ([2, 3, 4, 5, 6, 7], "none"),
    ],
)
def test_a_card_missing_from_a_full_server(npus: Sequence[int], missing: str) -> None:
    """A container's selection is not a server with missing cards."""
    assert parsed(box(npus), "npu-smi.summary")[0].get("missing_npus") == missing


def test_a_table_without_its_end_misses_nothing() -> None:
    assert parsed(box(range(7), processes=False), "npu-smi.summary")[0].get("missing_npus") == "none"


def test_an_elided_table_misses_nothing() -> None:
    text = HEAD + chip(0) + "...\n" + chip(7) + PROCESSES
    assert parsed(text, "npu-smi.summary")[0].get("missing_npus") == "none"


def test_unhealthy_cards_are_named() -> None:
    text = HEAD + chip(0) + chip(1, "Alarm") + chip(2, "Warning") + PROCESSES
    summary = parsed(text, "npu-smi.summary")[0]
    assert (summary.get("chips"), summary.get("unhealthy"), summary.get("version")) == ("3", "1, 2", "25.2.0")


def test_has_process_is_unknown_without_the_processes() -> None:
    assert [row.get("has_process") for row in parsed(box([0], processes=False))] == ["unknown"]


def test_has_process_tells_cards_apart() -> None:
    text = (
        box([0, 1, 2])
        + "| 0       0                 | 41230         | python                   | 57810                   |\n"
        + "| No running processes found in NPU 1                                                            |\n"
    )
    assert [row.get("has_process") for row in parsed(text)] == ["yes", "no", "unknown"]


@pytest.mark.parametrize("hbm", ["61207/ 65536", "61207 / 65536", "61207/65536", "61207  / 65536"])
def test_usage_is_read_however_it_is_glued(hbm: str) -> None:
    row = parsed(HEAD + chip(0, hbm=hbm))[0]
    assert (row.get("hbm_used"), row.get("hbm_total"), row.get("hbm_percent")) == ("61207", "65536", "93.4")


def test_a_usage_cut_at_the_side_has_no_total() -> None:
    text = HEAD + chip(0, hbm="61207/ 65536")
    cut = "\n".join(line[:88] for line in text.split("\n"))
    row = parsed(cut)[0]
    assert (row.get("hbm_used"), row.get("hbm_total"), row.get("hbm_percent")) == ("61207", None, None)
    assert row.get("health") == "OK"


def test_a_health_cut_at_the_side_is_not_a_health() -> None:
    assert parsed(HEAD + "| 0     910B3               | Crit") == []


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "    ",
        "> ",
        "[rank0]: ",
        "(Worker pid=3) INFO 03-25 06:14:02 [a.py:8] ",
        "2026-03-02T10:21:44.118305Z stdout F ",
        "box-1  | ",
    ],
)
def test_a_table_behind_a_prefix_is_the_same_table(prefix: str) -> None:
    text = box(range(8))
    prefixed = "\n".join(prefix + line for line in text.split("\n"))
    assert tables.rows(prefixed.split("\n"), 1) == tables.rows(text.split("\n"), 1)


def test_two_tables_are_two_tables() -> None:
    text = box(range(8)) + "then\n" + box([0, 1, 2, 3, 4, 5, 7])
    summaries = parsed(text, "npu-smi.summary")
    assert [row.get("missing_npus") for row in summaries] == ["none", "6"]
    assert summaries[1].line > summaries[0].line + 8


def test_rows_without_their_header_are_read() -> None:
    row = parsed(chip(5, "Alarm"))[0]
    assert (row.get("npu"), row.get("health"), row.get("hbm_total"), row.get("version")) == (
        "5",
        "Alarm",
        "65536",
        None,
    )


def test_lines_are_counted_from_the_first() -> None:
    assert [row.line for row in tables.rows(["link status: UP", "", "link status: DOWN"], 100)] == [100, 102]


def test_counts_are_read_per_chip_whether_its_number_comes_first_or_last() -> None:
    first = "NPU ID : 1\nChip ID : 0\nHBM Double Bit Error Count : 2\nChip ID : 1\nHBM Double Bit Error Count : 9"
    last = "NPU ID : 1\nHBM Double Bit Error Count : 2\nChip ID : 0\nHBM Double Bit Error Count : 9\nChip ID : 1"
    for text in (first, last):
        rows = [row for row in parsed(text, "key-value") if row.get("key") == "HBM Double Bit Error Count"]
        assert [(row.get("npu"), row.get("chip"), row.get("value")) for row in rows] == [
            ("1", "0", "2"),
            ("1", "1", "9"),
        ]


@pytest.mark.parametrize("value", ["OK", "Warning", "Alarm", "Critical"])
def test_health_status(value: str) -> None:
    assert values(
        f"        Health Status                  : {value}\n        Error Code                     : NA",
        "Health Status",
    ) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "Error Code: 7", "Error Code : 7\nModel : x", "key : value", "Traceback (most recent call last):\n  Temperature : 3", "model: qwen\nname : x\nversion : 3",
        "2026-03-02 10:21:44 - INFO - temperature : 0.7", "sampling params: temperature: 0.7, present: 1", "the link status was good",
        "| name | value |\n| a    | 1     |", "+----+\n| 1 x | OK |\n+----+",
    ],
)  # fmt: skip
def test_ordinary_text_holds_no_rows(text: str) -> None:
    assert tables.rows(text.split("\n"), 1) == ()


def test_gauges_are_split_from_their_unit() -> None:
    rows = {
        row.get("key"): (row.get("value"), row.get("unit"))
        for row in parsed("NPU ID : 0\nHBM Usage Rate(%) : 97\nTemperature(C) : 88", "key-value")
    }
    assert rows["HBM Usage Rate"] == ("97", "%")
    assert rows["Temperature"] == ("88", "C")


@pytest.mark.parametrize("heading", ["== 3", "NPU 3", "device 3:", "--- 3 ---", "npu_3", "3"])
def test_a_loop_names_the_card_above_its_output(heading: str) -> None:
    assert [row.get("npu") for row in parsed(f"{heading}\nlink status: UP\n\nlink status: UP", "key-value")] == [
        "3",
        "3",
    ]


def test_a_number_further_up_is_no_card() -> None:
    assert [row.get("npu") for row in parsed("8\nsome text\nlink status: UP", "key-value")] == [None]


def test_mixed_tls_switches_stand_side_by_side() -> None:
    line = "dev_id:{}, tls switch[{}](0:disable, 1:enable), tls preconfigured[1](0:non-preset, 1:preset), tls alarm time threshold[60]days"
    assert values(line.format(0, 1) + "\n" + line.format(1, 0), "tls switch") == ["1", "0"]


@pytest.mark.parametrize("log", TABLE_LOGS, ids=lambda log: log.stem)
def test_an_anchor_stands_in_every_table(log: Path) -> None:
    """Every paragraph that has rows by itself is led to: else the scan, which looks for anchors, never sees it."""
    for paragraph in log.read_text(encoding="utf-8").split("\n\n"):
        assert not tables.rows(paragraph.split("\n"), 1) or any(anchor in paragraph for anchor in tables.ANCHORS)


def test_importing_the_parsers_is_cheap() -> None:
    code = "import sys; before = set(sys.modules); import parsers.line, parsers.tables; print(*sorted(set(sys.modules) - before))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, cwd=DATA.parents[2], check=True).stdout.split()
    assert "parsers.tables" in loaded
    assert not {"datetime", "json", "logging", "pathlib", "decimal", "regex", "yaml"} & set(loaded)


@pytest.mark.parametrize("head", ["for i in {2..3}; do hccn_tool -i $i -link -g; done", "for i in $(seq 2 3)\ndo hccn_tool -i ${i} -link -g\ndone", "for n in 2 3; do hccn_tool -i $n -link -g; done"])
def test_the_outputs_of_a_loop_are_those_of_the_cards_that_it_runs_over(head: str) -> None:
    found = parsed(f"# {head}\nlink status: UP\nlink status: DOWN\n", "key-value")
    assert [(row.get("npu"), row.get("value")) for row in found] == [("2", "UP"), ("3", "DOWN")]


def test_a_loop_of_which_a_card_printed_nothing_names_no_card() -> None:
    found = parsed("# for i in {0..3}; do hccn_tool -i $i -ip -g; done\nipaddr:10.0.0.1\nnetmask:255.0.0.0\nipaddr:10.0.0.3\nnetmask:255.0.0.0", "key-value")
    assert {row.get("npu") for row in found} == {None}


def test_a_loop_ends_where_another_card_is_asked() -> None:
    found = parsed("# for i in 0 1; do hccn_tool -i $i -ip -g; done\nipaddr:10.0.0.1\nipaddr:10.0.0.2\n# hccn_tool -i 7 -ip -g\nipaddr:10.0.0.8", "key-value")
    assert [row.get("npu") for row in found] == ["0", "1", "7"]


def test_a_card_with_another_address_than_the_file_says() -> None:
    text = "address_0=10.0.0.1\naddress_1=10.0.0.2\n# hccn_tool -i 1 -ip -g\nipaddr:10.0.0.9\n"
    row = next(row for row in parsed(text, "key-value") if row.get("key") == "differs")
    assert (row.get("npu"), row.get("file"), row.get("card"), row.line) == ("1", "10.0.0.2", "10.0.0.9", 4)
    assert not any(row.get("key") == "differs" for row in parsed(text + "address_1=10.0.0.9\n", "key-value"))  # of two nodes, perhaps


def test_a_prompt_names_the_host_and_addresses_are_compared_on_each() -> None:
    text = "[root@n0 ~]# cat /etc/hccn.conf\naddress_1=10.0.0.1\n[root@n0 ~]# hccn_tool -i 1 -ip -g\nipaddr:10.0.0.1\n"
    found = [row for row in parsed(text + text.replace("n0", "n1").replace("ipaddr:10.0.0.1", "ipaddr:10.0.0.7"), "key-value") if row.get("key") == "differs"]
    assert [(row.get("host"), row.get("npu"), row.get("card")) for row in found] == [("n1", "1", "10.0.0.7")]


@pytest.mark.parametrize(("power", "weak"), [("0.1444", True), ("0.1445", False), ("0.0001", False)])
def test_light_is_weak_below_the_modules_own_threshold(power: str, weak: bool) -> None:
    found = parsed(f"# hccn_tool -i 2 -optical -g\noptical info:\nRx Power0            : {power} mW\nRxPower Low Thres    : 0.1445 mW", "key-value")
    assert [(row.get("power"), row.get("low"), row.get("npu")) for row in found if row.get("key") == "weak light"] == ([(power, "0.1445", "2")] if weak else [])
