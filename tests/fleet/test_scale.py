"""The benchmark of fleets in small: every bad node is named, the good ones merge, and merging in a tree says the same."""

from __future__ import annotations

from pathlib import Path

from benchmarks import fleet


def test_many_stand_in_nodes(tmp_path: Path) -> None:
    """Nodes that are down, break off, send garbage or do not stop: each costs only itself. Those that hang are for the benchmark: they take their time."""
    names = [name for name in fleet.answers(tmp_path, 30, 0.3) if not name.endswith("-hung")]
    cost = fleet.measure(tmp_path, names, 1, 64)
    assert {name.partition("-")[2] for name in names} == {"", "down", "broken", "garbage", "flood"}
    assert cost.mib < 1024
    _, parts, _ = fleet.tree(tmp_path, 10)
    assert parts == 3
    assert "100 000 ranks = 12500 nodes" in fleet.calculation(cost, 10, 64)
