"""How much of a compact answer is told: each part has so many lines, the fewer the more there is to tell."""

from __future__ import annotations

from parsers.named import NamedTuple


class Room(NamedTuple):
    """How many lines each part may take."""

    title: int
    why: int
    against: int
    check: bool
    fix: bool  # with its sentences, where a look can be pasted
    steps: int
    notes: int
    others: int
    instead: bool  # another fix with what can be pasted of it, where nothing of the first can
    caller: int
    nodes: int
    counts: int
    further: int  # of the headline of each further root
    apart: bool  # further roots with a blank line above
    rest: bool  # the situation, and the commands of further roots
    ways: int = 0  # other fixes, each with what can be pasted of it
    whole: bool = False  # all of why, of what matched and of what to do, not its gist
    also: int = 0  # of why, for each further root


# For screens with more rows than a small terminal has; and the first that fits on one.
LARGE_ROOMS = (
    Room(3, 8, 4, True, True, 14, 4, 3, True, 2, 4, 2, 2, True, True, 3, True, 3),
    Room(3, 6, 3, True, True, 10, 3, 2, True, 2, 3, 2, 2, True, True, 2, True, 2),
    Room(3, 5, 3, True, True, 8, 3, 2, True, 2, 3, 2, 2, True, True, 1, True, 2),
    Room(3, 4, 2, True, True, 6, 2, 2, True, 2, 3, 2, 2, True, True, 1, True),
    Room(2, 3, 2, True, True, 4, 2, 1, True, 1, 3, 2, 2, False, True, 1, True),
    Room(2, 3, 2, True, True, 4, 2, 1, True, 1, 3, 2, 2, False, True, 1),
)
SMALL_ROOMS = (
    Room(3, 3, 2, True, True, 4, 2, 2, True, 2, 3, 2, 2, True, True),
    Room(2, 3, 1, True, True, 3, 2, 1, True, 1, 2, 2, 2, True, True),
    Room(2, 2, 1, True, True, 1, 2, 0, True, 1, 2, 1, 2, True, True),
    Room(2, 1, 1, True, False, 1, 1, 0, True, 1, 2, 1, 1, False, True),
    Room(2, 1, 1, True, False, 1, 1, 0, True, 1, 2, 1, 1, False, False),
    Room(2, 1, 1, True, False, 1, 1, 0, False, 1, 2, 1, 1, False, False),
    Room(2, 1, 1, False, True, 1, 1, 0, False, 1, 2, 1, 1, False, False),
)
ROOMS = LARGE_ROOMS + SMALL_ROOMS
