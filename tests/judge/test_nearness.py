"""Where two findings stand to each other, in whichever of several files."""

from __future__ import annotations

from tests_support import built_in_entries

from doctor.findings.evaluate import Finding, Instance, Scope
from doctor.judge.nearness import later_in_file
from doctor.scan.harvest import Hit, Place


def _finding(*spots: tuple[str, int]) -> Finding:
    entry = next(e for e in built_in_entries()[0] if e.role == "cause")
    hits = tuple(Hit("x/0", Place(path, line, line, None, "error", None, "text", None, 7, None, None, None, "x"), ()) for path, line in spots)
    scope = Scope(None, None, None, None)
    return Finding(entry, (Instance(scope, hits, {}, {}, frozenset(path for path, _ in spots), frozenset()),), len(hits), True)


def test_what_began_in_a_plog_may_stand_above_an_exception_in_the_console_too() -> None:
    wait, exception = _finding(("plog", 2), ("console", 15)), _finding(("console", 36))
    assert later_in_file(exception, wait)
    assert not later_in_file(_finding(("console", 3)), wait)


def test_of_two_that_share_no_file_none_stands_later() -> None:
    assert not later_in_file(_finding(("console", 36)), _finding(("plog", 2)))
