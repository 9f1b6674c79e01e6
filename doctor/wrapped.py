"""Wraps a program's own code: when that dies, the diagnosis is printed behind the traceback.

    with watching():
        train()

Nothing is loaded and nothing is hooked into a step: until something dies it costs an attribute and a clock. A process that is
killed cannot speak any more: `npu-doctor run -- COMMAND` watches from outside.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from types import TracebackType

    from kb.knowledge import Knowledge

Hook = Any  # what sys.excepthook holds


@contextmanager
def watching(*logs: str, out: TextIO | None = None, lang: str | None = None) -> Iterator[None]:
    """Prints the diagnosis of an exception that leaves the block, with the CANN logs that this process has written meanwhile
    and what lies under `logs`. The exception goes on.

    >>> import io
    >>> told = io.StringIO()
    >>> try:
    ...     with watching(out=told, lang="en"):
    ...         raise RuntimeError("NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61 GiB total capacity)")
    ... except RuntimeError:
    ...     print("memory" in told.getvalue())
    True
    """
    began = time.time()
    try:
        yield
    except Exception as error:
        _tell(error, began, logs, out, lang)
        raise


class WatchingCallback:
    """The same for trainers that take callbacks (transformers: `Trainer(callbacks=[WatchingCallback()])`).

    From `on_train_begin` to `on_train_end` an exception that ends the program is diagnosed. All other events do nothing.
    """

    def __init__(self, *logs: str, out: TextIO | None = None, lang: str | None = None) -> None:
        self._logs, self._out, self._lang = logs, out, lang
        self._began = 0.0
        self._before: Hook = None

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        if self._before is None:
            self._began, self._before = time.time(), sys.excepthook
            sys.excepthook = self._died

    def on_train_end(self, *_: Any, **__: Any) -> None:
        if self._before is not None and sys.excepthook == self._died:
            sys.excepthook = self._before
        self._before = None

    def _died(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        (self._before or sys.__excepthook__)(kind, error, trace)
        if isinstance(error, Exception):
            _tell(error, self._began, self._logs, self._out, self._lang)

    def _nothing(self, *_: Any, **__: Any) -> None:
        """An event that is none of ours."""

    on_init_end = on_epoch_begin = on_epoch_end = on_step_begin = on_substep_end = on_step_end = _nothing
    on_pre_optimizer_step = on_optimizer_step = on_evaluate = on_predict = on_save = on_log = on_prediction_step = _nothing

    def __getattr__(self, name: str) -> Any:
        """Events that come with later versions."""
        if name.startswith("on_"):
            return self._nothing
        raise AttributeError(name)


def _tell(error: Exception, began: float, logs: tuple[str, ...], out: TextIO | None, lang: str | None) -> None:
    """Whatever goes wrong here, the program's own exception is what counts."""
    stream = out or sys.stderr
    try:
        stream.write(_diagnosis(error, began, logs, lang))
        stream.flush()
    except Exception as problem:  # noqa: BLE001 - the program's own exception is owed to its caller
        sys.stderr.write(f"npu-doctor: {type(problem).__name__}: {problem}\n")


def _diagnosis(error: Exception, began: float, logs: tuple[str, ...], lang: str | None) -> str:
    """The answer on one screen; of a rank that is not the first of its node, a line, as all of them may die at once."""
    import traceback

    from doctor.answer.report import report
    from doctor.base import lang as languages
    from doctor.base.output import inert
    from doctor.judge.diagnosis import conclude
    from doctor.read import discover
    from doctor.render import compact
    from doctor.render.call import Call
    from doctor.render.layout import Style
    from doctor.runner.written_plogs import Tree
    from doctor.scan.plan import Plan
    from doctor.scan.scanner import Scanner
    from kb.knowledge import load

    known: Knowledge = load()
    tree = Tree(os.environ)
    tree.began = began
    tree.look(os.getpid())
    written = tree.found().paths
    found = discover.discover([*written, *logs])
    text = "".join(traceback.format_exception(error))
    scanner = Scanner(Plan(known.sought()))
    harvests = [scanner.scan(source) for source in (discover.given_text(text, "<traceback>"), *found.sources)]
    made = report(conclude(harvests, known, time.time() - began, found.skipped), known)
    language = languages.choose(lang)
    if os.environ.get("LOCAL_RANK", "0") != "0":
        return inert(f"npu-doctor: rank {os.environ.get('RANK', '?')}: {compact.quiet(made, language)}")
    return inert("\n" + compact.render(made, language, Style(), Call((*written, *logs))))
