"""Which evidence is of the time of the failure, and which only lies beside it.

A folder of logs holds more than one run: records of the hardware of years ago, exports without a date, the history of
other nodes. The failure is the newest one that a program tells of. What is older than the run that failed, or is a record
of the machine that no date brings together with it, is context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

from doctor.findings.evaluate import Apart, Entries, Finding, evaluate
from doctor.read.source import hints
from doctor.scan.harvest import Harvest, Hit, Place, Span
from doctor.scan.packed import only
from kb.model import Entry
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.parsed import seconds

HOUR = 3600.0
ZONES = 14  # hours by which clocks of other zones are ahead or behind
ONE_RUN = (ZONES + 12) * HOUR  # attempts of one job, and clocks of other zones, lie within
MOMENT = 600.0
_ASKED = lazy(r"\s{0,40}(?:NPU ID|Health(?: Status)?|Error (?:Code|Information)|HBM (?:Single|Double) Bit [\w ]{4,40}) {2,}: ")  # what npu-smi -t answers
_EVENT = lazy(r"(?:[\w.-]{1,80} +)?(?:\d{1,3}[smh]){1,2}(?: \(x\d+ over \w+\))? +(?:Normal|Warning) ")  # an event as kubectl lists it: Kubernetes keeps them for an hour


class Parted(NamedTuple):
    """What is of the time of the failure, and the findings that are not."""

    harvest: Harvest
    findings: tuple[Finding, ...]
    apart: tuple[Finding, ...]


class _Run(NamedTuple):
    """The run that failed: the sources that tell of it, and from when to when; without a time when none of them has one."""

    paths: Set[str]
    pids: frozenset[int]
    killed: bool = False  # somebody ended a process of it: the kernel tells who
    latest: Mapping[str, float] = {}  # the last time that such a source tells of the failure: its lines may be out of order
    dated: frozenset[str] = frozenset()
    begin: float | None = None
    end: float | None = None
    spans: Mapping[str, Span] = {}  # of what it is asked for: a tree of hundreds of thousands of files has as many


def part(harvest: Harvest, findings: Sequence[Finding], knowledge: Entries) -> Parted:
    """Everything as it is when nothing is of another time, or nothing else would be left: that is the rule."""
    whole = Parted(harvest, tuple(findings), ())
    run = _run(findings, harvest) if harvest.hits else None  # without a hit there is nothing that could be of another time
    if run is None:
        return whole
    old = _old(harvest, run)
    past = _overcome(harvest.hits, knowledge)
    harvest = _without_past(_without_old(harvest, frozenset(old)), past)
    out: dict[Hit, Apart] = {}
    for hit in harvest.hits:
        entry = knowledge.entry(hit.entry)
        if entry is None:
            continue
        why = Apart("older", old[hit.place.path]) if hit.place.path in old else Apart("overcome") if _within(hit.place, past) else _apart(hit, entry, run)
        if why is not None:
            out[hit] = why
    for together in (i.hits for f in findings for i in f.instances if len(i.paths) > 1 and any(h not in out for h in i.hits)):
        for hit in together:
            if hit in out and out[hit].why == "undated":  # it makes one finding with what is of the run
                del out[hit]
    if not out:
        return whole
    kept = _without(harvest, out)
    found = evaluate(kept, knowledge)
    guess = run.end is None and not any(_fails(f.entry) and f.entry.role == "cause" for f in found)  # nothing has a date, and nothing else is proven
    if guess or not any(map(_tells, found)):  # what nothing contradicts, and only has no date, is the best guess
        out = {hit: why for hit, why in out.items() if why.why != "undated" or hit.place.kind != "kernel"}
        kept = _without(harvest, out)
        found = evaluate(kept, knowledge)
    if not kept.clusters and not any(_fails(finding.entry) for finding in found):
        return whole
    told = {finding.entry.code for finding in found}
    beside = evaluate(harvest._replace(hits=tuple(out)), knowledge)
    return Parted(kept, found, tuple(f._replace(apart=out[f.hits[0]]) for f in beside if f.entry.code not in told))


Past = Mapping[str, Sequence[tuple[int, int]]]  # of each source, from which line to which


def _overcome(hits: Iterable[Hit], knowledge: Entries) -> Past:
    """The lines of runs whose failure a later run of the same command met no more."""
    found: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        if hit.place.module == "session" and (entry := knowledge.entry(hit.entry)) is not None and "overcome" in entry.traits:
            end = dict(hit.captures).get("what", "")
            found.setdefault(hit.place.path, []).append((hit.place.line + 1, int(end) if end.isdecimal() and len(end) < 10 else 0))
    return found


def _within(place: Place, past: Past) -> bool:
    return any(first <= place.line <= last for first, last in past.get(place.path, ()))


def _without_past(harvest: Harvest, past: Past) -> Harvest:
    """The harvest whose unknown errors and facts are not of such runs."""
    if not past:
        return harvest
    return harvest._replace(
        facts=only(harvest.facts, lambda hit: not _within(hit.place, past)),
        clusters=tuple(c for c in harvest.clusters if not _within(c.first, past)),
    )


def without_states(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Alarms of cards stand beside a fault of installed files, where nothing else tells of hardware: `Critical` is never left aside."""
    wrong = [f for f in findings if f.entry.severity in ("error", "fatal") and f.entry.role in ("cause", "ambiguous")]
    states = [f for f in wrong if "recorded" in f.entry.traits and all(h.place.kind == "table" and ("health", "Alarm") in h.captures for h in f.hits)]
    if not states or not any("installed" in f.entry.traits for f in wrong) or any("recorded" in f.entry.traits for f in findings if f not in states):
        return tuple(findings), ()
    return tuple(f for f in findings if f not in states), tuple(f._replace(apart=Apart("state")) for f in states)


