"""What the script of fixes says."""

from __future__ import annotations

WORDS = {
    "head": (
        "Fixes that npu-doctor {version} proposes. Nobody has run them: read them first.\n"
        "  bash FILE              tells the steps, runs nothing\n"
        "  bash FILE 1 3          runs the steps 1 and 3\n"
        "  bash FILE 2 -- CMD     runs step 2, then CMD with what the step has set\n"
        "A step looks, or sets variables for what this script starts: when it ends, all is as before.",
        "npu-doctor {version} 给出的修复步骤。尚未执行过：请先阅读。\n"
        "  bash 文件              列出各步骤，不执行任何操作\n"
        "  bash 文件 1 3          执行第 1、3 步\n"
        "  bash 文件 2 -- 命令    执行第 2 步，然后带着它设置的变量启动命令\n"
        "步骤只做查看，或为本脚本启动的程序设置变量：脚本结束后一切恢复原样。",
    ),
    "by-hand": (
        "By hand: what installs, stops, resets, writes or cannot be taken back. It is never run from here.",
        "需人工执行：安装、停止、复位、写入或无法撤销的操作。本脚本不会执行它们。",
    ),
    "risky": ("not run: risk {risk}", "不执行：风险{risk}"),
    "nothing": ("nothing", "无"),
    "unsure": ("not known to change nothing", "无法确认不产生改动"),
    "ends": ("(of itself when this script ends)", "（脚本结束即自动撤销）"),
    "set": ("set here already:", "当前环境中已设置："),
    "put-in": ("put in first:", "请先填入："),
    "refused": ("nothing was run. Edit step", "未执行任何操作。请先编辑步骤"),
    "no-step": ("there are the steps 1 to {n}, this is none", "只有步骤 1 到 {n}，没有这一步"),
    "usage": ("Nothing was run. To run steps, name them: their numbers, and -- COMMAND to start it with what they set.", "未执行任何操作。要执行请给出步骤编号；加 -- 命令 可带着所设变量启动它。"),
    "wrote": ("wrote {path}: {n} steps that can be run, {hands} for your hand; read it first, then: bash {path}", "已写入 {path}：{n} 步可执行，{hands} 项需人工执行；请先阅读，然后：bash {path}"),
    "none": ("no fix is known for this, so {path} was not written", "没有已知的修复方法，未写入 {path}"),
    "hands": ("{n} more are for your hand: read the comments of this file.", "另有 {n} 项需人工执行：见本文件中的注释。"),
}  # fmt: skip
