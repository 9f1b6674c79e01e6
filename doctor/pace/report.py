"""The pace as JSON: names and fields stay."""

from __future__ import annotations

import json
from typing import Any

from doctor.pace import stamps
from doctor.pace.compare import Comparison
from doctor.pace.picture import picture
from doctor.pace.reading import Event
from doctor.pace.sentences import sentences
from doctor.pace.tracks import Lane
from doctor.pace.verdict import Pace

COLUMNS = 64
Json = dict[str, Any]


def data(pace: Pace) -> Json:
    run, course = pace.run, pace.course
    return {
        "schema": "npu-doctor/pace/1",
        "verdict": pace.verdict,
        "told": [{"kind": s.kind, "grave": s.grave, "text": {"en": s.text, "zh": z.text}} for s, z in zip(sentences(pace, "en"), sentences(pace, "zh"), strict=True)],
        "steps": {"count": len(run.steps), "first": run.steps[0], "last": run.steps[-1], "usual_s": _number(pace.step_s), "account": run.account} if run.steps else None,
        "lanes": len(run.lanes),
        "lockstep": pace.sight.lockstep,
        "told_apart_by": list(pace.sight.measures),
        "slow": [
            {
                "lanes": [_lane(lane) for lane in one.lanes], "shape": one.shape, "measure": one.measure, "share_of_step": _number(one.excess), "seconds": _number(one.seconds),
                "usual_s": _number(one.usual), "from_step": run.steps[one.begin], "to_step": run.steps[one.end - 1], "sure": one.sure,
            }
            for one in pace.slow
        ],
        "changes": [
            {
                "step": run.steps[turn.change.at], "time": next((stamps.told(row[turn.change.at]) for row in run.times.values()), ""),
                "before_s": _number(turn.change.before), "after_s": _number(turn.change.after), "share": _number(turn.change.share),
                "moved": [{"measure": m.measure, "before_s": _number(m.before), "after_s": _number(m.after)} for m in turn.moved],
                "near": [_event(event) for event in turn.near],
            }
            for turn in pace.turns
        ],
        "drift": {"before_s": _number(course.drift[0]), "after_s": _number(course.drift[1])} if course.drift else None,
        "periodic": [{**p._asdict(), "kind": p.kind or None, "seconds": _number(p.seconds), "share": _number(p.share)} for p in course.periodic],
        "warm_up": {"points": course.warm_up.steps, "seconds": _number(course.warm_up.seconds), "usual_s": _number(course.warm_up.usual)} if course.warm_up else None,
        "engines": [
            {
                "lane": _lane(one.lane), "intervals": one.points, "tokens_per_s": _number(one.rate), "running": _number(one.running), "waiting": _number(one.waiting),
                "stalled": one.stalled, "behind": _number(one.behind),
                "changes": [{"time": stamps.told(c.time), "before": _number(c.before), "after": _number(c.after), "running": list(map(_number, c.running)), "load": c.load} for c in one.changes],
            }
            for one in pace.engines
        ],
        "absent_ranks": list(pace.absent),
        "clocks_apart_s": _number(pace.clocks),
        "restarts": run.restarts,
        "results": {name: list(map(_number, values)) for name, values in run.results.items()},
        "settings": {name: list(values) for name, values in run.settings.items()},
        "picture": _picture(pace),
        "files": run.files, "bytes": run.bytes, "left_out": run.left_out,
        "skipped": [{"path": s.path, "reason": s.reason} for s in run.skipped],
    }  # fmt: skip


def comparison(made: Comparison) -> Json:
    return {
        "schema": "npu-doctor/pace-comparison/1",
        "verdict": made.verdict,
        "step_s": list(map(_number, made.mean)),
        "usual_s": list(map(_number, made.usual)),
        "per_sample_s": list(map(_number, made.per_sample)) if made.per_sample else None,
        "from": [{"measure": s.measure, "before_s": _number(s.before), "after_s": _number(s.after), "share": _number(s.share)} for s in made.shares],
        "served": [{"measure": s.measure, "before": _number(s.before), "after": _number(s.after), "running": list(map(_number, s.running))} for s in made.served],
        "settings": [{"name": name, "before": a, "after": b} for name, a, b in made.settings],
        "before": data(made.before),
        "after": data(made.after),
    }


def as_json(made: Json) -> str:
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def _picture(pace: Pace) -> Json:
    made = picture(pace, COLUMNS)
    return {
        "measure": made.measure, "steps": list(made.steps),
        "lanes": [{"lane": _lane(s.lane), "slow": s.slow, "usual": _number(s.usual), "values": list(map(_number, s.values))} for s in made.strips],
    }  # fmt: skip


def _lane(lane: Lane) -> Json:
    return {"rank": lane.rank if lane.rank >= 0 else None, "node": lane.node or None, "name": lane.name}


def _event(event: Event) -> Json:
    return {"kind": event.kind, "lane": _lane(event.lane), "step": event.step or None, "time": stamps.told(event.time), "path": event.path, "text": event.text, "count": event.count}


def _number(value: float) -> float | None:
    """Six digits; JSON knows no number that is none."""
    return float(f"{value:.6g}") if value == value else None
