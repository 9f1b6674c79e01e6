"""Files of harvests to one report: the same for `merge` and for `fleet scan`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from doctor.answer.redact import KEY_VARIABLE
from doctor.base.notation import folded
from doctor.base.words import word
from doctor.commands import common, reporting
from doctor.fleet import gather
from doctor.fleet.gather import Kept
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.scan.harvest import Harvest
from kb.knowledge import Knowledge


def options(made: common.Parser) -> None:
    """How to answer: as every command that diagnoses, and in the terminal interface."""
    reporting.output_options(made)
    made.add_argument("--tui", action="store_true", help="open the terminal interface on these nodes")


def tell(args: argparse.Namespace, paths: Sequence[str], known: Knowledge, before: Mapping[str, Kept] = {}) -> int:
    """Writes the report of all files; the exit code. `before`: what was read of files already."""
    if args.tui:
        from doctor.commands import interface

        harvests = told_apart(paths, known, common.language(args), before)  # what it has to say stands before the screen is taken
        return interface.open_harvests(args, paths, lambda: harvests)
    diagnosis, machine = merged(paths, known, common.language(args), before)
    reporting.emit(args, diagnosis, known, machine=machine)
    return reporting.exit_code(args, diagnosis)


def merged(paths: Sequence[str], known: Knowledge, language: str, before: Mapping[str, Kept] = {}) -> tuple[Diagnosis, str]:
    """The diagnosis of all files, and the mark of the machine when all are of one."""
    begin = time.perf_counter()
    harvests = told_apart(paths, known, language, before)
    machines = {one.machine for one in harvests}
    return conclude(harvests, known, time.perf_counter() - begin), machines.pop() if len(machines) == 1 else ""


def told_apart(paths: Sequence[str], known: Knowledge, language: str, before: Mapping[str, Kept] = {}) -> list[Harvest]:
    """The harvests of all files; what keeps them from being one picture is told on standard error."""
    read = [before.get(name) or gather.read(name) for name in paths]
    for told in gather.warnings(read, known.digest, KEY_VARIABLE):
        sys.stderr.write(told)
    for names in gather.sharing(read):
        sys.stderr.write(word("fleet.same-files", language, names=folded(names)) + "\n")
    return gather.apart([(kept.name, one) for kept in read for one in kept.harvests])
