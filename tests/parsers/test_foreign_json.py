"""JSON of others is read within bounds, wherever it is read."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pytest

from doctor.base.errors import UsageError
from doctor.baseline import kept, reports
from doctor.baseline.shapes import Shapes
from doctor.fleet import gather
from doctor.read.source import Source, hints
from doctor.scan import dumps
from parsers import foreign_json

MANY = b"[" + b"[]," * 40 + b"[]]"


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a test needs no gigabyte."""
    monkeypatch.setattr(foreign_json.read, "__defaults__", (30,))


def source(name: str, data: bytes) -> Source:
    return Source(name, lambda: io.BytesIO(data), len(data), hints(name))._replace(dump="flight")


def baseline(body: bytes) -> bytes:
    packed = zlib.compress(body)
    return f"{kept.MAGIC} {kept.VERSION} {kept._digest(packed)}\n".encode() + packed


@pytest.mark.parametrize("read", [lambda data: reports.read("a", data), lambda data: kept.unpacked(baseline(data), "a", Shapes()), lambda data: gather.parsed(data.decode(), "a")])
def test_more_values_than_are_read_are_refused(read: Any) -> None:
    """Of a report, a baseline and a harvest: three bytes of a file take sixty of memory."""
    with pytest.raises(UsageError):
        read(MANY)


def test_a_dump_with_more_values_is_named() -> None:
    found = dumps.scan(source("hccl_trace_rank_0", b'{"entries": ' + MANY + b"}"))
    assert len(found.skipped) == 1
    assert not found.dumps


def test_a_dump_in_json_larger_than_a_text_may_be_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "MAX_TEXT", 100)
    assert "larger" in dumps.scan(source("hccl_trace_rank_0", b'{"entries": [' + b" " * 200 + b"]}")).skipped[0].reason
