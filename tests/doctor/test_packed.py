"""Rows of very many files are held as compressed runs: whoever reads them notices nothing."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from unittest import mock

import pytest

from doctor.answer.report import report
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan import packed
from doctor.scan.gathering import Together
from doctor.scan.harvest import Harvest, Hit, merge
from doctor.scan.packed import Packed, Rows, only, part
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.simulate.jobs import simulate


@pytest.fixture
def tiny_runs() -> Iterator[None]:
    """Ten rows are many."""
    with mock.patch.multiple(packed, HELD=10, RUN=10):
        yield


def _told(rows: list[tuple[int, str]]) -> Rows[tuple[int, str], tuple[int, str]]:
    made: Rows[tuple[int, str], tuple[int, str]] = Rows(lambda row: row[0], iter, packs=True)
    for row in rows:
        made.add([row])
    return made


def test_rows_come_sorted_and_those_of_one_key_as_they_came(tiny_runs: None) -> None:
    """As a stable sort gives them, however many runs there are; what was packed before joins in."""
    rows = [(n * 7919 % 13, f"row {n}") for n in range(600)]
    found = _told(rows).result()
    assert isinstance(found, Packed)
    assert list(found) == sorted(rows, key=lambda row: row[0])
    again: Rows[tuple[int, str], tuple[int, str]] = Rows(lambda row: row[0], iter, packs=True)
    again.add([(-1, "first")])
    again.add(found)
    assert list(again.result()) == [(-1, "first"), *found]


def test_a_packed_sequence_is_a_sequence(tiny_runs: None) -> None:
    """By number, from the end, in parts and through a pickle."""
    rows = [(n, "x") for n in range(300)]
    found = _told(rows).result()
    assert isinstance(found, Packed)
    assert len(found) == 300
    assert (found[0], found[-1], found[130]) == (rows[0], rows[-1], rows[130])
    assert tuple(found[100:260:3]) == tuple(rows[100:260:3])
    assert list(part(found, 127, 129)) == rows[127:129]
    assert list(only(found, lambda row: row[0] % 2 == 0)) == rows[::2]
    assert list(pickle.loads(pickle.dumps(found))) == rows
    with pytest.raises(IndexError):
        found[300]


def test_the_report_of_a_job_is_the_same(knowledge: Knowledge, tiny_runs: None) -> None:
    """Every reader of facts and spans gets what it gets of plain ones, and packed they take a tenth of the room."""
    scanner = Scanner(Plan(knowledge.sought()))
    parts = [scanner.scan(discover.given_text(text, name)) for name, text in simulate(5, 8).files.items()]
    plain = merge(parts)
    told = report(conclude([plain], knowledge), knowledge)
    together = Together()
    for one in parts:
        together.add(one)
    packed_up = together.result()
    assert isinstance(packed_up.facts, Packed)
    assert isinstance(packed_up.spans, tuple | Packed)
    assert report(conclude([packed_up], knowledge), knowledge) == told
    assert told["job"] is not None
    assert packed_up.json() == plain.json()
    assert _size(packed_up) * 10 < _size(plain)


def _size(harvest: Harvest) -> int:
    """About the bytes that its facts take in memory."""
    import sys

    def size(hit: Hit) -> int:
        return sum(map(sys.getsizeof, (hit, hit.place, hit.place.text, hit.place.time, hit.captures, *hit.captures, *(v for _, v in hit.captures))))

    return sum(map(sys.getsizeof, harvest.facts._blocks)) if isinstance(harvest.facts, Packed) else sum(map(size, harvest.facts))
