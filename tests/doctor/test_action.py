"""What has to be done about a root: by the vendor's table, by the fix to try first, by the kind of the fault; shown where the fix is."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from terminal import terminal
from tests_support import fits_schema

from doctor import answer
from doctor.answer.report import report
from doctor.base.words import word
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

SCHEMA = Path(answer.__file__).parent / "report.schema.json"
ALARM = "\tNPU ID                         : 5\n\tHealth Status                  : Alarm\n\tError Code                     : {code}\n\tError Information              : x\n"
VICTIM = "[ERROR] HCCL(7,python):2026-01-02-03:04:05.000.000 [x.cc:1]EI0002: The wait execution of the Notify register times out. rank 3\n"
LIBRARY = 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n    import torch_npu\nImportError: libhccl.so: cannot open shared object file: No such file or directory\n'
MIXED = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, npu:0 and cpu!\n"


def _roots(log: str, scanner: Scanner, knowledge: Knowledge) -> list[dict[str, Any]]:
    made = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)
    fits_schema(made, json.loads(SCHEMA.read_text()))
    assert all(f["action"] is None for f in made["findings"] if f["role"] != "root")
    return [f for f in made["findings"] if f["role"] == "root"]


def _code(level: str, knowledge: Knowledge) -> str:
    return next(row["code"] for row in knowledge.all_codes() if row["family"] == "hardware" and row.get("severity") == level and row["code"].startswith("0x8"))


@pytest.mark.parametrize("level", ["isolate", "reset"])
def test_the_table_of_the_vendor_decides_where_its_code_stands(level: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """What is only likely takes no card out: then it is looked at."""
    found = _roots(ALARM.format(code=_code(level, knowledge)[2:].upper()), scanner, knowledge)[0]["action"]
    assert (found["class"], found["by"]) == ({"isolate": "hardware"}.get(level, level), "vendor")


def test_the_card_is_named_where_the_log_does(scanner: Scanner, knowledge: Knowledge) -> None:
    found = _roots(ALARM.format(code="80E18402") + "\tHBM Double Bit Isolated Pages Count      : 66\n", scanner, knowledge)
    assert found[0]["action"]["class"] == "isolate"
    assert "device 5" in found[0]["action"]["text"]["en"]


@pytest.mark.parametrize(("log", "name"), [(VICTIM, "collect"), (LIBRARY, "config"), (MIXED, "code")])
def test_else_the_kind_and_the_fix_decide(log: str, name: str, scanner: Scanner, knowledge: Knowledge) -> None:
    assert _roots(log, scanner, knowledge)[0]["action"]["class"] == name


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("more", [(), ("-v",)])
def test_it_stands_above_the_fix_on_the_screen(lang: str, more: tuple[str, ...]) -> None:
    """Row 24: the real program in a terminal says it in the reader's words, right above the fix."""
    rows = terminal("--lang", lang, *more, piped=LIBRARY.encode()).rows
    at = next(n for n, row in enumerate(rows) if row.split()[:1] == [word("action", lang)])
    assert word("action:config", lang) in rows[at]
    assert rows[at + 1].split()[0] == word("fix", lang)


def test_it_can_be_counted(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """In CSV a column of its own: what to hand to whom."""
    (tmp_path / "a.log").write_text(MIXED)
    rows = list(csv.DictReader(io.StringIO(run("scan", str(tmp_path), "-f", "csv").stdout.decode())))
    assert [row["action"] for row in rows] == ["code"]
