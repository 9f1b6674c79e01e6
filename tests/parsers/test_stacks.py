"""Stacks of every printer are read: whoever printed them, the innermost frame stands first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.stacks import Frame, again, read, written

SPY = """Process 4711: /usr/bin/python3 train.py --local-rank 3
Python v3.11.7 (/usr/bin/python3.11)

Thread 4711 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2806)
    step (train.py:41)
    <module> (train.py:88)
Thread 0x7F97E34A71F5 (active+gil): "w1"
    clock_nanosleep (libc.so.6)
    inner (slp.py:3)
"""
SPY_JSON = """[{"pid": 9, "thread_id": 1, "thread_name": "MainThread", "os_thread_id": 9, "active": false, "owns_gil": false,
"frames": [{"name": "step", "filename": "/job/train.py", "module": null, "short_filename": "train.py", "line": 41, "locals": null}],
"process_info": null}]"""
FAULT = """Timeout (0:00:30)!
Thread 0x00007f9db4028b80 (most recent call first):
  File "/job/train.py", line 41 in step
  File "/job/train.py", line 88 in <module>
"""
CRASH = """Fatal Python error: Segmentation fault

Current thread 0x00007f9db4028b80 [python] (most recent call first):
  File "/job/train.py", line 41 in step
"""
NPU = """pid: 4711
thread <_MainThread(MainThread, started 140085279030144)>:
  File "/job/train.py", line 88, in <module>
    main()
  File "/job/train.py", line 41, in step
    dist.all_reduce(x)
"""
PYSTACK = """Traceback for thread 4711 (python) [Has the GIL] (most recent call last):
    (C) File "../sysdeps/x86_64/start.S", line 115, in _start (/usr/bin/python3.11)
    (Python) File "/job/train.py", line 88, in <module>
        main()
    (Python) File "/job/train.py", line 41, in step
        dist.all_reduce(x)
"""
GDB = """[Inferior process 4711 attached]
Attaching to process 4711

Thread 2 (Thread 0x7f97e (LWP 4720) "hccl_watchdog"):
#0  0x00007f97e3527a in pthread_cond_wait () from /lib/libc.so.6
#1  0x00007f97e3527b in c10d_npu::ProcessGroupHCCL::heartbeatMonitor() (this=0x1) at ProcessGroupHCCL.cpp:900

Thread 1 (Thread 0x7f97f (LWP 4711) "python"):
#0  0x00007f97e3527c in aclrtSynchronizeStream () from /usr/local/Ascend/lib64/libascendcl.so
#1  0x00007f97e3527d in main ()
"""


def test_py_spy() -> None:
    """Its text, with native frames among the others."""
    [told] = read(SPY)
    assert (told.pid, told.origin, [t.name for t in told.threads]) == (4711, "py-spy", ["MainThread", "w1"])
    assert told.threads[0].frames[:2] == (Frame("all_reduce", "torch/distributed/distributed_c10d.py", 2806), Frame("step", "train.py", 41))
    assert (told.threads[0].active, told.threads[1].active, told.threads[1].gil) == (False, True, True)
    assert told.threads[1].frames[0] == Frame("clock_nanosleep", "libc.so.6", 0)


@pytest.mark.parametrize(("text", "origin"), [(SPY_JSON, "py-spy"), (FAULT, "faulthandler"), (CRASH, "faulthandler"), (NPU, "torch_npu"), (PYSTACK, "pystack")])
def test_the_innermost_frame_stands_first(text: str, origin: str) -> None:
    """Some print it last."""
    [told] = read(text)
    assert (told.origin, told.threads[0].frames[0]) == (origin, Frame("step", "/job/train.py", 41))


def test_why_faulthandler_printed() -> None:
    """A time-out is no crash."""
    assert [one.fatal for text in (FAULT, CRASH) for one in read(text)] == ["0:00:30", "Segmentation fault"]


def test_gdb() -> None:
    """Threads of a process, the first one last."""
    [told] = read(GDB)
    assert (told.pid, [t.name for t in told.threads]) == (4711, ["hccl_watchdog", "python"])
    assert told.threads[1].frames[0] == Frame("aclrtSynchronizeStream", "/usr/local/Ascend/lib64/libascendcl.so", 0)
    assert told.threads[0].frames[1] == Frame("c10d_npu::ProcessGroupHCCL::heartbeatMonitor", "ProcessGroupHCCL.cpp", 900)


def test_ranks_that_a_launcher_prints_before_lines() -> None:
    """Each rank is a process of its own, also where the printer names none."""
    text = "".join(f"[rank{rank}]: {line}\n" for rank in (0, 3) for line in FAULT.splitlines())
    assert [one.rank for one in read(text)] == [0, 3]


def test_several_processes_in_one_text() -> None:
    """As a loop over pids prints them."""
    assert [one.pid for one in read(SPY + "\n" + SPY.replace("4711", "4712"))] == [4711, 4712]


@pytest.mark.parametrize("text", [SPY, SPY_JSON, FAULT, CRASH, NPU, PYSTACK, GDB])
def test_what_is_written_is_read_again(text: str) -> None:
    """Stacks travel as text."""
    told = read(text)
    assert told
    assert tuple(again(written(one)) for one in told) == told


@given(st.lists(st.sampled_from((SPY + SPY_JSON + FAULT + CRASH + NPU + PYSTACK + GDB).splitlines()) | st.text(max_size=40), max_size=40))
@settings(deadline=None, max_examples=120)
def test_any_text_is_read_without_a_fault(lines: list[str]) -> None:
    """Torn, mixed and foreign texts give what can be read of them."""
    for one in read("\n".join(lines)):
        assert one.threads
        assert all(thread.frames for thread in one.threads)
