"""What the verdict of a precision comparison says."""

from __future__ import annotations

WORDS = {
    "head": ("{rows} tensors of {apis} API calls ({tool}, {mode}); {judged} could be judged", "{apis} 次 API 调用、{rows} 个张量（{tool}，{mode}）；可判断 {judged} 个"),
    "limits": ("suspect: Cosine < {cosine} and MaxAbsErr > {error}; or Cosine < {low}; or MaxAbsErr > {high}", "可疑条件：Cosine < {cosine} 且 MaxAbsErr > {error}；或 Cosine < {low}；或 MaxAbsErr > {high}"),
    "by-tool": ("suspect: what the tool itself marked (statistics carry no cosine; compare real data for more)", "可疑条件：工具自身的标记（统计量模式没有余弦值，需用真实数据比对）"),
    "forward": ("First in forward order", "正向首个可疑 API"),
    "backward": ("First in backward order", "反向首个可疑 API"),
    "none": ("none", "无"),
    "own": ("its inputs agree: this API itself deviates", "输入一致：偏差产生于该 API 自身"),
    "inherited": ("its inputs deviate already: the cause lies before it (data, seed, an API that was not dumped)", "输入已有偏差：原因在其之前（数据、随机种子，或未被 dump 的 API）"),
    "not-dumped": ("its inputs were not dumped: whether it inherits the difference is not known", "其输入没有 dump：无法判断偏差是否来自输入"),
    "origin": ("the first one whose inputs are right", "首个输入正确而输出有偏差的 API"),
    "line": ("line {line}", "第 {line} 行"),
    "more": ("{n} API calls of this direction are suspect", "该方向共有 {n} 次可疑 API 调用"),
    "stack": ("called from", "调用位置"),
    "no-stack": ("the stack file does not know this API", "堆栈文件中没有该 API"),
    "next": ("Next", "下一步"),
    "read-stack": ("statistics and stack of this API:", "该 API 的统计量与堆栈："),
    "dump": ("dump only this API with real data, then compare again:", "只 dump 该 API 的真实数据后再次比对："),
    "script": ("run it alone on NPU and CPU:", "在 NPU 与 CPU 上单独运行："),
    "precision": ("if it is a true difference: float32 for this API, or a deterministic / high-precision implementation (explain CARD-COMPILE-OPTIONS)", "若确为精度差异：该 API 改用 float32，或选择确定性 / 高精度实现（explain CARD-COMPILE-OPTIONS）"),
    "clean": ("No API is suspect within these limits.", "在当前阈值下没有可疑 API。"),
    "guessed": ("guessed", "猜测"),
}  # fmt: skip
