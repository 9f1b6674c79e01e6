"""`npu-doctor browse`: the terminal interface, on the knowledge or on logs."""

from __future__ import annotations

from doctor.commands import common, interface


def arguments() -> common.Parser:
    made = common.parser(
        "browse",
        "The terminal interface: browse the knowledge, or diagnose logs and look into them. - reads standard input (keys come from the terminal).",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="logs to diagnose; without one the knowledge is shown")
    made.add_argument("--entry", metavar="CODE", default="", help="open the knowledge at this entry")
    interface.interface_options(made)
    made.add_argument(
        "--no-mouse", action="store_true", help="leave the mouse to the terminal (its own selection works)"
    )
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    interface.check_terminal(["scan", *args.paths] if args.paths else ["kb", "list"])
    return interface.open_tui(args, tuple(args.paths))
