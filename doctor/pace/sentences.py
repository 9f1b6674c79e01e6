"""What is said of a run, sentence by sentence, in the reader's language: every face shows the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from doctor.base import notation
from doctor.base.words import named, word
from doctor.pace import stamps
from doctor.pace.changes import Periodic
from doctor.pace.runs import ROUGH, Run
from doctor.pace.services import Engine
from doctor.pace.stragglers import FEW_STEPS, Straggler
from doctor.pace.tracks import Lane
from doctor.pace.verdict import COSTLY, Moved, Pace, Turn
from parsers.named import NamedTuple

FEW_NAMES = 6


class Sentence(NamedTuple):
    """`kind` is slow, change, periodic, warm-up, engine, even or note; `grave`: this is why the run is not even."""

    kind: str
    text: str
    grave: bool = False


def span(seconds: float, lang: str) -> str:
    """`812 ms`, `1.05 s`, `42 s`, `12 min`."""
    if seconds != seconds:
        return "?"
    if seconds >= 600:
        return notation.duration(seconds, lang)
    second, milli = ("秒", "毫秒") if lang == "zh" else ("s", "ms")
    value, unit = (seconds, second) if seconds >= 0.9995 else (seconds * 1000, milli)
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def pace_of(seconds: float, run: Run, lang: str) -> str:
    """The time of a step; where only samples or tokens a second are told, those."""
    if run.scaled:
        return word("pace.a-step", lang, step=span(seconds, lang))
    rate = f"{1 / seconds:,.3g}" if seconds > 0 and 1 / seconds < 1000 else f"{1 / seconds:,.0f}" if seconds > 0 else "?"
    return word("pace.a-second" if run.account == "samples_per_s" else "pace.tokens-a-second", lang, rate=rate)


def percent(share: float, signed: bool = False) -> str:
    return f"{share:+.0%}" if signed else (f"{share:.0%}" if share >= 0.1 else f"{share:.1%}")


def measure(name: str, lang: str) -> str:
    return word(f"pace.measure:{name}", lang)


def call(lane: Lane, run: Run) -> str:
    """A lane's name, with its node where ranks count anew on each; a file's name alone where no other is called so."""
    if lane.rank < 0 and "/" in lane.label:
        short = lane.label.rpartition("/")[2]
        same = sum(one.label.endswith(f"/{short}") for one in (*run.lanes, *run.services))
        return notation.clean(short if same < 2 else lane.label)
    ranks = [one.rank for one in run.lanes if one.rank >= 0]
    own = notation.clean(lane.name)
    return f"{notation.clean(lane.node)}/{own}" if lane.node and (len(set(ranks)) < len(ranks)) else own


def who(one: Straggler, run: Run, lang: str) -> str:
    """The slow ones: a rank and its node, a node, neighbours, every n-th."""
    lanes, ranks = one.lanes, [lane.rank for lane in one.lanes]
    nodes = sorted({notation.clean(lane.node) for lane in lanes if lane.node})
    plain = min(ranks) >= 0 and len(set(ranks)) == len(ranks)
    if one.shape == "node":
        told = word("pace.node" if len(nodes) == 1 else "pace.whole-nodes", lang, name=notation.folded(nodes))
        return f"{told} ({word('pace.ranks', lang, ranks=notation.spans(ranks))})" if plain else told
    if one.shape == "every" and plain:
        return word("pace.every", lang, gap=ranks[1] - ranks[0], first=ranks[0], ranks=notation.spans(ranks))
    if len(lanes) == 1 or not plain:
        more = f" +{len(lanes) - FEW_NAMES}" if len(lanes) > FEW_NAMES else ""
        told = ", ".join(call(lane, run) for lane in lanes[:FEW_NAMES]) + more
    else:
        told = word("pace.ranks", lang, ranks=notation.spans(ranks))
    return word("pace.on-node", lang, who=told, node=nodes[0]) if len(nodes) == 1 and f"{nodes[0]}/" not in told else told


def head(pace: Pace, lang: str) -> str:
    run = pace.run
    if not run.steps and not pace.engines:
        return word("pace.summary", lang)
    if not run.steps:
        busy = [one for one in pace.engines if one.points]
        return word("pace.head-service", lang, engines=len(pace.engines), points=sum(one.points for one in busy), rate=f"{sum(one.rate for one in busy):,.0f}")
    values = {"steps": f"{len(run.steps):,}", "first": run.steps[0], "last": run.steps[-1], "step": pace_of(pace.step_s, run, lang)}
    ranks = sum(lane.rank >= 0 for lane in run.lanes)
    told = word("pace.head-ranks", lang, ranks=f"{ranks:,}", **values) if ranks > 1 else word("pace.head-lane", lang, **values)
    nodes = {lane.node for lane in run.lanes if lane.node}
    return f"{told} · {word('pace.nodes', lang, nodes=len(nodes))}" if len(nodes) > 1 else told


def sentences(pace: Pace, lang: str) -> tuple[Sentence, ...]:
    """The grave ones first."""
    made = [*(_slow(one, pace, lang) for one in pace.slow), *(_turn(one, pace, lang) for one in pace.turns)]
    if pace.course.drift is not None:
        before, after = pace.course.drift
        made.append(Sentence("change", word("pace.drift", lang, before=pace_of(before, pace.run, lang), after=pace_of(after, pace.run, lang), share=percent(after / before - 1, True)), after > before))
    made += [s for one in pace.engines for s in _engine(one, pace.run, lang)]
    made += [_back(one, lang) for one in pace.course.periodic]
    if (warm := pace.course.warm_up) is not None:
        told = word("pace.warm", lang, steps=pace.run.steps[warm.steps] - pace.run.steps[0], seconds=span(warm.seconds, lang), usual=span(warm.usual, lang))
        made.append(Sentence("warm-up", told))
    made.sort(key=lambda s: not s.grave)
    if pace.verdict == "even":
        made.insert(0, Sentence("even", word("pace.even" if pace.sight.measures or not pace.run.steps else "pace.even-total", lang)))
    if pace.verdict == "few" and pace.course.line:
        made.insert(0, Sentence("note", word("pace.few", lang, points=len(pace.course.line), needed=FEW_STEPS)))
    return (*made, *_notes(pace, lang))


def _slow(one: Straggler, pace: Pace, lang: str) -> Sentence:
    steps, size = pace.run.steps, len(pace.course.line)
    if one.begin <= pace.course.begin and one.end >= size:
        when = word("pace.all-steps", lang)
    elif one.end >= size:
        when = word("pace.from-step", lang, first=steps[one.begin])
    else:
        when = word("pace.in-steps", lang, first=steps[one.begin], last=steps[one.end - 1])
    kind = {"total": "pace.slow-total", "comm": "pace.slow-comm"}.get(one.measure, "pace.slow-own")
    sign = -1 if one.measure == "comm" else 1
    value = span(one.usual + sign * one.seconds, lang)
    share = percent(one.excess)
    return Sentence("slow", word(kind, lang, who=who(one, pace.run, lang), measure=measure(one.measure, lang), value=value, usual=span(one.usual, lang), share=share, when=when), True)


def _turn(one: Turn, pace: Pace, lang: str) -> Sentence:
    change, run = one.change, pace.run
    moment = next((row[change.at] for row in run.times.values() if row[change.at] == row[change.at]), float("nan"))
    time = f" ({stamps.told(moment)})" if moment == moment else ""
    grave = change.share > 0
    told = word("pace.slower" if grave else "pace.faster", lang, step=run.steps[change.at], time=time, before=pace_of(change.before, run, lang), after=pace_of(change.after, run, lang), share=percent(abs(change.share)))
    return Sentence("change", "; ".join(filter(None, (told, _moved(one.moved, lang), near(one, run, lang)))), grave)


def _moved(found: Sequence[Moved], lang: str) -> str:
    return ", ".join(word("pace.moved", lang, measure=measure(m.measure, lang), before=span(m.before, lang), after=span(m.after, lang)) for m in found)


def near(one: Turn, run: Run, lang: str) -> str:
    """What happened near a change."""
    counts: Counter[tuple[str, str]] = Counter()
    for event in one.near:
        counts[named("pace.event", event.kind, lang), call(event.lane, run)] += event.count
    told = ", ".join(f"{kind} ({where}){f' {notation.times(n)}' if n > 1 else ''}" for (kind, where), n in counts.items())
    return word("pace.near", lang, events=told) if told else ""


def _back(one: Periodic, lang: str) -> Sentence:
    kind = measure(one.kind, lang) if one.kind else word("pace.unknown-kind", lang)
    told = word("pace.back", lang, period=one.period, first=one.first, kind=kind, seconds=span(one.seconds, lang), share=percent(one.share))
    return Sentence("periodic", told, one.share >= COSTLY)


def _engine(one: Engine, run: Run, lang: str) -> list[Sentence]:
    name, made = call(one.lane, run), list[Sentence]()
    if one.behind:
        made.append(Sentence("engine", word("pace.engine-slow", lang, who=name, share=percent(one.behind), running=f"{one.running:.0f}"), True))
    for change in one.changes:
        grave = not change.load and change.after < change.before
        kind = "pace.engine-slower" if grave else "pace.engine-load" if change.load else "pace.engine-faster"
        time = f" {stamps.told(change.time)}" if change.time == change.time else ""
        values = {"before": f"{change.before:,.0f}", "after": f"{change.after:,.0f}", "share": percent(change.after / change.before - 1, True)}
        made.append(Sentence("engine", word(kind, lang, who=name, time=time, was=f"{change.running[0]:.0f}", now=f"{change.running[1]:.0f}", **values), grave))
    if one.stalled:
        made.append(Sentence("note", word("pace.stalled", lang, who=name, n=one.stalled)))
    return made


def _notes(pace: Pace, lang: str) -> list[Sentence]:
    """What is to know of the evidence: what cannot be seen, what is missing."""
    run, made = pace.run, list[str]()
    judged = pace.verdict in ("even", "uneven") and bool(run.steps)
    if judged and not pace.sight.measures:
        several = sum(lane.rank >= 0 for lane in run.lanes) > 1
        made.append(word("pace.blind" if several else "pace.alone", lang, how=word("pace.how", lang)))
    made += [word("pace.gap", lang, measure=measure(name, lang), share=percent(share)) for name, share in pace.uneven]
    if pace.course.long:
        at = max(pace.course.long, key=lambda n: pace.course.line[n])
        made.append(word("pace.long", lang, n=len(pace.course.long), longest=span(pace.course.line[at], lang), step=run.steps[at]))
    if pace.absent:
        made.append(word("pace.absent", lang, ranks=notation.spans(pace.absent)))
    if pace.clocks:
        made.append(word("pace.clocks", lang, seconds=span(pace.clocks, lang)))
    if run.restarts:
        made.append(word("pace.restarts", lang, n=run.restarts))
    if run.every > 1:
        made.append(word("pace.folded", lang, n=run.every))
    if run.account in (*ROUGH, "samples_per_s", "tokens_per_s", "parts") and run.steps:
        made.append(word("pace.rough", lang, account=named("pace.account", run.account, lang)))
    if run.left_out:
        made.append(word("pace.left-out", lang, n=run.left_out))
    made += [word("pace.result", lang, measure=measure(name, lang), value=" ".join(span(v, lang) for v in values[:8])) for name, values in run.results.items()]
    return [Sentence("note", text) for text in made]
