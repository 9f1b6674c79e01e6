"""What commands read: the sources that a call names, which of their lines, and the diagnosis of them."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from doctor.base import exits, interrupts, output
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common
from doctor.pace.unasked import heard
from doctor.read import discover
from doctor.read.discover import STDIN
from doctor.read.source import Skipped, Source
from doctor.render.call import PIPED, Call
from doctor.scan import many_sources
from doctor.scan.select import Select
from kb.knowledge import Knowledge
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.judge.diagnosis import Diagnosis
    from doctor.read.piped import Pipe

LEVELS = ("debug", "info", "event", "warning", "error", "fatal")


def diagnose(args: argparse.Namespace, known: Knowledge) -> Diagnosis:
    return look(args, known, *_spared(args, *_asked(args)))


def _asked(args: argparse.Namespace) -> tuple[Sequence[Source], tuple[Skipped, ...]]:
    """What a scan is asked to read; only for a person at a terminal is a path that is not there a slip."""
    person = getattr(args, "format", None) in (None, "text") and not getattr(args, "output", None)
    return find(args.paths, getattr(args, "all_files", False), strict=person)


def _spared(args: argparse.Namespace, sources: Sequence[Source], skipped: tuple[Skipped, ...]) -> tuple[Sequence[Source], tuple[Skipped, ...]]:
    """The same; nothing that is read is written over."""
    written = args.output if isinstance(args.output, list) else [args.output]
    output.spare((*written, args.redact_map, args.fix_script), (source.name for source in sources))
    return sources, skipped


def look(
    args: argparse.Namespace, known: Knowledge, sources: Sequence[Source], skipped: tuple[Skipped, ...]
) -> Diagnosis:
    """Reads the sources and concludes. Ctrl-C ends the reading, and what was read is concluded."""
    begin = time.perf_counter()
    interrupts.keep()
    harvests, interrupted = many_sources.scan_all(sources, known, select(args), args.jobs, common.language(args), partial(_get_ready, known))
    if interrupted:
        skipped = (*skipped, Skipped("...", "interrupted: what follows was not read"))
        sys.stderr.write(f"npu-doctor: {word('interrupted', common.language(args))}\n")
    from doctor.judge.diagnosis import conclude  # workers are at work before it is loaded

    return heard(conclude(harvests, known, time.perf_counter() - begin, skipped), sources, known)


_LATER = (
    "job.analyse", "job.story", "job.summary", "pace.quiet", "answer.report", "answer.kernel_owners", "answer.own_kernel", "lookup.nearest", "base.words.report", "base.words.job",
    "render.compact", "render.job", "render.pager",
)  # fmt: skip


def _get_ready(known: Knowledge) -> None:
    """Loads what concluding and answering need while workers read; a scan in one process loads it when it comes to that."""
    for name in _LATER:
        import_module(f"doctor.{name}")
    known.catalog()


def call(paths: list[str]) -> Call:
    """How what was read can be named again: a pipe cannot."""
    return PIPED if "-" in paths else Call(tuple(paths or discover.usual_places()))


def find(paths: list[str], everything: bool = False, strict: bool = True) -> tuple[Sequence[Source], tuple[Skipped, ...]]:
    """The sources that the call names, or those of the usual places; `everything`: what looks like no log as well.

    `strict`: paths of which none is there are a wrong call; a program that asked for a report gets one that says so.
    """
    if not paths:
        paths = discover.usual_places()
        if not paths:
            raise UsageError(
                "there are no logs in the usual places (~/ascend/log, $ASCEND_PROCESS_LOG_PATH, $ASCEND_WORK_PATH/log, /var/log/npu/slog)",
                "npu-doctor scan PATH, or pipe:  python train.py 2>&1 | npu-doctor, or try:  npu-doctor demo",
            )
        sys.stderr.write(f"npu-doctor: reading {' '.join(paths)}\n")
    sources: list[Source] = []
    if "-" in paths:
        if sys.stdin.isatty():
            sys.stderr.write("npu-doctor: reading standard input, end with Ctrl-D\n")
        sources.append(discover.standard_input(sys.stdin.buffer))
    named = [p for p in paths if p != "-"]
    if strict and named and not sources and not any(map(os.path.lexists, named)):  # a slip of the keyboard: there is nothing to diagnose
        if near := discover.nearest_path(named[0]):
            raise UsageError(f"there is no file or folder '{named[0]}': did you mean '{near}'?", code=exits.INCONCLUSIVE)
        raise UsageError(f"there is no file or folder '{named[0]}'", code=exits.INCONCLUSIVE)
    found = discover.discover(named, everything=everything)
    return (*sources, *found.sources) if sources else found.sources, found.skipped


def rereadable(sources: Sequence[Source]) -> tuple[Sequence[Source], tuple[Skipped, ...], Pipe | None]:
    """Who reads a second time, for versions or quotations, finds standard input in a file without a name, as long as the pipe is kept."""
    if not any(s.name == STDIN for s in sources):
        return sources, (), None
    from doctor.read.piped import Pipe

    pipe = Pipe(sys.stdin.fileno())
    interrupts.keep()
    lost: tuple[Skipped, ...] = ()
    try:
        pipe.copy(interrupts.ready)
    except KeyboardInterrupt:
        interrupts.acted()
        lost = (Skipped(STDIN, "interrupted: what came later was not read"),)
    if pipe.fault:
        lost = (Skipped(STDIN, f"not all of it could be kept: {pipe.fault}"),)
    kept = pipe.source()
    return tuple(kept if s.name == STDIN else s for s in sources), lost, pipe


class Looked(NamedTuple):
    """A diagnosis whose sources can be read again, until it is closed."""

    diagnosis: Diagnosis
    sources: Sequence[Source]
    pipe: Pipe | None

    def close(self) -> None:
        if self.pipe is not None:
            self.pipe.close()


def options_to_pass_on(made: common.Parser) -> None:
    """Of every command that passes a diagnosis on: redaction, and how much of the machine it takes."""
    common.redaction_options(made)
    made.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="worker processes (default: by the size of the input)"
    )
    made.set_defaults(since=None, until=None, level=None, pid=None, rank=None, device=None)


def look_to_pass_on(args: argparse.Namespace, known: Knowledge) -> Looked:
    """The diagnosis of what was named; nothing that is read is written over."""
    sources, skipped = find(args.paths)
    sources, unread, pipe = rereadable(sources)
    output.spare((args.output, args.redact_map), (source.name for source in sources))
    return Looked(look(args, known, sources, (*skipped, *unread)), sources, pipe)


def look_again(args: argparse.Namespace, known: Knowledge) -> Looked:
    """The diagnosis of a scan whose sources are read a second time."""
    sources, skipped = _asked(args)
    sources, unread, pipe = rereadable(sources)
    return Looked(look(args, known, *_spared(args, sources, (*skipped, *unread))), sources, pipe)


def select(args: argparse.Namespace) -> Select:
    levels = None
    if args.level:
        if args.level.lower() not in LEVELS:
            raise UsageError(f"'{args.level}' is no level", f"levels: {', '.join(LEVELS)}")
        levels = frozenset(LEVELS[LEVELS.index(args.level.lower()) :])
    return Select(_moment(args.since), _moment(args.until), levels, args.pid, args.rank, args.device)


def _moment(written: str | None) -> str | None:
    """A time as lines carry it. Also '30 min ago', '2h ago'."""
    if not written:
        return None
    import re
    from datetime import datetime, timedelta

    text = written.strip()
    if m := re.fullmatch(r"(\d+)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)(?:\s+ago)?", text):
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[m[2][0]]
        return (datetime.now() - timedelta(**{unit: int(m[1])})).isoformat(timespec="microseconds")
    try:
        return datetime.fromisoformat(text.replace("/", "-")).replace(tzinfo=None).isoformat(timespec="microseconds")
    except ValueError:
        raise UsageError(f"'{written}' is no time", "write 2026-03-01, '2026-03-01 12:30:00' or '30 min ago'") from None
