"""The verdict as text and as JSON."""

from __future__ import annotations

from typing import Any

from doctor.base.notation import clean
from doctor.precision import suspect_script
from doctor.precision.comparison import Api, Limits, Row, Verdict
from doctor.render.layout import Style, paint

_WORDS = {
    "head": ("{rows} tensors of {apis} API calls ({tool}, {mode}); {judged} could be judged", "{apis} 次 API 调用、{rows} 个张量（{tool}，{mode}）；可判断 {judged} 个"),
    "limits": ("suspect: Cosine < {cosine} and MaxAbsErr > {error}", "可疑条件：Cosine < {cosine} 且 MaxAbsErr > {error}"),
    "by-tool": ("suspect: what the tool itself marked (statistics carry no cosine; compare real data for more)", "可疑条件：工具自身的标记（统计量模式没有余弦值，需用真实数据比对）"),
    "forward": ("First in forward order", "正向首个可疑 API"),
    "backward": ("First in backward order", "反向首个可疑 API"),
    "none": ("none", "无"),
    "own": ("its inputs agree: this API itself deviates", "输入一致：偏差产生于该 API 自身"),
    "inherited": ("its inputs deviate already: the cause lies before it (data, seed, an API that was not dumped)", "输入已有偏差：原因在其之前（数据、随机种子，或未被 dump 的 API）"),
    "more": ("{n} API calls of this direction are suspect", "该方向共有 {n} 次可疑 API 调用"),
    "stack": ("called from", "调用位置"),
    "no-stack": ("the stack file does not know this API", "堆栈文件中没有该 API"),
    "next": ("Next", "下一步"),
    "read-stack": ("statistics and stack of this API:", "该 API 的统计量与堆栈："),
    "dump": ("dump only this API with real data, then compare again:", "只 dump 该 API 的真实数据后再次比对："),
    "script": ("run it alone on NPU and CPU:", "在 NPU 与 CPU 上单独运行："),
    "precision": ("if it is a true difference: float32 for this API, or a deterministic / high-precision implementation (explain CARD-COMPILE-OPTIONS)", "若确为精度差异：该 API 改用 float32，或选择确定性 / 高精度实现（explain CARD-COMPILE-OPTIONS）"),
    "clean": ("No API is suspect within these limits.", "在当前阈值下没有可疑 API。"),
}  # fmt: skip


def say(name: str, lang: str, **values: object) -> str:
    return _WORDS[name][lang == "zh"].format(**values)


def text(
    made: Verdict, limits: Limits, path: str, stacks: dict[str, tuple[str, ...] | None], lang: str, style: Style
) -> str:
    rows = [say("head", lang, rows=made.rows, apis=made.apis, tool=made.tool, mode=made.mode, judged=made.judged)]
    rows.append(
        say("limits", lang, cosine=limits.cosine, error=limits.max_abs_err)
        if made.mode == "values"
        else say("by-tool", lang)
    )
    if not made.found:
        return "\n".join([*rows, "", say("clean", lang)]) + "\n"
    for way in ("forward", "backward"):
        api = made.first(way)
        rows += ["", paint(f"{say(way, lang)}: {clean(api.name) if api else say('none', lang)}", "bold", style)]
        if api is None:
            continue
        rows += [f"  {_row(row, why)}" for row, why in api.suspects[:4]]
        rows.append(f"  {say('inherited' if api.inherited else 'own', lang)}")
        rows.append(f"  {say('more', lang, n=made.suspects[way])}")
        if api.name in stacks:
            rows += _stack(stacks[api.name], lang)
    lead = leading(made)
    if lead is not None:
        rows += ["", paint(say("next", lang), "bold", style)]
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
        return [f"  {say('no-stack', lang)}"]
    return [f"  {say('stack', lang)}", *(f"    {clean(f)}" for f in frames[:8])]


def advice(api: Api, made: Verdict, path: str, lang: str) -> list[str]:
    """The next commands, in the words of the tool that wrote the file."""
    name = clean(api.name)
    if made.tool == "ptdbg_ascend":
        first = [
            say("read-stack", lang),
            f'  python3 -c \'from ptdbg_ascend import parse; parse("./npu_dump.pkl", "{name}")\'',
        ]
        second = [say("dump", lang), f'  set_dump_switch("ON", mode="list", scope=["{name}"])']
    else:
        first = []
        second = [
            say("dump", lang),
            f'  config.json: {{"task": "tensor", "level": "L1", "tensor": {{"list": ["{name}"]}}}}',
        ]
    third = []
    if path != "-" and suspect_script.make(api, lang) is not None:
        third = [say("script", lang), f"  npu-doctor precision {clean(path)} --script repro.py && python3 repro.py"]
    return [*first, *second, *third, say("precision", lang)]


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
        "next": advice(lead, made, path, lang) if lead else [],
    }


def _api(api: Api | None, stacks: dict[str, tuple[str, ...] | None]) -> dict[str, Any] | None:
    if api is None:
        return None
    return {
        "api": api.name,
        "inherited": api.inherited,
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
