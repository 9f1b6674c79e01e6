"""The command `npu-doctor` and `python -m doctor`: the outermost edge, where every error becomes a message and a code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import NoReturn

INTERRUPTED = 130  # as in doctor.base.exits, which an early interrupt may keep from being imported


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; never lets a traceback reach a user unless NPU_DOCTOR_DEBUG asks for it.

    Nothing is imported before an interrupt is a plain message: what people type first they may regret at once.
    """
    try:
        return _main(argv)
    except KeyboardInterrupt:
        sys.stderr.write("npu-doctor: interrupted\n")
        return INTERRUPTED


def _main(argv: list[str] | None) -> int:
    import gc

    from doctor.base import exits, interrupts

    try:
        _open_standard_streams()
        interrupts.listen()
        from doctor import cli

        # One run makes many small objects and throws few away: collecting them again and again costs more than it frees.
        gc.disable()
        code = cli.main(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing to say, and nothing to flush at exit either.
        _drop_output()
        return 141
    except Exception as error:
        from doctor.base.errors import UsageError
        from kb.problems import KnowledgeError

        if isinstance(error, UsageError):
            from doctor.base import lang

            language = lang.choose(lang.asked(sys.argv[1:] if argv is None else argv))
            sys.stderr.write(f"{error.told(language)}\n")
            return error.code
        if isinstance(error, KnowledgeError):
            sys.stderr.write(f"{error}\nnpu-doctor: the knowledge is broken\n")
            return exits.INTERNAL
        if os.environ.get("NPU_DOCTOR_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _drop_output()
            where = os.fsdecode(error.filename) if error.filename else "standard output"
            sys.stderr.write(f"npu-doctor: cannot write to {where}: {error.strerror}\n = help: choose another place with -o FILE\n")
            return exits.USAGE
        sys.stderr.write(
            f"npu-doctor: internal error: {type(error).__name__}: {error}\n"
            " = help: please report it with the output of the same call under NPU_DOCTOR_DEBUG=1\n"
        )
        return exits.INTERNAL
    finally:
        interrupts.leave()


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _drop_output() -> None:
    """What could not be written is not tried again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _open_standard_streams() -> None:
    """A stream that the caller has closed (`>&-`) is replaced: else the next file that is opened would take its place."""
    for name, number, mode in (("stdin", 0, os.O_RDONLY), ("stdout", 1, os.O_WRONLY), ("stderr", 2, os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, mode)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))


def run() -> NoReturn:
    """The process of the command. Its memory goes back to the system at once: object by object takes a tenth of a short run."""
    code = main()
    threads = sys.modules.get("threading")
    if threads is None or threads.active_count() == 1:
        import atexit

        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # who read it has gone
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
