"""What `npu-doctor run` tells beside the output of the command."""

from __future__ import annotations

WORDS = {
    "sets": ("set for the command: {what}", "仅为该命令设置：{what}"),
    "failed": ("the command ended with exit code {code}; {files} log file(s) of it are read", "命令退出码为 {code}；读取其 {files} 个日志文件"),
    "by_time": ("no log carries a process number of this command: those changed since its start are read", "没有带该命令进程号的日志：读取启动后有变化的日志"),
    "last-raised": ("the operator {op} raised: {error}", "算子 {op} 报错：{error}"),
    "last-running": ("the operator {op} was running when the process ended", "进程结束时正在执行算子 {op}"),
    "last-returned": ("no operator was running when the process ended; the last one, {op}, had returned", "进程结束时没有正在执行的算子；最后一个算子 {op} 已返回"),
    "record": ("the last operators were recorded: npu-doctor repro --from {path}", "已记录最后的算子：npu-doctor repro --from {path}"),
    "broken": ("the diagnosis failed: {why}", "诊断失败：{why}"),
    "kept": ("its output is kept: {path}", "其输出已保留：{path}"),
    "saved": ("saved: {path}", "已保存：{path}"),
    "missing": ("cannot start {what}: {why}", "无法启动 {what}：{why}"),
}  # fmt: skip
