"""Runs of a service's statistics to hits of the leaves that ask for them: `fields: {table: serving, ...}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.base.notation import moment
from doctor.scan.harvest import Harvest, Hit, Place
from doctor.scan.loadscan import RUN, TABLE
from doctor.scan.packed import only
from doctor.scan.plan import LOAD
from doctor.scan.tablescan import condition
from parsers.named import NamedTuple
from parsers.parsed import seconds


class _Run(NamedTuple):
    """Samples in a row of which a leaf holds, over all ranges of a file."""

    place: Place  # from the line of the first sample to the line of the last
    since: str
    until: str
    samples: int
    begins: bool
    ends: bool
    told: Mapping[str, str]


def with_states(harvest: Harvest) -> Harvest:
    """The harvest with the states of services that lasted long enough as hits, and without what they were made of."""
    if not any(h.signal.startswith(LOAD) for h in harvest.facts):
        return harvest
    rest = only(harvest.facts, lambda h: h.signal != RUN and not h.signal.startswith(LOAD))
    return harvest._replace(hits=tuple(h for h in harvest.hits if h.place.module != TABLE) + _hits(harvest), facts=rest)


def _hits(harvest: Harvest) -> tuple[Hit, ...]:
    ends = {span.path: span.last for span in harvest.spans}
    lasts: dict[tuple[str, str], list[Hit]] = {}
    runs: dict[tuple[str, str, str], list[Hit]] = {}
    for hit in harvest.facts:
        told = dict(hit.captures)
        if hit.signal == RUN:
            runs.setdefault((hit.place.path, told["series"], told["leaf"]), []).append(hit)
        elif hit.signal.startswith(LOAD) and "series" in told:
            lasts.setdefault((hit.place.path, told["series"]), []).append(hit)
    found = []
    for (path, series, leaf), pieces in runs.items():
        samples = sorted(lasts.get((path, series), ()), key=lambda h: h.place.line)
        if samples:
            joined = _joined(pieces, [h.place.line for h in samples])
            found += [made for run in joined if (made := _hit(leaf, run, samples[-1], ends.get(path))) is not None]
    return tuple(found)


def _joined(pieces: Iterable[Hit], ends: Sequence[int]) -> list[_Run]:
    """Runs in the order of the file: one that a range ends with and one that the next range begins with are one."""
    out: list[_Run] = []
    for hit in sorted(pieces, key=lambda h: h.place.line):
        told = dict(hit.captures)
        run = _Run(hit.place, told["since"], told["until"], int(told["samples"]), told["begins"] == "1", told["ends"] == "1", told)
        before = out[-1] if out else None
        if before is not None and before.ends and run.begins and _next(before.place.end_line, run.place.line, ends):
            place = before.place._replace(end_line=run.place.end_line)
            out[-1] = _Run(place, before.since, run.until, before.samples + run.samples, before.begins, run.ends, run.told)
        else:
            out.append(run)
    return out


def _next(last: int, first: int, ends: Sequence[int]) -> bool:
    """Is the range that ends with one line followed by the one that the other line is of?"""
    between = [end for end in ends if last <= end < first]
    return len(between) == 1


def _hit(leaf: str, run: _Run, last: Hit, end: str | None) -> Hit | None:
    """The leaf's hit, when the run is as long, and stands where the leaf wants it."""
    at_end = run.ends and run.place.end_line >= last.place.line
    if run.until.startswith("0000"):
        end = dict(last.captures).get("clock", "")
    cells = {
        "samples": str(run.samples),
        "for_s": _between(run.since, run.until),
        "at_end": "yes" if at_end else "no",
        "after_s": _between(run.until, end or ""),
        "requests_after": dict(last.captures).get("requests_after", "0") if at_end else "",
    }
    need = {k[5:]: v for k, v in run.told.items() if k.startswith("need ")}
    if not all(condition(wanted, cells.get(name, "")) for name, wanted in need.items()):
        return None
    told = {k[5:]: v for k, v in run.told.items() if k.startswith("told ")}
    named = {"since": _shown(run.since), "until": _shown(run.until), **cells}
    captures = tuple((k, v) for k, v in {**told, **named}.items() if v)
    return Hit(leaf, run.place._replace(kind="table", module=TABLE, end_line=run.place.line), captures)


def _between(begin: str, end: str) -> str:
    """Seconds from one time to another, "" when one of them is not told. A clock that is set back took no time."""
    return f"{max(0.0, seconds(end) - seconds(begin)):.0f}" if begin and end else ""


def _shown(time: str) -> str:
    return moment(time.removeprefix("0000-"))[:19]
