"""What the draft of an issue says."""

from __future__ import annotations

WORDS = {
    "checked": ("Written by npu-doctor {version} from {files} log files. Read it before you send it.", "由 npu-doctor {version} 根据 {files} 个日志文件生成，发送前请先通读一遍。"),
    "redacted": ("Names in angle brackets are pseudonyms ({counts}): the same name is always the same thing.", "尖括号中的名字是化名（{counts}）：同一化名始终指同一对象。"),
    "plain": ("Nothing was made anonymous: addresses, names and tokens of the logs stand as they are.", "未做脱敏：日志中的地址、名字、令牌均为原文。"),
    "machine": ("The machine, as npu-doctor env sees it", "机器环境（npu-doctor env）"),
    "environment": ("Environment", "环境"),
    "not-seen": ("not in the logs, please add: {names}", "日志中没有，请补充：{names}"),
    "symptoms": ("Symptoms", "现象"),
    "no-symptoms": ("Nothing else was printed because of it.", "没有由它引起的其他报错。"),
    "stopped": ("{n} processes seen, world size {world}; {waiting} of them waited for others", "看到 {n} 个进程，world size {world}；其中 {waiting} 个在等待其他进程"),
    "root": ("Root cause, as far as the logs tell", "根因（以日志能证明的为限）"),
    "none": ("No known fault was recognised. These error lines are not explained:", "没有匹配到已知故障。以下错误行无法解释："),
    "clean": ("No fault was found in these logs.", "这些日志中未发现故障。"),
    "further": ("Found as well, and not explained by it:", "另外还有，且不由它引起："),
    "evidence": ("Evidence", "证据"),
    "tried": ("What was tried", "已尝试的方法"),
    "tick": ("Tick what you did, and write what happened then.", "勾选已做过的，并写明结果。"),
    "other": ("something else:", "其他："),
    "repro": ("Reproduction", "复现"),
    "script": ("A script with a single operator, made from these logs; attach repro.py when it shows the fault:", "由这些日志生成的单算子脚本；若能复现，请附上 repro.py："),
    "by-hand": ("The shortest command that shows it:", "能复现的最短命令："),
    "brief": ("In short", "摘要"),
    "to-tick": ("Please tick in the form what applies.", "请在表单中勾选适用项。"),
    "expected": ("The same call ends without this error.", "同样的调用不再出现该错误。"),
    "missing": ("Still missing", "还缺这些证据"),
}  # fmt: skip
