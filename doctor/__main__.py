"""The command `npu-doctor` and `python -m doctor`: the outermost edge, where every error becomes a message and a code."""

from __future__ import annotations

import os
import sys

from doctor import exits


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; never lets a traceback reach a user unless NPU_DOCTOR_DEBUG asks for it."""
    import gc

    from doctor import cli

    # One run makes many small objects and throws few away: collecting them again and again costs more than it frees.
    gc.disable()
    try:
        code = cli.main(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        sys.stderr.write("npu-doctor: interrupted\n")
        return exits.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing to say, and nothing to flush at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except Exception as error:
        from doctor.errors import UsageError
        from kb.problems import KnowledgeError

        if isinstance(error, UsageError):
            sys.stderr.write(f"{error}\n")
            return exits.USAGE
        if isinstance(error, KnowledgeError):
            sys.stderr.write(f"{error}\nnpu-doctor: the knowledge is broken\n")
            return exits.INTERNAL
        if os.environ.get("NPU_DOCTOR_DEBUG"):
            raise
        sys.stderr.write(
            f"npu-doctor: internal error: {type(error).__name__}: {error}\n"
            " = help: please report it with the output of the same call under NPU_DOCTOR_DEBUG=1\n"
        )
        return exits.INTERNAL


if __name__ == "__main__":
    raise SystemExit(main())
