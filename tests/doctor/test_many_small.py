"""Ten thousand small files: each is looked through at once, not literal by literal."""

from __future__ import annotations

from unittest import mock

from doctor.scan import finder
from doctor.scan.engine import Engine


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
