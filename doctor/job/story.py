"""Why a root of a job is one, in a sentence of each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.base.notation import duration, moment
from doctor.base.words import both, word
from doctor.findings.evaluate import Finding
from doctor.job.analyse import codes_of
from doctor.job.job import Job, Root, Story
from kb.model import Text


def story(job: Job, findings: Sequence[Finding]) -> Story:
    order: dict[str, int] = {}
    notes: dict[str, Text] = {}
    for number, root in enumerate(job.roots):
        for code in codes_of(root, findings):
            order.setdefault(code, number)
        for code in codes_of(root, findings):
            notes.setdefault(code, _note(root, code, job))
    return Story(order, notes, any(root.waiters for root in job.roots))


def _note(root: Root, code: str, job: Job) -> Text:
    told = list(_sentences(root, code, job))
    return Text("; ".join(t["en"] for t in told), "；".join(t["zh"] for t in told))


def _sentences(root: Root, code: str, job: Job) -> Iterator[dict[str, str]]:
    if root.waiters:
        names = ("job.rank", "job.ranks") if all(p.rank is not None for p in job.processes) else ("job.process", "job.processes")
        name = names[root.waiters != 1]
        yield {lang: word("job.waited-for", lang, waiters=word(name, lang, n=root.waiters), who=root.label) for lang in ("en", "zh")}
    if root.verdict == "fault":
        early = root.before is not None and root.before >= 0
        if early or root.waiters or root.peers:  # else it says no more than whose fault it is
            yield _timed("job.hit-before" if early else "job.hit", root, who=root.label, code=code)
        if root.peers:
            yield both("job.hit-too", n=len(root.peers), names=_few(root.peers))
    else:
        if root.last and root.verdict in ("stopped", "finished", "stuck"):
            early = root.before is not None and root.before >= 1
            yield _timed("job.last-before" if early else "job.last", root, when=moment(root.last))
        if root.peers:
            yield both("job.together", names=_few(root.peers))
    if root.unordered is not None:
        yield both("against-clocks", who=root.unordered)
    if root.before is None and root.verdict == "fault" and root.waiters and len({p.server or p.node for p in job.processes}) > 1:
        yield both("job.no-clocks")


def _timed(name: str, root: Root, **values: str) -> dict[str, str]:
    """A sentence that may say by how much earlier, in the words of each language."""
    return {lang: word(name, lang, by=duration(root.before or 0.0, lang), **values) for lang in ("en", "zh")}


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
