"""What gathering works with: the tree, the commands, the variables, and what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.env.facts import Fact
from doctor.env.outputs import Outputs
from doctor.env.tree import Tree
from parsers.named import NamedTuple


class Look(NamedTuple):
    """One look at one machine."""

    tree: Tree
    outputs: Outputs
    variables: Mapping[str, str]
    variables_from: str  # "this shell", "process 4242", a file; empty when none are known
    python: str = ""  # the environment that was asked for by name
    network: bool = False

    @property
    def homes(self) -> tuple[str, ...]:
        """Home folders in which software may be installed."""
        tree = self.tree
        if tree.live:
            home = self.variables.get("HOME", "")
            return tuple(dict.fromkeys(h for h in (home, "/root") if h.startswith("/")))
        own = self.variables.get("HOME", "")
        found = [own] if own.startswith("/") else []
        return tuple(dict.fromkeys((*found, "/root", *(f"/home/{name}" for name in tree.names("/home")[:50]))))


def pairs(text: str, sign: str = "=") -> Iterator[tuple[int, str, str, str]]:
    """The lines `key=value` of a text: number, key, value without quotes, the line."""
    for number, row in enumerate(text.splitlines(), 1):
        name, found, value = row.partition(sign)
        if found and not row.lstrip().startswith("#"):
            yield number, name.strip(), value.strip().strip("\"'"), row


def fields(text: str, sign: str = "=") -> dict[str, tuple[str, int, str]]:
    """The same by key: value, line number, line; the first of several holds."""
    found: dict[str, tuple[str, int, str]] = {}
    for number, name, value, row in pairs(text, sign):
        found.setdefault(name, (value, number, row.strip()))
    return found


def told(tree: Tree, path: str, wanted: Mapping[str, str]) -> Iterator[Fact]:
    """Facts out of the lines of a file: key in the file to name of the fact."""
    text = tree.text(path)
    if text is None:
        return
    known = fields(text)
    for name, fact in wanted.items():
        if name in known:
            value, line, row = known[name]
            yield Fact(fact, value, path, line, row)
