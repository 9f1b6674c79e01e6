"""Operators that a text tells of, the likeliest first: which one failed, with what, and what was only inferred.

Mentions of one operator are joined: a plog knows the kernel, the error message a parameter, an INFO line the shapes. The
text is data: it is read up to a limit, never evaluated, and no text raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from doctor.repro import read_cann, read_events, read_record, read_torch
from doctor.repro.call import Operator, Seen
from doctor.repro.operator_table import Row, Table, load

MAX_TEXT = 16 << 20
MAX_LINE = 8192
MAX_MENTIONS = 2000
MAX_OPERATORS = 50

# How much each kind of line is worth as the one that names the culprit. Exceptions and refusals name it; a kernel name
# is a little weaker than the node's type; an operator that is merely compiled or fell back is only mentioned.
WORTH = {
    "record": 1000, "exception": 95, "refused": 92, "aclnn": 90, "assert": 88, "aicore": 86, "launch": 84, "type": 80,
    "compile": 78, "traceback": 60, "working": 55, "hccl": 40, "device": 35, "memory": 30, "fallback": 20, "aclop": 10,
}  # fmt: skip


def operators(text: str, table: Table | None = None) -> tuple[Operator, ...]:
    """Every operator of a text, joined and ranked; empty when it names none."""
    text = text[:MAX_TEXT]
    if read_record.is_record(text):
        return tuple(read_record.operators(text))
    known = table or load()
    lines = [line[:MAX_LINE] for line in text.split("\n")]
    mentions = [_settled(m, known) for m in _mentions(lines)]
    return _ranked([m for m in mentions if m is not None], known)


def _mentions(lines: list[str]) -> Iterable[Operator]:
    """All mentions, bounded: of the operators that INFO lines describe by thousands, the last one of each type is kept."""
    described: dict[str, Operator] = {}
    others: list[Operator] = []
    for one in read_cann.operators(lines):
        if one.how == "aclop" and not one.failed:
            described[one.name] = one
            if len(described) > MAX_MENTIONS:
                described.pop(next(iter(described)))
        elif len(others) < MAX_MENTIONS:
            others.append(one)
    for reader in (read_torch.operators, read_events.operators):
        for one in reader(lines):
            if len(others) < 2 * MAX_MENTIONS:
                others.append(one)
    return [*others, *described.values()]


def _settled(one: Operator, table: Table) -> Operator | None:
    """A kernel's name becomes the operator's; a kernel that no row knows keeps the likeliest part of its name."""
    if one.family != "kernel":
        return one
    row, word = table.find_kernel(one.name)
    if not word:
        return None
    guessed = one.guessed if row is not None else (*one.guessed, "name")
    return replace(one, name=word, family="cann", guessed=guessed)


def _ranked(mentions: list[Operator], table: Table) -> tuple[Operator, ...]:
    rows = {id(m): table.find(m.name, m.family) for m in mentions}
    failed = [m for m in mentions if m.failed or m.how == "fallback"]
    leads = sorted(failed or mentions, key=lambda m: (-worth(m), m.line))
    ranked: list[Operator] = []
    taken: list[tuple[str, Row | None]] = []
    for lead in leads:
        row = rows[id(lead)]
        if any((row is not None and row is other) or lead.name == name for name, other in taken):
            continue
        taken.append((lead.name, row))
        alike = [
            m for m in mentions if m is not lead and (m.name == lead.name or (row is not None and rows[id(m)] is row))
        ]
        ranked.append(_joined(lead, sorted(alike, key=lambda m: (-worth(m), -m.known, m.line))))
        if len(ranked) == MAX_OPERATORS:
            break
    return tuple(ranked)


def worth(one: Operator) -> int:
    """How likely this mention names the culprit."""
    return WORTH.get(one.how, 0) + (60 if one.how == "aclop" and one.failed else 0) + min(one.known, 4)


def _joined(lead: Operator, others: list[Operator]) -> Operator:
    """The leading mention, completed by the others. Shapes of another call of the same type may be another's: guessed."""
    inputs, attrs, guessed = lead.inputs, lead.attrs, list(lead.guessed)
    device, error = lead.device, lead.error
    line_call, literals = lead.line_call, lead.literals
    for other in others:
        if not line_call:
            line_call, literals = other.line_call, other.literals
        if not inputs and other.inputs:
            inputs = other.inputs
            if other.how == "aclop" and not other.failed:
                guessed.append("inputs")
        elif other.inputs and other.family == lead.family:
            inputs = _completed(inputs, other.inputs)
        have = {name for name, _ in attrs}
        attrs = (*attrs, *((n, v) for n, v in other.attrs if n not in have))
        device = device if device is not None else other.device
        error = error or other.error
    return replace(
        lead, inputs=inputs, attrs=attrs, device=device, error=error, guessed=tuple(dict.fromkeys(guessed)), line_call=line_call, literals=literals
    )


def _completed(inputs: tuple[Seen, ...], more: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Tensors of the other mention that this one does not have, by role or number; what is known is not overwritten."""
    have = {(s.role.lower(), s.index) for s in inputs}
    return (*inputs, *(s for s in more if (s.role.lower(), s.index) not in have and (s.role or s.index is not None)))
