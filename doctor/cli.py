"""The command line: which command, then that command's own module. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from importlib import import_module

from doctor.base import lang, limits
from doctor.version import __version__

# name -> module, one line in each language. The order is the order of the help.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "scan": ("doctor.commands.scan", "diagnose logs: files, folders, archives, or - for standard input", "诊断日志：文件、目录、压缩包，或用 - 表示标准输入"),
    "merge": ("doctor.commands.merge", "merge the JSON lines of `scan -f jsonl` of many nodes into one diagnosis", "把多个节点 `scan -f jsonl` 的结果合并成一个诊断"),
    "explain": ("doctor.commands.explain", "explain an error code, an entry or an environment variable", "解释错误码、知识条目或环境变量"),
    "repro": ("doctor.commands.repro", "write a single-operator script that reproduces a fault", "生成复现故障的单算子脚本"),
    "issue": ("doctor.commands.issue", "draft an issue for maintainers, redacted: versions, symptoms, root cause, evidence", "起草给维护者的 issue（已脱敏）：版本、现象、根因、证据"),
    "run": ("doctor.commands.run", "run a command and diagnose it when it fails", "运行命令，失败时自动诊断"),
    "kb": ("doctor.commands.kb", "list, search, show and check the knowledge", "列出、搜索、查看、检查知识库"),
    "ops": ("doctor.commands.ops", "operators that a run compiled, and those it compiled again", "一次运行编译了哪些算子、哪些被反复编译"),
    "precision": ("doctor.commands.precision", "read the result of a precision comparison (ptdbg_ascend, msprobe)", "解读精度比对结果（ptdbg_ascend、msprobe）"),
    "browse": ("doctor.commands.browse", "the terminal interface: browse the knowledge, diagnose logs and look into them", "终端界面：浏览知识库、诊断并查看日志"),
    "watch": ("doctor.commands.watch", "follow logs while a job runs and tell findings as they appear", "跟随正在写入的日志，实时给出发现"),
    "demo": ("doctor.commands.demo", "diagnose the bundled demo logs (no NPU needed)", "诊断自带的演示日志（无需 NPU）"),
    "schema": ("doctor.commands.schema", "print the JSON Schema of the report or of an entry", "打印报告或知识条目的 JSON Schema"),
}  # fmt: skip

_HELP = {
    "en": ("usage: npu-doctor [COMMAND] [OPTIONS]", "From Ascend NPU logs to the root cause, a fix and a repro script.",
           "commands:", "npu-doctor COMMAND --help tells a command's options.",
           "Piped input is diagnosed:  python train.py 2>&1 | npu-doctor",
           "exit codes: 0 clean, 1 findings, 2 usage, 3 inconclusive, 4 broken knowledge or internal error, 130 interrupted"),
    "zh": ("用法: npu-doctor [命令] [选项]", "从昇腾 NPU 日志到根因、修复方法和复现脚本。",
           "命令:", "npu-doctor 命令 --help 查看该命令的选项。",
           "管道输入会被直接诊断:  python train.py 2>&1 | npu-doctor",
           "退出码: 0 正常, 1 有发现, 2 用法错误, 3 无法判断, 4 知识库或内部错误, 130 被中断"),
}  # fmt: skip


def help_text(language: str) -> str:
    usage, about, head, more, piped, codes = _HELP[language]
    width = max(map(len, COMMANDS)) + 2
    rows = [f"  {name:{width}}{line[2] if language == 'zh' else line[1]}" for name, line in COMMANDS.items()]
    return "\n".join([usage, "", about, "", head, *rows, "", more, piped, codes, ""])


def main(argv: list[str]) -> int:
    """Runs one command and returns its exit code."""
    from doctor.render.layout import prepare

    prepare(sys.stdout)
    prepare(sys.stderr)
    if argv and argv[0] in ("-h", "--help", "help"):
        asked = next(
            (
                a.partition("=")[2] or argv[i + 1]
                for i, a in enumerate(argv)
                if a.startswith("--lang") and ("=" in a or i + 1 < len(argv))
            ),
            None,
        )
        sys.stdout.write(help_text(lang.choose(asked)))
        return 0
    if argv and argv[0] in ("-V", "--version"):
        sys.stdout.write(f"npu-doctor {__version__}\n")
        return 0
    if argv and argv[0] in COMMANDS:
        return _run(argv[0], argv[1:])
    if not argv or argv[0].startswith("-"):
        piped = not sys.stdin.isatty()
        if piped or argv:
            return _run("scan", argv if "-" in argv else [*argv, "-"] if piped else argv)
        if "browse" in COMMANDS:
            return _run("browse", [])
        sys.stdout.write(help_text(lang.choose()))
        return 0
    return _unknown(argv[0])


def _run(name: str, rest: list[str]) -> int:
    limits.check()
    module = import_module(COMMANDS[name][0])
    code: int = module.main(rest)
    return code


def _unknown(written: str) -> int:
    import difflib
    from pathlib import Path

    from doctor.base.errors import UsageError

    near = difflib.get_close_matches(written, COMMANDS, n=1)
    if near:
        raise UsageError(f"there is no command '{written}'", f"did you mean 'npu-doctor {near[0]}'?")
    if Path(written).exists():
        raise UsageError(f"there is no command '{written}'", f"to diagnose that path: npu-doctor scan {written}")
    raise UsageError(
        f"there is no command '{written}'", f"commands: {', '.join(COMMANDS)}; for a code: npu-doctor explain {written}"
    )
