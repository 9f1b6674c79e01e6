"""What kind of line it is, and whose."""

from __future__ import annotations

import pytest

from parsers.line import read_line
from parsers.parsed import seconds

KINDS = {
    "plog": (
        "[ERROR] HCCL(60570,):2025-12-04-14:46:07.911.312 [hccl_socket.cc:106] [60570][Init]x",
        "[ERROR]TEFUSION(1,python):2025-12-04-14:46:07.911.312 [a.cc:1]x",
        "[INFO]HSM:1970-01-01 00:02:17.408 x",
        "half a line[ERROR] RUNTIME(8,python):2026-03-02-10:21:44.118.311 [a.cc:1]82 F:x",
        "        [ERROR] RUNTIME(8,python):2026-03-02-10:21:44.118.311 [a.cc:1]82 F:x",
    ),
    "message": (
        "EZ9999: Inner Error!", "E39999  Aicpu kernel execute failed", "EI0006: Getting socket times out.",
        "EZ9999[PID: 17833] 2025-12-23-07:36:19.237.396 (EZ9999):  x", "[PID: 379] 2026-05-01-10:59:07.429.194 Title(EL0001): x",
        "EZ9999: 2025-04-02-00:54:30.240.432  Parse dynamic kernel config fail.", "[Error]: The vector core execution is abnormal.",
        "[ERROR] 2025-04-29-18:46:11 (PID:1066924, Device:1, RankID:-1) ERR00100 PTA call acl api failed.",
        "        Possible Cause: x", "        Solution: x", "        TraceBack (most recent call last):",
        "       ctx is NULL![FUNC:GetDevErrMsg][FILE:api_impl.cc][LINE:123]", "[rank0]: EZ9999: Inner Error!",
        "(Worker_TP0 pid=3) ERROR 03-25 06:14:02 [a.py:8] EZ9999: Inner Error!", "Warning: EZ9999: Inner Error!", "worker-1: EH9999: Inner Error!",
        "        task happen error.[FUNC:F][FILE:a.cc][LINE:1776][THREAD:123358]",
        "/src/ggml-cann.cpp:61: CANN error: E89999: Inner Error!",
    ),
    "traceback": (
        "Scheduler hit an exception: Traceback (most recent call last):",
        "Traceback (most recent call last):", '  File "a.py", line 3, in f', "    ^^^^", "RuntimeError: x", "AssertionError",
        "torch.OutOfMemoryError: NPU out of memory.", "ray.exceptions.RayTaskError(RuntimeError): x", "KeyboardInterrupt",
        "Exception: x", "terminate called after throwing an instance of 'c10::Error'", "  what():  x", "Fatal Python error: Aborted",
        "Segmentation fault (core dumped)", "python: symbol lookup error: /a.so: undefined symbol: b",
        "npu-smi: error while loading shared libraries: libc_sec.so: cannot open", "frame #3: c10::Error + 0x1 (0x2 in a.so)",
        "(Worker_TP0 pid=3) ERROR 03-25 06:14:02 [a.py:8] ValueError: x", "  | ValueError: x",
        "During handling of the above exception, another exception occurred:",
    ),
    "kernel": (
        "[12345.678901] [ascend] x", "<3>[    0.000001] x", "[Tue Mar  3 09:14:46 2026] Out of memory: Killed process 1 (python)",
        "Mar  3 10:11:12 host kernel: [ 12.200000] x", "2026-03-03T10:11:12+0800 host kernel: x", "Mar  3 10:11:12 host sshd[12]: x",
    ),
    "shell": (
        "root@host:/x# npu-smi info", "(compute) HwHiAiUser@orangepi:~$ ls", "[user@host dir]$ ls", "(base) root@h:~# x", "$ ls", "[ma-user work]$npu-smi info",
        "I have no name!@pod-0:/$ id", "bash-5.1$ ls", ">>> import torch",
    ),
    "launcher": (
        "INFO 03-25 06:14:02 [core.py:8] x", "2026-01-02 03:04:05,123 - INFO - x", "[WARNING] careful", "INFO:     x",
        "[rank0]:[W515 09:40:12.302912713 compiler_depend.ts:57] Warning: x",
    ),
    "text": (
        "", "   ", "step 10 loss 2.3", "[rank0]: x", "| 0     910B3 | OK |", "E is a letter", "Error rate: 3", "x.Error is a name",
        "Errors: none", "$HOME is set", "PID: 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "raw"), [(kind, raw) for kind, raws in KINDS.items() for raw in raws])
def test_kind(kind: str, raw: str) -> None:
    assert read_line(raw).kind == kind


def test_torch_npu_error_line_names_process_device_and_rank() -> None:
    line = read_line(
        "(Worker pid=9) [ERROR] 2025-04-29-18:46:11 (PID:1066924, Device:1, RankID:-1) ERR00100 PTA call failed"
    )
    assert (line.pid, line.device, line.rank, line.worker) == (1066924, 1, None, "Worker")
    assert (line.level, line.time) == ("error", "2025-04-29T18:46:11.000000")


def test_no_device_yet_is_no_device() -> None:
    assert read_line("[ERROR] 2025-04-29-18:46:11 (PID:1, Device:-1, RankID:3) ERR99999 UNKNOWN").device is None


@pytest.mark.parametrize(
    "raw",
    [
        "EZ9999: [PID: 5] 2026-03-02-10:21:44.118.305 x",
        "EZ9999[PID: 5] 2026-03-02-10:21:44.118.305 (EZ9999):  x",
        "[PID: 5] 2026-03-02-10:21:44.118.305 Title(EL0001): x",
        "RuntimeError: call aclnnCast failed, detail:EZ1001: [PID: 5] 2026-03-02-10:21:44.118.305 x",
    ],
)
def test_message_time_and_process(raw: str) -> None:
    assert (read_line(raw).pid, read_line(raw).time) == (5, "2026-03-02T10:21:44.118305")


def test_a_component_of_mindcluster_tells_the_time_of_its_line() -> None:
    """The head stays in the text: who reads it knows which file of which component spoke."""
    raw = "[WARN]     2026/10/31 16:41:00.643290 17      deviceswitch/ascend_switch.go:190    switch subscribe got fault"
    line = read_line(raw)
    assert (line.time, line.level, line.text) == ("2026-10-31T16:41:00.643290", "warning", raw)


def test_the_head_of_the_line_wins_over_its_launcher() -> None:
    line = read_line(
        "(Worker_TP1 pid=7) ERROR 03-25 06:14:02 [a.py:8] [INFO] HCCL(9,python):2026-03-02-10:21:44.118.311 [b.cc:1] [11]x"
    )
    assert (line.kind, line.pid, line.level, line.module) == ("plog", 9, "info", "HCCL")
    assert line.worker == "Worker_TP1"


def test_a_journal_line_of_a_service_is_what_the_service_wrote() -> None:
    line = read_line(
        "Mar  3 10:11:12 host docker[12]: [ERROR] HCCL(9,python):2026-03-02-10:21:44.118.311 [b.cc:1] [11]x"
    )
    assert (line.kind, line.pid) == ("plog", 9)
    assert read_line("Mar  3 10:11:12 host dockerd[12]: pulling").pid == 12


def test_seconds_count_over_a_leap_day() -> None:
    assert seconds("2024-03-01T00:00:00.250000") - seconds("2024-02-28T23:59:59.000000") == 86401.25
    assert seconds("2025-03-01T00:00:00.000000") - seconds("2025-02-28T23:59:59.000000") == 1
    assert seconds("2101-01-01T00:00:00.000000") - seconds("2100-01-01T00:00:00.000000") == 365 * 86400


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        ("Aug 11 11:46:12 node-7 serve.sh[204]: the weights are of another model", "text", "the weights are of another model"),
        ("2026-05-01T10:00:00+0800 node-7 serve.sh[71]:   File \"/a/b.py\", line 3, in load", "traceback", '  File "/a/b.py", line 3, in load'),
        ("Jan 13 09:12:51 node-7 sshd[4410]: PAM unable to dlopen(pam_fprintd.so)", "kernel", "Jan 13 09:12:51 node-7 sshd[4410]: PAM unable to dlopen(pam_fprintd.so)"),
        ("Jan 13 09:12:51 node-7 kernel: [12.3] davinci: lost", "kernel", "Jan 13 09:12:51 node-7 kernel: [12.3] davinci: lost"),
    ],
)
def test_what_a_service_writes_is_no_line_of_the_system(raw: str, kind: str, text: str) -> None:
    """Daemons of the system are: what they try and report is no job's output."""
    line = read_line(raw)
    assert (line.kind, line.text) == (kind, text)
