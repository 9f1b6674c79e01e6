"""Every golden log is read to what is written beside it: its tables as rows, its tracebacks as failures, the rest line by line.

`tests/data/parsers/<kind>/<name>.log` is read to `<name>.jsonl`. To accept a change: `REFRESH=1 pytest
tests/parsers/test_golden.py`, then read the diff of the .jsonl files as you read code.
"""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import parsers
from parsers import tables
from parsers.line import read_line
from parsers.traceback import failures

LOGS = sorted((Path(__file__).resolve().parent.parent / "data" / "parsers").glob("*/*.log"))
TABLES = ("npu-smi", "npu-smi-query", "hccn", "session", "kube")
MODULES = sorted(found.name for found in pkgutil.iter_modules(parsers.__path__))


def name(log: Path) -> str:
    return f"{log.parent.name}/{log.stem}"


def read(log: Path) -> list[str]:
    return log.read_bytes().decode().removesuffix("\n").split("\n")


def plain(value: Any) -> Any:
    """Named tuples with the names of what they tell, and nothing of what they do not."""
    if hasattr(value, "_asdict"):
        return {name: plain(one) for name, one in value._asdict().items() if one not in (None, "", 0, ())}
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def render(log: Path) -> str:
    """One JSON line a failure, a row of a table, or a line of the log: what it tells, its text where something was peeled off."""
    lines = read(log)
    if log.parent.name == "traceback":
        shown = [plain(failure) for failure in failures(lines)]
    elif log.parent.name in TABLES:
        shown = [{"table": row.table, "line": row.line, **dict(row.cells)} for row in tables.rows(lines, 1)]
    else:
        told = [read_line(raw)._asdict() for raw in lines]
        shown = [{k: v for k, v in one.items() if v is not None and (k, v) != ("text", raw)} for raw, one in zip(lines, told, strict=True)]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in shown)


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_golden(log: Path) -> None:
    golden = log.with_suffix(".jsonl")
    if os.environ.get("REFRESH"):
        golden.write_text(render(log), encoding="utf-8")
    assert render(log) == golden.read_text(encoding="utf-8"), (
        "if that is meant: REFRESH=1 pytest tests/parsers/test_golden.py"
    )


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"parsers.{module}")).failed == 0


@pytest.mark.parametrize("module", ["npu_smi", "smi_query", "hccn", "process_list", "session", "traceback", "plog", "prefix"])
def test_a_parser_shows_a_sample(module: str) -> None:
    shown = importlib.import_module(f"parsers.{module}").__doc__ or ""
    assert "\n    " in shown
    assert ">>>" in shown
