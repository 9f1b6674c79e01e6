"""What evidence is missing for a better answer, and how to get it. Each rule is one small function."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from doctor.base.notation import clean, folded, spans
from doctor.base.words import named, word
from doctor.judge.diagnosis import Diagnosis
from kb.model import Text


class Missing(NamedTuple):
    what: Text
    how: Text


_WITHOUT_DEVICE = ("build", "installation")  # nothing runs on a device, nothing writes a plog
_WAITS = ("peer-timeout", "peer-lost", "collective-mismatch", "worker-death", "link-fault")
Rule = Callable[[Diagnosis], "Missing | None"]


def missing(diagnosis: Diagnosis) -> tuple[Missing, ...]:
    """What to collect next, the most useful first; nothing when a cause is proven."""
    return tuple(found for rule in RULES if (found := rule(diagnosis)) is not None)


def _uncertain(diagnosis: Diagnosis) -> bool:
    roots = diagnosis.roots
    return not roots or roots[0].finding.entry.role != "cause" or roots[0].finding.entry.confidence == "low"


def nothing_readable(diagnosis: Diagnosis) -> Missing | None:
    if diagnosis.harvest.size or diagnosis.verdict == "findings":
        return None
    return Missing(
        Text("nothing was read: there was no log text", "没有读到任何日志文本"),
        Text(
            "npu-doctor scan ~/ascend/log    # or the folder in $ASCEND_PROCESS_LOG_PATH; or pipe: python train.py 2>&1 | npu-doctor",
            "npu-doctor scan ~/ascend/log    # 或 $ASCEND_PROCESS_LOG_PATH 指定的目录；也可管道输入: python train.py 2>&1 | npu-doctor",
        ),
    )


def host_logs(diagnosis: Diagnosis) -> Missing | None:
    """A traceback tells where it surfaced; the plog of the process tells why."""
    if not _uncertain(diagnosis) or diagnosis.harvest.kinds.get("plog") or not diagnosis.harvest.size:
        return None
    if not (diagnosis.related or diagnosis.unexplained) or diagnosis.situation.first("activity") in _WITHOUT_DEVICE:
        return None
    return Missing(
        Text(
            "the plog of the failing process (only screen output was given)", "缺少出错进程的 plog（目前只有屏幕输出）"
        ),
        Text(
            "export ASCEND_GLOBAL_LOG_LEVEL=1    # for one short run, then unset; afterwards: npu-doctor scan ~/ascend/log",
            "export ASCEND_GLOBAL_LOG_LEVEL=1    # 仅用于一次短复现，之后 unset；然后执行: npu-doctor scan ~/ascend/log",
        ),
    )


def other_ranks(diagnosis: Diagnosis) -> Missing | None:
    """Only victims of a job of several ranks have spoken: the one that failed first is somewhere else."""
    roots = diagnosis.roots
    if not roots or roots[0].finding.entry.role != "symptom" or not _of_many(diagnosis):
        return None
    return Missing(
        Text(
            "the logs of the other ranks: what was read only waited for somebody",
            "缺少其他 rank 的日志：已读到的日志只是在等待对端",
        ),
        Text(
            "npu-doctor scan LOGS_OF_ALL_NODES/    # collect ~/ascend/log of every node into one folder; any layout will do",
            "npu-doctor scan 所有节点日志目录/    # 把每个节点的 ~/ascend/log 收集到一个目录，布局不限",
        ),
    )


def _of_many(diagnosis: Diagnosis) -> bool:
    """Is it a job of several ranks, as far as the logs tell?"""
    if diagnosis.job is not None and len(diagnosis.job.processes) > 1:
        return True
    if diagnosis.situation.world_size(2) is not None:
        return True
    return any(h.place.rank is not None for r in diagnosis.roots[:1] for h in r.finding.hits) or any(
        kind in _WAITS for kind in (r.finding.entry.kind for r in diagnosis.roots[:1])
    )


def missing_nodes(diagnosis: Diagnosis) -> Missing | None:
    """Nodes that were asked and gave nothing, or not all: what they would have told is not known."""
    absent = diagnosis.harvest.absent
    if not absent:
        return None
    states: dict[str, list[str]] = {}
    for one in absent:
        states.setdefault(clean(one.state), []).append(clean(one.node))
    ranks = spans(diagnosis.job.missing) if diagnosis.job is not None else ""
    told = []
    for language in ("en", "zh"):
        rows = [f"{named('fleet.state', state, language)} {folded(names)}" for state, names in sorted(states.items())]
        rows += [word("fleet.no-logs-of", language, ranks=ranks)] if ranks else []
        told.append(word("fleet.not-all", language, count=len(absent), rows="; ".join(rows)))
    return Missing(Text(*told), Text(*(word("fleet.ask-again", language) for language in ("en", "zh"))))


def missing_ranks(diagnosis: Diagnosis) -> Missing | None:
    """The world is larger than what was read, and the cause is not proven: it may stand in what is missing."""
    job = diagnosis.job
    if job is None or not job.missing or not job.waits or any(r.verdict == "fault" for r in job.roots):
        return None
    names = spans(job.missing)
    return Missing(
        Text(
            f"the logs of rank {names} (world size {job.world_size})",
            f"缺少 rank {names} 的日志（world size {job.world_size}）",
        ),
        Text(
            "npu-doctor scan ~/ascend/log -f jsonl -o node.jsonl    # on the nodes of these ranks; then: npu-doctor merge *.jsonl",
            "npu-doctor scan ~/ascend/log -f jsonl -o node.jsonl    # 在这些 rank 的节点上执行，然后：npu-doctor merge *.jsonl",
        ),
    )


def stopped_early(diagnosis: Diagnosis) -> Missing | None:
    """A log that ends without a word: the kernel or the launcher knows why."""
    job = diagnosis.job
    if job is None or not job.stopped:
        return None
    names = ", ".join(clean(job.label(n)) for n in job.stopped[:4])
    nodes = ", ".join(sorted({clean(job.processes[n].node or "?") for n in job.stopped[:4]}))
    return Missing(
        Text(
            f"why {names} stopped: the kernel log and the launcher's output of {nodes}",
            f"{names} 为何停止：{nodes} 的内核日志与启动器输出",
        ),
        Text(
            "dmesg -T > dmesg.txt    # on that node, as root; then scan it together with the logs",
            "dmesg -T > dmesg.txt    # 在该节点以 root 执行；再与日志一起诊断",
        ),
    )


def run_logs(diagnosis: Diagnosis) -> Missing | None:
    """Who is who stands in run/plog at INFO: with the level raised, ranks cannot be told from each other."""
    job = diagnosis.job
    if job is None or not job.waits or len(job.processes) < 2 or any(p.seats for p in job.processes):
        return None
    return Missing(
        Text(
            "run/plog with INFO lines: without the set-up of communicators ranks and devices cannot be told apart",
            "缺少 run/plog 的 INFO 日志：没有通信域创建记录就无法对应 rank 与设备",
        ),
        Text(
            "unset ASCEND_GLOBAL_LOG_LEVEL ASCEND_GLOBAL_EVENT_ENABLE    # defaults write run/plog; collect run/ as well as debug/",
            "unset ASCEND_GLOBAL_LOG_LEVEL ASCEND_GLOBAL_EVENT_ENABLE    # 默认会写 run/plog；请同时收集 run/ 与 debug/",
        ),
    )


def right_stack(diagnosis: Diagnosis) -> Missing | None:
    """Kernels run asynchronously: without blocking mode the Python stack names the wrong line."""
    kinds = {r.finding.entry.kind for r in diagnosis.roots[:1]}
    if (
        not kinds & {"device-exception", "device-timeout", "aicpu-exception", "wrapper"}
        and diagnosis.verdict != "inconclusive"
    ):
        return None
    if not (diagnosis.related or diagnosis.unexplained):
        return None
    at = diagnosis.situation
    if at.first("program") in ("native", "tool") or at.first("activity") in _WITHOUT_DEVICE:
        return None  # no Python stack to look at
    if any(r.finding.entry.confidence == "high" and r.finding.entry.role == "cause" for r in diagnosis.roots[:1]):
        return None
    return Missing(
        Text(
            "a stack that names the failing operator (kernels run asynchronously)",
            "缺少指向真正出错算子的调用栈（算子是异步执行的）",
        ),
        Text(
            "ASCEND_LAUNCH_BLOCKING=1 COMMAND    # slow: for one run only, not together with graph capture",
            "ASCEND_LAUNCH_BLOCKING=1 COMMAND    # 会变慢：只用于一次复现，不能与图捕获同时使用",
        ),
    )


RULES: tuple[Rule, ...] = (
    nothing_readable,
    missing_nodes,
    missing_ranks,
    stopped_early,
    run_logs,
    other_ranks,
    host_logs,
    right_stack,
)
