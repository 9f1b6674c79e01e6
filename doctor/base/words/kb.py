"""What is told of folders of knowledge that nobody has looked at yet."""

from __future__ import annotations

WORDS = {
    "unknown": (
        "the knowledge in {folder} is not used: nobody has trusted it yet. Look at it, then: npu-doctor kb trust {folder}",
        "未使用 {folder} 中的知识：尚未信任该目录。先查看内容，再执行：npu-doctor kb trust {folder}",
    ),
    "changed": (
        "the knowledge in {folder} is not used: it has changed since it was trusted. Look at it, then: npu-doctor kb trust {folder}",
        "未使用 {folder} 中的知识：自信任以来内容已变化。先查看内容，再执行：npu-doctor kb trust {folder}",
    ),
    "trusts": ("trusted, until it changes: {folder} ({entries} entries)", "已信任（内容变化后需重新确认）：{folder}（{entries} 个条目）"),
    "replaces": ("it replaces built-in entries: {codes}", "它会替代内置条目：{codes}"),
    "fetches": ("{code}: a command of it fetches something and executes it unseen: {run}", "{code}：其命令会下载内容并直接执行：{run}"),
    "forgotten": ("no longer trusted: {folder}", "已不再信任：{folder}"),
}
