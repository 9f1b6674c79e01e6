"""`npu-doctor fleet`: the same on many nodes at once, over what people reach them by already; scan, env and smi."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doctor.answer.redact import KEY_VARIABLE, Redactor, of_texts
from doctor.base import interrupts
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common, merging, reporting
from doctor.fleet import folder, gather, live, targets, told
from doctor.fleet.folder import Run
from doctor.fleet.outcome import FAILED, PARTIAL, SCANNED, Outcome
from doctor.fleet.talk import FOLDER, Order
from doctor.fleet.targets import Target
from doctor.fleet.ways import WAYS, Way
from doctor.scan.harvest import Absent
from doctor.version import __version__
from kb.knowledge import Knowledge

FANOUT = 64
SECONDS = 300.0
Call = dict[str, Any]
_OWN = ("-f", "--format", "-o", "--output", "--tui", "--redact", "--redact-map", "--redact-words", "--with-env", "--root")


def main(argv: list[str]) -> int:
    before, after = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    what = next((word for word in before if word in _DOES), "")
    if not what:
        _usage().parse_args(before or ["--help"])
        raise UsageError("fleet does one of: scan, env, smi", "npu-doctor fleet scan node[001-128] -- /var/log/npu")
    before.remove(what)
    return _DOES[what](before, after)


def _usage() -> common.Parser:
    made = common.parser(
        "fleet",
        "The same on many nodes at once, where their logs are; only what was found comes home.\n"
        "  npu-doctor fleet scan TARGETS [-- SCAN OPTIONS]   one diagnosis of all nodes\n"
        "  npu-doctor fleet env TARGETS                      where the nodes differ\n"
        "  npu-doctor fleet smi TARGETS                      the health of all cards, outliers first",
    )
    made.add_argument("what", choices=tuple(_DOES), help="what is asked of every node")
    return made


def target_options(made: common.Parser) -> None:
    """Which nodes, and how they are reached: the same for all that is asked of them."""
    made.add_argument("targets", nargs="*", metavar="TARGETS", help="node sets (node[001-128], @group, @slurm:PARTITION), pods, containers, or groups of -i")
    made.add_argument("--via", choices=WAYS, default="ssh", help="by which program nodes are reached (default: ssh)")
    made.add_argument("-i", "--inventory", metavar="FILE", help="an Ansible inventory, INI or YAML; TARGETS then name its groups and hosts")
    made.add_argument("--hostfile", metavar="FILE", help="a host file of DeepSpeed or MPI")
    made.add_argument("--rank-table", metavar="FILE", help="the rank table of the job: its servers are asked")
    made.add_argument("--fanout", type=int, default=FANOUT, metavar="N", help=f"how many nodes are asked at once (default: {FANOUT})")
    made.add_argument("--timeout", type=float, default=SECONDS, metavar="SECONDS", help=f"time of one node (default: {SECONDS:.0f}); what it has read by then counts")
    made.add_argument("--python", metavar="PATH", default="", help="the Python of the nodes (3.10 or newer; default: looked for)")
    made.add_argument("--no-copy", action="store_true", help="send no program: nodes without this version of npu-doctor are refused")
    made.add_argument("--keep", action="store_true", help="leave the private folder on the nodes")
    made.add_argument("--option", action="append", default=[], metavar="WORD", help="a word for ssh, srun, kubectl or docker, as it is (repeatable): --option=-J --option=gateway")
    made.add_argument("--into", metavar="DIR", default="", help="keep the answers of the nodes there (default: a folder of your own state)")
    made.add_argument("--resume", nargs="?", const=folder.LAST, metavar="DIR", help="go on with an earlier run (default: the last one): only nodes that are missing are asked")


def arguments() -> common.Parser:
    made = common.parser("fleet scan", "One diagnosis of many nodes: each is scanned where its logs are. After -- come paths and options of npu-doctor scan.")
    target_options(made)
    reporting.output_options(made)
    return made


# --- scan


def _scan(argv: list[str], options: list[str]) -> int:
    args = arguments().parse_args(argv)
    reporting.targets(args)
    if args.redact_map:
        raise UsageError("--redact-map: what stands for what is known on the nodes alone", "use --redact without it")
    known = common.knowledge(args)
    run = _run(args, "scan", ".jsonl", options, known)
    _ask(args, run, _keep_harvest(run, known))
    code = merging.tell(_as_merged(args), run.files(), known)
    _told(args, run)
    return code


def _as_merged(args: argparse.Namespace) -> argparse.Namespace:
    """What nodes have redacted is redacted: the report says the same as `merge` of the same files."""
    return argparse.Namespace(**{**vars(args), "redact": False, "redact_words": ()})


def _checked(options: Sequence[str]) -> None:
    """Options of the scan that a node would refuse, or that belong before the --."""
    from doctor.commands import scan

    for option in options:
        if option.partition("=")[0] in _OWN:
            raise UsageError(f"{option} is no option of the nodes", "write it before the --; --with-env: npu-doctor fleet env")
    scan.arguments().parse_args(list(options))


def _keep_harvest(run: Run, known: Knowledge) -> Callable[[Target, Outcome], Outcome]:
    """Checks an answer before it is kept: what cannot be merged counts as none."""

    using = _redactor(run.call["key"], known) if run.call["key"] else None

    def keep(target: Target, outcome: Outcome) -> Outcome:
        text = outcome.answer.decode("utf-8", "surrogateescape")
        if outcome.answered:
            try:
                gather.parsed(text, "its answer")
            except UsageError:
                outcome = outcome._replace(state=FAILED, reason="its answer is no harvest of this version")
        if using:
            outcome = outcome._replace(reason=using.text(outcome.reason.replace(target.address, run.labels[target.name])))
        absent = Absent(run.labels[target.name], outcome.state, outcome.reason)
        if outcome.state == PARTIAL:
            text = gather.with_absent(text, absent)
        elif outcome.state != SCANNED:
            text = gather.nothing_of(absent)
        run.keep(target, outcome, text.encode("utf-8", "surrogateescape"))
        return outcome

    return keep


# --- what all of them do


def _run(args: argparse.Namespace, what: str, suffix: str, options: list[str], known: Knowledge) -> Run:
    """The run that is gone on with, or a new one."""
    if args.resume:
        return folder.resume(args.resume, what)
    found = _targets(args)
    redact = bool(getattr(args, "redact", False) or getattr(args, "redact_words", ()))
    key = (os.environ.get(KEY_VARIABLE) or os.urandom(16).hex()) if redact else ""
    call: Call = {"options": options, "via": args.via, "key": key, "words": list(getattr(args, "redact_words", ()))}
    if what == "scan":
        _checked(options)
    using = _redactor(key, known) if redact else None
    labels = {target.name: using.machine(target.name).strip("<>") if using else target.name for target in found}
    return folder.begin(args.into, what, suffix, found, labels, call)


def _redactor(key: str, known: Knowledge) -> Redactor:
    """Calls everything what nodes that were told the same key call it."""
    os.environ[KEY_VARIABLE] = key
    return of_texts(known)


def _targets(args: argparse.Namespace) -> tuple[Target, ...]:
    found: list[Target] = []
    if args.inventory:
        from doctor.fleet.inventory import of_inventory

        found += of_inventory(args.inventory, args.targets)
    elif args.targets and args.via in ("kubectl", "docker"):
        found += [Target(name) for name in args.targets]
    elif args.targets:
        found += targets.of_words(args.targets)
    found += targets.of_hostfile(args.hostfile) if args.hostfile else ()
    found += targets.of_rank_table(args.rank_table) if args.rank_table else ()
    if not found:
        raise UsageError("no nodes are named", "npu-doctor fleet scan node[001-128], or -i INVENTORY, --hostfile FILE, --rank-table FILE")
    return targets.unique(found)


def _way(args: argparse.Namespace) -> Way:
    return Way(args.via, args.python, tuple(args.option))


def _order(args: argparse.Namespace, run: Run) -> Order:
    """What every node is told. Secrets and words of the user's go this way too: no command line shows them."""
    words, key = run.call["words"], run.call["key"]
    arguments = ["scan", *run.call["options"], "-f", "jsonl", *(["--redact"] if key else []), *([f"--redact-words={FOLDER}/words"] if words else [])]
    files = (("words", "\n".join(words)),) if words else ()
    return Order(tuple(arguments), run.suffix, __version__, args.timeout, not args.no_copy, args.keep, ((KEY_VARIABLE, key),) if key else (), files)


