"""Findings to a tree: which are roots, which were only printed because of them, and in which order to read them.

Rules, strongest first. An entry's own edges (`symptom_of`, `refines`) decide. A wrapper folds beneath anything that
says more; a symptom beneath any real cause; an ambiguous one beneath a cause that came earlier in the same stream;
every fault beneath the proof that the log is of a machine without any NPU; whatever has no line but harmless ones
beneath what calls them harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from doctor.findings.attempts import RESTART, Attempts
from doctor.findings.evaluate import Finding, order, stream_of
from kb.model import Entry, Text
from parsers.parsed import seconds

_SEVERITY = {"fatal": 0, "error": 0, "warning": 1, "info": 2}
INTERLEAVED = 10.0  # seconds by which lines of one file may be late
SUGGESTED = 2  # strength of a relation that follows from order and nearness alone
_ROLE = {"cause": 0, "ambiguous": 1, "symptom": 2, "wrapper": 3, "noise": 4}
# Kinds that end a job although they are no NPU fault: they explain what the job printed while dying.
_ENDING_KINDS = frozenset(
    {"not-npu", "user-code", "model-files", "dataset", "host-resource", "service-config", "process-death"}
)
_TELLING = frozenset({"cause", "ambiguous", "symptom"})
# The log is of a machine that has no NPU: whatever looks like a fault of one is none.
_ELSEWHERE = "other-machine"
# Somebody stopped the program: what breaks from then on in the same stream only follows from its end.
_STOPPED = "interrupted"
# Read from the words of a line that nobody may know: whoever knows anything that happened there knows more.
_READ = "meaning"
_VAGUE = frozenset({"peer-timeout", "wrapper"})  # tells that something failed, not what: less than a symptom that is known
_OF_PYTHON = "user-code"  # an exception that follows from a failed call is printed after what the call printed
# What is printed because a peer is gone: it follows from the root of a job, wherever it stands.
_DOWNSTREAM = frozenset({"peer-timeout", "peer-lost", "worker-death", "link-fault", "network-config", "process-death"})


class Story(NamedTuple):
    """What a job adds to the relations of findings: roots in order, and why each is one."""

    order: Mapping[str, int]  # code of an entry -> place among the roots
    notes: Mapping[str, Text]
    waited: bool = True  # does anybody wait for a root? If not, it only is the fault of a process that is known

    def place(self, code: str) -> int:
        return self.order.get(code, len(self.order) + 1)


NO_STORY = Story({}, {}, False)


class Related(NamedTuple):
    """A finding in its place: `explained_by` is the code of the finding above it, `explains` those beneath."""

    finding: Finding
    role: str  # root | symptom
    explained_by: str | None
    explains: tuple[str, ...]
    note: Text | None = None  # what the whole job says for it


def relate(findings: Iterable[Finding], story: Story = NO_STORY) -> tuple[Related, ...]:
    """Roots in reading order, each followed by what it explains; noise last. A job's own story goes before the rules."""
    findings = tuple(findings)
    attempts = Attempts(h.place for f in findings if f.entry.kind == RESTART for h in f.hits)
    ranked = sorted(findings, key=_ranker(findings, story, attempts))
    facts = _Facts(attempts)
    above = _harmless(ranked)
    alive = [f for f in ranked if f.entry.code not in above]
    for finding in reversed(alive):  # the least likely root first, so that chains end at the best one
        parent = _parent(finding, alive, above, story, facts)
        if parent is not None:
            above[finding.entry.code] = parent.entry.code
    below: dict[str, list[str]] = {}
    for finding in ranked:
        if finding.entry.code in above:
            below.setdefault(_top(finding.entry.code, above), []).append(finding.entry.code)
    by_code = {f.entry.code: f for f in ranked}
    out: list[Related] = []
    for finding in _first_attempt_first([f for f in ranked if f.entry.code not in above], story):
        code = finding.entry.code
        out.append(Related(finding, "root", None, tuple(below.get(code, ())), story.notes.get(code)))
        out += [Related(by_code[c], "symptom", above[c], ()) for c in below.get(code, ())]
    return tuple(out)


