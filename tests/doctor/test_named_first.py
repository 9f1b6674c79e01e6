"""Whom a launcher names as the first that failed is no victim, however little its last line says."""

from __future__ import annotations

import pytest

from doctor.api import report

LOG = """\
[rank1]: RuntimeError: frob:xyzzy.cpp:3 NPU function error: aclFrob, error code is 507899
[rank1]: [ERROR] 2026-01-07-00:33:19 (PID:4242, Device:1, RankID:1) ERR00100 PTA call acl api failed
W0107 00:33:26.410000 281473311608864 torch/distributed/elastic/multiprocessing/api.py:858] Sending process 4241 closing signal SIGTERM
E0107 00:33:27.662000 281473311608864 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: {exit}) local_rank: 1 (pid: {pid}) of binary: /opt/env/bin/python
"""


@pytest.mark.parametrize(("status", "pid", "named"), [("1", "4242", True), ("-11", "4242", True), ("1", "4240", False), ("-15", "4242", False)])
def test_the_process_that_failed_first_is_no_victim(status: str, pid: str, named: bool) -> None:
    """Neither are the logs of others asked for; one that the launcher stopped, or another one, stays a victim."""
    made = report(LOG.format(exit=status, pid=pid))
    root = next(one for one in made["findings"] if one["id"] == "RTS029")
    assert any("names this process" in one["en"] for one in root["doubts"]) is named
    assert (root["action"]["class"] == "locate") is named


SEVERAL = """\
RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is HcclAllreduce.
[ERROR] 2026-05-18-09:10:26 (PID:4243, Device:3, RankID:3) ERR00100 PTA call acl api failed
RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is HcclAllreduce.
[ERROR] 2026-05-18-09:10:26 (PID:4242, Device:1, RankID:1) ERR00100 PTA call acl api failed
[2026-05-18 09:10:47,905] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 1 (pid: {pid}) of binary: /opt/env/bin/python
"""


@pytest.mark.parametrize(("pid", "named"), [("4243", True), ("4242", False)])
def test_of_several_that_say_the_same_the_one_that_is_shown_counts(pid: str, named: bool) -> None:
    root = next(one for one in report(SEVERAL.format(pid=pid))["findings"] if one["id"] == "RTS703")
    assert any("names this process" in one["en"] for one in root["doubts"]) is named
