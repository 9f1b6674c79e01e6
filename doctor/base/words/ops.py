"""What the answers of `npu-doctor ops` say."""

from __future__ import annotations

WORDS = {
    "head": ("{calls} calls of {types} operator types, {kinds} distinct descriptions, processes: {processes}", "{types} 种算子，{kinds} 种不同描述，{calls} 次调用，{processes} 个进程"),
    "steps-marker": ("steps: {steps}, counted by the progress lines of the log", "step 数：{steps}，按日志中的进度行计数"),
    "steps-estimate": ("steps: about {steps}, estimated (a step begins when a process's first description comes back; --step REGEX counts progress lines instead)", "step 数：约 {steps}（估计：进程的第一个算子描述再次出现即视为新的一步；可用 --step REGEX 按进度行计数）"),
    "steps-none": ("steps: unknown, the log carries no progress lines and no description came back: nothing is called a recompilation", "step 数：未知，日志中没有进度行，也没有重复的描述，因此不判定重新编译"),
    "again": ("Compiled again after the first step", "首个 step 之后仍在编译的算子"),
    "none-again": ("No operator was compiled again after the first step.", "首个 step 之后没有算子重新编译。"),
    "times": ("{n} x, first in step {step}", "{n} 次，最早在第 {step} 步"),
    "input": ("input {index} {what}", "输入 {index} {what}"),
    "more": ("... and {n} more (-f json or csv has all)", "……另有 {n} 项（-f json 或 csv 可见全部）"),
    "conversions": ("Conversions (they compute nothing)", "转换算子（不做计算）"),
    "calls": ("{calls} calls, {kinds} distinct", "{calls} 次调用，{kinds} 种描述"),
    "operators": ("Operators", "算子"),
    "columns": ("calls runs compiled step  operator", "调用 执行 编译 首步  算子"),
    "folded": ("{n} calls beyond {limit} distinct descriptions are folded, one row (...) for each type", "超过 {limit} 种描述后的 {n} 次调用按类型合并为一行（...）"),
    "next": ("next: npu-doctor explain PRF501 (fixed shapes), npu-doctor explain CARD-TRANSDATA (conversions)", "下一步：npu-doctor explain PRF501（固定 shape），npu-doctor explain CARD-TRANSDATA（转换算子）"),
    "skipped": ("not read: {path}: {why}", "未读取：{path}：{why}"),
    "dynamic": ("Operators with input shapes that first came after the first step", "首个 step 之后出现新输入 shape 的算子"),
    "none-dynamic": ("No operator met new input shapes after the first step.", "首个 step 之后没有算子遇到新的输入 shape。"),
    "table": ("{types} operators in {steps} tables (one a step)", "{steps} 张表（每步一张）中共 {types} 个算子"),
    "no-shapes": ("the table has no column 'Input Shapes': profile with record_shapes=True and group_by_input_shape=True", "表中没有 'Input Shapes' 列：请在 profiler 中设置 record_shapes=True，并用 group_by_input_shape=True 打印"),
}  # fmt: skip
