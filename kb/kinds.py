"""The closed list of fault kinds with the traits of each. Read from `kinds.yaml`; who asks what a kind is like reads traits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kb import yamldoc
from kb.model import TRAITS, Kind, Text
from kb.problems import Problem, did_you_mean
from kb.reader import Reader

KEYS = ("en", "zh", "traits")


def read_kinds(path: Path) -> tuple[dict[str, Kind], list[Problem]]:
    """Every kind by its word, and every fault of the list."""
    try:
        doc = yamldoc.parse(path.name, path.read_bytes())
    except OSError as error:
        return {}, [Problem(path.name, 0, f"cannot be read: {error.strerror}")]
    if isinstance(doc, Problem):
        return {}, [doc]
    problems: list[Problem] = []
    top = Reader(doc, (), problems, doc.value if isinstance(doc.value, dict) else (), "the list of kinds")
    return {name: _kind(top, name) for name in top.map}, problems


def _kind(top: Reader, name: str) -> Kind:
    one = top.sub((name,), KEYS, f"'{name}'")
    told = one.strings("traits")
    for trait in told:
        if trait not in TRAITS:
            one.fault(("traits",), f"'{trait}' is no trait", did_you_mean(trait, TRAITS))
    return Kind(Text(one.string("en"), one.string("zh")), tuple(t for t in TRAITS if t in told))


def with_trait(kinds: Mapping[str, Kind], trait: str) -> tuple[str, ...]:
    """The kinds that have it, in the order of the list."""
    return tuple(name for name, kind in kinds.items() if trait in kind.traits)
