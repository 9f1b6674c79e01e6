"""In which order a person should read: the likeliest root first, and of a restarted job its first failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from doctor.findings.attempts import Attempts
from doctor.findings.evaluate import Finding, order, stream_of
from doctor.job.job import Story
from doctor.judge.nature import only_warned
from doctor.judge.nearness import long_before

_SEVERITY = {"fatal": 0, "error": 0, "warning": 1, "info": 2}
_ROLE = {"cause": 0, "ambiguous": 1, "symptom": 2, "wrapper": 3, "noise": 4}

Key = Callable[[Finding], tuple[object, ...]]


def likeliest_first(findings: Sequence[Finding], story: Story, attempts: Attempts) -> list[Finding]:
    """The order of likely roots: attempt, severity class, role, then who came first, then who knows more."""
    return sorted(findings, key=_likelihood(findings, story, attempts))


def _likelihood(findings: Sequence[Finding], story: Story, attempts: Attempts) -> Key:
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
            attempts.first(finding.hits) if _severity(finding) == 0 and _ROLE[entry.role] < 2 else attempts.last,
            story.place(entry.code),
            _severity(finding),
            _ROLE[entry.role],
            entry.confidence == "low",
            *when,
            -len({h.signal for h in finding.instances[0].hits}),
            entry.code,
        )

    return key


def _severity(finding: Finding) -> int:
    told = _SEVERITY[finding.entry.severity]
    return max(told, _SEVERITY["warning"]) if told == 0 and only_warned(finding) else told


def _stream_order(findings: Sequence[Finding]) -> dict[str, int]:
    """Streams by their first known time, then by name: a stand-in for time where lines carry none."""
    first: dict[str, str] = {}
    for finding in findings:
        for hit in finding.hits:
            stream = stream_of(hit.place)
            first[stream] = min(first.get(stream, "~"), hit.place.time or "~")
    return {stream: number for number, stream in enumerate(sorted(first, key=lambda s: (first[s], s)))}


def most_urgent_first(roots: Sequence[Finding], story: Story) -> list[Finding]:
    """The order in which to act: what is fatal comes before errors of other processes, and after what led to it in its own.

    Where ranks waited for each other, the job's story has said already what comes first.
    """
    if story.waited:
        return list(roots)
    urgent = [f.entry.severity == "fatal" and f.entry.role == "cause" and f.entry.confidence != "low" for f in roots]
    own = [_process(f) for f in roots]
    leads = [
        fatal or (_severity(f) == 0 and any(urgent[m] and own[m] == own[n] for m in range(n + 1, len(roots))))
        for n, (f, fatal) in enumerate(zip(roots, urgent, strict=True))
    ]
    return [f for f, first in zip(roots, leads, strict=True) if first] + [
        f for f, first in zip(roots, leads, strict=True) if not first
    ]


def _process(finding: Finding) -> tuple[object, ...]:
    """What a finding shares with those of the same process: its node and number, else the stream that it stands in."""
    place = finding.first
    return (place.node, place.pid) if place.pid is not None else (stream_of(place),)


def first_attempt_first(roots: list[Finding], story: Story) -> list[Finding]:
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
        and _severity(f) == _severity(lead)
        and long_before(f, lead)
    ]
    if not early:
        return roots
    first = min(early, key=lambda f: (f.first.time or "", f.first.line))
    return [first, *(f for f in roots if f is not first)]
