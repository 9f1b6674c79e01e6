"""What `npu-doctor watch` tells as it happens."""

from __future__ import annotations

WORDS = {
    "started": ("watching {files} files; Ctrl-C ends", "正在监视 {files} 个文件；Ctrl-C 结束"),
    "file": ("new file {path}", "新文件 {path}"),
    "restarted": ("{path} was emptied and begins anew", "{path} 被清空，重新开始"),
    "repeated": ("{id} seen {count} times by now", "{id} 已出现 {count} 次"),
    "symptom": ("{id} follows from {explained_by}", "{id} 由 {explained_by} 引起"),
    "root": ("{id} stands for itself now", "{id} 现在是独立的根因"),
    "ended": ("ended: {findings} findings. {verdict}", "结束：{findings} 个发现。{verdict}"),
}  # fmt: skip
