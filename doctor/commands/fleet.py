"""`npu-doctor fleet`: the same on many nodes at once, over what people reach them by already; scan, env and smi."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doctor.answer.redact import KEY_VARIABLE, Redactor, of_texts
from doctor.base import exits, interrupts, notation
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.base.words.told import told as in_language
from doctor.commands import common, interface, merging, places, reading, reporting
from doctor.fleet import engine, folder, gather, live, ship, told, tree, ways
from doctor.fleet.folder import Run
from doctor.fleet.outcome import FAILED, PARTIAL, SCANNED, Outcome
from doctor.fleet.talk import FOLDER, Order, Printed, Talk
from doctor.fleet.targets import Target
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.harvest import Absent
from doctor.version import __version__
from kb.files import read as read_knowledge
from kb.in_use import ALONE, own_layers
from kb.knowledge import Knowledge
from kb.layers import Layer
from parsers import foreign_json

if TYPE_CHECKING:
    from doctor.scan.scanner import Scanner

Call = dict[str, Any]
MAX_OWN = 4_000_000  # characters of knowledge that every node is sent
_OWN = ("-f", "--format", "-o", "--output", "--tui", "--redact", "--redact-map", "--redact-words", "--with-env", "--root", "--kb")


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


def arguments() -> common.Parser:
    made = common.parser("fleet scan", "One diagnosis of many nodes: each is scanned where its logs are. After -- come paths and options of npu-doctor scan.")
    places.options(made)
    merging.options(made)
    return made


# --- scan


def _scan(argv: list[str], options: list[str]) -> int:
    args = arguments().parse_args(argv)
    reporting.targets(args)
    if args.tui:
        interface.check_terminal(["fleet", "scan", *args.targets])
    if args.redact_map:
        raise UsageError("--redact-map: what stands for what is known on the nodes alone", "use --redact without it")
    run, known = _run(args, "scan", ".jsonl", options)
    read: dict[str, gather.Kept] = {}
    _ask(args, run, _keep_harvest(run, known, read))
    code = merging.tell(_as_merged(args), run.files(), known, read)
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


def _keep_harvest(run: Run, known: Knowledge, read: dict[str, gather.Kept]) -> Callable[[Target, Outcome], Outcome]:
    """Checks an answer before it is kept: what cannot be merged counts as none. What a pod has printed is scanned here.

    What is kept as it came need not be read again: it is put into `read`.
    """
    using = _redactor(run.call["key"], known) if run.call["key"] else None
    printed = _Printed(run, known, using)

    def keep(target: Target, outcome: Outcome) -> Outcome:
        if outcome.answered and target.name in run.call["gone"]:
            outcome = outcome._replace(answer=printed.scan(target, outcome.answer))
        text = outcome.answer.decode("utf-8", "surrogateescape")
        if outcome.answered:
            try:
                kept = gather.parsed(text, str(run.file(target)))
                if outcome.state == SCANNED:
                    read[kept.name] = kept
            except UsageError:
                outcome = outcome._replace(state=FAILED, reason="its answer is no harvest of this version")
        if using:
            outcome = outcome._replace(reason=using.text(outcome.reason.replace(target.address, run.labels[target.name])))
        ranks = f" (rank {notation.spans(target.ranks)})" if target.ranks else ""  # a host file or a rank table told them
        absent = Absent(run.labels[target.name], outcome.state, outcome.reason + ranks)
        if outcome.state == PARTIAL:
            text = gather.with_absent(text, absent)
        elif outcome.state != SCANNED:
            text = gather.nothing_of(absent)
        run.keep(target, outcome, text.encode("utf-8", "surrogateescape"))
        return outcome

    return keep


class _Printed:
    """Scans what came as text, as a node scans its logs; the plan is made for the first."""

    def __init__(self, run: Run, known: Knowledge, using: Redactor | None) -> None:
        self._run, self._known, self._using = run, known, using
        self._scanner: Scanner | None = None

    def scan(self, target: Target, data: bytes) -> bytes:
        from doctor.answer.report import report
        from doctor.commands import scan
        from doctor.render import jsonl
        from doctor.scan.plan import Plan
        from doctor.scan.scanner import Scanner

        if self._scanner is None:
            select = reading.select(scan.arguments().parse_args(self._run.call["options"]))
            self._scanner = Scanner(Plan(self._known.sought()), select, digest=self._known.digest)
        source = discover.given_bytes(data, f"{self._run.labels[target.name]}/printed.log")
        diagnosis = conclude([self._scanner.scan(source)], self._known)
        made, harvest = report(diagnosis, self._known), diagnosis.harvest.json()
        if self._using is not None:
            made, harvest = self._using.report([made, harvest])
        return jsonl.render(made, harvest).encode("utf-8", "surrogateescape")


# --- what all of them do


def _run(args: argparse.Namespace, what: str, suffix: str, options: list[str]) -> tuple[Run, Knowledge]:
    """The run that is gone on with, or a new one; and the knowledge in use, which an earlier run brings along."""
    if args.resume:
        run = folder.resume(args.resume, what)
        places.restore(args, run.call["reached"])
        return run, common.knowledge(args)
    known = common.knowledge(args)
    found, within, gone = places.targets_of(args)
    redact = bool(getattr(args, "redact", False) or getattr(args, "redact_words", ()))
    key = (os.environ.get(KEY_VARIABLE) or os.urandom(16).hex()) if redact else ""
    call: Call = {"options": options, "reached": places.reached(args), "within": within, "gone": dict(gone), "key": key, "words": list(getattr(args, "redact_words", ()))}
    if what == "scan":
        _checked(options)
    using = _redactor(key, known) if redact else None
    labels = {target.name: using.machine(target.name).strip("<>") if using else target.name for target in found}
    return folder.begin(args.into, what, suffix, found, labels, call), known


def _redactor(key: str, known: Knowledge) -> Redactor:
    """Calls everything what nodes that were told the same key call it."""
    os.environ[KEY_VARIABLE] = key
    return of_texts(known)


def _engine(args: argparse.Namespace, run: Run, waiting: Sequence[Target], done: engine.Done, began: engine.Began) -> None:
    """Ray has an engine of its own; everything else is a command on this machine."""
    if args.via != "ray":
        through = _through(args, run, waiting)
        far = {one.target.name for one in through.behind} if through else ()
        near = [target for target in waiting if target.name not in far]
        engine.run(_asked(args, run, near), args.timeout, args.fanout, done, began, through)
        return
    from doctor.fleet import rays

    order = _order(args, run)
    talks = [(target, Talk(os.urandom(8).hex(), ship.payload, order)) for target in waiting]
    rays.run(talks, args.address, args.timeout, args.fanout, ship.payload, done, began)


def _through(args: argparse.Namespace, run: Run, waiting: Sequence[Target]) -> tree.Through | None:
    """Those that stand behind gateways: each with the command that its gateway runs."""
    routes = tree.routes(args.topology) if args.via == "ssh" else None
    behind = [target for target in waiting if routes and tree.leads_to(routes, target.name)]
    if routes is None or not behind:
        return None
    order, way = _order(args, run), places.way(args, run.call["within"])
    nonces = [os.urandom(8).hex() for _ in behind]
    found = tuple(tree.Behind(t, ways.command(way, t, nonce), nonce, Talk(nonce, ship.payload, order)) for t, nonce in zip(behind, nonces, strict=True))
    sys.stderr.write(word("fleet.through", common.language(args), count=len(found), gateways=routes.gateways) + "\n")
    return tree.Through(found, routes, (*ways.reach(way), "--"), args.python, None if args.no_copy else ship.payload)


def _asked(args: argparse.Namespace, run: Run, waiting: Sequence[Target]) -> list[engine.Asked]:
    """Each target with the command that reaches it."""
    order, way = _order(args, run), places.way(args, run.call["within"])
    gone = run.call["gone"]
    asked = []
    for target in waiting:
        if target.name in gone:
            why, previous = gone[target.name]
            asked.append(engine.Asked(target, ways.printed(way, target, previous), Printed(why)))
            continue
        nonce = os.urandom(8).hex()
        asked.append(engine.Asked(target, ways.command(way, target, nonce), Talk(nonce, ship.payload, order)))
    return asked


def _order(args: argparse.Namespace, run: Run) -> Order:
    """What every node is told. Secrets and words of the user's go this way too: no command line shows them."""
    words, key = run.call["words"], run.call["key"]
    form = "jsonl" if run.what == "scan" else "json"
    own, folders = _own_knowledge(args)
    arguments = ["scan" if run.what == "scan" else "env", *run.call["options"], *folders, "-f", form, *(["--redact"] if key else []), *([f"--redact-words={FOLDER}/words"] if words else [])]
    files = (*((("words", "\n".join(words)),) if words else ()), *own)
    environment = ((ALONE, "1"), *(((KEY_VARIABLE, key),) if key else ()))
    return Order(tuple(arguments), run.suffix, __version__, args.timeout, not args.no_copy, args.keep, environment, files)