def _ask(args: argparse.Namespace, run: Run, keep: Callable[[Target, Outcome], Outcome]) -> None:
    """Asks those of the run's targets that are missing, and keeps what comes."""
    from doctor.fleet import engine, ship, ways

    before = run.outcomes()
    waiting = [t for t in run.targets if t.name not in before or before[t.name].state != SCANNED]
    if not waiting:
        return
    if not shutil.which(args.via):
        raise UsageError(f"there is no {args.via} here", "choose another way with --via")
    if args.fanout < 1 or not args.timeout > 0:
        raise UsageError("--fanout and --timeout are larger than 0")
    language = common.language(args)
    sys.stderr.write(word("fleet.asking", language, count=len(waiting), via=args.via, fanout=min(args.fanout, len(waiting)), seconds=f"{args.timeout:g}") + "\n")
    progress = live.Live(len(waiting), language)
    left = {t.name: t for t in waiting}

    def done(target: Target, outcome: Outcome) -> None:
        left.pop(target.name, None)
        progress.done(keep(target, outcome))

    way = _way(args)
    asked = []
    for target in waiting:
        nonce = engine.nonce()
        asked.append(engine.Asked(target, ways.command(way, target, nonce), nonce))
    interrupts.keep()
    try:
        engine.run(asked, _order(args, run), ship.payload, args.fanout, done, lambda _: progress.began())
    except KeyboardInterrupt:
        interrupts.acted()
        progress.end()
        sys.stderr.write(word("fleet.stopped", language, count=len(left)) + "\n")
        for target in list(left.values()):
            keep(target, Outcome(FAILED, "it was not asked to the end: interrupted here"))
    finally:
        progress.end()


def _told(args: argparse.Namespace, run: Run) -> None:
    """What the report does not say: how it went with every node, what it cost, how to go on."""
    language = common.language(args)
    outcomes = run.outcomes()
    for row in told.lines({t.name: outcomes[t.name] for t in run.targets if t.name in outcomes}, language):
        sys.stderr.write(f"{row}\n")
    sys.stderr.write(word("fleet.kept", language, folder=run.nodes) + "\n")
    if any(outcomes[t.name].state != SCANNED for t in run.targets if t.name in outcomes):
        sys.stderr.write(word("fleet.resume", language, what=run.what, folder=run.folder) + "\n")


_DOES: Mapping[str, Callable[[list[str], list[str]], int]] = {"scan": _scan}
