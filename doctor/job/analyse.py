"""From a harvest and what holds in it to the Job; and the rows by which verdicts of the job become findings of entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from doctor.base.notation import moment
from doctor.findings.evaluate import Finding, Instance, Scope, order
from doctor.job.case import Case, Fault, faults, owner
from doctor.job.clocks import Clocks
from doctor.job.identity import Who
from doctor.job.job import Job, Root
from doctor.job.roots import choose
from doctor.job.states import counted
from doctor.job.waits import graph
from doctor.scan.harvest import VERDICTS, Harvest, Hit, Place
from kb.model import Signal
from parsers.lazy import lazy


def analyse(harvest: Harvest, findings: Sequence[Finding]) -> tuple[Job, Who] | None:
    """The job, when the facts of the logs show one: several processes or ranks, or one that waits for others."""
    who = Who(harvest)
    found = graph(who)
    if len(who.processes) < 2 and not (who.world_size or 0) > 1 and not found.waits:
        return None
    clocks = Clocks(who)
    failed = faults(who, findings)
    case = Case(
        who,
        found,
        clocks,
        failed,
        _strange(harvest, who),
        _setting(who, "exec-timeout", 1836.0),
        _setting(who, "connect-timeout", 120.0),
        frozenset(_alive(findings, who)),
    )
    roots = choose(case)
    if _witnesses(who) < 2:  # what one witness says of others stays its entries' word
        roots = tuple(r for r in roots if r.verdict == "fault")
    general = {f.entry.code: f.entry.refines for f in findings}
    roots = tuple(r._replace(codes=tuple(sorted(r.codes, key=lambda c: _general(c, r.codes, general)))) for r in roots)
    job = Job(
        who.processes,
        found.waits,
        clocks.skew(),
        who.world_size,
        _missing(who),
        roots,
        _failed(failed, findings, who),
        tuple(r.process for r in roots if r.verdict == "stopped" and r.process is not None),
        who.stated,
        tuple(sorted(case.strange)),
    )
    return counted(job), who


def _failed(failed: Sequence[Fault], findings: Sequence[Finding], who: Who) -> tuple[tuple[int, str], ...]:
    """What failed by itself where; whoever printed a line of the same fault was hit as well."""
    found = dict.fromkeys((f.process, f.code) for f in failed)
    codes = {f.code for f in failed}
    for finding in findings:
        if finding.entry.code in codes:
            found |= dict.fromkeys((n, finding.entry.code) for h in finding.hits if (n := who.of(h.place)) is not None)
    return tuple(found)


def _general(code: str, codes: Sequence[str], refines: Mapping[str, Sequence[str]]) -> int:
    """How many of the others say the same more precisely: those come first."""
    return sum(code in refines.get(other, ()) for other in codes)


def _witnesses(who: Who) -> int:
    """Processes that tell something of a job: one that only logs, beside another's lines or in a file of its own, may be a stranger."""
    return sum(bool(a.facts or p.seats or p.rank is not None) for p, a in zip(who.processes, who.actors, strict=True))


def _alive(findings: Sequence[Finding], who: Who) -> Iterator[int]:
    """Processes that a launcher asked to stop, when another one had failed: it asks those that still run."""
    for finding in findings:
        for hit in finding.hits:
            if (told := _ASKED_TO_STOP.search(hit.place.text)) and (number := who.by_pid(int(told["pid"]), hit.place.node, hit.place.path)) is not None:
                yield number


_ASKED_TO_STOP = lazy(r"\bSending process (?P<pid>\d{1,9}) closing signal\b")


def _strange(harvest: Harvest, who: Who) -> dict[int, Place]:
    """The first unclaimed error of each process, as far as shapes of errors still tell; those of HCCL are waits."""
    found: dict[int, Place] = {}
    for cluster in harvest.clusters:
        place = cluster.first
        if place.module in ("HCCL", "HCCP", "ROCE") or (number := who.of(place)) is None:
            continue
        if number not in found or order(place) < order(found[number]):
            found[number] = place
    for number, actor in enumerate(who.actors):  # a task on the device that failed and did not only wait
        for hit in actor.facts.of("aicpu-task"):
            if not dict(hit.captures)["task"].startswith("NOTIFY"):
                found.setdefault(number, hit.place)
    return found


def _setting(who: Who, name: str, default: float) -> float:
    """A timeout as the processes print it; the smallest when they differ."""
    found = {
        float(value)
        for actor in who.actors
        for hit in actor.facts.of(name)
        if (value := dict(hit.captures).get("seconds"))
    }
    return min((v for v in found if v > 0), default=default)


def _missing(who: Who) -> tuple[int, ...]:
    """Ranks of the world without logs; nothing when too little is known about ranks to say, or of a paste that names some."""
    if who.world_size is None or not who.by_rank or not who.stated:
        return ()
    return tuple(r for r in range(who.world_size) if r not in who.by_rank)


def rows(job: Job) -> Iterable[tuple[dict[str, str], Place]]:
    """The verdicts that no entry of a fault speaks for, as rows of the table `job`.

    From the logs of one process nothing is concluded about the others: its own symptoms say all there is to say.
    """
    if len(job.processes) < 2:
        return
    for root in job.roots:
        if root.verdict == "fault":
            continue
        process = job.processes[root.process] if root.process is not None else None
        node = process.node if process else root.place.node
        yield (
            {
                "table": VERDICTS,
                "verdict": root.verdict,
                "who": root.label,
                "waiters": str(root.waiters),
                "peers": ", ".join(root.peers) or "-",
                "others": str(len(root.peers)),
                "last": moment(root.last) or "?",
                "before": f"{root.before:.0f}" if root.before is not None else "?",
                **({"where": node} if node else {}),
                "world": str(job.world_size or "?"),
            },
            root.place._replace(kind="table", module=VERDICTS),
        )


def hits(job: Job, asked: Mapping[str, Sequence[Signal]]) -> tuple[Hit, ...]:
    """The rows as hits of the leaves that are asked."""
    from doctor.scan.tablescan import hits_of

    return hits_of(rows(job), asked)


def locate(findings: Sequence[Finding], job: Job, who: Who) -> tuple[Finding, ...]:
    """The findings with the scope of each instance completed, and the instance at the root first."""
    first = {code: root.process for root in reversed(job.roots) for code in root.codes}
    out = []
    for finding in findings:
        instances = []
        at_root: list[Instance] = []
        for instance in finding.instances:
            number = owner(who, instance)
            if number is None:
                instances.append(instance)
                continue
            made = _scoped(instance, job, number)
            (at_root if number == first.get(finding.entry.code) else instances).append(made)
        out.append(finding._replace(instances=(*at_root, *instances)))
    return tuple(out)


def _scoped(instance: Instance, job: Job, number: int) -> Instance:
    process, told = job.processes[number], instance.scope
    scope = Scope(
        told.node if told.node is not None else process.node,
        process.rank if process.rank is not None else told.rank,
        told.device if told.device is not None else process.device,
        told.pid if told.pid is not None else process.pid,
    )
    return instance._replace(scope=scope)


def codes_of(root: Root, findings: Iterable[Finding]) -> tuple[str, ...]:
    """The entries that speak for a root: its own faults, or the entry of its verdict."""
    if root.codes:
        return root.codes
    return tuple(
        f.entry.code
        for f in findings
        if f.entry.domain == "job" and any(i.captures.get("verdict") == root.verdict for i in f.instances)
    )