def _own_knowledge(args: argparse.Namespace) -> tuple[list[tuple[str, str]], list[str]]:
    """The files of the knowledge that is not built in, as nodes get them, and the options that name them there: all know the same."""
    found: list[tuple[str, str]] = []
    options = []
    for number, layer in enumerate(own_layers(tuple(args.kb))):
        options.append(f"--kb={FOLDER}/knowledge/{number}")
        found.append((f"knowledge/{number}/.folder", ""))
        for path in layer.all_files():
            with contextlib.suppress(OSError):  # it is told at home that it cannot be read
                found.append((f"knowledge/{number}/{path.relative_to(layer.root)}", _text_of(path, layer)))
    if sum(len(text) for _, text in found) > MAX_OWN:
        raise UsageError(f"the knowledge of your own has more than {MAX_OWN} characters: that is not sent to every node", "put only what this job needs into a folder, and name it with --kb")
    return found, options


def _text_of(path: Path, layer: Layer) -> str:
    return layer.reading(lambda: read_knowledge(path)).decode("utf-8", "surrogateescape")


def _ask(args: argparse.Namespace, run: Run, keep: Callable[[Target, Outcome], Outcome]) -> None:
    """Asks those of the run's targets that are missing, and keeps what comes."""
    before = run.outcomes()
    waiting = [t for t in run.targets if t.name not in before or before[t.name].state != SCANNED]
    if not waiting:
        return
    language = common.language(args)
    sys.stderr.write(word("fleet.asking", language, count=len(waiting), via=args.via, fanout=min(args.fanout, len(waiting)), seconds=f"{args.timeout:g}") + "\n")
    progress = live.Live(len(waiting), language)
    left = {t.name: t for t in waiting}

    def done(target: Target, outcome: Outcome) -> None:
        left.pop(target.name, None)
        progress.done(keep(target, outcome))

    interrupts.keep()
    try:
        _engine(args, run, waiting, done, lambda _: progress.began())
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


