"""What was heard of a run: its voices, and of each shape who says it, how often, and where first."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.read.source import Skipped
from parsers.named import NamedTuple


class Voice(NamedTuple):
    """Somebody who writes lines: a process, or a file of a node. Those of one kind can be compared with each other."""

    node: str
    name: str  # "rank 3", "pid 4711", "train.log"
    kind: str
    begin: float | None = None  # by the clock of its node
    end: float | None = None


class Sighting(NamedTuple):
    """A shape in a run. `voices` and `nodes` are sets of numbers, as bits."""

    times: int
    voices: int
    nodes: int
    most: int  # how often the voice says it that says it most
    most_by: int
    second: int  # and the one after that
    path: str
    line: int
    text: str
    time: str | None
    since: float | None  # seconds after the beginning of the voice that says it first
    at: float  # which part of its file stands before it
    level: str | None


class Run(NamedTuple):
    """All that was heard. `settings`: names of settings, and the one value that they have throughout the run."""

    sightings: Mapping[int, Sighting]  # by the number of the shape
    voices: tuple[Voice, ...]
    nodes: tuple[str, ...]
    settings: Mapping[str, str]
    files: int
    lines: int
    size: int
    further: int  # lines of shapes that came when there were enough
    skipped: tuple[Skipped, ...]

    def peers(self, voices: int) -> int:
        """Of all voices those that are comparable with some, these included, as bits."""
        kinds = {self.voices[n].kind for n in bits(voices)}
        return sum(1 << n for n, voice in enumerate(self.voices) if voice.kind in kinds)

    def homes(self, voices: int) -> int:
        """The nodes of some voices, as bits."""
        found = 0
        for n in bits(voices):
            found |= 1 << self.nodes.index(self.voices[n].node)
        return found


def bits(number: int) -> tuple[int, ...]:
    """The members of a set.

    >>> bits(0b1011)
    (0, 1, 3)
    """
    found = []
    while number:
        low = number & -number
        found.append(low.bit_length() - 1)
        number ^= low
    return tuple(found)
