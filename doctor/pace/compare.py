"""Two runs side by side: is one slower, and which of its parts makes the difference."""

from __future__ import annotations

from doctor.pace.robust import calm, known, median, noise, usual
from doctor.pace.runs import PARTS, Values
from doctor.pace.services import SAME_LOAD
from doctor.pace.verdict import Pace
from parsers.named import NamedTuple

LEAST = 0.03  # of a step
LEAST_SERVED = 0.1  # of a service's rate
SURE = 5.0
FEW = 8  # points that can be compared
TELLING = 0.05  # of the difference: smaller parts are left out
BATCH = ("global_batch_size", "Total train batch size")


class Share(NamedTuple):
    """A part of a step in both runs, and how much of the difference it makes."""

    measure: str
    before: float
    after: float
    share: float


class Served(NamedTuple):
    """What a service or its benchmark tells of both runs: tokens a second, or seconds to a token."""

    measure: str  # generated, ttft, tpot
    before: float
    after: float
    running: tuple[float, float]  # requests; (0, 0) where they are not told

    @property
    def worse(self) -> float:
        """By which share the second one is worse; below 0 it is better. Another load is another service."""
        was, now = self.running
        if was and abs(now / was - 1) > SAME_LOAD:
            return 0.0
        return self.before / self.after - 1 if self.measure == "generated" else self.after / self.before - 1


class Comparison(NamedTuple):
    """`mean` counts pauses and long steps in, the others are left out of `usual`."""

    before: Pace
    after: Pace
    usual: tuple[float, float]
    mean: tuple[float, float]
    shares: tuple[Share, ...]
    settings: tuple[tuple[str, str, str], ...]
    per_sample: tuple[float, float] | None
    served: tuple[Served, ...]
    verdict: str  # same, slower, faster, none


def compare(before: Pace, after: Pace) -> Comparison:
    """The second run against the first one."""
    lines = [one.course.line[one.course.begin :] for one in (before, after)]
    settings = _settings(before, after)
    served = _served(before, after)
    if any(len(line) < FEW for line in lines):
        worst = max((one.worse for one in served), key=abs, default=0.0)
        verdict = "none" if not served else "same" if abs(worst) < LEAST_SERVED else "slower" if worst > 0 else "faster"
        return Comparison(before, after, (0.0, 0.0), (0.0, 0.0), (), settings, None, served, verdict)
    middle = _over_levels(before, before.course.line), _over_levels(after, after.course.line)
    pauses = _pauses(before), _pauses(after)
    mean = middle[0] + pauses[0], middle[1] + pauses[1]
    error = sum((noise(calm(line)) ** 2) / len(line) for line in lines) ** 0.5
    single = _per_sample(before, after, mean)
    was, now = single or mean
    apart = abs(now - was) > max(LEAST * was, SURE * error * was / mean[0])
    verdict = ("slower" if now > was else "faster") if apart else "same"
    shares = _shares(before, after, mean, pauses) if apart and mean[0] != mean[1] else ()
    return Comparison(before, after, middle, mean, shares, settings, single, served, verdict)


def _served(before: Pace, after: Pace) -> tuple[Served, ...]:
    """What both runs tell of a service."""
    made = []
    rates = [[one for one in pace.engines if one.points >= FEW] for pace in (before, after)]
    if all(rates):
        a, b = (sum(one.rate for one in found) for found in rates)
        loads = [median([one.running for one in found]) for found in rates]
        made.append(Served("generated", a, b, (loads[0], loads[1])))
    for name in ("ttft", "tpot"):
        told = [median(pace.run.results.get(name, ())) for pace in (before, after)]
        if all(value > 0 for value in told):
            made.append(Served(name, told[0], told[1], (0.0, 0.0)))
    return tuple(made)


def _pauses(pace: Pace) -> float:
    """What regular pauses cost each step."""
    steps = pace.run.steps
    return sum(p.seconds * p.times for p in pace.course.periodic) / max(1, steps[-1] - steps[0] + 1)


def _over_levels(pace: Pace, row: Values) -> float:
    """What is usual, level by level, each by its length: long steps do not count, slow stretches do."""
    told = [(usual(row, level.begin, level.end), level.end - level.begin) for level in pace.course.levels]
    found = [(value, size) for value, size in told if value == value]
    return sum(value * size for value, size in found) / sum(size for _, size in found) if found else float("nan")


def _usual(pace: Pace, name: str) -> float:
    """What a part takes; of communication what the rank takes that waits least, for the others wait for it."""
    rows = pace.run.parts.get(name, {}).values()
    found = known([_over_levels(pace, row) for row in rows])
    if not found:
        return float("nan")
    return min(found) if name == "comm" else max(found)


def _shares(before: Pace, after: Pace, mean: tuple[float, float], pauses: tuple[float, float]) -> tuple[Share, ...]:
    difference = mean[1] - mean[0]
    found = []
    for name in PARTS:
        was, now = _usual(before, name), _usual(after, name)
        if was == was and now == now:
            found.append(Share(name, was, now, (now - was) / difference))
    found.append(Share("pauses", *pauses, (pauses[1] - pauses[0]) / difference))
    if any(s.measure in ("compute", "data", "generation") for s in found):
        found = [s for s in found if s.measure != "mixed"]
    left = 1 - sum(s.share for s in found)
    told = [sum(s.before for s in found), sum(s.after for s in found)]
    found.append(Share("other", max(0.0, mean[0] - told[0]), max(0.0, mean[1] - told[1]), left))
    return tuple(sorted((s for s in found if s.share > TELLING), key=lambda s: -s.share))


def _settings(before: Pace, after: Pace) -> tuple[tuple[str, str, str], ...]:
    """What was set otherwise; what only one run tells says nothing."""
    a, b = before.run.settings, after.run.settings
    return tuple((name, ", ".join(a[name]), ", ".join(b[name])) for name in sorted(a.keys() & b.keys()) if a[name] != b[name])


def _per_sample(before: Pace, after: Pace, mean: tuple[float, float]) -> tuple[float, float] | None:
    """Where the batches differ, a step is no measure: a sample is."""
    for name in BATCH:
        sizes = [_size(one.run.settings.get(name, ())) for one in (before, after)]
        if all(sizes) and sizes[0] != sizes[1]:
            return mean[0] / sizes[0], mean[1] / sizes[1]
    return None


def _size(values: tuple[str, ...]) -> int:
    text = values[0].replace(",", "") if len(values) == 1 else ""
    return int(text) if text.isdecimal() and len(text) < 12 else 0
