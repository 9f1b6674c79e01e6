"""Who holds the memory of a card, by the table of npu-smi."""

from __future__ import annotations

from doctor.findings.holders import of_memory


def rows(*held: tuple[int, int, int]) -> list[str]:
    return [f"| {npu}       0                 | {pid}         | python                   | {mb}                   |" for npu, pid, mb in held]


def test_ranks_that_crowd_one_card_are_no_strangers() -> None:
    """Each has a card of its own, and memory on the first: nobody is to be killed."""
    crowd = rows((0, 10, 18044), (0, 11, 14544), (0, 12, 14545), (1, 11, 18390), (2, 12, 18391))
    told = of_memory(crowd, "", frozenset({10}))
    assert (told["held"], told["crowded_npu"], told["crowd"]) == (("ranks",), ("0",), ("12 (14545 MB), 11 (14544 MB)",))
    assert "holder_pid" not in told


def test_one_process_on_all_cards_is_somebody_else() -> None:
    """A service that spreads over the cards holds them."""
    told = of_memory(rows((0, 10, 18044), (0, 20, 14544), (1, 20, 18390)), "", frozenset({10}))
    assert told.get("held") != ("ranks",)
    two = of_memory(rows((0, 20, 9000), (1, 20, 9000), (0, 21, 9000), (1, 21, 9000)), "", frozenset())
    assert two.get("held") != ("ranks",)
