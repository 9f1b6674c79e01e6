"""`npu-doctor repro`: from an entry, from logs, from a record, or from scratch to a script that shows the fault."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from doctor.answer import advice
from doctor.base import exits, lang, output
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.judge.diagnosis import Diagnosis
from doctor.repro import build, choose, short, trial
from doctor.repro.build import template_name
from doctor.repro.call import Operator, Request, Script, Seen
from doctor.repro.choose import Wish
from doctor.repro.extract import operators
from doctor.repro.gather import evidence
from doctor.repro.operator_table import load
from doctor.repro.template_summaries import ABOUT
from doctor.repro.validate import IncompleteError, SlotError
from doctor.repro.written import described
from kb import plain
from kb.model import Entry, Text
from parsers.named import NamedTuple

Diagnose = Callable[[Sequence[str]], Diagnosis]


class Entries(Protocol):
    """What is needed of the knowledge: an entry by its code."""

    def entry(self, code: str) -> Entry | None: ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry", nargs="?", metavar="ENTRY", help="an entry of the knowledge, such as RTS001")
    parser.add_argument(
        "--from",
        dest="source",
        action="append",
        default=[],
        metavar="PATH",
        help="logs, a record of doctor.record, or - (repeatable)",
    )
    parser.add_argument("--finding", type=int, metavar="N", help="the N-th finding of the diagnosis of --from")
    parser.add_argument(
        "--number", type=int, metavar="N", help="the N-th operator found in the logs (default: the likeliest)"
    )
    parser.add_argument(
        "--op", metavar="NAME", help="an operator: torch.max, aclnnMatmul, GatherV3, aten::index_select"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help="an input such as int64[10,20] or float16[4,8] 0..1 (repeatable)",
    )
    parser.add_argument(
        "--attr", action="append", default=[], metavar="NAME=VALUE", help="an attribute such as dim=1, kernel_size=[3,3], bias=None, or by its place: 1=-1 (repeatable)"
    )
    parser.add_argument(
        "--template", metavar="NAME", help="another template than the one the log suggests (--list names them)"
    )
    parser.add_argument("--context", type=int, metavar="K", help="from a record: the last K operators as one script")
    parser.add_argument("--device", default="", help="the device of templates that select one (npu:0)")
    parser.add_argument("--expect", default="", metavar="TEXT", help="text of the error that the script compares with")
    parser.add_argument("--list", action="store_true", help="list the templates, or with --from the operators found")
    parser.add_argument("--harness", action="store_true", help="the long script: options, tolerances by type, a verdict as exit code")
    parser.add_argument("--no-try", action="store_true", help="do not try the call without an NPU first, where PyTorch is installed")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the script to a file instead of standard output")


def run(args: argparse.Namespace, diagnose: Diagnose, knowledge: Entries | None = None, notes: tuple[Text, ...] = ()) -> int:
    """Prints or writes the script, with notes of the caller's; what was guessed is told on stderr as well."""
    language = lang.choose(getattr(args, "lang", None))
    if args.list:
        sys.stdout.write(_listing(args, language))
        return exits.CLEAN
    _write(script(args, diagnose, knowledge, notes), args.output, language)
    return exits.CLEAN


def script(args: argparse.Namespace, diagnose: Diagnose, knowledge: Entries | None = None, notes: tuple[Text, ...] = ()) -> Script:
    """The script that the arguments ask for."""
    try:
        request = _request(args, diagnose, knowledge, lang.choose(getattr(args, "lang", None)))
        request = replace(request, notes=(*request.notes, *notes))
        if args.harness and request.slots.get("INCOMPLETE"):
            return build.script(request)
        made = short.script(request)
        tried = None if getattr(args, "no_try", False) else trial.told(request, made)
        if tried is not None:
            request = replace(request, notes=(*request.notes, tried))
        return replace(build.script(request) if args.harness else short.script(request), tried=tried)
    except IncompleteError as problem:
        raise UsageError(
            f"the log tells too little for a script: {problem}",
            "describe the call: --op torch.max --input 'int64[10,20]' --attr dim=1; --harness writes a script to be filled in",
        ) from problem
    except SlotError as problem:
        raise UsageError(
            str(problem), "npu-doctor repro --list names the templates; npu-doctor repro --help tells the rest"
        ) from problem


