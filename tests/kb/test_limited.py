"""A user's pattern is compiled once."""

from __future__ import annotations

from unittest import mock

import regex

from doctor.answer.matched import matched
from doctor.scan.harvest import Hit, Place
from doctor.scan.plan import Plan
from kb import anchors
from kb.knowledge import Knowledge
from kb.model import Signal
from kb.sought import gathered


def test_a_pattern_is_compiled_once_for_all_that_ask_it(knowledge: Knowledge) -> None:
    """When the entry is read, when a line is, and when what matched is shown."""
    pattern = r"odd widget (?P<what>[a-z]{2,9})"
    signal = Signal("TST001/0", "regex", pattern, ("odd widget ",), 0, (), "", (), False)
    known = knowledge.entry("MEM001")
    assert known is not None
    place = Place("a.log", 1, 1, None, None, None, "text", None, None, None, None, None, "an odd widget here")
    with mock.patch.object(regex, "compile", side_effect=regex.compile) as compiled:
        anchors.usable(pattern, trusted=False)
        assert Plan(gathered((signal,))).search(0, place.text) == {"what": "here"}
        assert matched(Hit(signal.id, place, ()), known._replace(signals=(signal,))) == "odd widget here"
    assert compiled.call_count == 1
