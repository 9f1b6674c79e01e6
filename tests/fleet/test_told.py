"""What is told of a run: in few lines, however many nodes there are, and in both languages."""

from __future__ import annotations

import io
import sys

import pytest

from doctor.fleet.live import Live
from doctor.fleet.outcome import Outcome
from doctor.fleet.told import lines


def test_nodes_with_the_same_fate_share_a_line() -> None:
    found = {f"n{n:03}": Outcome("scanned", "", b"x", 1.0, 1024) for n in range(1, 100)}
    found |= {f"n{n}": Outcome("unreachable", f"ssh: connect to host n{n} port 22: Connection refused") for n in (100, 101)}
    found["n102"] = Outcome("timed out", "no answer within the time limit")
    assert list(lines(found, "en")) == [
        "scanned 99: n[001-099]",
        "timed out 1: n102",
        "  no answer within the time limit",
        "unreachable 2: n[100-101]",
        "  ssh: connect to host NODE port 22: Connection refused",
        "received 99.0 KiB (1.0 KiB a node), sent 0 B",
    ]
    assert "  在时间上限内没有回答" in list(lines(found, "zh"))


class Terminal(io.StringIO):
    """Somebody watches."""

    def isatty(self) -> bool:
        return True


def test_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Done, failing, running and waiting in one line that is written over; nothing where nobody watches a terminal."""
    for seen in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", seen)
        monkeypatch.delenv("CI", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        shown = Live(10, "en")
        for _ in range(4):
            shown.began()
        shown.done(Outcome("scanned", "", b"x", 1.0, 2048))
        shown.done(Outcome("failed", "no"))
        line = shown.line()
        assert line == "2/10 nodes  1 failing  2 running  6 waiting  2.0 KiB received"
        shown.end()
        assert bool(seen.getvalue()) == seen.isatty()
        assert seen.getvalue().endswith("\r\x1b[K") == seen.isatty()
