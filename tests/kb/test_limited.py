"""A user's pattern is compiled once; by the library with a time limit only where its form does not promise that it is quick."""

from __future__ import annotations

from unittest import mock

import pytest
import regex

from doctor.answer.matched import matched
from doctor.scan.harvest import Hit, Place
from doctor.scan.plan import Plan
from kb import anchors, limited, sre
from kb.knowledge import Knowledge
from kb.model import Signal
from kb.sought import gathered


@pytest.mark.parametrize(("pattern", "times"), [(r"odd widget (?P<what>[a-z]{2,9})", 0), (r"odd widget (?P<what>(?:[a-z]+?)+)", 1)])
def test_a_pattern_is_compiled_once_for_all_that_ask_it(pattern: str, times: int, knowledge: Knowledge) -> None:
    """When the entry is read, when a line is, and when what matched is shown."""
    signal = Signal("TST001/0", "regex", pattern, ("odd widget ",), 0, (), "", (), False)
    known = knowledge.entry("MEM001")
    assert known is not None
    place = Place("a.log", 1, 1, None, None, None, "text", None, None, None, None, None, "an odd widget here")
    limited.limited.cache_clear()
    with mock.patch.object(regex, "compile", side_effect=regex.compile) as clocked, mock.patch.object(sre, "compiled", side_effect=sre.compiled) as compiled:
        anchors.usable(pattern, trusted=False)
        assert Plan(gathered((signal,))).search(0, place.text) == {"what": "here"}
        assert matched(Hit(signal.id, place, ()), known._replace(signals=(signal,))) == "odd widget here"
    assert (clocked.call_count, compiled.call_count) == (times, 1 - times)
