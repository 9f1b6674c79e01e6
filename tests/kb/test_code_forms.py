"""Where numbers are codes and where a signal ended a process: both stand in healthy logs as well."""

from __future__ import annotations

import re

import pytest

from kb.code_forms import of_code, of_exit

CODE = re.compile(of_code("507018")[0])
ROUND = re.compile(of_code("300000")[0])


@pytest.mark.parametrize(
    "line",
    [
        "error code is 507018", "ret=507018", "ret[507018]", "runtime result = 507018, device", "ACL_ERROR_RT_AICPU_EXCEPTION(507018)",
        "aclError:507018", '{"errorCode": 507018}', "retcode 507018", "failed with 507018", "return 507018.", "hcclRet -> 507018",
        "[507018][Error code unknown]", "error(507018)", "err: 507018", "rc=507018", "Error Code        : 507018", "errno[507018]",
        "failed, 507018", "error code from aclrtSynchronizeStream: 507018", "ErrCode=507018", "status=507018", "Error: [507018]",
        "return value is 507018", "error_code: (507018)", "errMsg: x, errCode 507018", "CANN failure 507018: ACL_ERROR",
    ],
)  # fmt: skip
def test_a_code_is_seen(line: str) -> None:
    """However software words it: the number has a name beside it."""
    assert CODE.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "INFO searching 507018 documents", "INFO retry budget 507018 ms", "retries 507018", "barcode 507018", "unicode: 507018",
        "encoded 507018 tokens", "opcode=507018", "[507018][TaskExecStage]", "error budget 507018 ms", "failed after 507018 ms",
        "errors=507018", "results: 507018", "postal code: 507018", "research 507018", "source 507018", "returned 507018 rows",
        "result = 507018 ms", "interpret 507018", "secret=507018", "failover 507018", "error rate 0.1, step 507018",
        "status=200 bytes=507018", "code=0 size=507018", "failed=0 total=507018", "error: pid 507018", "[ERROR] 507018 worker",
    ],
)  # fmt: skip
def test_an_amount_is_no_code(line: str) -> None:
    """`rc` in searching and `ret` in retry are no names, and a number that counts something is no code."""
    assert not CODE.search(line)


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("error code is 300000", True), ("ret = 300000", True), ("RuntimeError: [300000", True), ("CANN failure 300000: ACL", True),
        ("INFO searching 300000 documents", False), ("result: 300000", False), ("status = 300000", False), ("failed: 300000", False),
        ("returned 300000", False), ("error 300000", False), ("failed to pass monitoredBarrier in 300000 ms", False),
    ],
)  # fmt: skip
def test_a_round_number_wants_a_name(line: str, seen: bool) -> None:
    """Counts are round; codes that are round as well need the word `code`, `ret` or `errno`."""
    assert bool(ROUND.search(line)) is seen


@pytest.mark.parametrize(
    ("status", "line", "seen"),
    [
        (137, "traceback : Signal 9 (SIGKILL) received by PID 1760809", True),
        (137, "process 0 terminated with signal SIGKILL", True),
        (139, "died with <Signals.SIGSEGV: 11>", True),
        (143, "Process 1760800 got signal: 15", True),
        (137, "SendSIGKILL=yes", False),
        (143, "KillSignal=SIGTERM", False),
        (143, "sshd[811]: Received signal 15; terminating.", False),
        (143, "nginx: signal 15 (SIGTERM) received from 1, exiting", False),
        (143, "systemd-journald[410]: Received SIGTERM from PID 1 (systemd).", False),
        (143, "systemd-shutdown[1]: Sending SIGTERM to remaining processes...", False),
        (143, "WARN received SIGTERM indicating exit request", False),
        (143, "installed handlers for SIGINT and SIGTERM", False),
        (137, "os.kill(pid, signal.SIGKILL)", False),
    ],
)
def test_a_signal_that_ended_a_process(status: int, line: str, seen: bool) -> None:
    """What sets up, sends or obeys a signal is no death."""
    assert bool(re.search(of_exit(status)[0], line)) is seen
