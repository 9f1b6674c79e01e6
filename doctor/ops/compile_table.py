"""A summary or a profiler's table as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from doctor.base.notation import clean
from doctor.base.words import word
from doctor.ops.compile_log import MAX_KINDS, layout, sizes
from doctor.ops.compiled import Change, Kind, Summary, Table
from doctor.read.source import Skipped
from doctor.render.layout import Style, paint
from doctor.repro.call import Seen

TOP = 20


def tensor(seen: Seen) -> str:
    return f"{seen.dtype or '?'} {layout(seen)} {sizes(seen)}"


def text(made: Summary, skipped: Sequence[Skipped], lang: str, style: Style, everything: bool = False) -> str:
    rows = [
        word("ops.head", lang, calls=f"{made.calls:,}", types=len({k.type for k in made.kinds}), kinds=f"{len(made.kinds):,}", processes=made.processes),
        paint(word(f"ops.steps-{made.steps_by}", lang, steps=made.steps), "dim", style),
    ]  # fmt: skip
    again = made.again
    rows += ["", paint(word("ops.again", lang) if again else word("ops.none-again", lang), "bold", style)]
    shown = again if everything else again[:TOP]
    for kind in shown:
        rows.append(f"  {clean(kind.type)}  {word('ops.times', lang, n=kind.again, step=kind.again_step)}")
        rows += [f"    {_change(change, lang)}" for change in kind.changes[:6]]
    rows += _more(len(again) - len(shown), lang)
    if conversions := made.conversions():
        rows += ["", paint(word("ops.conversions", lang), "bold", style)]
        rows += [
            f"  {name}  {word('ops.calls', lang, calls=f'{calls:,}', kinds=kinds)}" for name, calls, kinds in conversions
        ]
    rows += ["", paint(word("ops.operators", lang), "bold", style), paint(f"  {word('ops.columns', lang)}", "dim", style)]
    ordered = sorted(made.kinds, key=lambda k: (-(k.calls + k.runs), k.order))
    listed = ordered if everything else ordered[:TOP]
    for kind in listed:
        inputs = "..." if kind.folded else "; ".join(tensor(s) for s in kind.inputs[:8])
        rows.append(
            f"  {kind.calls:5} {kind.runs:4} {kind.compiled:8} {kind.first_step:4}  {clean(kind.type)}  {inputs}".rstrip()
        )
        if kind.attrs:
            rows.append(" " * 27 + clean(", ".join(f"{n}={v}" for n, v in kind.attrs[:8]))[:160])
    rows += _more(len(ordered) - len(listed), lang)
    if made.folded:
        rows.append(word("ops.folded", lang, n=f"{made.folded:,}", limit=f"{MAX_KINDS:,}"))
    if again or conversions:
        rows += ["", word("ops.next", lang)]
    rows += [word("ops.skipped", lang, path=clean(s.path), why=clean(s.reason)) for s in skipped]
    return "\n".join(rows) + "\n"


def _more(left: int, lang: str) -> list[str]:
    return [f"  {word('ops.more', lang, n=left)}"] if left > 0 else []


def _change(change: Change, lang: str) -> str:
    what = word("ops.input", lang, index=change.number, what=change.what) if change.number >= 0 else change.what
    return clean(f"{what}: {change.before} -> {change.after}")


def data(made: Summary, skipped: Sequence[Skipped]) -> dict[str, Any]:
    return {
        "schema": "npu-doctor/ops/1",
        "files": made.files,
        "bytes": made.bytes,
        "processes": made.processes,
        "calls": made.calls,
        "steps": {"count": made.steps, "by": made.steps_by},
        "recompiled": [_row(k) for k in made.again],
        "conversions": [{"type": n, "calls": c, "distinct": k} for n, c, k in made.conversions()],
        "operators": [_row(k) for k in made.kinds],
        "folded_calls": made.folded,
        "skipped": [{"path": s.path, "reason": s.reason} for s in skipped],
    }


def _row(kind: Kind) -> dict[str, Any]:
    return {
        "type": kind.type, "calls": kind.calls, "runs": kind.runs, "compiled": kind.compiled, "first_step": kind.first_step,
        "compiled_again": kind.again, "compiled_again_step": kind.again_step or None,
        "changed": [c._asdict() for c in kind.changes],
        "inputs": [_tensor(s) for s in kind.inputs], "outputs": [_tensor(s) for s in kind.outputs], "attrs": dict(kind.attrs), "folded": kind.folded,
    }  # fmt: skip


def _tensor(seen: Seen) -> dict[str, Any]:
    return {"dtype": seen.dtype, "format": layout(seen), "shape": list(seen.shape) if seen.shape is not None else None}


def as_json(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def as_csv(made: Summary) -> str:
    """One row a description; cells that a spreadsheet would take for a formula are quoted as text."""
    head = ("type", "calls", "runs", "compiled", "first_step", "compiled_again", "compiled_again_step", "changed", "inputs", "outputs", "attrs")  # fmt: skip
    return _csv(head, (_cells(kind) for kind in made.kinds))


def _cells(kind: Kind) -> tuple[object, ...]:
    return (
        kind.type, kind.calls, kind.runs, kind.compiled, kind.first_step, kind.again, kind.again_step or "",
        "; ".join(_change(c, "en") for c in kind.changes),
        "; ".join(map(tensor, kind.inputs)), "; ".join(map(tensor, kind.outputs)),
        ", ".join(f"{n}={v}" for n, v in kind.attrs),
    )  # fmt: skip


def _csv(head: Sequence[str], rows: Iterator[tuple[object, ...]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([f"'{c}" if isinstance(c, str) and c[:1] in ("=", "+", "-", "@") else c for c in row])
    return out.getvalue()


def table_text(table: Table, lang: str, style: Style, everything: bool = False) -> str:
    rows = [word("ops.table", lang, types=len(table.operators), steps=table.steps)]
    if not table.has_shapes:
        rows.append(word("ops.no-shapes", lang))
    rows += ["", paint(word("ops.dynamic" if table.dynamic else "ops.none-dynamic", lang), "bold", style)]
    for name, shapes in table.dynamic.items():
        kept = shapes if everything else shapes[:3]
        rows.append(f"  {clean(name)}  {clean('  '.join(kept))}{'  ...' if len(kept) < len(shapes) else ''}")
    rows += ["", paint(word("ops.operators", lang), "bold", style)]
    ordered = sorted(table.operators.items(), key=lambda item: (-item[1], item[0]))
    listed = ordered if everything else ordered[:TOP]
    rows += [f"  {calls:8}  {clean(name)}" for name, calls in listed]
    rows += _more(len(ordered) - len(listed), lang)
    return "\n".join(rows) + "\n"


def table_data(table: Table) -> dict[str, Any]:
    return {
        "schema": "npu-doctor/ops-profiler/1",
        "steps": table.steps,
        "has_shapes": table.has_shapes,
        "operators": [{"name": n, "calls": c, "shapes": list(table.shapes.get(n, ())), "new_after_first_step": list(table.dynamic.get(n, ()))} for n, c in table.operators.items()],
        "dynamic": list(table.dynamic),
    }  # fmt: skip


def table_csv(table: Table) -> str:
    rows = (
        (n, c, "; ".join(table.shapes.get(n, ())), "; ".join(table.dynamic.get(n, ())))
        for n, c in table.operators.items()
    )
    return _csv(("name", "calls", "shapes", "new_after_first_step"), rows)
