"""Reads files of knowledge one after the other: what can be read, and every fault of what cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from kb import files, many
from kb.problems import Problem


class Coded(Protocol):
    """An entry or a check."""

    @property
    def code(self) -> str: ...


One = TypeVar("One", bound=Coded)


def collect(
    paths: Iterable[tuple[Path, str, str]], read: Callable[[str, bytes, str], One | list[Problem]]
) -> tuple[list[One], list[Problem]]:
    """Of files, each with the name under which it is told and that of its layer: a code belongs to the first that has it."""

    def one(place: tuple[Path, str, str]) -> One | list[Problem]:
        path, shown, layer = place
        try:
            return read(shown, files.read(path), layer)
        except OSError as error:
            return [Problem(shown, 0, f"cannot be read: {error.strerror}")]

    found: list[One] = []
    problems: list[Problem] = []
    taken: dict[str, str] = {}
    places = list(paths)
    for (_, shown, _), got in zip(places, many.each(places, one), strict=True):
        if isinstance(got, list):
            problems += got
        elif got.code in taken:
            what = f"the code {got.code} is taken by {taken[got.code]}"
            problems.append(Problem(shown, 1, what, "codes are never shared; choose the next free one"))
        else:
            taken[got.code] = shown
            found.append(got)
    return found, problems
