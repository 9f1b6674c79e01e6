"""Ten thousand small files: each is looked through at once, not literal by literal."""

from __future__ import annotations

import gc
import io
from unittest import mock

from doctor.read.discover import given_text
from doctor.read.source import Source, hints
from doctor.scan import factscan, finder
from doctor.scan.engine import Engine
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge


def test_an_automaton_is_made_when_small_inputs_are_many() -> None:
    """The first ones are not worth it; what is found stays the same."""
    literals = tuple(f"literal {n} ".encode() for n in range(200))
    engine = Engine(literals)
    asked = 0

    def counting(data: bytes) -> finder.Finds:
        nonlocal asked
        asked += 1
        return finder.plain(literals)(data)

    with mock.patch.object(engine, "_small", counting), mock.patch.object(finder, "aho_corasick", wraps=finder.aho_corasick) as made:
        found = [engine.find(b"in literal %d of many" % (n % 200)) for n in range(1000)]
    assert all(one[0][1] == n % 200 for n, one in enumerate(found))
    assert 1 <= asked < 20
    made.assert_called_once()


def test_the_first_lines_of_a_file_are_read_once_if_they_are_the_last_as_well(knowledge: Knowledge) -> None:
    """From when to when a small file tells is known when its beginning was looked at."""
    data = b"".join(b"[INFO] HCCL(7,python):2026-01-02-03:04:0%d.006.007 [a.cc:12]7 ready\n" % n for n in range(9))
    source = Source("a.log", lambda: io.BytesIO(data), len(data), hints("a.log"))
    with mock.patch.object(factscan, "read_line", side_effect=AssertionError):
        (span,) = Scanner(Plan(knowledge.sought())).scan(source).spans
    assert (span.first, span.last, span.pid) == ("2026-01-02T03:04:00.006007", "2026-01-02T03:04:08.006007", 7)


def test_nothing_is_left_of_a_file_that_was_read(scanner: Scanner) -> None:
    """A run does not look for circles of objects: of 200 000 files each would stay until the end."""
    rows = (b"[INFO] HCCL(7,python):2026-01-02-03:04:05.006.007 [a.cc:12]7 ready\n", b"[ERROR] PLUGH(7,python):2026-01-02-03:04:05.006.007 [x.cc:1]7 frob failed\n" * 900)
    for row in rows:
        scanner.scan(given_text(row.decode()))
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                scanner.scan(given_text(row.decode()))
            assert gc.collect() < 20
        finally:
            gc.enable()
