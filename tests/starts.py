"""Starts of the command that cost little: copies of one process that has imported it already.

A start of Python with the whole program takes a third of a second of a processor, and the suite makes a thousand of them. The
first process of a checkout is kept; each call is a copy of it (a fork) with its own folder, environment and streams, that runs
`doctor.__main__.run` as `python -m doctor` does and ends with its code. What one copy had to import, later ones find imported, and
the patterns that it compiled in the cache of `re`, where they look before they compile.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import marshal
import os
import pty
import re
import select
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests_support import HANG_S

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 1 << 20  # bytes of a call: arguments and environment
PYTHONS_OWN = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "MALLOC")  # read by the interpreter before any code runs: such a call is a process of its own
_OURS = ("doctor", "kb", "parsers", "regex", "rapidfuzz", "yaml", "zstandard")  # not hyperscan: it matters whether that is loaded
_READS_THE_ENVIRONMENT = ("doctor.fleet", "doctor.commands.fleet")  # ClusterShell does, when it is imported

# The command for a shell: it hands its own streams over, and ends as the copy does.
PROGRAM = """\
import json, os, socket, sys
if {{n: v for n, v in os.environ.items() if n.startswith({own!r})}} != {told!r} or os.path.exists("doctor") and not os.path.samefile(".", {root!r}):
    os.execv({python!r}, [{python!r}, "-m", "doctor", *sys.argv[1:]])
asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asked.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {longest})
asked.connect({address!r})
socket.send_fds(asked, [json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode("utf-8", "surrogatepass")], [0, 1, 2])
sys.exit(int(asked.recv(64)) % 256)
"""


# Whatever this machine prefers: what a thousand starts import is compiled once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def told(environment: Mapping[str, str]) -> dict[str, str]:
    """What the interpreter itself reads of an environment; where the locale is C.UTF-8, its UTF-8 mode is nothing else."""
    read = {name: value for name, value in environment.items() if name.startswith(PYTHONS_OWN)}
    locale = read.get("LC_ALL") or read.get("LC_CTYPE") or read.get("LANG")
    return {name: value for name, value in read.items() if (name, value, locale) != ("PYTHONUTF8", "1", "C.UTF-8")}


_TOLD = told(os.environ)  # before any test changes it
_ON_TERMINALS = told({**_TOLD, "LC_ALL": "C.UTF-8"})


def command(args: Sequence[str], stdin: bytes = b"", cwd: Path = ROOT, environment: Mapping[str, str] = os.environ) -> subprocess.CompletedProcess[bytes]:
    """What the command says and ends with: by a copy where that is the same, else by a process of its own."""
    if not fits(cwd, environment):
        return subprocess.run([sys.executable, "-m", "doctor", *args], input=stdin, capture_output=True, timeout=HANG_S, cwd=cwd, env=environment, check=False)
    return copied(args, stdin, cwd, environment)


def fits(cwd: Path, environment: Mapping[str, str]) -> bool:
    """Would a process of its own be the same: is its interpreter told the same?"""
    return cwd.is_dir() and told(environment) == _TOLD


def _program(folder: Path) -> Path:
    """The checkout whose program `python -m doctor` is in a folder: its own, or the one that is installed."""
    return folder if (folder / "doctor").exists() else ROOT


def copied(args: Sequence[str], stdin: bytes, cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = (os.pipe() for _ in range(3))
    call = _call(args, cwd, environment)
    said: dict[int, bytes] = {}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        _ask(asked, _first(_program(cwd)), call, (theirs_in, theirs_out, theirs_err))
        for end in (theirs_in, theirs_out, theirs_err):
            os.close(end)
        work = [threading.Thread(target=_write, args=(ours_in, stdin)), *(threading.Thread(target=_read, args=(end, said)) for end in (ours_out, ours_err))]
        for thread in work:
            thread.start()
        status = int(asked.recv(64))
    for thread in work:
        thread.join(HANG_S)
    return subprocess.CompletedProcess([sys.executable, "-m", "doctor", *args], status, said[ours_out], said[ours_err])


def _call(args: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> bytes:
    return json.dumps([list(args), str(cwd), dict(environment)]).encode("utf-8", "surrogatepass")


def _ask(asked: socket.socket, first: _First, call: bytes, ends: Sequence[int]) -> None:
    asked.settimeout(HANG_S)
    asked.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST)
    asked.connect(first.address)
    socket.send_fds(asked, [call], ends)


def fits_on_terminal(cwd: Path, environment: Mapping[str, str]) -> bool:
    """Would a process of its own on a terminal be the same as a copy?"""
    return cwd.is_dir() and told(environment) == _ON_TERMINALS


class OnTerminal:
    """A copy whose streams are a terminal, which is not the one that signals it; it is asked as a `Popen` is."""

    def __init__(self, args: Sequence[str], ends: Sequence[int], cwd: Path, environment: Mapping[str, str]) -> None:
        self._asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _ask(self._asked, _first(_program(cwd), True), _call(args, cwd, environment), ends)

    def poll(self) -> int | None:
        """Its code when it has ended."""
        ended = select.select([self._asked], [], [], 0)[0]
        return int(self._asked.recv(64, socket.MSG_PEEK)) if ended else None

    def wait(self) -> int:
        with self._asked:
            return int(self._asked.recv(64))


def program(folder: Path) -> Path:
    """`npu-doctor` for shells, in a folder for their PATH."""
    folder.mkdir(exist_ok=True)
    first, script, path = _first(ROOT), folder / "npu-doctor.py", folder / "npu-doctor"
    script.write_text(PROGRAM.format(own=PYTHONS_OWN, told=_TOLD, root=str(ROOT), python=sys.executable, longest=LONGEST, address=first.address))
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {script} "$@"\n')
    path.chmod(0o755)
    return path


def close() -> None:
    """The first processes end."""
    for first in _FIRST.values():
        os.close(first.kept)
        shutil.rmtree(Path(first.address).parent)
    _FIRST.clear()


class _First(NamedTuple):
    """Where the process that is copied is asked, and our end of its standard input: it ends with that."""

    address: str
    kept: int


_FIRST: dict[tuple[Path, bool], _First] = {}


def _first(root: Path, on_terminal: bool = False) -> _First:
    if (root, on_terminal) not in _FIRST:
        _FIRST[root, on_terminal] = _started(root, on_terminal)
    return _FIRST[root, on_terminal]


def _started(root: Path, on_terminal: bool) -> _First:
    """When the first call of a checkout is made. Its streams are of the kind that a call's are: they find out once what they may do."""
    address = str(Path(tempfile.mkdtemp(prefix="starts-")) / "calls")
    # No child of the tests: some of them hold that none is left.
    apart = "os.setsid(); " if on_terminal else ""
    code = f"import os, sys; os.fork() and os._exit(0); {apart}sys.path[:0] = [{str(root)!r}, {str(ROOT)!r}, {str(ROOT / 'tests')!r}]; from tests import starts; starts.serve()"
    kept, stdin = pty.openpty() if on_terminal else os.pipe()[::-1]
    said = stdin if on_terminal else subprocess.PIPE
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as calls:
        calls.bind(address)
        calls.listen(64)
        environment = {**{name: value for name, value in os.environ.items() if not name.startswith(PYTHONS_OWN)}, **(_ON_TERMINALS if on_terminal else _TOLD)}
        call = [sys.executable, "-c", code, str(calls.fileno())]
        with subprocess.Popen(call, pass_fds=[calls.fileno()], stdin=stdin, stdout=said, stderr=said, cwd=root, env=environment):
            os.close(stdin)
    return _First(address, kept)


