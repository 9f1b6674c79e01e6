"""Rows of the tables that stand in a text: the entry for whoever found an anchor and holds a window of lines.

>>> [row.get("value") for row in rows(["link status: DOWN"], 7)]
['DOWN']
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from parsers import compared
from parsers.parsed import Row

ASKED: tuple[str, ...] = ("为什么", "为何", "为啥", "怎么回事", "什么原因", "结果为空", "没有任何输出", "# Why ", "# why ", ", why ")
"""Words of a question: anchors in a comment only. Elsewhere they are what a model was asked, line after line."""

ANCHORS: tuple[str, ...] = (
    "| NPU ", "HBM-Usage(MB)", "Memory-Usage(MB)", "Process memory(MB)",
    "| OK    ", "| Warning  ", "| Alarm  ", "| Critical  ", "Health Status", "Isolated Pages Count",
    "Aggregate Total Err Cnt", "Usage Rate(%)", "Chip Logic ID", "Faulty Chip Count", "Firmware Version",
    "Aicore Count", "NPU Real-time Power", "Super Pod ID", "NPU ID    ",
    "link status:", "net health status", "ipaddr:", "there is no ip address", "default gateway:", "netdetect addr",
    "tls switch[", "fec mode", "no FEC mode", "link up count", "LINK DOWN", "packets transmitted,", "Los Flag",
    "LoL Flag", "Rx Power", "Power0", "roce_new_pkt_rty_num", "mac_rx_fcs_err_pkt_num", "packet statistics:",
    "optical info:", "address_0=", " PPID ", "ps -ef |", "ps -ef|", "$ echo ", "# echo ", ": cannot access ", "100% /",
    "$ npu-smi", "# npu-smi", "TasksMax", "pid_max",
    "Type     Reason ", "Type    Reason ", "LAST SEEN ", "Restart Count:", " RESTARTS ", " CrashLoopBackOff ", "ImagePull",
    "FailedScheduling ", "FilteringFailed ", "FailedMount ", "FailedCreatePodSandBox ", "UnexpectedAdmissionError ", '"involvedObject"',
    "--device npu", "--device=npu", "--device_target Ascend", "--device_target=Ascend", "DEVICE=npu", *ASKED,
    "$ export ", "# export ", "$ unset ", "# unset ", "=1 python", "=0 python", "=1 torchrun", "=1 bash ", "=0 bash ", "$ curl ", "# curl ", "do curl ", "; curl ", "/llama-cli ", "llama-cli -m ", "$ python", "# python", *compared.ANCHORS, *compared.IN_NOTES,
    "~]# ", "~# ", "~]$ ", "~$ ",
)  # fmt: skip
"""Literals one of which stands in every text that holds a table."""


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """All rows of all tables in the lines, in their order; the first line is line `first_line` of its source."""
    from parsers import hccn, kube, npu_smi, process_list, session, smi_query  # most logs hold no table

    found = (*npu_smi.rows(lines, first_line), *smi_query.rows(lines, first_line), *hccn.rows(lines, first_line), *process_list.rows(lines, first_line), *session.rows(lines, first_line), *kube.rows(lines, first_line), *compared.rows(lines, first_line))
    return tuple(sorted(found, key=attrgetter("line")))
