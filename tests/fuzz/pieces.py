"""Pieces of which lines are glued: for Hypothesis, and as the words of the fuzzer."""

from __future__ import annotations

# Pieces of real lines: glued in any order they reach the places that random text never does.
PIECES = [
    "(Worker_TP2 pid=1456) ", "ERROR 03-25 06:14:02 [core.py:880] ", "[rank3]: ", "[default0]:", "3: ", "[1,3]<stderr>:",
    "(VllmWorker rank=3 pid=5) ", "(pid=7, ip=10.0.0.1) ", "#15 0.114 ", "vllm-1  | ", "[pod/x/y] ", "> ", "train.log:12:",
    "plog-12_2025.log:3:", "2025-03-02T10:21:44.118305Z stdout F ", "2026-01-02 03:04:05,123 - INFO - ", "[W a.ts:57] ",
    "[rank0]:[W515 09:40:12.302912713 a.ts:57] ", "[2026-07-01 09:33:11 TP3] ", "[2026-07-01 09:33:11.123] [34] [28] [llm] [WARN] [a.cpp:9]  ",
    "[WARNING] ME(5:6,M):2026-01-02-03:04:05.123.456 [a.py:1] ", "E1204 14:46:07.912003 60570 a.cpp:2] ", "Mar  3 10:11:12 h python[3]: ",
    "[ERROR] HCCL(5,python):2025-12-10-19:55:30.331.900 [a.cc:8] [5][x] ", "[ERROR] 2026-03-02-10:21:44 (PID:5, Device:2, RankID:-1) ERR00100 ",
    "EZ9999: ", "[PID: 5] 2026-03-02-10:21:44.118.305 ", "Title(EL0001): ", "Traceback (most recent call last):", '  File "a.py", line 3, in f',
    "RuntimeError: ", "    ", "\t", "  ^^^^", "| ", "+-----+------", "| 0     910B3      | OK     | 90.0   36    0 / 0  |",
    "| 0   | 0000:C1:00.0  | 0  0 / 0   61207/ 65536 |", "| NPU   Name   | Health | Power(W) Temp(C) Hugepages-Usage(page)|",
    "| Chip  | Bus-Id | AICore(%) Memory-Usage(MB) HBM-Usage(MB) |", "| NPU  Chip | Process id | Process name | Process memory(MB) |",
    "| 0  0 | 41 | python | 57 |", "No running processes found in NPU 0", "Health Status    : Alarm", "NPU ID   : 3", "Chip ID  : 0",
    "link status: UP", "dev_id:0, tls switch[0](0:disable), ", "hccn_tool -i 3 -link -g", "npu-smi info -t ecc -i 3", "Rx Los Flag : 0xff",
    "\x1b[36m", "\x1b[0m", "^[[36m", "[0m", "\\u001b[0m", " [repeated 6x across cluster]", "10%|##\r", "\r", "\n", "[", "]", "(", ")", ":", "|",
    "- Ascend Error Message:", "----------", "During handling of the above exception, another exception occurred:", "[12345.678901] ", "$ ls",
    "terminate called after throwing an instance of 'x'", "  what():  y", "Possible Cause: a", "[FUNC:f][FILE:g][LINE:1]", "芯片", "\ufeff", "\x00",
]  # fmt: skip
# Digits that are none for `int`, or whose number has no end: what `isdigit` and `\d` let through.
ODD = ["\u00b2", "\u0663", "\uff17", "\u1369", "9" * 400, "0x" + "f" * 300, "-", "1e999", "nan", "\u202e", "\ud7ff", "\u2028", "\x85", "\x1c"]
