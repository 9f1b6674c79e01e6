"""Starts recording as soon as torch is there, and sees the exceptions that end the program or a thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from .frames import tidy, without_ours
from .recorder import Recorder


class AfterImport:
    """A finder that lets torch be imported as usual, and calls back when it is complete."""

    def __init__(self, then: Callable[[Any], None]) -> None:
        self.then = then

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name != "torch":
            return None
        finders: list[Any] = sys.meta_path
        finders.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module
        then = self.then

        def exec_module(module: Any) -> None:
            execute(module)
            then(module)

        try:
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # a loader that cannot be changed: the program runs, unrecorded
            pass
        return spec


def install(directory: str, last: int = 256, keep: bool = False, announce: bool = False) -> Recorder:
    """Record from the moment that torch is there; errors that end the program or a thread complete the record."""
    os.makedirs(directory, exist_ok=True)
    recorder = Recorder(directory, max(8, min(last, 65536)), keep, announce)
    shown, thread_shown = sys.excepthook, threading.excepthook

    def excepthook(kind: Any, error: Any, trace: Any) -> None:
        recorder.caught(kind, error, trace)
        tidy(error)
        shown(kind, error, without_ours(trace))

    def thread_excepthook(args: Any) -> None:
        recorder.caught(args.exc_type, args.exc_value, args.exc_traceback)
        tidy(args.exc_value)
        thread_shown(threading.ExceptHookArgs((args.exc_type, args.exc_value, without_ours(args.exc_traceback), args.thread)))

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook
    if "torch" in sys.modules:
        recorder.start(sys.modules["torch"])
    else:
        finders: list[Any] = sys.meta_path
        finders.insert(0, AfterImport(recorder.start))
    return recorder
