"""The situation in one line: `910B4, CANN 8.0.RC2, torch_npu 2.1.0, training, 2 nodes x 8`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from doctor.answer.nowhere import nowhere
from doctor.base.words import both, named, word
from doctor.findings.fits import Misfit, misfits
from doctor.findings.situation import FOREIGN, TITLES, VERSIONS, Situation
from kb.model import Text

if TYPE_CHECKING:
    from doctor.job.job import Job
    from doctor.judge.diagnosis import Diagnosis

FRAMEWORKS = 2


def line(diagnosis: Diagnosis, unfit: Sequence[Misfit]) -> Text:
    """What is known, the most telling first, with what does not go together; empty when nothing is."""
    situation, job = diagnosis.situation, diagnosis.job
    en: list[str] = []
    chips = situation.facts.get("chip", ())
    en += [chips[0]] if chips else []
    told = {fact for fact in VERSIONS if situation.first(fact)}
    wanted = {one.software: one for one in unfit}
    zh = [*en, *(f"{TITLES.get(fact, fact)} {situation.first(fact)}{_asked(wanted.get(fact), 'zh')}" for fact in VERSIONS if fact in told)]
    en += [f"{TITLES.get(fact, fact)} {situation.first(fact)}{_asked(wanted.get(fact), 'en')}" for fact in VERSIONS if fact in told]
    seen = [situation.frameworks[f] for f in situation.facts.get("framework", ()) if f in situation.frameworks]
    names = [f.title for f in seen if not f.beneath and f.name.replace("-", "_") not in told]
    en += names[:FRAMEWORKS]
    zh += names[:FRAMEWORKS]
    if activity := situation.first("activity"):
        activity = "rollout" if activity == "serving" and "rl-rollout" in situation.facts.get("seen", ()) else activity
        en.append(named("activity", activity, "en"))
        zh.append(named("activity", activity, "zh"))
    machine = situation.first("machine") or ("nowhere" if nowhere(diagnosis) else "")
    if machine in FOREIGN or machine == "nowhere":
        en.append(named("machine", machine, "en"))
        zh.append(named("machine", machine, "zh"))
    if situation.first("image_pair") == "other-chip":
        en.append(word("image-other", "en", made=situation.first("image_chip")))
        zh.append(word("image-other", "zh", made=situation.first("image_chip")))
    if len(worked := situation.facts.get("worked", ())) == 1:  # what changed since is the first suspect
        en.append(word("worked-with", "en", worked=worked[0]))
        zh.append(word("worked-with", "zh", worked=worked[0]))
    if size := _size(job, situation):
        en.append(size["en"])
        zh.append(size["zh"])
    return Text(", ".join(en), "，".join(zh))


def asked_for(situation: Situation) -> tuple[Misfit, ...]:
    """Releases that are not those which are published with others that are there."""
    found = misfits({name: situation.facts[name] for name in VERSIONS if name in situation.facts}, situation.published)
    if situation.first("cann_pair") == "older" and not any(one.software == "cann" for one in found):
        found = (*found, *_old_cann(situation))
    return (*found, *_old_driver(situation)) if situation.first("driver_pair") == "older" else found


def _old_cann(situation: Situation) -> tuple[Misfit, ...]:
    """Older than all that the software on it runs with, be that a build that no table names."""
    wanted = situation.names().get("cann_later")
    if wanted is None:
        return ()
    by, of = situation.facts["cann_for"]
    return (Misfit("cann", situation.first("cann") or "", wanted, by, of),)


def _old_driver(situation: Situation) -> tuple[Misfit, ...]:
    """A newer driver runs an older CANN: only one that is older than all that are published for it is told."""
    told = {name: situation.first(name) or "" for name in ("driver", "driver_wanted", "cann")}
    return (Misfit("driver", told["driver"], f">={told['driver_wanted']}", "cann", told["cann"]),)


def _asked(unfit: Misfit | None, lang: str) -> str:
    return word("unfit", lang, wanted=unfit.wanted, by=TITLES.get(unfit.by, unfit.by), of=unfit.of) if unfit is not None else ""


def _size(job: Job | None, situation: Situation) -> dict[str, str] | None:
    """How many nodes and ranks, as far as the logs tell."""
    if job is None or len(job.processes) < 2:
        return None
    seen = job.world_size or len(job.processes)
    stated = job.world_size if job.stated else situation.world_size(seen)
    if stated is None:
        return both("ranks:at-least", n=seen)
    each = Counter(p.server or p.node or p.home for p in job.processes)
    nodes = len(each)
    if nodes > 1 and stated % nodes == 0 and not job.missing and len(set(each.values())) == 1:
        return both("ranks:of-nodes", nodes=nodes, n=stated // nodes)
    return both("ranks:all", n=stated)
