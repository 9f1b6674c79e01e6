"""`python -m doctor.record PROGRAM ...`: runs a program as Python would, recorded."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Callable
from typing import Any

from .start import install

PACKAGE = __package__ or "record"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog=f"python -m {PACKAGE}", description="Record the last operators of a PyTorch program."
    )
    parser.add_argument("--out", default=".", metavar="DIR", help="where the record is written (default: here)")
    parser.add_argument("--last", type=int, default=256, metavar="N", help="operators that are kept (default: 256)")
    parser.add_argument("--keep", action="store_true", help="write the record even when the program succeeds")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    options = parser.parse_args(argv)
    sys.argv = [options.program, *options.arguments]
    root = PACKAGE.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == root]:
        del sys.modules[name]  # the program may have a package of that name
    recorder = install(os.path.abspath(options.out), options.last, options.keep, announce=True)
    if options.module:
        sys.path[0] = os.getcwd()
        run: Callable[[], Any] = lambda: runpy.run_module(options.program, run_name="__main__", alter_sys=True)  # noqa: E731
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        run = lambda: runpy.run_path(options.program, run_name="__main__")  # noqa: E731
    try:
        run()
        recorder.succeeded = True
    except SystemExit as stop:
        recorder.succeeded = stop.code in (None, 0)
        if not recorder.succeeded and recorder.error is None:
            recorder.error = {"type": "SystemExit", "message": str(stop.code), "traceback": "", "frames": []}
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - shown as Python shows it, and the exit code is Python's
        # Shown without the frames of this file and of runpy, as if the program had been started directly.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
            trace = trace.tb_next
        shown = error.with_traceback(trace)
        recorder.caught(type(error), shown, trace)
        sys.excepthook(type(error), shown, trace)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