def _write(end: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(end, "wb") as stream:  # who has read enough reads no further
        stream.write(data)


def _read(end: int, said: dict[int, bytes]) -> None:
    with open(end, "rb") as stream:
        said[end] = stream.read()


class _Call(NamedTuple):
    """A copy at work: who waits for its code, and what it had to import and to compile, as far as it has said."""

    asked: socket.socket
    pid: int
    learnt: list[bytes]


def serve() -> None:
    """Calls as they come, several at a time, until whoever started this is gone."""
    import doctor.__main__
    import doctor.cli  # noqa: F401 - what every call needs

    re._MAXCACHE = 1 << 16  # type: ignore[attr-defined]
    gc.freeze()  # what is imported stays: no copy looks through it for garbage, which would copy its memory as well
    with socket.socket(fileno=int(sys.argv[1])) as calls, selectors.DefaultSelector() as events:
        events.register(0, selectors.EVENT_READ)
        events.register(calls, selectors.EVENT_READ)
        while True:
            for event, _ in events.select():
                if event.fd == 0:
                    return
                if event.fileobj is calls:
                    heard, call = _begun(calls)
                    events.register(heard, selectors.EVENT_READ, call)
                elif part := os.read(event.fd, 1 << 16):
                    event.data.learnt.append(part)
                else:
                    events.unregister(event.fd)
                    os.close(event.fd)
                    _ended(event.data)


def _begun(calls: socket.socket) -> tuple[int, _Call]:
    asked, _ = calls.accept()
    words, ends, _, _ = socket.recv_fds(asked, LONGEST, 3)
    heard, telling = os.pipe()
    pid = os.fork()
    if not pid:
        _be(json.loads(words), ends, telling)
    for end in (*ends, telling):
        os.close(end)
    return heard, _Call(asked, pid, [])


def _ended(call: _Call) -> None:
    _, status = os.waitpid(call.pid, 0)
    with call.asked, contextlib.suppress(OSError):
        call.asked.send(str(os.waitstatus_to_exitcode(status)).encode())
    if learnt := b"".join(call.learnt):
        modules, patterns = marshal.loads(learnt)
        for name in modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        for pattern, flags in patterns:
            re.compile(pattern, flags)


def _be(call: tuple[list[str], str, dict[str, str]], ends: Sequence[int], telling: int) -> None:
    """This copy becomes the command."""
    import atexit

    from doctor.__main__ import run

    args, folder, environment = call
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    before, compiled = set(sys.modules), set(re._cache)  # type: ignore[attr-defined]

    def tell() -> None:
        names = [name for name in sys.modules if name not in before and name.partition(".")[0] in _OURS and not name.startswith(_READS_THE_ENVIRONMENT)]
        patterns = [(pattern, int(flags)) for kind, pattern, flags in re._cache if (kind, pattern, flags) not in compiled]  # type: ignore[attr-defined]
        with contextlib.suppress(OSError), open(telling, "wb") as stream:
            stream.write(marshal.dumps((names, patterns)))

    atexit.register(tell)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [str(ROOT / "doctor" / "__main__.py"), *args]
    sys.path[:] = [folder, *sys.path[4:]]  # in the place of what `-c` and its code have put there
    run()
