"""How a fault in the knowledge is told: what, where, why, what to do."""

from __future__ import annotations

from collections.abc import Iterable

from kb.invisible import STEERING
from parsers.named import NamedTuple


class Problem(NamedTuple):
    """One fault in one knowledge file. `line` is 1-based; 0 means the file as a whole."""

    path: str
    line: int
    what: str
    help: str = ""
    excerpt: str = ""

    def __str__(self) -> str:
        """A row each, in which what the file holds neither steers a terminal nor begins a row of its own."""
        where = f"{self.path}:{self.line}" if self.line else self.path
        rows = [f"error: {self.what}", f"  --> {where}"]
        if self.excerpt:
            rows.append(f"   |  {self.excerpt.strip()[:160]}")
        if self.help:
            rows.append(f" = help: {self.help}")
        return "\n".join(STEERING.sub("?", row.replace("\n", " ")) for row in rows)


class KnowledgeError(Exception):
    """Built-in knowledge is broken, or knowledge that was asked for by name cannot be read."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest spelling and the choices, as help text."""
    import difflib

    known = list(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    guess = f"did you mean '{near[0]}'? " if near else ""
    return f"{guess}choices here: {', '.join(known)}"
