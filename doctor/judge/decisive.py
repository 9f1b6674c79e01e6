"""The decisive line: nearest to the origin of a failure, and known to no entry.

In CANN an error travels upwards: the driver or the runtime fails first, then HCCL or the graph engine, then acl, then
torch_npu, and at last Python raises. What is printed first says what failed; what is printed last is known best, for it
is the same for many faults. Where all that is known is general, or nothing is, this line is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.findings.evaluate import stream_of
from doctor.judge.nature import is_read
from doctor.judge.relate import Related
from doctor.scan.harvest import Cluster, Place
from parsers.lazy import lazy
from parsers.parsed import seconds

LINES = 80  # of one file, above what a general entry rests on
BLOCK = 12  # lines of an error block below the exception
SECONDS = 5.0
SPOKEN_SECONDS = 60.0  # of what a program says itself: it may try again before it gives up
SPOKEN = 4  # how far up what programs say is printed
OF_DRIVER = frozenset({"DRV", "DEVMM", "HDC", "TSD", "TDT", "TSCH", "TS"})
_ABOVE = frozenset({"ASCENDCL", "APP", "ATB", "PTA"})
# Who failed, and no word why: what a program logs above the exception itself.
_ANNOUNCES = lazy(r"(?i)\b(?:worker|engine|core|stage|process|proc|rank|scheduler|server|executor|job|task|program|rpc|actor)\b.{0,60}\b(?:fail(?:ed|ure)|died|exception|error|exit(?:ed)?|stopped|crashed|dead)\b|Traceback")
# A title that tells no argument: which error it is stands in the traceback of its block, if anywhere.
_BARE = lazy(r"Invalid_Argument\(E[A-Z]\d{4}\): The argument is invalid\.?\s*$|^\s*(?:CANN error: )?E[A-Z]\d{4}: (?:\[PID: ?\d+\][ \d:.-]*)?The argument is invalid\.?\s*$")
_OF_A_CALL = lazy(r"\b(?:hal|drv)[A-Z]\w{2,48}\b.{0,160}?\bdrvRetCode=[1-9]")  # of the driver, with what it answered
_EMPTY = lazy(r"\s*E[0-9A-Z]\d{4}: (?:Inner Error!|\[PID: ?\d+\][ \d:.-]*)\s*$")
# A heading between rulers, a ruler, the head of a table: of a block that CANN draws, whose rows say what it is about.
_DRAWN = lazy(r"\[[A-Z]{4,7}\] [A-Z]{2,12}\(.{10,120}?\.(?:cc|cpp|h):\d{1,5}\] ?(?:\[\d{1,8}\])?\s*(?:[_=*-]{8,}(?:[^_=*-].{0,60}?[_=*-]{8,})?|\|[-|]{8,}|\|  comm error, device\[\d{1,3}\]|\|\s{1,4}dest_ip\(.{1,160})\s*$")


def decisive(related: Sequence[Related], unexplained: Iterable[Cluster], few: bool = False) -> tuple[Cluster | None, str | None]:
    """The line, and the general entry that it stands nearer to the origin than; nothing when the cause is known.

    `few`: somebody put these files together to show one failure.
    """
    found = [c for c in unexplained if not says_nothing(c.first)]
    roots = [r for r in related if r.role == "root" and r.finding.entry.severity != "info"]
    if any(r.finding.entry.role in ("cause", "ambiguous") and not r.finding.entry.general for r in roots):
        return None, None
    # a symptom of kind wrapper is a wrapper as well: torch_npu's queue only says where it learnt of a failure
    general = next((r for r in roots if r.finding.entry.general or "wrapper" in (r.finding.entry.role, r.finding.entry.kind)), None)
    if general is not None:
        known = general.finding.instances[0].hits[0].place
        # words that only say that something failed, the tail of a build: whoever spoke of it first says more
        words, tail = is_read(general.finding.entry), general.finding.entry.role == "symptom" and _height(known) == SPOKEN
        within = SPOKEN_SECONDS if tail else SECONDS
        found = [c for c in found if not _heads(c.first, known)]
        near = [c for c in found if (_height(c.first) < SPOKEN and _nearer(c.first, known)) or ((words or tail) and said_before(c.first, known, within))]
        # the same, run again and pasted beside it: what its driver answered stands beneath the code that only wraps it
        found = near or ([c for c in found if _OF_A_CALL.search(c.first.text) is not None and c.first.path != known.path] if few and not words else [])
    elif roots:  # symptoms: the cause stands elsewhere, and so may these lines, but for what the same program said just before
        general = roots[0]
        known = general.finding.instances[0].hits[0].place
        passed_on = known.kind == "plog" and "downstream" not in general.finding.entry.traits
        found = [c for c in found if (_said_by_it(c.first, known) or (passed_on and _wrote_it(c.first, known))) and _led_to(c.first, known)]
    best = _first(found)
    return best, general.finding.entry.code if best is not None and general is not None else None


def says_nothing(line: Place) -> bool:
    """Is it the title of an error block alone, or what is drawn around one?"""
    return _EMPTY.match(line.text) is not None or (line.kind == "plog" and _DRAWN.match(line.text) is not None)


def _heads(line: Place, known: Place) -> bool:
    """Is it the bare title of the error block in which the known line stands? The two are one message."""
    together = line.path == known.path and line.pid in (None, known.pid) and 0 < known.line - line.line <= BLOCK
    beneath = known.kind == "message" or known.text[:1].isspace()
    return together and beneath and _BARE.search(line.text) is not None


def _first(found: Sequence[Cluster]) -> Cluster | None:
    """The one that stands lowest; of what programs say and raise, what was printed first."""
    timed = all(c.first.time for c in found)
    return min(
        found,
        key=lambda c: (min(_height(c.first), SPOKEN), (timed and c.first.time) or "", c.first.path, c.first.line),
        default=None,
    )


def _said_by_it(line: Place, known: Place) -> bool:
    """Is it, as what is known, something that a program says or raises?"""
    return _height(known) == SPOKEN and _height(line) >= SPOKEN


def _wrote_it(line: Place, known: Place) -> bool:
    """Did the same process write it into its log, of a module no higher up? An error that is passed on is written by each that hands it on."""
    return line.kind == "plog" and line.pid == known.pid and _height(line) <= _height(known)


def _led_to(line: Place, known: Place) -> bool:
    """Did the program whose end is known say this right before?"""
    return line.path == known.path and line.line < known.line and _nearer(line, known)


def _height(place: Place) -> int:
    """How far up an error has travelled where it is printed: 0 the driver, 4 what programs say, 5 an exception of Python."""
    if place.kind == "plog":
        module = place.module or ""
        return 0 if module in OF_DRIVER else 1 if module == "RUNTIME" else 3 if module in _ABOVE else 2
    return {"kernel": 0, "message": 2, "traceback": 5}.get(place.kind, SPOKEN)


def stands_before(line: Place, known: Place) -> bool:
    """Does a line that nobody explains stand before a known one, nearer to the origin and no higher up?"""
    if (line.path == known.path and line.line > known.line) or _heads(line, known):
        return False
    return _height(line) < SPOKEN and _height(line) <= _height(known) and _nearer(line, known)


def said_before(line: Place, known: Place, within: float = SPOKEN_SECONDS) -> bool:
    """Did the program report an error in words of its own, before what is known of its end? What was written at once only announces that."""
    spoken = line.kind in ("launcher", "text") and line.level == "error" and not (line.time and line.time == known.time)
    spoken = spoken and _ANNOUNCES.search(line.text) is None
    return spoken and line.path == known.path and line.line < known.line and _nearer(line, known, within)


def _nearer(line: Place, known: Place, within: float = SECONDS) -> bool:
    """Does a line belong to the failure that is known in general, and stand nearer to its origin?

    What comes before it does. Of what comes after it only the text of the error block, which follows the exception.
    """
    if line.pid is not None and known.pid is not None and line.pid != known.pid:
        return False
    before = seconds(known.time) - seconds(line.time) if line.time and known.time else None
    if line.path == known.path:
        block = line.kind == "message" and "[FUNC:" not in line.text
        together = before is None or before <= within
        return together and -LINES <= line.line - known.line <= (BLOCK if block else -1)
    same = stream_of(line) == stream_of(known) or (line.pid is not None and line.node == known.node)
    return same and before is not None and 0 <= before <= within
