"""`npu-doctor env`: is this machine fit; `env diff`: where do machines differ; `env check --for`: what has to change before an installation."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common, reporting
from doctor.commands.table import GLOBAL
from doctor.render.call import Call
from kb.check import GROUPS
from kb.knowledge import Knowledge

if TYPE_CHECKING:
    from doctor.env.facts import Machine
    from doctor.env.verdict import Result

Json = dict[str, Any]
FORMATS = tuple(form for form in reporting.FORMATS if form != "jsonl")  # no harvest that could be merged
SPECS = ("docker", "compose", "pod")


def machine_options(made: common.Parser) -> None:
    """Which machine, and how far to look."""
    made.add_argument("--root", metavar="PATH", default="/", help="the tree of another machine: a folder or an archive (sosreport, an unpacked image)")
    made.add_argument("--outputs", metavar="DIR", default="", help="recorded outputs of its commands (npu-smi_info.txt, env.txt ...; default: PATH/commands)")
    made.add_argument("--python", metavar="PATH", default="", help="this Python environment (folder or bin/python) instead of the active one")
    made.add_argument("--pid", type=int, metavar="PID", help="the variables of a running process instead of those of this shell")
    made.add_argument("--network", action="store_true", help="also ask hccn_tool for link, address, gateway, health and TLS of every card")


def arguments() -> common.Parser:
    made = common.parser(
        "env",
        "Is this machine fit for Ascend: versions of driver, firmware, CANN and Python packages and whether they belong together, chips, device nodes,\n"
        "container, limits, network, variables. Nothing is imported, nothing is changed, root is not needed.",
        epilog="npu-doctor env diff *.json        where machines differ (each written by npu-doctor env -o NODE.json)\n"
        "npu-doctor env check --for 'vllm-ascend==0.11.0'        what has to change before it is installed",
    )
    machine_options(made)
    made.add_argument("--only", metavar="GROUPS", default="", help=f"only these groups of checks: {', '.join(GROUPS)}")
    made.add_argument("--spec", choices=SPECS, help="print how to give the NPUs of this machine to a container, and nothing else")
    reporting.answer_options(made, FORMATS)
    made.add_argument("--tui", action="store_true", help="open the terminal interface on this machine")
    made.set_defaults(timeline=False)
    return made


def main(argv: list[str]) -> int:
    verb, rest = _verb(argv)
    if verb:
        return _diff(rest) if verb == "diff" else _check(rest)
    args = arguments().parse_args(argv)
    groups = _groups(args.only)
    if args.tui:
        from doctor.commands import interface

        return interface.open_env(args, lambda known: reported(args, *_parts(args, known, groups)), ["env", *(a for a in argv if a != "--tui")])
    known = common.knowledge(args)
    machine, found = examined(args, known)
    if args.spec:
        from doctor.env import container_spec
        from doctor.env.facts import plain

        common.write(container_spec.written(plain(machine), args.spec) + "\n", (args.output or [None])[0])
        return exits.CLEAN
    found = tuple(r for r in found if r.check.group in groups)
    made = reported(args, machine, known, found)
    _emit(args, made, machine, found)
    return _exit_code(args, made)


def _verb(argv: list[str]) -> tuple[str, list[str]]:
    """`diff` or `check` where it is the first word, and the others: options of all commands may stand before it."""
    value = False
    for number, arg in enumerate(argv):
        if arg in ("diff", "check") and not value:
            return arg, [*argv[:number], *argv[number + 1 :]]
        if not value and arg not in GLOBAL:
            break
        value = not value
    return "", argv


def _parts(args: argparse.Namespace, known: Knowledge, groups: Sequence[str]) -> tuple[Machine, Knowledge, tuple[Result, ...]]:
    machine, found = examined(args, known)
    return machine, known, tuple(r for r in found if r.check.group in groups)


def examined(args: argparse.Namespace, known: Knowledge) -> tuple[Machine, tuple[Result, ...]]:
    """The machine that a call is about, and what came out of the checks."""
    from doctor.env import verdict
    from doctor.env.look_at import Asked, machine

    looked = machine(Asked(args.root, args.outputs, args.python, args.pid, args.network), known)
    return looked, verdict.results(looked, known.checks())


def reported(args: argparse.Namespace, machine: Machine, known: Knowledge, found: Sequence[Result]) -> Json:
    """The report, with pseudonyms when they are asked for."""
    from doctor.env import private, report

    made = report.report(machine, known, found)
    if not (args.redact or args.redact_map or args.redact_words):
        return made
    hidden, using = private.redacted(made, known, args.redact_words)
    if args.redact_map:
        common.write(using.map_text(), args.redact_map, private=True)
    return hidden


def _groups(written: str) -> tuple[str, ...]:
    asked = tuple(g.strip() for g in written.split(",") if g.strip())
    for group in asked:
        if group not in GROUPS:
            raise UsageError(f"--only: there is no group '{group}'", f"groups: {', '.join(GROUPS)}")
    return asked or GROUPS


def _emit(args: argparse.Namespace, made: Json, machine: Machine, found: Sequence[Result]) -> None:
    language = common.language(args)
    if made["verdict"] == "inconclusive":
        sys.stderr.write(f"npu-doctor: {word('env.no-ascend', language)}\n")
    unknown = sum(r.state == "not known" for r in found)
    told = word("env.looked", language, where=machine.where, seconds=f"{machine.seconds:.2f}", facts=len(machine.facts), checks=len(found), unknown=unknown)
    reporting.deliver(args, made, {}, reporting.targets(args, FORMATS), Call(machine=_named(args)), told)


def _named(args: argparse.Namespace) -> tuple[str, ...]:
    """The options that name this machine."""
    pid = str(args.pid) if args.pid is not None else ""
    given = (("--root", args.root if args.root != "/" else ""), ("--outputs", args.outputs), ("--python", args.python), ("--pid", pid))
    return tuple(part for name, value in given if value for part in (name, value))


def _exit_code(args: argparse.Namespace, made: Json) -> int:
    if args.exit_zero:
        return exits.CLEAN
    if made["verdict"] == "inconclusive":
        return exits.INCONCLUSIVE
    severities = {f["severity"] for f in made["findings"]}
    return exits.FINDINGS if severities.intersection(reporting.FAIL_ON[args.fail_on]) else exits.CLEAN


# --- differences


def _diff(argv: list[str]) -> int:
    made = common.parser("env diff", "Where machines differ, what matters first. Each file was written by npu-doctor env -o NODE.json.")
    made.add_argument("paths", nargs="+", metavar="NODE.json")
    made.add_argument("-f", "--format", choices=("text", "json", "md"), help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--all", action="store_true", help="also what differs on every machine by its nature: names, addresses, temperatures")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    args = made.parse_args(argv)
    from doctor.env import difference, difference_text

    nodes = difference.read(args.paths)
    if len(nodes) < 2:
        raise UsageError("one machine alone differs from nothing", "npu-doctor env diff good.json bad.json")
    rows = difference.differences(nodes, everything=args.all)
    form = common.format_of(args.format, args.output, ("text", "json", "md"))
    facts = len({name for node in nodes for name in node.facts})
    if form == "json":
        told = json.dumps(difference.as_json(nodes, rows), ensure_ascii=False, indent=1) + "\n"
    else:
        told = difference_text.render(nodes, rows, common.language(args), form == "md", facts)
    common.write(told, args.output, form=form)
    return exits.FINDINGS if rows else exits.CLEAN


# --- before an installation


def _check(argv: list[str]) -> int:
    made = common.parser("env check", "What has to change on this machine before something is installed, with commands.")
    made.add_argument("--for", dest="wanted", metavar="REQUIREMENT", action="append", default=[], help="'vllm-ascend==0.11.0', 'torch-npu==2.5.1' (repeatable)")
    made.add_argument("--requirements", metavar="FILE", help="a requirements or lock file")
    machine_options(made)
    made.add_argument("-f", "--format", choices=("text", "json"), help="default: text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    args = made.parse_args(argv)
    if not args.wanted and not args.requirements:
        raise UsageError("nothing is asked for", "npu-doctor env check --for 'vllm-ascend==0.11.0', or --requirements FILE")
    from doctor.env import before

    wanted = [*before.requirements(args.wanted), *(before.read_file(args.requirements) if args.requirements else ())]
    known = common.knowledge(args)
    machine, _ = examined(args, known)
    plans = before.plans(wanted, machine, known.compat())
    form = common.format_of(args.format, args.output, ("text", "json"))
    told = json.dumps(before.as_json(plans), ensure_ascii=False, indent=1) + "\n" if form == "json" else before.text(plans, common.language(args))
    common.write(told, args.output, form=form)
    if any(p.changes for p in plans):
        return exits.FINDINGS
    return exits.INCONCLUSIVE if not any(p.known for p in plans) else exits.CLEAN
