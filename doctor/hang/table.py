"""The verdict about a job that does not move as a row of the table `hang`, which entries ask for like any other row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from doctor.hang.cann import Stage
from doctor.hang.conclude import conclude, stages
from doctor.hang.doing import Doing
from doctor.hang.verdict import SLOW, Kind, Verdict, ranks_told
from doctor.read.dumps import STACKS, VERDICT
from doctor.scan.harvest import Dump, Place

TABLE = "hang"
_SHOWN = 300


Rows = tuple[tuple[dict[str, str], Place], ...]


def rows(dumps: Iterable[Dump]) -> Rows:
    """What the dumps say together, and how far in CANN a process stands; nothing when they do not tell, or show a job that moves."""
    given = tuple(dumps)
    verdict = conclude(given)
    found = ((cells(verdict), _place(verdict, given)),) if verdict.hung or verdict.kind in SLOW else ()
    return (*found, *_stages(verdict, given))


def _stages(verdict: Verdict, given: tuple[Dump, ...]) -> Rows:
    """Of the culprits, else of all: a row for each stage in CANN, with the processes that stand there."""
    if verdict.kind is Kind.NONE or verdict.kind in SLOW:
        return ()
    by_stage: dict[Stage, list[Doing]] = {}
    for one, told in stages(given):
        if not verdict.ranks or one.rank is None or one.rank in verdict.ranks:
            by_stage.setdefault(told, []).append(one)
    return tuple(
        ({"table": TABLE, "verdict": verdict.kind.value, "cann": told.value, "who": _who(ones), "line": ones[0].line or "?"}, _standing(told, ones[0], given))
        for told, ones in by_stage.items()
    )


def _who(ones: Sequence[Doing]) -> str:
    ranks = tuple(one.rank for one in ones if one.rank is not None)
    if ranks:
        return f"rank {ranks_told(ranks)}" if len(set(ranks)) == 1 else f"ranks {ranks_told(ranks)}"
    pids = [str(one.pid) for one in ones if one.pid is not None]
    return f"process {', '.join(pids[:8])}" if pids else "the process"


def _standing(told: Stage, one: Doing, given: tuple[Dump, ...]) -> Place:
    dump = next((d for d in given if d.kind == STACKS and (d.rank, d.pid) == (one.rank, one.pid)), given[0])
    return Place(dump.path, 1, 1, None, None, TABLE, "table", dump.node, one.pid, one.rank, None, None, f"{told.value}, {one.line}"[:_SHOWN])


def cells(verdict: Verdict) -> dict[str, str]:
    ranks = ranks_told(verdict.ranks)
    quiet = next((one.values for one in verdict.reasons if one.word == "hang.silent"), ())
    return {
        "table": TABLE,
        "verdict": verdict.kind.value if quiet or verdict.kind is not Kind.SILENT else "all-silent",
        "ranks": ranks or "?",
        "who": (f"rank {ranks}" if len(set(verdict.ranks)) == 1 else f"ranks {ranks}") if ranks else "no single rank",
        "waiting": ranks_told(verdict.waiting) or "?",
        "waiters": str(len(set(verdict.waiting) - set(verdict.ranks))),
        "call": verdict.call or "?",
        "line": verdict.line or "?",
        "other_line": verdict.other_line or "?",
        **(dict(quiet) if verdict.kind is Kind.SILENT else {}),
    }


def _place(verdict: Verdict, dumps: tuple[Dump, ...]) -> Place:
    """The dump of the culprit, else of one who waits for it."""
    wanted = (*verdict.ranks[:1], *verdict.waiting[:1])
    dump = next((d for rank in wanted for d in dumps if d.rank == rank), dumps[0])
    rank = verdict.ranks[0] if verdict.ranks else dump.rank
    told = {Kind.MISMATCH: "calls that are not alike", Kind.SILENT: "the last progress"}.get(verdict.kind, verdict.kind.value)
    said = json.loads(dump.told) if dump.kind == VERDICT else {}
    line = said.get("at", 1)
    text = said.get("text") or ", ".join(part for part in (told, verdict.call, verdict.line) if part)[:_SHOWN]
    return Place(dump.path, line, line, None, None, TABLE, "table", dump.node, dump.pid, rank, None, None, text)
