"""What the log itself says of a failure, which no title can know beforehand: the sentence of CANN beneath a call that names the rule;
on a machine without an NPU, how the program failed."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.base.notation import clean
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from doctor.scan.harvest import Place
from parsers.lazy import lazy
from parsers.traceback_forms import FRAME

LINES = 40  # beneath or above what a root rests on
MOST = 240  # letters
_REASON = lazy(
    r"\bE[A-Z0-9]\d{4}\)?:?\s{1,4}(?:\[PID: ?\d{1,12}\] \S{1,40} (?:\(E\w{5}\): {0,4})?)?(?P<reason>(?!\[PID|Inner Error)\S[^\n]{8,600}?)\s?\[(?:FUNC|THREAD):"
)
_ARGUMENT = lazy(r"\bEE\d{4}\)?:\s{1,4}(?:\[PID: ?\d{1,12}\] \S{1,40} )?The argument is invalid\. ?Reason: ?(?P<reason>\S[^\n]{8,600})$")  # no [FUNC:] behind it
# What only passes a failure on, or prints registers of the core: no rule stands there.
_PASSED_ON = lazy(r"\w+ (?:execut\w+ |execution )?failed,? ?(?:reason|ret|error)|do tiling failed|Check \w+\(|The error from device\(|An error occurs? on the device\(|dump info: pc start|\[AIC_INFO\]|Stream end capture failed|was not joined to the original stream")


_HEAD = lazy(r"\A\[(?:ERROR|CRITICAL)\] \w+\([^)]{1,80}\):\S{10,40} (?:\[\S{1,200}:\d+\] )?")


def said(root: Related, diagnosis: Diagnosis) -> str | None:
    """The first sentence of the error block that belongs to a root; None where there is none, or where the root quotes it."""
    if root.role != "root":
        return None
    if "elsewhere" in root.finding.entry.traits:
        return _failed(root, diagnosis)
    shown = {(h.place.path, line) for h in root.finding.hits for line in range(h.place.line, h.place.end_line + 1)}
    for place in sorted(_near(root, diagnosis), key=lambda p: p.line):
        found = _REASON.search(place.text) or _ARGUMENT.search(place.text)
        if found and (place.path, place.line) not in shown and not _PASSED_ON.search(found["reason"]):
            return _short(found["reason"])
    return None


def _failed(root: Related, diagnosis: Diagnosis) -> str | None:
    """The first error that nothing explains, else the exception, of what is put beneath a root that only tells whose machine it is."""
    beneath = [r.finding for r in diagnosis.related if r.explained_by == root.finding.entry.code]
    ended = [finding.first for finding in beneath if "raises" in finding.entry.traits and finding.entry.severity in ("error", "fatal")]
    unknown = [c.first for c in diagnosis.unexplained]
    shown = {(h.place.path, h.place.line) for h in root.finding.hits}
    place = next((p for p in (*unknown, *ended) if (p.path, p.line) not in shown and not FRAME.match(p.text)), None)
    return None if place is None else _short(_HEAD.sub("", place.text))


def _short(told: str) -> str:
    text = " ".join(clean(told).split())
    return text if len(text) <= MOST else f"{text[:MOST].rstrip()} ..."


def _near(root: Related, diagnosis: Diagnosis) -> Iterator[Place]:
    """Lines of blocks beside the first place of the root, of the same process."""
    first = root.finding.first
    known = (h.place for r in diagnosis.related if r is not root for h in r.finding.hits)
    unknown = (c.first for c in diagnosis.unexplained)
    for place in (*known, *unknown):
        same = first.pid is None or place.pid is None or first.pid == place.pid
        if same and place.path == first.path and abs(place.line - first.line) <= LINES:
            yield place
