"""The situation in one line: `910B4, CANN 8.0.RC2, torch_npu 2.1.0, training, 2 nodes x 8`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.findings.situation import TITLES, VERSIONS, Situation
from kb.model import Text

if TYPE_CHECKING:
    from doctor.job.job import Job

_ACTIVITIES = {"training": "训练", "serving": "推理服务", "conversion": "模型转换", "build": "编译"}
_MACHINES = {"cuda": Text("CUDA machine", "CUDA 机器"), "rocm": Text("ROCm machine", "ROCm 机器")}
FRAMEWORKS = 2


def line(situation: Situation, job: Job | None) -> Text:
    """What is known, the most telling first; empty when nothing is."""
    en: list[str] = []
    chips = situation.facts.get("chip", ())
    en += [chips[0]] if chips else []
    told = {fact for fact in VERSIONS if situation.first(fact)}
    en += [f"{TITLES.get(fact, fact)} {situation.first(fact)}" for fact in VERSIONS if fact in told]
    seen = [situation.frameworks[f] for f in situation.facts.get("framework", ()) if f in situation.frameworks]
    names = [f.title for f in seen if not f.beneath and f.name.replace("-", "_") not in told]
    en += names[:FRAMEWORKS]
    zh = list(en)
    if activity := situation.first("activity"):
        en.append(activity)
        zh.append(_ACTIVITIES.get(activity, activity))
    if machine := _MACHINES.get(situation.first("machine") or ""):
        en.append(machine.en)
        zh.append(machine.zh)
    if size := _size(job, situation):
        en.append(size.en)
        zh.append(size.zh)
    return Text(", ".join(en), "，".join(zh))


def _size(job: Job | None, situation: Situation) -> Text | None:
    """How many nodes and ranks, as far as the logs tell."""
    if job is None or len(job.processes) < 2:
        return None
    seen = job.world_size or len(job.processes)
    stated = job.world_size if job.stated else situation.world_size(seen)
    if stated is None:
        return Text(f"at least {seen} ranks", f"至少 {seen} 个 rank")
    ranks = stated
    nodes = len({p.server or p.node or p.home for p in job.processes})
    if nodes > 1 and ranks % nodes == 0 and not job.missing:
        return Text(f"{nodes} nodes x {ranks // nodes}", f"{nodes} 节点 x {ranks // nodes}")
    return Text(f"{ranks} ranks", f"{ranks} 个 rank")
