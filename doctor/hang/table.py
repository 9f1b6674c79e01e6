"""The verdict about a job that does not move as a row of the table `hang`, which entries ask for like any other row."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.hang.conclude import conclude
from doctor.hang.verdict import Kind, Verdict, ranks_told
from doctor.scan.harvest import Dump, Place

TABLE = "hang"
_SHOWN = 300


def rows(dumps: Iterable[Dump]) -> tuple[tuple[dict[str, str], Place], ...]:
    """What the dumps say together; nothing when they do not tell, or show a job that moves."""
    given = tuple(dumps)
    verdict = conclude(given)
    if not verdict.hung:
        return ()
    return ((cells(verdict), _place(verdict, given)),)


def cells(verdict: Verdict) -> dict[str, str]:
    ranks = ranks_told(verdict.ranks)
    return {
        "table": TABLE,
        "verdict": verdict.kind.value,
        "ranks": ranks or "?",
        "who": (f"rank {ranks}" if len(set(verdict.ranks)) == 1 else f"ranks {ranks}") if ranks else "no single rank",
        "waiting": ranks_told(verdict.waiting) or "?",
        "waiters": str(len(set(verdict.waiting) - set(verdict.ranks))),
        "call": verdict.call or "?",
        "line": verdict.line or "?",
        "other_line": verdict.other_line or "?",
    }


def _place(verdict: Verdict, dumps: tuple[Dump, ...]) -> Place:
    """The dump of the culprit, else of one who waits for it."""
    wanted = (*verdict.ranks[:1], *verdict.waiting[:1])
    dump = next((d for rank in wanted for d in dumps if d.rank == rank), dumps[0])
    rank = verdict.ranks[0] if verdict.ranks else dump.rank
    told = {Kind.MISMATCH: "calls that are not alike"}.get(verdict.kind, verdict.kind.value)
    text = ", ".join(part for part in (told, verdict.call, verdict.line) if part)[:_SHOWN]
    return Place(dump.path, 1, 1, None, None, TABLE, "table", dump.node, dump.pid, rank, None, None, text)
