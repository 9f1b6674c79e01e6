"""`npu-doctor watch`: follows logs while a job runs and tells findings as they appear."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from doctor.base import exits, interrupts, output
from doctor.base.errors import UsageError
from doctor.commands import common, interface
from doctor.commands.reporting import FAIL_ON
from doctor.read import discover
from doctor.render import parts
from doctor.watch.live_diagnosis import Live, Update


def arguments() -> common.Parser:
    made = common.parser(
        "watch",
        "Follow growing and rotating logs and new files, and tell findings as they appear. On a terminal the interface opens, unless -f is given.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the usual log folders)")
    made.add_argument(
        "-f",
        "--format",
        choices=("text", "jsonl"),
        help="without the interface: lines of text, or one JSON object a line",
    )
    made.add_argument("--new", action="store_true", help="only what is written from now on")
    made.add_argument("--interval", type=float, default=1.0, metavar="S", help="seconds between looks (default: 1)")
    made.add_argument(
        "--for", dest="seconds", type=float, metavar="S", help="end after so many seconds (exit code as scan's)"
    )
    made.add_argument("--once-found", action="store_true", help="end at the first finding at or above --fail-on")
    made.add_argument(
        "--fail-on", choices=tuple(FAIL_ON), default="error", help="lowest severity that counts (default: error)"
    )
    interface.interface_options(made)
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if not args.interval >= 0.05:
        raise UsageError(f"--interval {args.interval} is too short", "give 0.05 or more seconds")
    paths = args.paths or discover.usual_places()
    if not paths:
        raise UsageError("there are no logs in the usual places", "npu-doctor watch PATH")
    for path in paths:
        if not Path(path).exists():
            raise UsageError(
                f"there is no file or folder '{path}'", "npu-doctor watch FOLDER also finds files that come later"
            )
    if args.format is None and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        return interface.open_watch(args, tuple(paths))
    known = common.knowledge(args)
    live = Live(paths, known, new_only=args.new)
    begin = time.monotonic()

    def wait() -> bool:
        left = args.seconds - (time.monotonic() - begin) if args.seconds is not None else args.interval
        interrupts.pause(min(args.interval, left))
        return args.seconds is None or time.monotonic() - begin < args.seconds

    return follow(live, args, wait)


def follow(live: Live, args: argparse.Namespace, wait: Callable[[], bool]) -> int:
    """Looks, tells, waits, until `wait` says that it is over, a finding ends it, or the user does."""
    from doctor.render import layout
    from doctor.watch import announce

    lang = common.language(args)
    style = layout.style_of(sys.stdout, args.color)

    def say(event: announce.Json) -> None:
        made = announce.as_json(event) if args.format == "jsonl" else announce.as_text(event, lang, style)
        sys.stdout.write(output.inert(made, args.format or "text"))

    interrupted = False
    try:
        while True:
            update = live.poll()
            for event in update.events if update else ():
                say(event)
            sys.stdout.flush()
            if args.once_found and update is not None and bad(update, args.fail_on):
                break
            if not wait():
                for event in last.events if (last := live.poll()) else ():
                    say(event)
                break
    except KeyboardInterrupt:
        interrupted = True
    say(live.end())
    if interrupted:
        return exits.INTERRUPTED
    if live.last is not None and bad(live.last, args.fail_on):
        return exits.FINDINGS
    return exits.CLEAN if live.last is not None and live.last.report["verdict"] == "clean" else exits.INCONCLUSIVE


def bad(update: Update, fail_on: str) -> bool:
    """Whether a root of that severity stands in the report."""
    return update.report["verdict"] == "findings" and any(
        f["severity"] in FAIL_ON[fail_on] for f in parts.roots(update.report)
    )
