"""`npu-doctor hang`: who holds up a job that does not move, from dumps, stacks and logs, or from the live processes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from doctor.base import exits, output
from doctor.base.errors import UsageError
from doctor.commands import common
from doctor.commands.reading import find
from doctor.hang.conclude import conclude
from doctor.read.dumps import FLIGHT, STACKS
from doctor.read.source import Skipped
from doctor.render import hang
from doctor.scan import dumps as reading
from doctor.scan.harvest import Dump, Harvest
from doctor.scan.many_sources import worker_count
from doctor.scan.progress import Progress
from doctor.scan.ranges import Range, scan_here

if TYPE_CHECKING:
    from doctor.hang.verdict import Verdict
    from doctor.live.processes import Process
    from doctor.live.spy import Looked
    from doctor.read.source import Source

FORMATS = ("text", "json")


def arguments() -> common.Parser:
    made = common.parser(
        "hang",
        "Who holds up a job that does not move: from Flight Recorder dumps (hccl_trace_rank_N) and stacks (py-spy, pystack, faulthandler,\n"
        "gdb, asys) that lie under PATH, or from the live ranks of this host with py-spy. Without anything: the ranks of this host.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, archives with dumps, stacks and logs of all ranks")
    made.add_argument("--pid", action="append", default=[], metavar="PID|RANK=PID", help="look at this process (repeatable)")
    made.add_argument("--world", type=int, metavar="N", help="of how many ranks the job is, where nothing tells it")
    made.add_argument("--between", type=float, default=2.0, metavar="S", help="seconds between the two looks at a live process (default: 2)")
    made.add_argument("-f", "--format", choices=FORMATS, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.world is not None and not 1 <= args.world <= 1_000_000:
        raise UsageError(f"--world {args.world}: a job has from 1 to 1000000 ranks")
    if not 0 <= args.between <= 60:
        raise UsageError(f"--between {args.between:g}: from 0 to 60 seconds")
    world: int | None = args.world
    if args.pid or not args.paths:
        live, unseen, told, (dumps, skipped, files, silence) = _live(args)
        dumps, skipped, world = (*dumps, *live), (*skipped, *unseen), world or told
    else:
        dumps, skipped, files, silence = _files(args)
    verdict = conclude(dumps, world, silence)
    skipped = (*skipped, *(Skipped(path, "a dump without its rank: rename it to end with the number, hccl_trace_rank_3") for path in verdict.unread))
    read = hang.Read(sum(d.kind == FLIGHT for d in dumps), sum(d.kind == STACKS for d in dumps), files, skipped)
    form = common.format_of(args.format, args.output, FORMATS)
    made = json.dumps(hang.data(verdict, read), ensure_ascii=False, indent=1) + "\n" if form == "json" else hang.text(verdict, read, common.language(args))
    common.write(made, args.output, form=form)
    return {"hang": exits.FINDINGS, "unknown": exits.INCONCLUSIVE}.get(hang.answer(verdict), exits.CLEAN)


Evidence = tuple[tuple[Dump, ...], tuple[Skipped, ...], int, "Verdict | None"]
NOTHING_READ: Evidence = ((), (), 0, None)


def _files(args: argparse.Namespace) -> Evidence:
    """What lies under the paths; each file is looked at for dumps and for stacks, many of them by several workers."""
    from doctor.pace.quiet import silence

    sources, skipped = find(args.paths)
    output.spare([args.output], (source.name for source in sources))
    ranges = [Range(source, 0, None) for source in sources]
    total = sum(part.size for part in ranges)
    progress, done = Progress(total, len(sources), common.language(args)), dict[int, Harvest]()
    workers = worker_count(None, ranges, total)
    if workers > 1:
        from doctor.scan.pool import run_pool

        run_pool(ranges, _Looking(), workers, done, progress)
    else:
        scan_here(enumerate(ranges), _Looking(), done, progress)
    progress.end()
    read = [done[number] for number in sorted(done)]
    dumps = tuple(dump for harvest in read for dump in harvest.dumps)
    return dumps, (*skipped, *(why for harvest in read for why in harvest.skipped)), len(sources), silence(sources, lambda: common.knowledge(args))


class _Looking:
    """Looks for dumps and stacks, and for nothing else."""

    def scan(self, source: Source, start: int = 0, end: int | None = None, moved: Callable[[int], None] | None = None) -> Harvest:
        del start, end, moved  # a file is read as a whole
        if source.dump == FLIGHT:
            return reading.scan(source)
        if source.dump:
            return Harvest()
        try:
            return Harvest(dumps=reading.anywhere(source))
        except OSError as error:
            return Harvest(skipped=(Skipped(source.name, error.strerror or str(error)),))


def _live(args: argparse.Namespace) -> tuple[tuple[Dump, ...], tuple[Skipped, ...], int | None, Evidence]:
    """The stacks of live processes; what lies under the paths is read while they are waited for."""
    from doctor.live import processes, spy

    found = tuple(map(_named, dict.fromkeys(args.pid))) if args.pid else _ranks(processes.ranks())
    program = spy.program()
    if program is None:
        raise UsageError("py-spy is not installed, and live processes are looked at with it", "pip install 'npu-doctor[live]', or give stacks or dumps as files")
    read = [NOTHING_READ]
    looked = spy.look(found, program, args.between, lambda: read.append(_files(args)) if args.paths else None)
    dumps = tuple(_dump(one) for one in looked if one.stacks.threads or one.stacks.state in ("gone", "T", "t", "Z", "X"))
    unseen = tuple(Skipped(f"pid {one.process.pid}", _why(one.why)) for one in looked if one.why)
    return dumps, unseen, _world(found), read[-1]


def _named(written: str) -> Process:
    """`4711`, or `3=4711` where the process itself does not say its rank."""
    from doctor.live import processes

    rank, equals, pid = written.rpartition("=")
    if not (pid.isascii() and pid.isdigit() and len(pid) < 10) or (equals and not (rank.isascii() and rank.isdigit() and len(rank) < 8)):
        raise UsageError(f"--pid {written[:40]}: no process number", "npu-doctor hang --pid 4711, or with its rank: --pid 3=4711")
    found = processes.one(int(pid))
    return found._replace(rank=int(rank)) if equals else found


def _dump(one: Looked) -> Dump:
    from parsers.stacks import written

    return Dump(STACKS, f"pid {one.process.pid}", None, one.process.rank, one.process.pid, written(one.stacks))


def _why(said: str) -> str:
    if "ermission" in said or "ptrace" in said:
        return "no permission to look at it: run as its user or root, in a container with --cap-add SYS_PTRACE"
    return said


def _ranks(found: tuple[Process, ...]) -> tuple[Process, ...]:
    """The ranks of one job; several jobs on one host must be told apart by whoever asks."""
    jobs = sorted({one.job for one in found})
    if not found:
        raise UsageError(
            "no process of this host says which rank it is (the variable RANK)", "npu-doctor hang --pid PID ..., or give dumps and stacks: npu-doctor hang PATH",
            code=exits.INCONCLUSIVE,
        )  # fmt: skip
    if len(jobs) > 1:
        pids = "; ".join(f"{job or '?'}: {' '.join('--pid ' + str(one.pid) for one in found if one.job == job)}" for job in jobs[:4])
        raise UsageError(f"ranks of {len(jobs)} jobs run here: name the processes of one", pids)
    return found


def _world(found: tuple[Process, ...]) -> int | None:
    """Of how many ranks the job is, where all of them are meant to run on this host."""
    worlds = {one.world for one in found if one.world}
    local = {one.local_world for one in found if one.local_world}
    world = worlds.pop() if len(worlds) == 1 else None
    if world is None or any(count != world for count in local):
        return None
    if not local and len({one.rank for one in found}) * 2 < world:
        return None
    return world