def _harmless(ranked: list[Finding]) -> dict[str, str]:
    """Findings seen in nothing but lines that an entry of the harmless ones claims, each with that entry's code."""
    claimed = {(h.place.path, h.place.line): f.entry.code for f in ranked if f.entry.role == "noise" for h in f.hits}
    above: dict[str, str] = {}
    for finding in ranked if claimed else ():
        if finding.entry.role != "noise":
            owners = [claimed.get((h.place.path, h.place.line)) for h in finding.hits]
            if owners[0] is not None and all(owners):
                above[finding.entry.code] = owners[0]
    return above


def _first_attempt_first(roots: list[Finding], story: Story) -> list[Finding]:
    """A job that was restarted failed twice. What nothing explains and came well before all that leads the list leads it
    instead: the second failure often only meets what the first one left behind."""
    if story.waited or not roots:
        return roots
    lead = roots[0]
    early = [
        f
        for f in roots[1:]
        if f.entry.role in ("cause", "ambiguous")
        and f.entry.confidence != "low"
        and _SEVERITY[f.entry.severity] == _SEVERITY[lead.entry.severity]
        and _long_before(f, lead)
    ]
    if not early:
        return roots
    first = min(early, key=lambda f: (f.first.time or "", f.first.line))
    return [first, *(f for f in roots if f is not first)]


def _top(code: str, above: dict[str, str]) -> str:
    while code in above:
        code = above[code]
    return code


def _ranker(findings: tuple[Finding, ...], story: Story, attempts: Attempts):  # type: ignore[no-untyped-def]
    """The order of likely roots: attempt, severity class, role, then who came first, then who knows more."""
    streams = _stream_order(findings)
    all_timed = all(f.first.time for f in findings)

    def key(finding: Finding) -> tuple[object, ...]:
        entry, place = finding.entry, finding.first
        when: tuple[object, ...] = (
            order(place) if all_timed else ("", str(streams[stream_of(place)]).zfill(6), place.line)
        )
        return (
            entry.role == "noise",
            # The first attempt's fault, even before what the job's story tells: that knows of no attempts.
            attempts.first(finding.hits) if _SEVERITY[entry.severity] == 0 and _ROLE[entry.role] < 2 else attempts.last,
            story.place(entry.code),
            _SEVERITY[entry.severity],
            _ROLE[entry.role],
            entry.confidence == "low",
            *when,
            -len({h.signal for h in finding.instances[0].hits}),
            entry.code,
        )

    return key


def _stream_order(findings: tuple[Finding, ...]) -> dict[str, int]:
    """Streams by their first known time, then by name: a stand-in for time where lines carry none."""
    first: dict[str, str] = {}
    for finding in findings:
        for hit in finding.hits:
            stream = stream_of(hit.place)
            first[stream] = min(first.get(stream, "~"), hit.place.time or "~")
    return {stream: number for number, stream in enumerate(sorted(first, key=lambda s: (first[s], s)))}


def _parent(
    finding: Finding, ranked: list[Finding], above: dict[str, str], story: Story, facts: _Facts
) -> Finding | None:
    """The best finding that explains this one; never one that this one explains."""
    best: tuple[int, int, Finding] | None = None
    for rank, other in enumerate(ranked):
        if other is finding or _reaches(other.entry.code, finding.entry.code, above):
            continue
        strength = _strength(finding, other, facts)
        if strength <= SUGGESTED and _both_began(finding.entry.code, other.entry.code, story):
            strength = 0  # chains of waiting end at both: two faults, however near they stand to each other
        if not strength and other.entry.code in story.order and finding.entry.code not in story.order:
            # What is downstream of a job's root follows from it, unless it says the same as the root more precisely.
            downstream = finding.entry.role == "ambiguous" and finding.entry.kind in _DOWNSTREAM
            named = _strength(other, finding, facts) > SUGGESTED  # the root itself calls this its cause
            again = _long_before(finding, other)  # an attempt that was restarted failed on its own
            strength = int(downstream and not named and not again and other.entry.code not in finding.entry.refines)
        if strength and (best is None or (-strength, rank) < best[:2]):
            best = (-strength, rank, other)
    return best[2] if best else None


