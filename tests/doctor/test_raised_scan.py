"""Leaves that ask for exceptions: by what they are, by whose code raised them, by what its source line says."""

from __future__ import annotations

import pytest

from doctor.read import discover
from doctor.scan import raised
from doctor.scan.harvest import Hit
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.build import kinds
from kb.load import read_entry
from kb.model import Entry, Signal
from kb.sought import gathered

FRAMES = (
    '[rank{0}]:   File "/usr/lib/python3/dist-packages/plugh/core.py", line 7, in go\n[rank{0}]:     torch.cuda.current_device()\n'
    '[rank{0}]:   File "/usr/lib/python3/dist-packages/torch/cuda/__init__.py", line 9, in current_device\n[rank{0}]:     raise PlughError("x")\n'
)
RAISED = "[rank{0}]: torch.cuda.PlughError: no room {0}\n"


def leaves(leaf: str) -> tuple[Signal, ...]:
    text = (
        "code: TST001\nseverity: error\nkind: out-of-memory\ntitle: {en: a, zh: 甲}\ncause: {en: a, zh: 甲}\n"
        f"evidence: {{any: [{{raised: {leaf}}}]}}\n"
    )
    got = read_entry("kb/entries/test/tst001_x.yaml", text.encode(), kinds())
    assert isinstance(got, Entry), got
    return got.signals


def hits(leaf: str, text: str) -> tuple[Hit, ...]:
    return Scanner(Plan(gathered(leaves(leaf)))).scan(discover.given_text(text, "<sample>")).hits


ONE = FRAMES.format(0) + RAISED.format(0)


@pytest.mark.parametrize(
    ("leaf", "held"),
    [
        ("{type: PlughError}", True),
        ("{type: [KeyError, PlughError]}", True),
        ("{type: KeyError}", False),
        ("{in: torch}", True),
        ("{in: plugh}", False),
        ("{through: plugh}", True),
        ("{through: plug}", False),
        ("{in: torch, caller: plugh}", True),
        ("{in: torch, caller: library}", True),
        ("{in: torch, caller: user}", False),
        ("{in: torch, from: user}", False),
        ("{message: 'no room (?P<n>[0-9])'}", True),
        ("{calls: '^torch.cuda.current_device'}", True),
        ("{last: '^raise '}", True),
        ("{code: '^raise '}", True),
        ("{type: PlughError, file: '^cuda/__init__.py$', function: 'current_device'}", True),
        ("{type: PlughError, how: terminated}", False),
    ],
)
def test_what_a_leaf_asks(leaf: str, held: bool) -> None:
    """Names are equal or not, patterns are found or not; all of a leaf must hold."""
    assert bool(hits(leaf, ONE)) is held


def test_the_evidence_is_the_place_that_raised() -> None:
    """Or the call of a library that was refused. Its line is the exception's own: entries of one failure stand on one line."""
    (hit,) = hits("{type: PlughError, message: 'no room (?P<n>[0-9])'}", ONE)
    assert hit.place.line == hit.place.end_line == 5
    assert hit.place.text.splitlines()[1:] == ["    torch.cuda.current_device()", "torch.cuda.PlughError: no room 0"]
    assert {"n": "0", "in": "torch", "caller": "plugh", "calls": "torch.cuda.current_device()"}.items() <= dict(hit.captures).items()


def test_words_that_begin_on_the_next_line() -> None:
    """Libraries begin their texts with a new line: the first line below says it, and of two such exceptions each says its own."""
    texts = [FRAMES.format(0) + f"[rank0]: torch.cuda.PlughError: \n[rank0]:             no room {n} here\n[rank0]:     more\n" for n in "78"]
    got = hits("{message: '^no room (?P<n>[0-9])'}", "step 1\n".join(texts))
    assert [dict(hit.captures)["n"] for hit in got] == ["7", "8"]
    assert got[0].place.text.splitlines()[2:] == ["torch.cuda.PlughError: no room 7 here"]


def test_every_process_counts_and_frames_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one wording the first exception's frames stand for all; each hit has its own words and its own rank."""
    read = []
    once = raised._read
    monkeypatch.setattr(raised, "_read", lambda *args: read.append(1) or once(*args))
    text = "".join(FRAMES.format(rank) for rank in range(6)) + "".join(RAISED.format(rank) for rank in range(6))
    found = hits("{in: torch, message: 'no room (?P<n>[0-9])'}", text)
    assert [(h.place.rank, dict(h.captures)["n"]) for h in found] == [(rank, str(rank)) for rank in range(6)]
    assert len(read) == 1


def test_what_is_logged_as_a_warning_is_no_failure() -> None:
    """An exception that a program caught and only tells about ended nothing."""
    assert hits("{type: KeyError}", "WARNING 03-25 06:14:02 [plugh.py:880] KeyError: 'x'\n") == ()


@pytest.mark.parametrize("times", [1, 3])
def test_a_message_that_was_logged_before_its_traceback_does_not_hide_the_frames(times: int) -> None:
    """vLLM's engine logs what was raised, and then the traceback: the frames tell whose it is."""
    alone = "ERROR 09-22 09:44:21 [core.py:718] torch.cuda.PlughError: no room 0\n" * times
    assert [len(hits("{in: torch, type: PlughError}", text)) for text in (alone, alone + ONE, ONE)] == [0, 1, 1]
    assert len(hits("{type: PlughError}", alone + ONE)) == times + 1
