"""The help of the command line."""

from __future__ import annotations

WORDS = {
    "usage": ("usage: npu-doctor [COMMAND] [OPTIONS]", "用法: npu-doctor [命令] [选项]"),
    "about": ("From Ascend NPU logs to the root cause, a fix and a repro script.", "从昇腾 NPU 日志到根因、修复方法和复现脚本。"),
    "commands": ("commands:", "命令:"),
    "options": ("npu-doctor COMMAND --help tells a command's options. A path alone is diagnosed, a code alone is explained.", "npu-doctor 命令 --help 查看该命令的选项。只给路径则诊断，只给错误码则解释。"),
    "piped": ("Piped input is diagnosed:  python train.py 2>&1 | npu-doctor", "管道输入会被直接诊断:  python train.py 2>&1 | npu-doctor"),
    "exits": ("exit codes: 0 clean, 1 findings, 2 usage, 3 inconclusive, 4 broken knowledge or internal error, 130 interrupted", "退出码: 0 正常, 1 有发现, 2 用法错误, 3 无法判断, 4 知识库或内部错误, 130 被中断"),
    "wrote": ("wrote {path}", "已写入 {path}"),
    "man:name": ("NAME", "名称"),
    "man:synopsis": ("SYNOPSIS", "概要"),
    "man:commands": ("COMMANDS", "命令"),
    "man:exits": ("EXIT STATUS", "退出码"),
    "command:scan": ("diagnose logs: files, folders, archives, or - for standard input", "诊断日志：文件、目录、压缩包，或用 - 表示标准输入"),
    "command:merge": ("merge the JSON lines of `scan -f jsonl` of many nodes into one diagnosis", "把多个节点 `scan -f jsonl` 的结果合并成一个诊断"),
    "command:fleet": ("scan many nodes where their logs are (ssh, Slurm, Kubernetes, Ray), one diagnosis of all", "在各节点就地扫描日志（ssh、Slurm、Kubernetes、Ray），汇总为一个诊断"),
    "command:explain": ("explain an error code, an entry or an environment variable", "解释错误码、知识条目或环境变量"),
    "command:repro": ("write a single-operator script that reproduces a fault", "生成复现故障的单算子脚本"),
    "command:issue": ("draft an issue for maintainers, redacted: versions, symptoms, root cause, evidence", "起草给维护者的 issue（已脱敏）：版本、现象、根因、证据"),
    "command:run": ("run a command and diagnose it when it fails", "运行命令，失败时自动诊断"),
    "command:kb": ("list, search, show and check the knowledge", "列出、搜索、查看、检查知识库"),
    "command:ops": ("operators that a run compiled, and those it compiled again", "一次运行编译了哪些算子、哪些被反复编译"),
    "command:precision": ("read the result of a precision comparison (ptdbg_ascend, msprobe)", "解读精度比对结果（ptdbg_ascend、msprobe）"),
    "command:env": ("is this machine fit, and where do two machines differ: versions, chips, container, variables", "检查本机环境是否可用、两台机器有何差异：版本、芯片、容器、变量"),
    "command:browse": ("the terminal interface: browse the knowledge, diagnose logs and look into them", "终端界面：浏览知识库、诊断并查看日志"),
    "command:watch": ("follow logs while a job runs and tell findings as they appear", "跟随正在写入的日志，实时给出发现"),
    "command:demo": ("diagnose the bundled demo logs (no NPU needed)", "诊断自带的演示日志（无需 NPU）"),
    "command:completion": ("print what a shell needs to complete commands, or the manual page", "打印 shell 补全脚本或手册页"),
    "command:schema": ("print the JSON Schema of the report or of an entry", "打印报告或知识条目的 JSON Schema"),
}  # fmt: skip
