"""The shape of a check: what is asserted of which facts of a machine, and what it means when that is not so."""

from __future__ import annotations

from typing import Any, NamedTuple

from kb.model import CodeFix, Command, EnvFix, Fix, Reference, Text

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


def _text(value: Any) -> Text:
    return Text(value[0], value[1])


def _maybe(value: Any) -> Text | None:
    return None if value is None else _text(value)


def check_from_json(row: list[Any]) -> Check:
    """The inverse of storing a Check as a JSON array."""
    code, slug, group, status, severity, kind, confidence, title, cause, when, wants, fixes, references, layer, path = row[:15]
    return Check(
        code, slug, group, status, severity, kind, confidence, _text(title), _text(cause), _pairs(when), _pairs(wants),
        tuple(_fix(fix) for fix in fixes), tuple(Reference(*r) for r in references), layer, path,
    )  # fmt: skip


def _pairs(rows: Any) -> Conditions:
    return tuple((name, wanted) for name, wanted in rows)


def _fix(row: Any) -> Fix:
    goal, risk, title, steps, env, commands, code, when = row
    return Fix(
        goal, risk, _text(title), tuple(_text(s) for s in steps), tuple(EnvFix(n, v, s, u, _maybe(c)) for n, v, s, u, c in env),
        tuple(Command(r, _maybe(c), _maybe(w)) for r, c, w in commands), CodeFix(*code) if code else None,
        tuple((fact, tuple(values)) for fact, values in when),
    )  # fmt: skip