def _both_began(a: str, b: str, story: Story) -> bool:
    return a in story.order and b in story.order and story.order[a] != story.order[b]


def _reaches(code: str, target: str, above: dict[str, str]) -> bool:
    while code in above:
        code = above[code]
        if code == target:
            return True
    return False


def _strength(effect: Finding, cause: Finding, facts: _Facts) -> int:
    """How strongly the second explains the first: 0 not at all, 9 by a named edge."""
    a, b = effect.entry, cause.entry
    if b.role == "noise" or a.role == "noise":
        return 0
    if a.role in ("cause", "ambiguous") and facts.attempts.later(cause.hits, effect.hits):
        return 0  # what was started again failed on its own
    if a.code in b.refines and facts.near(effect, cause):
        return 9
    for edge in a.symptom_of:
        if edge.entry == b.code and facts.share(edge.scope, effect, cause):
            return 8
        if (
            edge.kind
            and edge.kind == b.kind
            and b.role in ("cause", "ambiguous")
            and facts.share(edge.scope, effect, cause)
            and not _python_after(effect, cause)
        ):
            return 7
    if a.role == b.role == "symptom" and a.kind != b.kind and _by_kind(effect, cause, facts):
        return 3  # nearer to the origin, though no cause: any cause comes before it
    if _ELSEWHERE in (a.kind, b.kind):
        return 2 if a.kind != _ELSEWHERE and _SEVERITY[a.severity] == 0 else 0
    near = facts.near(effect, cause)
    if b.code in a.refines:
        return 0
    if _guesses(a) != _guesses(b) and {a.role, b.role} <= _TELLING:
        guess, knower = (effect, cause) if _guesses(a) else (cause, effect)
        if facts.reads(knower, guess):
            return 6 if guess is effect else 0
    if b.kind == _STOPPED and near and _not_later(cause, effect):
        return 5
    if a.domain == _READ != b.domain and near and _ends_jobs(cause) and _knows_more(b, a):
        return SUGGESTED
    if a.role == "symptom" and b.domain == _READ and b.kind in _VAGUE:
        return 0
    if a.role == "wrapper" and b.role != "wrapper":
        return (5 if near else 4) + (b.role == "cause")
    real = b.role in ("cause", "ambiguous") and _ends_jobs(cause)
    if a.role == "symptom" and real and not _python_after(effect, cause):
        return (4 if near else 3) + (b.role == "cause")
    if a.role == "ambiguous" and b.role == "cause" and near and _ends_jobs(cause) and _not_later(cause, effect):
        return 2
    if a.domain == "job" and b.domain != "job" and _ends_jobs(cause):
        # What the shape of a job suggests yields to what a line says; a mere suggestion even to an ambiguous line.
        return 2 if b.role == "cause" or (b.role == "ambiguous" and a.confidence == "low") else 0
    return 0


def _by_kind(effect: Finding, cause: Finding, facts: _Facts) -> bool:
    """Does an edge by kind lead there, and none by name back?"""
    if any(edge.entry == effect.entry.code for edge in cause.entry.symptom_of):
        return False
    return any(
        edge.kind and edge.kind == cause.entry.kind and facts.share(edge.scope, effect, cause)
        for edge in effect.entry.symptom_of
    )


def _guesses(entry: Entry) -> bool:
    """Does it only repeat what a line says? Whoever knows that line knows more."""
    return entry.role == "ambiguous" and entry.confidence == "low" and entry.domain != "job"


def _knows_more(entry: Entry, read: Entry) -> bool:
    """Does an entry know what happened, while the other was read from the words of a line?"""
    known = ("cause", "ambiguous", "symptom") if read.kind in _VAGUE else ("cause", "ambiguous")
    return entry.role in known and not _guesses(entry)


def _ends_jobs(finding: Finding) -> bool:
    return _SEVERITY[finding.entry.severity] == 0 or (
        finding.entry.severity == "warning" and finding.entry.kind in _ENDING_KINDS
    )


