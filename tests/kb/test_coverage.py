"""The coverage table names entries that exist, once per fault, and covers what it claims to."""

from __future__ import annotations

from collections import Counter

from benchmarks import coverage
from kb.knowledge import Knowledge

ROWS = coverage.table()


def test_every_named_entry_exists(knowledge: Knowledge) -> None:
    """A renamed or dropped entry shows here."""
    known = set(knowledge.codes_of_entries)
    missing = {
        fault: sorted(set(codes) - known)
        for faults in ROWS.values()
        for fault, codes in faults.items()
        if isinstance(codes, list) and (not codes or set(codes) - known)
    }
    assert missing == {}


def test_every_gap_has_a_reason() -> None:
    """What is not covered says why."""
    gaps = [reason for faults in ROWS.values() for reason in faults.values() if isinstance(reason, str)]
    assert [reason for reason in gaps if not reason.startswith("none: ") or len(reason) < 20] == []


def test_no_fault_is_counted_twice() -> None:
    """A fault belongs to one family."""
    counted = Counter(fault for faults in ROWS.values() for fault in faults)
    assert [fault for fault, times in counted.items() if times > 1] == []


def test_share_is_at_least_nine_tenths() -> None:
    """The whole, and not by one family's weight alone: none is below two thirds."""
    parts = coverage.shares(ROWS)
    assert coverage.total(parts).ratio >= 0.9
    assert [part for part in parts if part.ratio < 2 / 3] == []
