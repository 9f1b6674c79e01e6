"""`npu-doctor scan`: from paths or standard input to the diagnosis."""

from __future__ import annotations

from doctor.commands import common, reading, reporting


def arguments() -> common.Parser:
    made = common.parser(
        "scan",
        "Diagnose logs. Paths may be files, folders, .gz, .xz, .bz2, .zst, .tar.gz, .zip, or - for standard input; without a path the usual log places are read.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH")
    reporting.output_options(made)
    made.add_argument(
        "--since",
        metavar="TIME",
        help="only lines at or after this time (2026-03-01, '2026-03-01 12:30', '30 min ago')",
    )
    made.add_argument("--until", metavar="TIME", help="only lines up to this time")
    made.add_argument(
        "--level", metavar="LEVEL", help="only lines of this level or above (debug, info, warning, error)"
    )
    made.add_argument("--pid", type=int, help="only lines of this process")
    made.add_argument("--rank", type=int, help="only lines of this rank")
    made.add_argument("--device", type=int, help="only lines of this device")
    made.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="worker processes (default: by the size of the input)"
    )
    made.add_argument(
        "--all-files", action="store_true", help="read what looks like no log as well: scripts, build files, configurations, source trees"
    )
    made.add_argument("--tui", action="store_true", help="open the terminal interface on these logs")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.tui:
        from doctor.commands import interface

        return interface.open_logs(args, reading.select(args))
    reporting.targets(args)  # a suffix that is no format is told before anything is read
    known = common.knowledge(args)
    diagnosis = reading.diagnose(args, known)
    reporting.emit(args, diagnosis, known, reading.call(args.paths))
    return reporting.exit_code(args, diagnosis)
