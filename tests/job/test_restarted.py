"""A job that was restarted failed twice: what ended the first attempt is no consequence of what ended the second."""

from __future__ import annotations

import pytest

from doctor.api import diagnose
from doctor.job.job import Story
from doctor.judge import nearness, relate
from kb.knowledge import Knowledge

ATTEMPTS = """\
EI0013: [PID: 5101] 2026-03-02-09:02:10.100.100 An error CQE occurred during operator execution. Local information: server 10.0.0.1, device ID 3, device IP 192.168.1.3. Peer information: server 10.0.0.2, device ID 3, device IP 192.168.2.3.
E0302 09:02:26.220 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 5101) of binary: /opt/py/bin/python
I0302 09:02:27.000 torch/distributed/elastic/agent/server/api.py:889] [default] Worker group FAILED. 2/3 attempts left; will restart worker group
EJ0001: [PID: 6101] 2026-03-02-09:02:40.100.100 Failed to initialize the HCCP process. Reason: Maybe the last training process is running.
[rank3]: RuntimeError: create:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:80 HCCL function error: HcclCommInitRootInfo, error code is 7
"""


def roots(text: str, knowledge: Knowledge) -> list[str]:
    return [r.finding.entry.code for r in diagnose(text, knowledge=knowledge).roots]


def test_the_first_attempt_keeps_its_own_fault_and_is_told_first(knowledge: Knowledge) -> None:
    assert roots(ATTEMPTS, knowledge)[:2] == ["HCL082", "HCL055"]


def test_whom_others_wait_for_leads_whatever_came_earlier(knowledge: Knowledge) -> None:
    """Nobody waits for the first fault, but for the rank of the second: the story of the job decides."""
    waited = Story({"HCL055": 0}, {}, waited=True)
    findings = [r.finding for r in diagnose(ATTEMPTS, knowledge=knowledge).roots]
    assert next(r.finding.entry.code for r in relate.relate(findings, waited) if r.role == "root") == "HCL055"


def test_lines_that_are_a_little_late_are_of_one_attempt(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks write into one stream: what follows from a fault may stand, and be stamped, shortly before it."""
    untold = "".join(row for row in ATTEMPTS.splitlines(keepends=True) if "will restart" not in row)
    assert "HCL082" in roots(untold, knowledge)
    together = untold.replace("09:02:10", "09:02:39")
    assert "HCL082" not in roots(together, knowledge)
    monkeypatch.setattr(nearness, "INTERLEAVED", 0.5)
    assert "HCL082" in roots(together, knowledge)
