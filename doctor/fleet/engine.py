"""Runs the commands of all targets on ClusterShell's engine: so many at once, each with its time. The one place that starts processes."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from doctor.base import interrupts
from doctor.base.errors import UsageError
from doctor.fleet import tree
from doctor.fleet.far import GRACE_S
from doctor.fleet.outcome import Outcome
from doctor.fleet.talk import Printed, Talk
from doctor.fleet.targets import NOT_INSTALLED, Target
from doctor.fleet.ways import CONNECT_S
from parsers.named import NamedTuple

ENVIRONMENT = {"LC_ALL": "C", "LANGUAGE": "C"}  # what these programs complain of is told apart by its words
PIECE = 256 << 10  # bytes that are handed to a pipe's buffer at once: of all of it, each write would copy what is left
TICK_S = 0.2


class Asked(NamedTuple):
    """One target, the words of the command that reaches it, and the conversation with it."""

    target: Target
    words: Sequence[str]
    talk: Talk | Printed


Done = Callable[[Target, Outcome], None]
Began = Callable[[Target], None]


def run(asked: Sequence[Asked], seconds: float, fanout: int, done: Done, began: Began, through: tree.Through | None = None) -> None:
    """Asks every target and tells each outcome as it comes. An interrupt ends all that run and goes on to the caller."""
    try:
        from ClusterShell.Engine.Engine import E_READ, E_WRITE
        from ClusterShell.Event import EventHandler
        from ClusterShell.Task import task_self
        from ClusterShell.Worker.Exec import ExecClient, ExecWorker
        from ClusterShell.Worker.Worker import DistantWorker
    except ImportError:
        raise UsageError(*NOT_INSTALLED) from None

    class Client(ExecClient):  # type: ignore[misc]
        """The local command of one target: its bytes as they come, for a line may never end."""

        def _build_cmd(self) -> tuple[list[str], dict[str, str]]:
            return list(self.worker.one.words), ENVIRONMENT

        def _exec_nonblock(self, commandlist: list[str], shell: bool = False, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
            """Without a copy of this process, which may be large by then; apart, for Ctrl-C is for us: we tell the others."""
            del shell
            (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = os.pipe(), os.pipe(), os.pipe()
            try:
                made = subprocess.Popen(commandlist, stdin=theirs_in, stdout=theirs_out, stderr=theirs_err, env={**os.environ, **(env or {})}, start_new_session=True)  # noqa: S603 - words, no shell
            finally:
                for handle in (theirs_in, theirs_out, theirs_err):
                    os.close(handle)
            for name, handle, events in ((self.worker.SNAME_STDERR, ours_err, E_READ), (self.worker.SNAME_STDOUT, ours_out, E_READ), (self.worker.SNAME_STDIN, ours_in, E_WRITE)):
                os.set_blocking(handle, False)
                self.streams.set_stream(name, handle, events, retain=events != E_WRITE)
            return made

        def _handle_read(self, sname: str) -> None:
            self.worker.took(sname, self._read(sname))

        def _flush_read(self, sname: str) -> None:
            """Nothing is kept back here."""

    class Worker(ExecWorker):  # type: ignore[misc]
        """One target. Not a node set: pods and containers are called what no node set may be."""

        SHELL_CLASS = Client

        def __init__(self, number: int, one: Asked, timeout: float) -> None:
            self.one, self.talk, self.begin = one, one.talk, time.monotonic()
            self.code: int | None = None
            self.pending: deque[bytes] = deque()
            super().__init__(f"n{number}", handler=None, timeout=timeout, command="-", stderr=True)

        def _on_start(self, key: str) -> None:
            DistantWorker._on_start(self, key)
            self.begin = time.monotonic()
            began(self.one.target)
            self.write(self.talk.opening())

        def _on_written(self, key: str, bytes_count: int, sname: str) -> None:
            DistantWorker._on_written(self, key, bytes_count, sname)
            if self.pending and not self._clients[0].streams[sname].wbuf:
                self.write(self.pending.popleft())

        def took(self, sname: str, data: bytes) -> None:
            if sname == self.SNAME_STDERR:
                self.talk.said(data)
            elif said := self.talk.heard(data):
                self.pending += (said[at : at + PIECE] for at in range(0, len(said), PIECE))
                self.write(self.pending.popleft())
            if self.talk.overflow:
                self.abort()

        def _on_node_close(self, node: str, rc: int) -> None:
            self.code = rc
            DistantWorker._on_node_close(self, node, rc)

        def _check_fini(self) -> None:
            ExecWorker._check_fini(self)
            if not stopping and not interrupts.heard():  # what is cut off by Ctrl-C says nothing about the node
                done(self.one.target, self.talk.outcome(self.code, self._has_timeout, time.monotonic() - self.begin))

    class Tick(EventHandler):  # type: ignore[misc]
        """Looks for Ctrl-C, which nobody else hears while the engine waits."""

        def ev_timer(self, timer: Any) -> None:
            del timer
            interrupts.check()
            if branch is not None:
                branch.look()

    logging.getLogger("ClusterShell").addHandler(logging.NullHandler())
    stopping: list[bool] = []
    task = task_self()
    task.set_info("fanout", fanout)
    task.set_default("stdout_msgtree", False)
    task.set_default("stderr_msgtree", False)
    timeout = seconds + CONNECT_S + 2 * GRACE_S
    workers = [Worker(number, one, timeout) for number, one in enumerate(asked)]
    for worker in workers:
        task.schedule(worker)
    branch = _behind(task, through, timeout, done, began) if through and through.behind else None
    task.timer(TICK_S, handler=Tick(), interval=TICK_S, autoclose=True)
    try:
        task.run()
    except BaseException:
        stopping.append(True)
        for worker in (*workers, *(channel for channel, _ in task.gateways.values())):
            for client in worker._engine_clients():
                if client.popen is not None and client.popen.poll() is None:
                    client.popen.kill()
        if branch is not None:
            branch.left.clear()
        task.abort()
        raise
    if branch is not None:
        branch.finish()


def _behind(task: Any, through: tree.Through, timeout: float, done: Done, began: Began) -> Any:
    """Schedules the nodes behind gateways; ClusterShell's grooming is off, for a conversation does not wait."""
    from doctor.fleet import gateway

    gateway.only_bytes()
    parcel = tree.parcel(through, timeout, ENVIRONMENT)
    task.topology = through.routes.tree
    task.set_info("grooming_delay", 0)
    task.set_default("distant_worker", gateway.workers(through.reach, tree.remote(through.python), parcel))
    made = tree.branch(through.behind, gateway.RELAY, timeout + tree.SLACK_S, done, began)
    task.schedule(made)
    return made