def _fails(entry: Entry) -> bool:
    return (entry.severity != "info" and entry.role != "noise") or "stopped" in entry.traits


def _tells(finding: Finding) -> bool:
    """Does it say what failed, more than that somebody waited in vain?"""
    return _fails(finding.entry) and finding.entry.role in ("cause", "ambiguous")


def _is_record(hit: Hit, entry: Entry) -> bool:
    """Is it a line that a machine keeps, whoever runs on it: of the kernel, of a device, of a black box?"""
    place = hit.place
    if place.kind == "table" or _ASKED.match(place.text) or _EVENT.match(place.text):  # somebody looked, and found it so
        return False
    told = hints(place.path)
    of_process = told.pid is not None and told.device is None
    return place.kind == "kernel" or ("recorded" in entry.traits and place.kind in ("text", "plog") and not of_process)


def _run(findings: Iterable[Finding], harvest: Harvest) -> _Run | None:
    """The newest run that failed, by what programs say of it, else by what somebody looked at, else by the newest record."""
    failed = [(h, f.entry) for f in findings if _fails(f.entry) for h in f.hits]
    records = [h.place for h, entry in failed if _is_record(h, entry)]
    own = [h for h, entry in failed if not _is_record(h, entry)]
    kept = {p.path for p in records}
    unknown = [c.first for c in harvest.clusters if c.first.kind != "kernel" and c.first.path not in kept]
    waited = [h.place for h in harvest.facts if h.place.level == "error"]
    said = [*(h.place for h in own if h.place.kind != "table"), *(p for p in unknown if hints(p.path).device is None), *waited]
    told: Iterable[Place] = said or (h.place for h in harvest.facts)
    if not said and not harvest.facts:
        told = [h.place for h in own] or [p for p in records if p.time]
    paths: set[str] = set()
    times: list[float] = []
    latest: dict[str, float] = {}
    for place in told:
        paths.add(place.path)
        if place.time:
            times.append(at := seconds(place.time))
            latest[place.path] = max(latest.get(place.path, 0.0), at)
    if not paths:
        return None
    pids = frozenset(pid for h in own for pid in _pids(h))
    asked = paths.union(h.place.path for h in harvest.hits)
    spans = {span.path: span for span in harvest.spans if span.path in asked}
    killed = any(entry.kind == "process-death" for _, entry in failed)
    last = [seconds(span.last) for path in paths if (span := spans.get(path)) and span.last]
    if not times and not last:
        return _Run(paths, pids, killed, spans=spans)
    end = max((*times, *last))
    dated = [s for path in paths if (s := spans.get(path)) and s.first and s.last and end - seconds(s.last) <= ONE_RUN]
    begins = [seconds(s.first) for s in dated if s.first]
    begin = min((*begins, *(t for t in times if end - t <= ONE_RUN), end))
    return _Run(paths, pids, killed, latest, frozenset(s.path for s in dated), begin, end, spans)


