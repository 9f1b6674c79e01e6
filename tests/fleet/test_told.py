"""What is told of a run: in few lines, however many nodes there are, and in both languages."""

from __future__ import annotations

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
