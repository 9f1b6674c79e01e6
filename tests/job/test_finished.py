"""A rank that came to its end while the others went on: nobody failed, and they wait for it."""

from __future__ import annotations

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover

COMM = "10.3.0.1%eth0_60000_0_1775100000000001"
ENDED = "[INFO] HCCL(7003,python):2026-04-02-09:09:11.402.118 [op_base.cc:2231] [7003][HCCL_TRACE]HcclCommDestroy complete, op_baseHcclDestroy success, take time [381224]us, rankNum[4], rank[3]\n"


def _known(rank: int) -> str:
    return (
        f"[INFO] HCCL(700{rank},python):2026-04-02-09:00:0{rank}.655.782 [topoinfo_detect.cc:506] [700{rank}][HCCL_TRACE][Flat]SetupAgent rankNum[4], rank[{rank}], "
        f"rootInfo identifier[{COMM}], server[10.3.0.1%eth0], serverPort[60000]deviceType[2], logicDevId[{rank}], phydevId[{rank}], deviceIp[10.20.0.{rank}]\n"
    )


def _waits(rank: int, nth: str = "9{rank}7") -> str:
    head = f"[ERROR] HCCL(700{rank},python):2026-04-02-09:40:3{rank}.103.511 [task_exception_handler.cc:452][700{rank}][TaskExceptionHandler][Callback]Task run failed, "
    return (
        f"{head}base information is streamID:[5], taskID[4001], taskType[Notify Wait], tag[AllReduce_{COMM}], index[{nth.format(rank=rank)}], AlgType(level 0-1-2):[fullmesh-null-ring].\n"
        f"{head}para information is notify id:[0x0000000000000058], stage:[ffffffff], remote rank:[3].\n"
        f"{head}groupRank information is group:[{COMM}], rankSize[4], rankId[{rank}].\n"
    )


def _diagnosed(bench: Bench, last: str) -> Diagnosis:
    text = "".join(map(_known, range(4))) + last + "".join(map(_waits, range(3)))
    return conclude((bench._scanner.scan(discover.given_text(text, "all.log")),), bench.knowledge)


def _verdict(bench: Bench, last: str) -> tuple[str, str]:
    job = _diagnosed(bench, last).job
    assert job is not None
    return job.roots[0].verdict, job.roots[0].label


def test_who_came_to_its_end_is_waited_for(bench: Bench) -> None:
    """Whatever those who are left asked for: that their counters differ says nothing."""
    assert _verdict(bench, ENDED) == ("finished", "rank 3")


def test_who_ended_after_the_others_gave_up_did_not_leave_them(bench: Bench) -> None:
    assert _verdict(bench, ENDED.replace("09:09:11", "09:59:11"))[0] != "finished"


def test_counters_that_differ_are_told_where_nobody_ended(bench: Bench) -> None:
    """Where two agree and one does not; of counters that are all different none is the odd one."""
    text = "".join(map(_known, range(4))) + "".join(_waits(rank, "91" if rank else "90") for rank in range(3))
    job = conclude((bench._scanner.scan(discover.given_text(text, "all.log")),), bench.knowledge).job
    assert job is not None
    assert (job.roots[0].verdict, job.roots[0].label) == ("mismatch", "rank 0")
    assert _verdict(bench, "")[0] != "mismatch"


ALONE = "[EVENT] HCCL(7003,python):2026-04-02-09:00:02.640.021 [externalinput.cc:271] [7003]environmental variable HCCL_EXEC_TIMEOUT is not set, default value is [1836]s\n"
STOPPED = "W0402 09:41:31.100000 281470 torch/distributed/elastic/multiprocessing/api.py:704] Sending process 7003 closing signal SIGTERM\n"


def _of_one_without_a_rank(bench: Bench, screen: str) -> Diagnosis:
    texts = {f"plog-700{rank}_1.log": _known(rank) + _waits(rank) for rank in range(3)}
    texts |= {"plog-7003_1.log": ALONE, "console.log": screen}
    return conclude([bench._scanner.scan(discover.given_text(text, name)) for name, text in texts.items()], bench.knowledge)


def test_of_as_many_processes_as_ranks_the_last_is_known(bench: Bench) -> None:
    """Who prints no rank is not without a log; and whom the launcher had to stop in the end was alive all the time."""
    job = _of_one_without_a_rank(bench, STOPPED).job
    assert job is not None
    assert (job.roots[0].label, job.roots[0].verdict, job.missing) == ("rank 3", "stuck", ())
    job = _of_one_without_a_rank(bench, "").job
    assert job is not None
    assert (job.roots[0].label, job.roots[0].verdict) == ("rank 3", "silent")
