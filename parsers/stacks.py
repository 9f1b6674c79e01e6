r"""Stacks of running processes, as py-spy, pystack, faulthandler, gdb, asys and torch_npu print them.

>>> [told] = read('''Process 12: python train.py
... Python v3.11.4 (/usr/bin/python3.11)
...
... Thread 12 (idle): "MainThread"
...     wait (threading.py:320)
...     fetch (train.py:41)
... ''')
>>> told.pid, told.command, told.threads[0].name, told.threads[0].frames
(12, 'python train.py', 'MainThread', (Frame(name='wait', file='threading.py', line=320), Frame(name='fetch', file='train.py', line=41)))

Whatever prints them: the innermost frame stands first here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from parsers.named import NamedTuple

MAX_FRAMES: Final = 200
MAX_THREADS: Final = 4096
MAX_TEXT: Final = 400


class Frame(NamedTuple):
    """One call. `line` is 0 where it is not told, as in native code; `file` may be a library."""

    name: str
    file: str
    line: int

    @property
    def told(self) -> str:
        return f"{self.file}:{self.line} {self.name}" if self.line else f"{self.name} ({self.file})" if self.file else self.name


class Thread(NamedTuple):
    """One thread, its innermost frame first. `active`: it was running; None where the printer does not say."""

    name: str
    frames: tuple[Frame, ...]
    active: bool | None = None
    gil: bool = False


class Stacks(NamedTuple):
    """The threads of one process, as one printer saw them."""

    pid: int | None
    rank: int | None
    command: str
    threads: tuple[Thread, ...]
    origin: str  # py-spy | pystack | faulthandler | gdb | asys | torch_npu
    fatal: str = ""  # why faulthandler printed them
    state: str = ""  # of a live process: what /proc calls it, or `gone`
    moved: bool | None = None  # of a live process that was looked at twice: did it stand elsewhere the second time?


_PROCESS = re.compile(r"(?:^|.*?[\]|] )Process (\d{1,9}): ?(.*)$")
_RANK = re.compile(r"^(?:\[(?:rank)?(\d{1,6})\]:? ?|(?:\[default(\d{1,6})\]:))")
_SPY_THREAD = re.compile(r'^Thread (?:0x[0-9A-Fa-f]+|\d+) \((active|idle)(\+gil)?\)(?:: "(.*)")?\s*$')
_SPY_FRAME = re.compile(r"^ {4}(\S.*?) \(([^()]*(?:\([^()]*\))?[^()]*)\)\s*$")
_SPY_PLACE = re.compile(r"^(.*?):(\d{1,7})$")
_FATAL = re.compile(r"^Fatal Python error: (.*)$|^Timeout \((.*)\)!$")
_FAULT_THREAD = re.compile(r"^(Current thread|Thread) 0x([0-9A-Fa-f]+)(?: \[(.*?)\])?(?: \(most recent call first\):|:)\s*$")
_FAULT_FRAME = re.compile(r'^  File "(.*)", line (\d{1,7}|\?\?\?) in (.*)$')
_NPU_PID = re.compile(r"^pid: (\d{1,9})\s*$")
_NPU_THREAD = re.compile(r"^thread (?:<(\w+)\(([^,]*),.*>|(\d+)):\s*$")
_NPU_FRAME = re.compile(r'^  File "(.*)", line (\d{1,7}), in (.*)$')
_PYSTACK_THREAD = re.compile(r"^Traceback for thread (\d+)(?: \((.*?)\))? \[(.*?)\].*\(most recent call last\):\s*$")
_PYSTACK_FRAME = re.compile(r'^    \((Python|C)\) File "(.*)", line (\d{1,7}|None), in (.*?)(?: \((.*)\))?$')
_GDB_THREAD = re.compile(r'^Thread \d+ \((?:Thread (?:0x)?[0-9A-Fa-f]+ )?\(?LWP (\d+)\)?\)?(?: "(.*)")?.*:?\s*$|^Thread \d+ \(LWP (\d+)\):\s*$')
_GDB_FRAME = re.compile(r"^#(\d{1,4}) +(?:0x[0-9a-fA-F]+ in )?([^\s(][^(]*?(?:<.*?>)?) ?\((.*?)\)?(?: at (.*?):(\d+)| from (.*))?\s*$")
_GDB_ATTACH = re.compile(r"(?:Attaching to (?:process|program: .*, process)|\[?process) (\d{1,9})")
_ASYS_PID = re.compile(r"^(?:\[PROCESS\].*?|\s*)(?:pid|process id|crash pid)\s*[:=]\s*(\d{1,9})", re.IGNORECASE)
_ASYS_THREAD = re.compile(r"^(?:\[?Thread|thread)\s*\d*\s*\(?(\d{1,9})[,):\] ]+(.*?)\)?[:\]]?\s*$", re.IGNORECASE)
_ASYS_FRAME = re.compile(r"^\s*#(\d{1,4}) +0x[0-9a-fA-F]+ (?:0x[0-9a-fA-F]+ )?(\S.*)$")


def read(text: str) -> tuple[Stacks, ...]:
    """All stacks in a text, whatever printed them; nothing where there are none."""
    if '"os_thread_id"' in text and (found := _spy_json(text)):
        return found
    reading = _Reading()
    for line in text.split("\n"):
        reading.line(line.rstrip("\r"))
    return reading.result()


class _Process:
    def __init__(self, origin: str, pid: int | None = None, command: str = "", rank: int | None = None) -> None:
        self.origin, self.pid, self.command, self.rank, self.fatal = origin, pid, command, rank, ""
        self.threads: list[_Thread] = []


class _Thread:
    def __init__(self, name: str, active: bool | None = None, gil: bool = False, backwards: bool = False) -> None:
        self.name, self.active, self.gil, self.backwards = name, active, gil, backwards
        self.frames: list[Frame] = []

    def made(self) -> Thread:
        return Thread(self.name[:MAX_TEXT], tuple(self.frames[::-1] if self.backwards else self.frames), self.active, self.gil)


class _Reading:
    """Line by line; a line that is of no form ends nothing: other output stands between stacks."""

    def __init__(self) -> None:
        self.processes: list[_Process] = []
        self.thread: _Thread | None = None
        self.rank: int | None = None
        self.attached: int | None = None
        self.count = 0

    def line(self, line: str) -> None:
        if not line or len(line) > 4096:
            return
        if (told := _RANK.match(line)) is not None:
            self.rank = int(told[1] or told[2])
            line = line[told.end() :]
        head = line[:1]
        if head == " " or head == "#":
            self._frame(line)
        else:
            self._head(line)

    def _head(self, line: str) -> None:
        if line.startswith("Thread ") and (m := _SPY_THREAD.match(line)) is not None:
            self._begin("py-spy", m[3] or "", m[1] == "active", gil=bool(m[2]))
        elif (m := _PROCESS.match(line)) is not None and "Process " in line[:200]:
            self.processes.append(_Process("py-spy", int(m[1]), m[2][:MAX_TEXT], self.rank))
            self.thread = None
        elif (m := _FAULT_THREAD.match(line)) is not None:
            self._begin("faulthandler", m[3] or m[2], None, gil=m[1] == "Current thread")
        elif (m := _FATAL.match(line)) is not None:
            self.processes.append(_Process("faulthandler", rank=self.rank))
            self.processes[-1].fatal = (m[1] or m[2])[:MAX_TEXT]
            self.thread = None
        elif (m := _NPU_PID.match(line)) is not None:
            self.processes.append(_Process("torch_npu", int(m[1]), rank=self.rank))
            self.thread = None
        elif (m := _NPU_THREAD.match(line)) is not None:
            self._begin("torch_npu", m[2] or m[3], None, backwards=True)
        elif (m := _PYSTACK_THREAD.match(line)) is not None:
            self._begin("pystack", m[2] or m[1], None, gil="Has the GIL" in m[3], backwards=True)
        elif line.startswith("Thread ") and (m := _GDB_THREAD.match(line)) is not None:
            self._begin("gdb", m[2] or m[1] or m[3], None)
        elif (m := _GDB_ATTACH.search(line)) is not None:
            self.attached = int(m[1])
        elif line.startswith("[PROCESS]") or (self.processes and self.processes[-1].origin == "asys" and line.startswith("[")):
            if line.startswith("[PROCESS]"):
                self.processes.append(_Process("asys", rank=self.rank))
            self.thread = None
        elif (m := _ASYS_THREAD.match(line)) is not None:
            self._begin("asys", m[2] or m[1], None)
        elif self.processes and self.processes[-1].origin == "asys" and (m := _ASYS_PID.match(line)) is not None:
            self.processes[-1].pid = int(m[1])

    def _begin(self, origin: str, name: str, active: bool | None, *, gil: bool = False, backwards: bool = False) -> None:
        last = self.processes[-1] if self.processes else None
        ended = last is not None and origin == "faulthandler" and last.rank != self.rank
        if last is None or last.origin != origin or ended:
            self.processes.append(_Process(origin, self.attached if origin == "gdb" else None, rank=self.rank))
        self.count += 1
        if self.count > MAX_THREADS:
            self.thread = None
            return
        self.thread = _Thread(name, active, gil, backwards)
        self.processes[-1].threads.append(self.thread)

    def _frame(self, line: str) -> None:
        if self.thread is None or len(self.thread.frames) >= MAX_FRAMES:
            return
        frame = _frame(self.processes[-1].origin, line)
        if frame is not None:
            self.thread.frames.append(frame)

    def result(self) -> tuple[Stacks, ...]:
        made = []
        for one in self.processes:
            threads = tuple(thread.made() for thread in one.threads if thread.frames)
            if threads:
                made.append(Stacks(one.pid, one.rank, one.command, threads, one.origin, one.fatal))
        return tuple(made)


def _frame(origin: str, line: str) -> Frame | None:
    if origin == "py-spy":
        return _spy_frame(line)
    if origin == "faulthandler" and (m := _FAULT_FRAME.match(line)) is not None:
        return Frame(m[3], m[1], int(m[2]) if m[2].isdigit() else 0)
    if origin == "torch_npu" and (m := _NPU_FRAME.match(line)) is not None:
        return Frame(m[3], m[1], int(m[2]))
    if origin == "pystack" and (m := _PYSTACK_FRAME.match(line)) is not None:
        return Frame(m[4], m[2], int(m[3]) if m[3].isdigit() else 0)
    if origin == "gdb" and (m := _GDB_FRAME.match(line)) is not None:
        return Frame(m[2].strip(), m[4] or m[6] or "", int(m[5]) if m[5] else 0)
    if origin == "asys" and (m := _ASYS_FRAME.match(line)) is not None:
        words = m[2].split()
        library = next((word for word in words if ".so" in word or word.startswith("/")), "")
        return Frame(next((word for word in words if word != library), library), library, 0)
    return None


def _spy_frame(line: str) -> Frame | None:
    m = _SPY_FRAME.match(line)
    if m is None:
        return None
    place = _SPY_PLACE.match(m[2])
    return Frame(m[1], place[1], int(place[2])) if place else Frame(m[1], m[2], 0)


def _spy_json(text: str) -> tuple[Stacks, ...]:
    """`py-spy dump --json`: one list of threads a process; several may stand one behind the other."""
    decoder, at = json.JSONDecoder(), 0
    found: list[Stacks] = []
    while (at := text.find("[", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            if at > 4096 and not found:
                break
            continue
        found += _of_spy(value)
    return tuple(found)


def _of_spy(value: Any) -> Iterator[Stacks]:
    by_pid: dict[int, list[Thread]] = {}
    command: dict[int, str] = {}
    for row in value if isinstance(value, list) else ():
        if isinstance(row, dict) and isinstance(row.get("frames"), list) and isinstance(pid := row.get("pid"), int):
            frames = tuple(_json_frames(row["frames"]))
            if frames:
                thread = Thread(str(row.get("thread_name") or "")[:MAX_TEXT], frames, bool(row.get("active")), bool(row.get("owns_gil")))
                by_pid.setdefault(pid, []).append(thread)
            info = row.get("process_info")
            if isinstance(info, dict):
                command[pid] = str(info.get("command_line") or "")[:MAX_TEXT]
    for pid, threads in by_pid.items():
        yield Stacks(pid, None, command.get(pid, ""), tuple(threads[:MAX_THREADS]), "py-spy")


def _json_frames(rows: Iterable[Any]) -> Iterator[Frame]:
    for number, row in enumerate(rows):
        if number >= MAX_FRAMES:
            return
        if isinstance(row, dict):
            line = row.get("line")
            file = row.get("filename") or row.get("short_filename") or ""
            yield Frame(str(row.get("name"))[:MAX_TEXT], str(file)[:MAX_TEXT], line if isinstance(line, int) and line > 0 else 0)


def written(one: Stacks) -> str:
    """Stacks in one line of JSON; `again` is the inverse."""
    return json.dumps([one.pid, one.rank, one.command, one.threads, one.origin, one.fatal, one.state, one.moved], separators=(",", ":"))


def again(text: str) -> Stacks:
    """What `written` wrote; anything else is a `ValueError`."""
    try:
        pid, rank, command, threads, origin, fatal, state, moved = json.loads(text)
        made = tuple(Thread(name, tuple(Frame(*frame) for frame in frames), active, gil) for name, frames, active, gil in threads)
        return Stacks(pid, rank, command, made, origin, fatal, state, moved)
    except TypeError as cause:
        raise ValueError("no stacks") from cause