def _not_later(cause: Finding, effect: Finding) -> bool:
    """By the lines of one file, else by time. Lines without a time of their own stand where they stand."""
    a, b = cause.first, effect.first
    if a.path == b.path:
        return _first_line(cause, a.path) <= _first_line(effect, a.path)
    return bool(a.time and b.time and a.time <= b.time)


def _python_after(effect: Finding, cause: Finding) -> bool:
    """An exception that stands below a device's failure in the same file came of it, not the other way round."""
    guess = cause.entry.kind == _OF_PYTHON and cause.entry.role == "ambiguous"
    return guess and cause.first.path == effect.first.path and not _not_later(cause, effect)


def _long_before(effect: Finding, cause: Finding) -> bool:
    """Did it happen well before, by one clock? Lines of several processes may stand in a wrong order for a while."""
    a, b = effect.first, cause.first
    return a.path == b.path and bool(a.time and b.time) and seconds(b.time or "") - seconds(a.time or "") > INTERLEAVED


def _first_line(finding: Finding, path: str) -> int:
    return min(h.place.line for h in finding.hits if h.place.path == path)


_Owners = dict[int, set[tuple[object, object]]]  # pid -> node and rank of the processes that have it


class _Facts:
    """Where findings hold, as sets: thousands of ranks are compared at once, not pair by pair."""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts
        self._places: dict[str, tuple[set[str], _Owners, set[str]]] = {}
        self._scopes: dict[tuple[str, str], set[tuple[object, object]]] = {}
        self._lines: dict[str, set[tuple[str, int]]] = {}

    def reads(self, finding: Finding, other: Finding) -> bool:
        """Does a finding rest on the very line that the other one quotes?"""
        code = finding.entry.code
        if code not in self._lines:
            self._lines[code] = {(h.place.path, h.place.line) for h in finding.hits}
        quoted = next((h.place for h in other.hits if h.captures), None)
        return quoted is not None and (quoted.path, quoted.line) in self._lines[code]

    def near(self, a: Finding, b: Finding) -> bool:
        """Do they share a stream or a process anywhere?"""
        (paths, pids, streams), (more_paths, more_pids, more_streams) = self._where(a), self._where(b)
        return bool(paths & more_paths or streams & more_streams) or _same_process(pids, more_pids)

    def share(self, scope: str, a: Finding, b: Finding) -> bool:
        """Can both be of one device, rank or node? What a line does not say contradicts nothing."""
        if scope == "job":
            return True
        if scope == "process":
            return self.near(a, b)
        left, right = self._of(scope, a), self._of(scope, b)
        if left & right:
            return True
        if len(left) > len(right):
            left, right = right, left
        open_right = {p for p in right if None in p}
        return any(_fit(x, y) for x in left for y in (right if None in x else open_right))

    def _where(self, finding: Finding) -> tuple[set[str], _Owners, set[str]]:
        code = finding.entry.code
        if code not in self._places:
            paths: set[str] = set()
            pids: _Owners = {}
            for instance in finding.instances:
                paths |= instance.paths
                for pid in instance.pids:
                    pids.setdefault(pid, set()).add((instance.scope.node, instance.scope.rank))
            self._places[code] = (paths, pids, {stream_of(h.place) for i in finding.instances for h in i.hits})
        return self._places[code]

    def _of(self, scope: str, finding: Finding) -> set[tuple[object, object]]:
        key = (scope, finding.entry.code)
        if key not in self._scopes:
            self._scopes[key] = {
                ("" if scope == "node" else i.scope.node, getattr(i.scope, scope)) for i in finding.instances
            }
        return self._scopes[key]


def _same_process(a: _Owners, b: _Owners) -> bool:
    """Do both hold at one process? The same pid on two nodes, or of two ranks, is not one."""
    for pid in a.keys() & b.keys():
        left, right = a[pid], b[pid]
        if left & right:
            return True
        if any(_fit(x, y) for x in left if None in x for y in right) or any(
            _fit(x, y) for y in right if None in y for x in left
        ):
            return True
    return False


def _fit(a: tuple[object, object], b: tuple[object, object]) -> bool:
    return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))
