"""The verdict as text and as JSON."""

from __future__ import annotations

import json
import shlex
from typing import Any

from doctor.base.notation import clean
from doctor.base.words import word
from doctor.precision import suspect_script
from doctor.precision.comparison import Api, Limits, Row, Verdict
from doctor.render.layout import Style, paint


def text(
    made: Verdict, limits: Limits, path: str, stacks: dict[str, tuple[str, ...] | None], lang: str, style: Style
) -> str:
    rows = [word("precision.head", lang, rows=made.rows, apis=made.apis, tool=made.tool, mode=made.mode, judged=made.judged)]
    rows.append(
        word("precision.limits", lang, cosine=limits.cosine, error=limits.max_abs_err, low=limits.low_cosine, high=f"{limits.high_error:g}")
        if made.mode == "values"
        else word("precision.by-tool", lang)
    )
    if not made.found:
        return "\n".join([*rows, "", word("precision.clean", lang)]) + "\n"
    for way in ("forward", "backward"):
        api = made.first(way)
        rows += ["", paint(f"{word(f'precision.{way}', lang)}: {clean(api.name) if api else word('precision.none', lang)}", "bold", style)]
        if api is None:
            continue
        rows += [f"  {_row(row, why)}" for row, why in api.suspects[:4]]
        rows.append(f"  {word('precision.inherited' if api.inherited else 'precision.own' if api.dumped else 'precision.not-dumped', lang)}")
        if (origin := made.origin(way)) is not None and origin is not api:
            rows.append(f"  {word('precision.origin', lang)}: {clean(origin.name)} ({word('precision.line', lang, line=origin.rows[0].line)})")
        rows.append(f"  {word('precision.more', lang, n=made.suspects[way])}")
        if api.name in stacks:
            rows += _stack(stacks[api.name], lang)
    lead = leading(made)
    if lead is not None:
        rows += ["", paint(word("precision.next", lang), "bold", style)]
        rows += [f"  {line}" for line in advice(lead, made, path, lang)]
    return "\n".join(rows) + "\n"


def leading(made: Verdict) -> Api | None:
    """The one to look at first: forward before backward, for what is wrong forward is wrong backward too."""
    return made.first("forward") or made.first("backward")


def _row(row: Row, why: str) -> str:
    numbers = (
        "" if row.cosine is None and row.max_abs_err is None else f"  Cosine {row.cosine}  MaxAbsErr {row.max_abs_err}"
    )
    shape = "" if row.shape is None else f"  {row.dtype} {list(row.shape)}"
    return clean(f"{row.name}{shape}{numbers}  [{why}]  (line {row.line})")


def _stack(frames: tuple[str, ...] | None, lang: str) -> list[str]:
    if frames is None:
        return [f"  {word('precision.no-stack', lang)}"]
    return [f"  {word('precision.stack', lang)}", *(f"    {clean(f)}" for f in frames[:8])]


def advice(api: Api, made: Verdict, path: str, lang: str) -> list[str]:
    """The next commands, in the words of the tool that wrote the file; its names are data, quoted for the shell and for Python."""
    name = json.dumps(clean(api.name))
    if made.tool == "ptdbg_ascend":
        code = f'from ptdbg_ascend import parse; parse("./npu_dump.pkl", {name})'
        first = [word("precision.read-stack", lang), f"  python3 -c {shlex.quote(code)}"]
        second = [word("precision.dump", lang), f'  set_dump_switch("ON", mode="list", scope=[{name}])']
    else:
        first = []
        second = [
            word("precision.dump", lang),
            f'  config.json: {{"task": "tensor", "level": "L1", "tensor": {{"list": [{name}]}}}}',
        ]
    third = []
    if path != "-" and suspect_script.make(api, lang) is not None:
        third = [word("precision.script", lang), f"  npu-doctor precision {shlex.quote(clean(path))} --script repro.py; python3 repro.py"]
    return [*first, *second, *third, word("precision.precision", lang)]


def data(
    made: Verdict, limits: Limits, path: str, stacks: dict[str, tuple[str, ...] | None], lang: str
) -> dict[str, Any]:
    lead = leading(made)
    return {
        "schema": "npu-doctor/precision/1",
        "path": path,
        "tool": made.tool,
        "mode": made.mode,
        "limits": limits._asdict(),
        "rows": made.rows,
        "judged": made.judged,
        "apis": made.apis,
        "suspects": made.suspects,
        "first": {way: _api(made.first(way), stacks) for way in ("forward", "backward")},
        "origin": {way: _api(made.origin(way), stacks) for way in ("forward", "backward")},
        "next": advice(lead, made, path, lang) if lead else [],
    }


def _api(api: Api | None, stacks: dict[str, tuple[str, ...] | None]) -> dict[str, Any] | None:
    if api is None:
        return None
    return {
        "api": api.name,
        "inherited": api.inherited,
        "inputs_dumped": api.dumped,
        "rows": [
            {"name": r.name, "line": r.line, "dtype": r.dtype, "shape": list(r.shape) if r.shape is not None else None,
             "cosine": _finite(r.cosine), "max_abs_err": _finite(r.max_abs_err), "why": why, "message": r.message}
            for r, why in api.suspects
        ],
        "stack": list(stacks.get(api.name) or ()),
    }  # fmt: skip


def _finite(value: float | None) -> float | str | None:
    """JSON knows neither NaN nor infinity."""
    return value if value is None or abs(value) < float("inf") else str(value)
