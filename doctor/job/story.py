"""Why a root of a job is one, in a sentence of each language."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.base.notation import duration, moment
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


def _ranks(number: int) -> str:
    return f"{number} process{'es' if number != 1 else ''}"


def _note(root: Root, code: str, job: Job) -> Text:
    en, zh = [], []
    if root.waiters:
        en.append(f"{_ranks(root.waiters)} waited for {root.label}")
        zh.append(f"{root.waiters} 个进程在等待 {root.label}")
    if root.verdict == "fault":
        when, when_zh = "", ""
        if root.before is not None and root.before >= 0:
            when = f" {duration(root.before)} before the first timeout elsewhere"
            when_zh = f"，比其他进程首次超时早 {duration(root.before, 'zh')}"
        en.append(f"{root.label} hit {code}{when}")
        zh.append(f"{root.label} 出现 {code}{when_zh}")
        if root.peers:
            en.append(f"{len(root.peers)} more hit it too: {_few(root.peers)}")
            zh.append(f"另有 {len(root.peers)} 个进程也出现: {_few(root.peers)}")
    else:
        if root.last and root.verdict in ("stopped", "stuck"):
            last = moment(root.last)
            en.append(
                f"its last line is of {last}"
                + (
                    f", {duration(root.before)} before the first timeout elsewhere"
                    if root.before is not None and root.before >= 1
                    else ""
                )
            )
            zh.append(
                f"它的最后一行日志是 {last}"
                + (
                    f"，比其他进程首次超时早 {duration(root.before, 'zh')}"
                    if root.before is not None and root.before >= 1
                    else ""
                )
            )
        if root.peers:
            en.append(f"together with {_few(root.peers)}")
            zh.append(f"同类还有 {_few(root.peers)}")
    if root.unordered is not None:
        en.append(f"the clocks do not tell whether {root.unordered} failed earlier")
        zh.append(f"时钟无法判断 {root.unordered} 是否更早出错")
    if (
        root.before is None
        and root.verdict == "fault"
        and root.waiters
        and len({p.server or p.node for p in job.processes}) > 1
    ):
        en.append("the clocks of the nodes do not allow to compare times")
        zh.append("各节点时钟无法比较先后")
    return Text("; ".join(en), "；".join(zh))


def _few(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")