# --- env and smi


def _machines(name: str, about: str, forms: tuple[str, ...], argv: list[str], options: list[str]) -> tuple[argparse.Namespace, Run]:
    """What both of them ask: the facts of every node."""
    made = common.parser(f"fleet {name}", about)
    places.options(made)
    made.add_argument("-f", "--format", choices=forms, help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--redact", action="store_true", help="replace addresses, hosts, users and tokens by pseudonyms")
    made.add_argument("--all", action="store_true", help="also what differs on every machine by its nature: names, addresses, temperatures")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    args = made.parse_args(argv)
    from doctor.commands import env

    for option in options:
        if option.partition("=")[0] in (*_OWN[:6], "--spec"):
            raise UsageError(f"{option} is no option of the nodes", "write it before the --")
    env.arguments().parse_args(options)
    run, _ = _run(args, name, ".json", options)

    def keep(target: Target, outcome: Outcome) -> Outcome:
        if outcome.answered and not _is_machine(outcome.answer):
            outcome = outcome._replace(state=FAILED, reason="its answer is no report on a machine")
        run.keep(target, outcome, outcome.answer if outcome.answered else b"")
        return outcome

    _ask(args, run, keep)
    return args, run


def _is_machine(answer: bytes) -> bool:
    try:
        return isinstance(foreign_json.read(answer)["environment"]["facts"], dict)
    except (ValueError, KeyError, TypeError):
        return False


def _absent(run: Run, language: str) -> list[tuple[str, str]]:
    """Those that are missing, each with why."""
    outcomes = run.outcomes()
    rows = [(run.labels[t.name], outcomes[t.name]) for t in run.targets if t.name in outcomes and not outcomes[t.name].answered]
    return [(name, f"{word(f'fleet.state:{o.state}', language)}: {in_language(o.reason, language)}") for name, o in rows]


def _env(argv: list[str], options: list[str]) -> int:
    from doctor.env import difference, difference_text

    args, run = _machines("env", "Where the nodes differ, what matters first. After -- come options of npu-doctor env.", ("text", "json", "md"), argv, options)
    language = common.language(args)
    nodes = difference.read(run.files())
    rows = difference.differences(nodes, everything=args.all) if len(nodes) > 1 else ()
    form = common.format_of(args.format, args.output, ("text", "json", "md"))
    if form == "json":
        common.write(json.dumps(difference.as_json(nodes, rows), ensure_ascii=False, indent=1) + "\n", args.output, form=form)
    elif len(nodes) > 1:
        facts = len({name for node in nodes for name in node.facts})
        common.write(difference_text.render(nodes, rows, language, form == "md", facts), args.output, form=form)
    elif nodes:
        sys.stderr.write(word("fleet.one-alone", language) + "\n")
    _told(args, run)
    return _code(bool(rows), len(nodes) < 2 or bool(_absent(run, language)))


def _smi(argv: list[str], options: list[str]) -> int:
    from doctor.fleet import smi

    args, run = _machines("smi", "The health of all cards of all nodes, outliers first. After -- come options of npu-doctor env: --network asks for links.", ("text", "json"), argv, options)
    language = common.language(args)
    machines = []
    for target in run.targets:
        try:
            facts = dict(foreign_json.read(run.file(target).read_bytes())["environment"]["facts"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # it is among those that are missing
        machines.append((run.labels[target.name], {str(k): str(v) for k, v in facts.items()}))
    made, absent = smi.table(machines, language), _absent(run, language)
    form = common.format_of(args.format, args.output, ("text", "json"))
    common.write(json.dumps(smi.as_json(made, absent), ensure_ascii=False, indent=1) + "\n" if form == "json" else smi.text(made, absent, language), args.output, form=form)
    _told(args, run)
    return _code(bool(made.odd or any(made.cards and why for _, why in made.nodes)), bool(absent) or not made.cards)


def _code(found: bool, missing: bool) -> int:
    if interrupts.heard():
        return exits.INTERRUPTED
    return exits.FINDINGS if found else exits.INCONCLUSIVE if missing else exits.CLEAN


_DOES: Mapping[str, Callable[[list[str], list[str]], int]] = {"scan": _scan, "env": _env, "smi": _smi}
