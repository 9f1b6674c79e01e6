"""Why an entry has no script."""

from __future__ import annotations

WORDS = {
    "other-framework": (
        "it fails in another framework, which no script of PyTorch calls: the smallest program of that framework shows it",
        "故障在其他框架中，PyTorch 脚本不会调用它：请用该框架的最小程序复现",
    ),
    "own-kernel": (
        "it lies in the source of a kernel, which is not in the log: that kernel with its launch shows it",
        "问题在 kernel 源码中，日志里没有：请用该 kernel 及其启动代码复现",
    ),
    "conversion": ("the model file with the command that converts it shows it", "请用模型文件和转换命令复现"),
    "follows": ("it is reported late: the fault that it follows from has the script", "该现象是滞后上报的：请用引起它的故障的脚本复现"),
    "whole-program": (
        "no single call shows it: the command that starts the program, with its options and its model, does",
        "单个调用无法复现：需要程序的启动命令、选项和模型",
    ),
    "installation": (
        "it lies in what is installed on this machine, not in a call: `npu-doctor env` shows that",
        "问题在本机安装的软件，而不在某个调用：用 `npu-doctor env` 查看",
    ),
    "media": ("the picture or stream that was decoded shows it", "请用当时处理的图片或码流复现"),
}  # fmt: skip
