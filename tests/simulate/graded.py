"""How right a comparison of a simulated pair is: by lines, by wordings, and whether the faulty node is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from doctor.baseline.compare import compare
from doctor.baseline.indicating import Verdict, judge
from doctor.baseline.listen import listen
from doctor.baseline.run import Run
from doctor.baseline.shapes import Shapes
from doctor.baseline.usual import usual
from doctor.read.discover import given_text
from tests.simulate.pairs import Pair


class Grade(NamedTuple):
    """Lines that are told and indicate, are told and do not, indicate and are not told; the same of wordings; the place of the node among the suspects, from 1, or 0."""

    hit: int = 0
    wrong: int = 0
    missed: int = 0
    shapes_hit: int = 0
    shapes_wrong: int = 0
    shapes_missed: int = 0
    place: int = 0


def heard(files: Mapping[str, str], shapes: Shapes, folder: str = "run") -> Run:
    return listen([given_text(text, f"{folder}/{name}") for name, text in files.items()], shapes)


def verdict(good: Sequence[Mapping[str, str]], bad: Mapping[str, str]) -> tuple[Verdict, Run, Shapes]:
    """What the comparison says; numbers of shapes are those of the bad run at the end."""
    shapes = Shapes()
    expected = usual([heard(files, shapes, f"good{n}") for n, files in enumerate(good)], [{}] * len(good))
    run = heard(bad, shapes, "bad")
    return judge(compare(run, expected, {}, shapes)), run, shapes


def grade(pair: Pair) -> Grade:
    """The verdict on a pair against its truth."""
    made, _, shapes = verdict(pair.good, pair.bad)
    told = {row.difference.shape for row in made.indicating}
    hit = wrong = missed = 0
    true, false = set(), set()
    for name, text in pair.bad.items():
        for line, number in enumerate(shapes.of(text.encode())[:-1], 1):
            shape, indicates = shapes.texts[number], (name, line) in pair.told
            if indicates:
                true.add(shape)
            elif shape in told:
                false.add(shape)
            hit += indicates and shape in told
            wrong += not indicates and shape in told
            missed += indicates and shape not in told
    names = [suspect.name for suspect in made.suspects]
    place = names.index(pair.node) + 1 if pair.node in names else 0
    return Grade(hit, wrong, missed, len(told & true), len(false - true), len(true - told), place)


def f1(hit: int, wrong: int, missed: int) -> float:
    return 2 * hit / max(1, 2 * hit + wrong + missed)
