"""Automata that workers make for each other: made once, taken whole or not at all, and never waited for without end."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.scan import finder
from doctor.scan import shelf as shelves
from doctor.scan.engine import MUCH, Engine
from doctor.scan.shelf import ROOM, Shelf

KEY = Shelf.key(b"what it is made of")
LITERALS = (b"error", b"libhccl.so", b"507018")


def test_what_one_process_made_another_takes() -> None:
    shelf = Shelf()
    assert shelf.get(KEY) is None
    if not (child := os.fork()):
        shelf.put(KEY, b"automaton" * 1000) if shelf.mine(KEY) else None
        os._exit(0)
    os.waitpid(child, 0)
    assert not shelf.mine(KEY)
    assert shelf.get(KEY) == b"automaton" * 1000


def test_one_that_ended_before_it_was_done_is_not_waited_for() -> None:
    shelf = Shelf()
    with mock.patch.object(shelves.time, "monotonic", side_effect=itertools.count(100, shelves.LONG)):
        assert [shelf.mine(KEY) for _ in range(4)] == [True, False, False, True]


def test_it_is_told_while_another_process_is_at_it() -> None:
    shelf = Shelf()
    assert not shelf.awaited()
    if not (child := os.fork()):
        os._exit(0 if shelf.mine(KEY) and not shelf.awaited() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shelf.awaited()
    with mock.patch.object(shelves.time, "monotonic", return_value=shelves.time.monotonic() + 2 * shelves.LONG):
        assert not shelf.awaited()  # it has ended, or never will
    shelf.put(KEY, b"automaton")
    assert not shelf.awaited()


def test_what_is_not_written_to_its_end_is_not_taken() -> None:
    shelf = Shelf()
    assert shelf.mine(KEY)
    shelf.put(KEY, b"a" * 5000)
    at = shelf._memory.find(b"aaaa")
    shelf._memory[at + 4000 : at + 4001] = b"b"
    assert shelf.get(KEY) is None


def test_what_has_no_room_is_made_by_each() -> None:
    shelf = Shelf()
    assert shelf.mine(KEY)
    shelf.put(KEY, bytes(ROOM))
    assert shelf.get(KEY) is None
    keys = [shelf.key(b"%d" % n) for n in range(2 * shelves.PLACES)]
    assert all(shelf.mine(key) for key in keys)
    shelf.put(keys[-1], b"x")
    assert shelf.get(keys[-1]) is None


def test_no_shelf_where_memory_has_none() -> None:
    with mock.patch.object(shelves.mmap, "mmap", side_effect=OSError):
        assert shelves.shelf() is None


def test_an_engine_goes_on_without_what_another_worker_is_making() -> None:
    pytest.importorskip("hyperscan")
    engine = Engine(LITERALS, "hyperscan", "test")
    engine.prepare(2 * MUCH, workers=2)
    shelf = engine._use.shelf
    assert shelf is not None
    without = frozenset({0, 2})  # what leaves out a single one is kept on disk
    with mock.patch.object(Shelf, "mine", return_value=False):
        assert engine.quieten(without, without, 1 << 30) == frozenset()
    assert engine.quieten(without, without, 1 << 30) == without
    assert [n for _, n in engine.find(b"error in libhccl.so\n", without)] == [1]


def test_what_leaves_out_a_single_literal_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large healthy logs all leave out the same one: the next scan reads what this one made."""
    pytest.importorskip("hyperscan")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    use = finder.Use(finder.LARGE, "hyperscan")
    with mock.patch.object(finder, "_automaton", wraps=finder._automaton) as made:
        found = [finder.without(LITERALS, left_out, use, {}, digest="kept")(b"error 507018") for left_out in ({1}, {1}, {0, 1}, {0, 1})]
    assert found == [[(5, 0), (12, 2)]] * 2 + [[(12, 2)]] * 2
    assert made.call_count == 3
    assert len(list(tmp_path.rglob("automaton-*.hs"))) == 1


def test_two_that_want_the_same_make_it_once() -> None:
    pytest.importorskip("hyperscan")
    use = finder.Use(MUCH, "hyperscan", Shelf())
    with mock.patch.object(finder, "_automaton", wraps=finder._automaton) as made:
        found = [finder.without(LITERALS, {1}, use, {})(b"error 507018") for _ in range(2)]
        other = finder.without(LITERALS, {0}, use, {})(b"error 507018")
    assert made.call_count == 2
    assert found == [[(5, 0), (12, 2)]] * 2
    assert other == [(12, 2)]


@given(st.text("ab0 _", max_size=60), st.sampled_from([r"a\w{0,40}b", r"a[ab]{1,30}0", r"a.{0,12}b{2,3}0", r"(?:ab|b_){1,20}a", r"a(?!\w{0,20}b)", r"a\{0,40\}"]))
def test_a_pattern_is_never_found_in_fewer_places_for_its_bounds(text: str, pattern: str) -> None:
    pytest.importorskip("hyperscan")
    find = finder.hyperscan((b"a",), None, (0,), {0: pattern.encode()})[0]
    if re.search(pattern, text):
        assert find(text.encode())
