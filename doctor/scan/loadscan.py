"""Statistics of a service while a source is read: how long each state lasted that an entry asks for.

A line like `Running: 3 reqs, Waiting: 0 reqs, ... 0.0 tokens/s` says nothing alone; thirty of them in a row do. A `fields` leaf on
the table `serving` names what each sample must say and how long it must last. Of a million samples only runs are kept: samples in
a row of which a leaf holds. They are facts (`RUN`), beside the last sample of each series; `doctor/findings/loads.py` joins what
two ranges of a file saw and asks whether a run was long enough.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from doctor.scan.harvest import Hit, Place
from doctor.scan.plan import Plan
from kb.model import FACT_PREFIX, Signal
from parsers.lazy import lazy
from parsers.named import NamedTuple

TABLE = "serving"
RUN = f"{FACT_PREFIX}load/run"
WINDOW = ("samples", "for_s", "at_end", "after_s", "requests_after")  # conditions on a run; all others are on a sample
AS_BEFORE = "as before"  # a condition: the value of the sample before, or the first one
MAX_SERIES = 256  # engines and processes of one source; further ones are not told apart
READ = 64  # samples of a window that are read, and
STRIDE = 32  # of how many further ones one is, and
END = 16  # how many of the last ones
_HEAD = 120  # characters of a line in which its time stands
_OWN = 400  # characters of a sample kept as evidence
_REQUEST = b' HTTP/1.1" '
_CLOCK = lazy(r"(?<![\d-])(\d\d-\d\d) (\d\d:\d\d:\d\d)(?!\d)")  # vLLM's lines bear no year: differences are all that is asked
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip

Sample = Mapping[str, str]


class Asked(NamedTuple):
    """What a leaf asks of each sample: numbers, and which values must not move."""

    signal: str
    tests: tuple[tuple[str, Callable[[float, float], bool], float], ...]
    still: tuple[str, ...]
    window: tuple[tuple[str, str], ...]

    def holds(self, numbers: Mapping[str, float], sample: Sample, before: Sample | None) -> bool:
        for name, test, wanted in self.tests:
            value = numbers.get(name)
            if value is None or not test(value, wanted):
                return False
        return before is None or all(sample.get(name) == before.get(name) for name in self.still)


def asked(signal: Signal) -> Asked:
    """A leaf as it is asked: of samples, and of runs of them."""
    tests = []
    still = []
    for name, wanted in signal.where:
        if name in WINDOW:
            continue
        if wanted.strip() == AS_BEFORE:
            still.append(name)
            continue
        sign = next((s for s in _COMPARE if wanted.strip().startswith(s)), "")
        value = _number(wanted.strip()[len(sign) :].strip())
        if value is not None:
            tests.append((name, _COMPARE[sign or "=="], value))
    return Asked(signal.id, tuple(tests), tuple(still), tuple((k, v) for k, v in signal.where if k in WINDOW))


def clock(text: str) -> str:
    """The last time of day that a text tells without a year, in year 0 of ISO; "" for none.

    >>> clock("INFO 04-11 09:12:04 [loggers.py:248] ...")
    '0000-04-11T09:12:04'
    """
    found = _CLOCK.findall(text)
    return "0000-{}T{}".format(*found[-1]) if found and "01-01" <= found[-1][0] <= "12-31" else ""


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e15 else None


class _Run:
    """Samples in a row of which a leaf holds."""

    __slots__ = ("begins", "first", "last", "sample", "samples", "since", "until")

    def __init__(self, place: Place, time: str, begins: bool) -> None:
        self.first = self.last = place
        self.since = self.until = time
        self.samples = 0
        self.sample: Sample = {}
        self.begins = begins  # with the first sample of the range: what is before may belong to it

    def more(self, place: Place, time: str, sample: Sample) -> None:
        self.last, self.until, self.sample = place, time, sample
        self.samples += 1

    @property
    def long(self) -> tuple[float, int]:
        return (self.samples, self.last.line - self.first.line)


class _Best(NamedTuple):
    """The sample of a series in which most tokens a second were generated."""

    generation: float
    running: float
    prompt: float

    def compared(self, numbers: Mapping[str, float]) -> dict[str, str]:
        """How much of it is left with more requests running and no more prompts to read than then; {} where it cannot be told."""
        generation, running = numbers.get("generation"), numbers.get("running", 0.0)
        if generation is None or running <= self.running or numbers.get("prompt", 0.0) > 1.2 * self.prompt + 50:
            return {}
        return {"of_best": f"{100 * generation / self.generation:.0f}", "best_generation": f"{self.generation:.0f}", "best_running": f"{self.running:.0f}"}


def _better(best: _Best | None, numbers: Mapping[str, float]) -> _Best | None:
    generation = numbers.get("generation", 0.0)
    if "running" not in numbers or generation <= (best.generation if best is not None else 0.0):
        return best
    return _Best(generation, numbers["running"], numbers.get("prompt", 0.0))


class _Series:
    """The samples of one engine, in the order in which they stand."""

    def __init__(self, number: int) -> None:
        self.now: list[_Run | None] = [None] * number
        self.kept: list[list[_Run]] = [[] for _ in range(number)]
        self.samples = 0
        self.best: _Best | None = None
        self.last: tuple[str, Place, Sample] | None = None

    def add(self, signal: str, place: Place, time: str, sample: Sample, leaves: Sequence[Asked]) -> None:
        before = self.last[2] if self.last is not None else None
        numbers = {name: number for name, value in sample.items() if (number := _number(value)) is not None}
        if self.best is not None and (less := self.best.compared(numbers)):
            sample = {**sample, **less}
            numbers.update((name, float(value)) for name, value in less.items())
        self.best = _better(self.best, numbers)
        for number, leaf in enumerate(leaves):
            run = self.now[number]
            if not leaf.holds(numbers, sample, before if run is not None else None):
                if run is not None:
                    self.close(number, run)
                    self.now[number] = None
                    if leaf.still and leaf.holds(numbers, sample, None):  # it only moved: another run begins
                        run = None
                    else:
                        continue
                else:
                    continue
            if run is None:
                run = self.now[number] = _Run(place, time, not self.samples)
            run.more(place, time, sample)
        self.samples += 1
        self.last = (signal, place, sample)

    def close(self, number: int, run: _Run) -> None:
        """The one that the range begins with is kept, and the longest of the others."""
        kept = self.kept[number]
        kept.append(run)
        if len(kept) > 2:
            inner = sorted((r for r in kept if not r.begins), key=lambda r: r.long)
            kept[:] = [*(r for r in kept if r.begins), inner[-1]]


class LoadScan:
    """The statistics of one range of a source."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._series: dict[tuple[str, object], _Series] = {}
        self._seen = 0  # in this window
        self._left: list[tuple[int, int, list[int]]] = []
        self._at = -1  # where the last sample of this window begins
        self._requests = 0  # answered since the last sample

    @cached_property
    def leaves(self) -> tuple[Asked, ...]:
        """What is asked of every sample: of a log without any, nothing is."""
        return tuple(map(asked, self._plan.rows[TABLE]))

    def postpone(self, start: int, eol: int, found: list[int]) -> bool:
        """Is this line of statistics one too many of its window? The last of those are read when the window is over."""
        self._seen += 1
        if self._seen <= READ or self._seen % STRIDE == 0:
            self._left.clear()
            return False
        self._left.append((start, eol, found))
        return True

    def left(self) -> list[tuple[int, int, list[int]]]:
        """The last lines of the window that were left unread."""
        lines, self._left = self._left[-END:], []
        return lines

    def sample(self, signal: str, place: Place, text: str, captures: Sample, start: int) -> None:
        self._at = max(self._at, start)
        owner = captures.get("engine") or place.pid or place.worker
        key: tuple[str, object] = (signal.partition("/")[0], owner)
        if key not in self._series and len(self._series) >= MAX_SERIES:
            key = (key[0], None)
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Series(len(self.leaves))
        series.add(signal, place._replace(text=place.text[:_OWN]), place.time or clock(text[:_HEAD]), captures, self.leaves)

    def after_window(self, data: bytes, limit: int) -> None:
        """Requests that were answered after the last sample tell that the service went on printing."""
        self._seen = 0
        if not self._series:
            return
        if self._at >= 0:
            self._requests = data.count(_REQUEST, self._at, limit)
        else:
            self._requests += data.count(_REQUEST, 0, limit)
        self._at = -1

    def hits(self, tail: bytes) -> tuple[Hit, ...]:
        """The last sample of each series and the runs of each leaf, as facts; `tail`: how the range ends."""
        if not self._series:
            return ()
        end = clock(tail.decode("utf-8", "replace"))
        out: list[Hit] = []
        for (family, owner), series in self._series.items():
            assert series.last is not None
            signal, place, sample = series.last
            own = f"{family}|{owner if owner is not None else ''}"
            out.append(Hit(signal, place, (*sample.items(), ("series", own), ("requests_after", str(self._requests)), ("clock", end))))
            for number, leaf in enumerate(self.leaves):
                now = series.now[number]
                runs = [*series.kept[number], *([now] if now is not None else [])]
                out += [_fact(run, leaf, own, run is now) for run in runs]
        return tuple(out)


def _fact(run: _Run, leaf: Asked, series: str, ends: bool) -> Hit:
    """A run as a fact. Where only what follows is asked for, it is told by its last sample: until then there was progress."""
    after = not {"samples", "for_s"} & {name for name, _ in leaf.window} and bool(leaf.window)
    place, since = (run.last, run.until) if after else (run.first, run.since)
    told = (
        ("leaf", leaf.signal), ("series", series), ("samples", str(run.samples)), ("begins", str(int(run.begins))), ("ends", str(int(ends))),
        ("since", since), ("until", run.until), *((f"need {k}", v) for k, v in leaf.window), *((f"told {k}", v) for k, v in run.sample.items()),
    )  # fmt: skip
    return Hit(RUN, place._replace(end_line=run.last.line), told)
