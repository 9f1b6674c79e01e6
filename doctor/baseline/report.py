"""A comparison as JSON: what every form of the answer is drawn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from doctor.base.notation import clean
from doctor.baseline.compare import GONE, Compared, Difference
from doctor.baseline.indicating import Ranked, Verdict
from doctor.baseline.run import Run, bits
from doctor.baseline.severity import NONE, STRONG
from doctor.read.source import Skipped
from doctor.version import __version__

Json = dict[str, Any]
SCHEMA_VERSION = 1
MAX_TOLD = 60  # differences that indicate something
MAX_OTHERS = 200  # and that do not
MAX_NAMES = 8  # voices named of one difference
MAX_SKIPPED = 100
DIFFERS, SAME, NOTHING = "differs", "same", "inconclusive"


def report(compared: Compared, verdict: Verdict, codes: Mapping[str, Sequence[Json]], skipped: Iterable[Skipped]) -> Json:
    """`codes`: what the knowledge has on the line of a shape."""
    run, usual = compared.run, compared.usual
    indicating = [_difference(row, compared, codes) for row in verdict.indicating[:MAX_TOLD]]
    left_out = [*(f"{s.path}: {s.reason}" for s in skipped), *(f"{s.path}: {s.reason}" for s in run.skipped)]
    made: Json = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "npu-doctor", "version": __version__},
        "verdict": DIFFERS if verdict.indicating or compared.settings or compared.quiet else SAME if run.sightings.keys() & usual.norms.keys() else NOTHING,
        "usual": {"runs": usual.runs, "shapes": len(usual.norms), "lines": round(usual.lines), "voices": round(usual.voices), "further": usual.further},
        "run": {"files": run.files, "bytes": run.size, "lines": run.lines, "voices": len(run.voices), "nodes": [n for n in run.nodes if n], "shapes": len(run.sightings), "further": run.further},
        "length": round(compared.scale, 3),
        "settings": [{"name": one.name, "usual": list(one.usual), "here": list(one.here)} for one in compared.settings],
        "suspects": [{"who": one.name, "score": one.score, "lines": one.lines} for one in verdict.suspects[:10]],
        "quiet": [{"voice": _names(run, 1 << one.voice)[0], "seconds_early": round(one.early, 3)} for one in compared.quiet],
        "differences": indicating,
        "untold": len(verdict.indicating) - len(indicating),
        "others": [_difference(row, compared, codes) for row in verdict.others[:MAX_OTHERS]],
        "counts": dict(sorted(Counter(row.difference.kind for row in (*verdict.indicating, *verdict.others)).items())),
        "values": compared.values,
        "skipped": left_out[:MAX_SKIPPED] + ([f"... +{len(left_out) - MAX_SKIPPED}"] if len(left_out) > MAX_SKIPPED else []),
    }
    cleaned: Json = _cleaned(made)
    return cleaned


def _difference(row: Ranked, compared: Compared, codes: Mapping[str, Sequence[Json]]) -> Json:
    one, run = row.difference, compared.run
    seen = one.seen
    return {
        "kind": one.kind,
        "shape": one.shape,
        "severity": "error" if one.severity == STRONG else "info" if one.severity == NONE else "warning",
        "times": seen.times if seen is not None else 0,
        "usually": round(one.usual, 3),
        "near": one.near or None,
        "only": one.only,
        "nodes": sorted({run.voices[n].node for n in bits(one.voices)} - {""}),
        "voices": _names(run, one.voices)[:MAX_NAMES],
        "said_by": one.voices.bit_count(),
        "of": one.peers.bit_count(),
        "after_s": round(seen.since, 3) if seen is not None and seen.since is not None else None,
        "first": _first(one),
        "score": round(row.score, 3),
        "codes": list(codes.get(one.shape, ())),
    }


def _first(one: Difference) -> Json | None:
    seen = one.seen
    return None if seen is None or one.kind == GONE else {"path": seen.path, "line": seen.line, "time": seen.time, "text": seen.text}


def _names(run: Run, voices: int) -> list[str]:
    """The voices by node and name."""
    return [f"{voice.node} {voice.name}".strip() for voice in (run.voices[n] for n in bits(voices))]


def _cleaned(value: Any) -> Any:
    """Nothing that logs say steers a terminal."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list) else value