def _request(args: argparse.Namespace, diagnose: Diagnose, knowledge: Entries | None, language: str) -> Request:
    template = template_name(args.template) if args.template else "stream_bisect" if args.context else ""
    wish = Wish(template, args.device, args.expect, args.context or 0, language)
    if args.op:
        return choose.request(described(args.op, args.input, args.attr), load(), wish)
    if args.input or args.attr:
        raise UsageError(
            "--input and --attr describe an operator",
            "name it with --op, for example --op torch.max --input 'int64[10,20]' --attr dim=1",
        )
    told: Mapping[str, str] = {}
    found: tuple[Operator, ...] = ()
    suggested = Suggested()
    if args.source:
        told, suggested, found = _from_logs(args, diagnose)
        if not wish.template and (not found or suggested.template in choose.fitting(found[0])):
            wish = replace(wish, template=suggested.template, slots=suggested.slots)
    elif args.finding is not None:
        raise UsageError("--finding counts the findings of --from", "npu-doctor repro --from PATH --finding 1")
    if args.entry:
        suggested = _from_entry(args.entry, knowledge, told, has_operator=bool(found or wish.template), language=language)
        told = {**dict(suggested.slots), **told}
        if not wish.template and (not found or suggested.template not in ("", "single_op")):  # a log knows better how its operator is called
            wish = replace(wish, template=suggested.template, slots=suggested.slots)
    elif not args.source and not wish.template:
        raise UsageError(
            "nothing to reproduce", "npu-doctor repro RTS001, --from PATH, --op torch.max, or --template NAME"
        )
    if args.entry and not found and not choose.shows_something(wish, told):
        raise UsageError(
            f"{args.entry} tells no operator: which one to run stands in the log",
            f"npu-doctor repro {args.entry} --from PATH, or --op NAME --input 'float16[4,8]'; --template NAME for an example",
        )
    if found and not found[0].failed and found[0].how == "record" and not (args.context or args.number):
        raise UsageError(
            f"no operator was running when this program ended: the last one of the record, {found[0].name}, returned",
            "the end came from elsewhere (npu-doctor scan its log); --context 5 replays the last operators all the same",
        )
    number = args.number or 1
    if args.number and not 0 < number <= len(found):
        raise UsageError(
            f"there are {len(found)} operators in these logs, not {number}", "npu-doctor repro --from PATH --list"
        )
    made = choose.request(found[number - 1] if found else None, load(), wish, told)
    return replace(made, notes=(*suggested.shows, *made.notes))


class Suggested(NamedTuple):
    """What an entry says of its script: the template, what its slots get, and the fault that it shows."""

    template: str = ""
    slots: tuple[tuple[str, str], ...] = ()
    shows: tuple[Text, ...] = ()


def _from_logs(args: argparse.Namespace, diagnose: Diagnose) -> tuple[Mapping[str, str], Suggested, tuple[Operator, ...]]:
    """The captures and the template of the finding, and the operators that the logs name."""
    seen = evidence(args.source)
    found = seen.operators()
    fitting = choose.fitting(found[0]) if found and args.finding is None and not args.entry else ()
    if found and args.finding is None and not fitting:
        return {}, Suggested(), found  # what failed is known, or asked for
    diagnosis = diagnose([*(s for s in args.source if s != "-"), *([seen.stdin] if seen.stdin else [])])
    related = [r for r in diagnosis.related if r.finding.entry.role != "noise"]
    if args.finding is not None:
        if not 0 < args.finding <= len(related):
            raise UsageError(
                f"there are {len(related)} findings, not {args.finding}",
                "npu-doctor scan PATH numbers them in their order",
            )
        related = [related[args.finding - 1]]
        own = tuple(o for hit in related[0].finding.hits for o in operators(hit.place.text))
        found = own or found
    for one in related:
        if one.finding.entry.repro and (not fitting or one.finding.entry.repro[0] in fitting):
            name, slots = one.finding.entry.repro
            values = advice.values(one.finding).one
            filled = choose.filled(slots, values)
            return {**values, **dict(filled)}, Suggested(name, filled), found
    return (advice.values(related[0].finding).one if related and not found else {}), Suggested(), found


def _from_entry(code: str, knowledge: Entries | None, told: Mapping[str, str], *, has_operator: bool, language: str) -> Suggested:
    """What an entry says of its script; it may say that there is none, which an operator of the log outweighs."""
    entry = knowledge.entry(code.strip().upper()) if knowledge is not None else None
    if entry is None:
        raise UsageError(
            f"there is no entry '{code}'", "npu-doctor kb search TEXT finds one; a path is given with --from"
        )
    if entry.no_repro and not has_operator:
        raise UsageError(
            f"{entry.code} has no script: {word(f'repro.{entry.no_repro}', language)}",
            f"npu-doctor explain {entry.code} tells what to do; --template NAME gives an example all the same",
        )
    title = plain.text(entry.title)
    shows = (Text(f"{entry.code}: {title.en}", f"{entry.code}：{title.zh}"),)
    if entry.repro is None:
        return Suggested("" if entry.no_repro else choose.BY_KIND.get(entry.kind, ""), (), shows)
    name, slots = entry.repro
    return Suggested(name, choose.filled(slots, told), shows)


def _listing(args: argparse.Namespace, language: str) -> str:
    if not args.source:
        width = max(map(len, ABOUT))
        return "".join(f"{name:{width}}  {about.pick(language)}\n" for name, about in ABOUT.items())
    rows = []
    for number, one in enumerate(evidence(args.source).operators(), 1):
        tensors = ", ".join(_shown(i, seen) for i, seen in enumerate(one.inputs))
        rows.append(clean(f"{number:3}  {one.name}  ({one.how}, {one.path}:{one.line})  {tensors}") + "\n")
    return "".join(rows) or "no operator is named in these logs\n"


def _shown(index: int, seen: Seen) -> str:
    shape = ",".join(map(str, seen.shape)) if seen.shape is not None else "?"
    return f"{seen.role or f'in{index}'} {seen.dtype or '?'}[{shape}]"


def _write(made: Script, target: str | None, language: str) -> None:
    output.write(made.text, target)
    if target and target != "-":
        sys.stderr.write(f"npu-doctor: {target}\n")
    if made.tried is not None:
        sys.stderr.write(f"npu-doctor: {clean(made.tried.pick(language))}\n")
    for note in made.guessed:
        label = "猜测" if language == "zh" else "guessed"
        sys.stderr.write(f"npu-doctor: {label}: {clean(note.pick(language))}\n")
