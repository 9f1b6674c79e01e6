"""Every golden log parses to what is written beside it, and each is claimed by the one parser of its folder.

`tests/data/parsers/<kind>/<name>.log` parses to `<name>.jsonl`. To accept a change: `REFRESH=1 pytest
tests/parsers/test_golden.py`, then read the diff of the .jsonl files as you read code.
"""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
from pathlib import Path

import pytest

import parsers
from parsers.registry import PARSERS, kind_of, split

LOGS = sorted((Path(__file__).resolve().parent.parent / "data" / "parsers").glob("*/*.log"))
MODULES = sorted(found.name for found in pkgutil.iter_modules(parsers.__path__))


def name(log: Path) -> str:
    return f"{log.parent.name}/{log.stem}"


def read(log: Path) -> list[str]:
    return log.read_bytes().decode().removesuffix("\n").split("\n")


def render(log: Path) -> str:
    """One JSON line a record: its lines, its head without what the head does not tell, its rows."""
    shown = []
    for record in split(read(log)):
        told = record.head._asdict() if record.head else {}
        facts = {
            "kind": record.kind,
            "lines": [record.line, record.end_line],
            "head": {name: value for name, value in told.items() if value not in (None, False)},
            "rows": [{"table": row.table, "line": row.line, **dict(row.cells)} for row in record.rows],
        }
        shown.append(json.dumps({name: value for name, value in facts.items() if value}, ensure_ascii=False))
    return "\n".join(shown) + "\n"


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_golden(log: Path) -> None:
    golden = log.with_suffix(".jsonl")
    if os.environ.get("REFRESH"):
        golden.write_text(render(log), encoding="utf-8")
    assert render(log) == golden.read_text(encoding="utf-8"), (
        "if that is meant: REFRESH=1 pytest tests/parsers/test_golden.py"
    )


@pytest.mark.parametrize("log", [log for log in LOGS if log.parent.name not in ("mixed", "text")], ids=name)
def test_one_parser_claims_the_log(log: Path) -> None:
    lines = read(log)
    assert [parser.KIND for parser in PARSERS if parser.sniff(lines)] == [log.parent.name]
    assert kind_of(lines) == log.parent.name


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_every_line_is_in_one_record(log: Path) -> None:
    lines = read(log)
    for parser in PARSERS:
        spans = [(record.line, record.end_line) for record in parser.parse(iter(lines))]
        assert [start for start, _ in spans] == [1, *(end + 1 for _, end in spans[:-1])]
        assert spans[-1][1] == len(lines)


def test_every_kind_has_golden_logs() -> None:
    assert {parser.KIND for parser in PARSERS} <= {log.parent.name for log in LOGS}


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"parsers.{module}")).failed == 0


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.KIND)
def test_a_parser_shows_a_sample(parser: object) -> None:
    assert "\n    " in (parser.__doc__ or "")
    assert ">>>" in (parser.__doc__ or "")
