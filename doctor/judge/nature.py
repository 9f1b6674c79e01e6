"""What an entry is, as the rules ask: what its role, kind and words let it claim."""

from __future__ import annotations

from collections.abc import Set

from doctor.findings.evaluate import Finding
from doctor.scan.harvest import Place
from kb.model import Entry
from parsers.lazy import lazy

_WARNED = lazy(r"\S{1,300}\.py:\d{1,7}: \w{0,40}Warning: ")  # as Python shows one
# Of a failure that the program caught and told: it was a rehearsal, or something else was done in its place.
_ONLY_TRIED = lazy(r"(?i)\b(?:dry[- ]?run|preview|rehearsal|probe|trial run)\b[^\n:]{0,40}(?:error|fail\w*)\b|\b(?:skipp(?:ing|ed)|falling back|fell back|ignored|ignoring)\b")
_TRIED = lazy(r"(?i)connection refused|\bretry(?:ing)?\b|\btry(?:ing)? again\b|\breconnect")
_HEADING = lazy(r"(?:[:：]|\bfollowing\b[\w ]{0,60}[.:]?|\bbelow\b[.:]?|如下[:：。]?)\s*$")
SURER = {"low": 0, "medium": 1, "high": 2}
COMES_UP = frozenset({"came_up", "device_works"})


def may_be_root(entry: Entry) -> bool:
    return entry.role in ("cause", "ambiguous")


def is_read(entry: Entry) -> bool:
    """Does it rest on nothing but what the words of a line mean?"""
    return entry.domain == "meaning"


def names_a_fault(entry: Entry) -> bool:
    """Does it say what failed, more than that something did?"""
    return is_error(entry) and not entry.general and not is_vague(entry)


def is_vague(entry: Entry) -> bool:
    """Does it tell that something failed, and not what?"""
    return entry.kind in ("peer-timeout", "wrapper")


def tells(entry: Entry) -> bool:
    return entry.role in ("cause", "ambiguous", "symptom")


def is_error(entry: Entry) -> bool:
    return entry.severity in ("fatal", "error")


def ends_job(entry: Entry) -> bool:
    return is_error(entry) or (entry.severity == "warning" and "ends_job" in entry.traits)


def guesses(entry: Entry) -> bool:
    """Does it only repeat what a line says?"""
    return entry.role == "ambiguous" and entry.confidence == "low" and entry.domain != "job"


def only_warned(finding: Finding) -> bool:
    """Is it told by warnings of Python alone? The program went on after each of them."""
    return all(_WARNED.match(hit.place.text) for hit in finding.hits)


def is_doubt(finding: Finding) -> bool:
    """Does it only warn, without anything that ended a program?"""
    entry = finding.entry
    if entry.role == "noise" or is_error(entry) or "elsewhere" in entry.traits or (entry.severity == "info" and entry.kind == "performance"):
        return False  # that something is slow is true of a run that went well, too
    return not (ends_job(entry) or any(hit.place.kind == "traceback" for hit in finding.hits))


def was_survived(finding: Finding, ready: Finding) -> bool:
    """Was it told before the program came up for the first time, on lines that only warn? Had it been so, nothing would have come up.

    Whoever only said that it still waits got what it waited for. Nor would anything have reached the device, where all that is known of the program is that it did.
    """
    entry = finding.entry
    if "device_works" in ready.entry.traits and "before_device" not in entry.traits:
        return False
    waits = entry.role == "symptom" and entry.severity == "warning" and "downstream" in entry.traits and all(hit.place.kind == "launcher" for hit in finding.hits)
    ends = "raises" in entry.traits if is_error(entry) else "ends_job" in entry.traits and not {"raises", "of_program"} & set(entry.traits)
    if not (ends or waits) or "elsewhere" in entry.traits:
        return False
    up: dict[str, int] = {}
    for hit in ready.hits:
        up[hit.place.path] = min(hit.place.line, up.get(hit.place.path, hit.place.line))
    return all(
        hit.place.kind in ("launcher", "text", "plog") and hit.place.level not in ("error", "fatal") and hit.place.line < up.get(hit.place.path, 0)
        for hit in finding.hits
    )


def last_said(end: Finding, name: str) -> dict[str, int]:
    """Of each file, the last line in which that was told by this name."""
    last: dict[str, int] = {}
    for hit in end.hits:
        if any(told == name for told, _ in hit.captures):
            last[hit.place.path] = max(hit.place.line, last.get(hit.place.path, 0))
    return last


def went_well_after(line: Place, finding: Finding) -> bool:
    """Did the program say that it came to its end well, below a line that is no exception?"""
    return "finished" in finding.entry.traits and line.kind != "traceback" and line.line < last_said(finding, "ended").get(line.path, 0)


def tried_again(line: Place, finding: Finding) -> bool:
    """Was it a connection that was refused, and tried again until the program came up below, for the first time in this file?"""
    if COMES_UP.isdisjoint(finding.entry.traits) or line.kind == "traceback" or line.level == "fatal" or _TRIED.search(line.text) is None:
        return False
    up = [hit.place.line for hit in finding.hits if hit.place.path == line.path]
    return bool(up) and line.line < min(up)


def heads(line: Place, cleared: Set[tuple[str, int]]) -> bool:
    """Does a line only announce the one below it, which is known and no fault of this run? `ERROR: ... the following conflicts.`"""
    return line.kind != "traceback" and (line.path, line.line + 1) in cleared and _HEADING.search(line.text.partition("\n")[0]) is not None


def got_over(finding: Finding, end: Finding) -> bool:
    """Did the program come to its end after all of it? A warning was none that ends programs then, nor what it only tried; of tests that passed, an error was what they wanted."""
    entry = finding.entry
    last, tested = last_said(end, "ended"), last_said(end, "tested")
    if all(hit.place.line < tested.get(hit.place.path, 0) for hit in finding.hits):
        return True
    if all(hit.place.kind != "traceback" and hit.place.line < last.get(hit.place.path, 0) and _ONLY_TRIED.search(hit.place.text) for hit in finding.hits):
        return True
    warns = entry.severity == "warning" and "of_program" not in entry.traits and "elsewhere" not in entry.traits
    return warns and all(hit.place.kind != "traceback" and hit.place.line < last.get(hit.place.path, 0) for hit in finding.hits)
