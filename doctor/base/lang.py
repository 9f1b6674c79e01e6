"""Which of the two languages to speak, and texts of the program itself in both."""

from __future__ import annotations

import os
from collections.abc import Mapping

LANGS = ("en", "zh")


def choose(asked: str | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """--lang, then NPU_DOCTOR_LANG, then the locale; English when nothing speaks for Chinese."""
    for value in (
        asked,
        environ.get("NPU_DOCTOR_LANG"),
        environ.get("LC_ALL"),
        environ.get("LC_MESSAGES"),
        environ.get("LANG"),
    ):
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


_WORDS = {
    "fatal": ("FATAL", "致命"),
    "error": ("ERROR", "错误"),
    "warning": ("WARN", "警告"),
    "info": ("INFO", "提示"),
    "cause": ("cause", "根因"),
    "evidence": ("evidence", "证据"),
    "where": ("where", "位置"),
    "explains": ("explains", "影响"),
    "fix": ("fix", "修复"),
    "why": ("why", "依据"),
    "refs": ("see", "参考"),
    "repro": ("repro", "复现"),
    "locate": ("locate", "定位"),
    "mitigate": ("mitigate", "规避"),
    "resolve": ("resolve", "解决"),
    "high": ("sure", "确定"),
    "medium": ("likely", "很可能"),
    "low": ("possible", "可能"),
    "undo": ("undo", "撤销"),
    "changes": ("changes", "会改变"),
    "rank": ("rank", "rank"),
    "device": ("device", "device"),
    "node": ("node", "节点"),
    "pid": ("pid", "pid"),
    "clean": ("No fault found.", "未发现故障。"),
    "inconclusive": ("No known fault recognised: this is no all-clear.", "没有匹配到已知故障：这不等于正常。"),
    "unexplained": ("Unrecognised errors", "未识别的错误"),
    "missing": ("Evidence that would help", "还缺这些证据"),
    "skipped": ("Not read", "未读取"),
    "nearest": ("nearest entries", "最接近的条目"),
    "noise": ("Harmless, although it looks bad", "看着吓人但无害"),
    "more": ("more", "更多"),
    "before": ("before", "修改前"),
    "after": ("after", "修改后"),
    "job": ("Job: {seen} processes seen, world size {world}", "作业：看到 {seen} 个进程，world size {world}"),
    "state-root": ("it began here ({about})", "从这里开始（{about}）"),
    "state-fault": ("a fault of its own ({about})", "自身故障（{about}）"),
    "state-stopped": ("stopped early", "提前停止"),
    "state-silent": ("no error, no wait", "无报错、无等待"),
    "state-waiting": ("waiting for {about}", "在等待 {about}"),
    "state-gave-up": ("gave up waiting", "等待超时"),
    "state-alive": ("no error", "无报错"),
    "state-ended": ("ended in order", "正常结束"),
    "state-missing": ("ranks without logs", "没有日志的 rank"),
    "skew": ("clocks of {nodes} nodes differ by up to {spread} s (known within {within} s)", "{nodes} 个节点的时钟最多相差 {spread} 秒（估计误差 {within} 秒内）"),
    "timeline": ("Timeline (each node by its own clock)", "时间线（各节点本地时钟）"),
    "processes": ("processes", "进程数"),
    "state": ("state", "状态"),
    "time": ("time", "时间"),
    "ahead": ("clock ahead by, s", "时钟快（秒）"),
    "event": ("what happened", "事件"),
    "next": ("next", "下一步"),
    "interrupted": ("interrupted: here is what was read so far (Ctrl-C again ends at once)", "已中断：以下是目前读到的内容（再按一次 Ctrl-C 立即退出）"),
    "scanned": ("read {files} files, {size}, in {seconds} s; knowledge: {entries} entries, {codes} codes", "已读 {files} 个文件，{size}，用时 {seconds} 秒；知识库：{entries} 条，{codes} 个错误码"),
}  # fmt: skip


def word(name: str, lang: str) -> str:
    en, zh = _WORDS[name]
    return zh if lang == "zh" else en
