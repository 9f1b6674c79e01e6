"""The shape of a check: what is asserted of which facts of a machine, and what it means when that is not so."""

from __future__ import annotations

from typing import Any

from kb.model import Fix, Reference, Text
from kb.stored import fixes_of, fixes_rows, references_of, text_of
from parsers.named import NamedTuple

GROUPS = ("driver", "cann", "python", "chips", "container", "host", "network", "variables")
Conditions = tuple[tuple[str, str], ...]


class CheckSample(NamedTuple):
    """Facts of a machine of which a check must fail, or must not."""

    name: str
    facts: Conditions


class Check(NamedTuple):
    """One thing that a machine is checked for. The first field is its code."""

    code: str
    slug: str
    group: str
    status: str
    severity: str
    kind: str
    confidence: str
    title: Text
    cause: Text
    when: Conditions  # all must hold, or the check is not for this machine
    wants: Conditions  # each must hold of every fact that it names; a fact that is not known fails nothing
    fixes: tuple[Fix, ...]
    references: tuple[Reference, ...]
    layer: str
    path: str
    fails: tuple[CheckSample, ...] = ()
    holds: tuple[CheckSample, ...] = ()


def check_row(check: Check) -> list[Any]:
    """What is kept of a check: all but its samples."""
    return [*check._replace(fixes=())[:11], fixes_rows(check.fixes), *check[12:15]]


def check_from_json(row: list[Any]) -> Check:
    """The inverse of `check_row`."""
    code, slug, group, status, severity, kind, confidence, title, cause, when, wants, fixes, references, layer, path = row
    return Check(
        code, slug, group, status, severity, kind, confidence, text_of(title), text_of(cause), _pairs(when), _pairs(wants),
        fixes_of(fixes), references_of(references), layer, path,
    )  # fmt: skip


def _pairs(rows: Any) -> Conditions:
    return tuple((name, wanted) for name, wanted in rows)