def _pids(hit: Hit) -> Iterator[int]:
    """The processes that a line is of or names."""
    if hit.place.pid is not None:
        yield hit.place.pid
    told = dict(hit.captures).get("pid", "")
    if told.isdecimal() and len(told) < 10:
        yield int(told)


def _apart(hit: Hit, entry: Entry, run: _Run) -> Apart | None:
    record = _is_record(hit, entry)
    if not record and hit.place.path in run.paths:  # what a program of the run printed, in whatever order
        return None
    span = run.spans.get(hit.place.path)
    told = hit.place.time or (span.last if span is not None and hit.place.path not in run.paths else None)
    if told is None or run.begin is None or run.end is None:
        if not record or hit.place.path in run.paths or not run.pids.isdisjoint(_pids(hit)):
            return None
        if told is None and run.killed and entry.kind == "host-resource":  # a process was killed, and since this machine's start the kernel killed one
            return None
        return Apart("undated" if told is None else "unplaced")
    at = seconds(told)
    if run.begin - at > (HOUR if record and not _other_zone(at, run.begin, run.end) else ONE_RUN):
        return Apart("older", run.begin - at)
    if record and at - run.end > ONE_RUN:
        return Apart("later", at - run.end)
    return None


def _other_zone(at: float, begin: float, end: float) -> bool:
    """Would it be of the run if its clock were of another zone?"""
    return any(begin - MOMENT <= at + hours * HOUR <= end + MOMENT for hours in range(1, ZONES + 1))


def _old(harvest: Harvest, run: _Run) -> dict[str, float]:
    """Sources that ended long before the run, and by how much; what has no time is of the time of what lies with it.

    Whoever names a communicator of the run is a process of its job, however wrong his clock is.
    """
    if run.begin is None:
        return {}
    begin = run.begin
    ends = {s.path: max(seconds(s.last), run.latest.get(s.path, 0.0)) for s in harvest.spans if s.last}
    old = {path: begin - end for path, end in ends.items() if begin - end > ONE_RUN and path not in run.dated}
    if not old:
        return {}
    folders: dict[str, list[str]] = {}
    for path in ends:
        for folder in _folders(path):
            folders.setdefault(folder, []).append(path)
    undated = {h.place.path for h in chain(harvest.hits, harvest.facts)} | {c.first.path for c in harvest.clusters}
    for path in undated - ends.keys():
        beside = next((folders[f] for f in _folders(path) if f in folders), [])
        if beside and all(other in old for other in beside):
            old[path] = min(old[other] for other in beside)
    ours = {comm for h in harvest.facts if h.place.path not in old and (comm := _comm(h))}
    for fact in harvest.facts:
        if _comm(fact) in ours:
            old.pop(fact.place.path, None)
    return old


def _folders(path: str) -> list[str]:
    """The folders above a file, the nearest first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:n]) for n in range(len(parts), 0, -1)]


def _without_old(harvest: Harvest, old: frozenset[str]) -> Harvest:
    """The harvest whose facts, spans and unknown errors are of the run."""
    if not old:
        return harvest
    return harvest._replace(
        facts=only(harvest.facts, lambda hit: hit.place.path not in old),
        spans=only(harvest.spans, lambda span: span.path not in old),
        clusters=tuple(c for c in harvest.clusters if c.first.path not in old),
    )


def _comm(fact: Hit) -> str | None:
    return dict(fact.captures).get("comm")


def _without(harvest: Harvest, out: Mapping[Hit, Apart]) -> Harvest:
    """The harvest without the hits that are apart."""
    gone: dict[str, int] = {}
    for hit in out:
        gone[hit.signal] = gone.get(hit.signal, 0) + 1
    return harvest._replace(
        hits=tuple(h for h in harvest.hits if h not in out),
        counts={s: max(1, n - gone.get(s, 0)) for s, n in harvest.counts.items()},
    )
