"""`npu-doctor issue`: what a maintainer needs to know about a failure, as a text to paste into a tracker. Redacted unless told otherwise."""

from __future__ import annotations

import argparse
import sys

from doctor.answer.quotes import cited
from doctor.answer.redact import Redactor, redactor
from doctor.answer.report import report
from doctor.answer.versions import Seen, versions
from doctor.base import exits, interrupts
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common, reading
from doctor.commands.reporting import Json
from doctor.render import draft
from doctor.render.forms import FORMS
from kb.knowledge import Knowledge

# Who keeps what, and where a report of a fault is read.
TRACKERS = {
    "torch_npu": "https://gitcode.com/Ascend/pytorch/issues",
    "vllm-ascend": "https://github.com/vllm-project/vllm-ascend/issues",
    "hccl": "https://gitcode.com/cann/hccl/issues",
    "cann": "https://gitcode.com/cann/runtime/issues",
    "driver": "https://gitcode.com/cann/driver/issues",
    "mindie": "https://gitcode.com/Ascend/MindIE-LLM/issues",
    "mindspore": "https://gitee.com/mindspore/mindspore/issues",
    "mindspeed": "https://gitcode.com/Ascend/MindSpeed/issues",
    "verl": "https://github.com/verl-project/verl/issues",
    "mind-cluster": "https://gitcode.com/Ascend/mind-cluster/issues",
}
_OF_COMPONENT = {
    "vllm": "vllm-ascend",
    "npu-smi": "driver",
    "kernel": "driver",
    "torch": "torch_npu",
    "pytorch": "torch_npu",
    "tdt": "cann",
}


def arguments() -> common.Parser:
    made = common.parser(
        "issue",
        "Draft an issue for maintainers: versions seen in the logs, symptoms, root cause, evidence, what was tried, a script that reproduces it. "
        "Addresses, hosts, users, tokens and serial numbers are replaced by pseudonyms.",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="logs as for npu-doctor scan, or - for standard input")
    made.add_argument("-o", "--output", metavar="FILE", help="write the draft to a file instead of standard output")
    made.add_argument(
        "--finding", type=int, metavar="N", help="the issue is about the N-th finding (default: the first root cause)"
    )
    made.add_argument(
        "--to", choices=tuple(TRACKERS), help="whose tracker it is for, in the form that it asks for (default: by the component of the finding)"
    )
    reading.options_to_pass_on(made)
    made.add_argument(
        "--env", metavar="NODE.json", help="the machine that wrote the logs, as npu-doctor env -o NODE.json wrote it (default: this machine, when it has NPUs)"
    )
    made.add_argument("--no-env", action="store_true", help="leave the machine out")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    common.check_redaction(args)
    known = common.knowledge(args)
    looked = reading.look_to_pass_on(args, known)
    diagnosis, sources = looked.diagnosis, looked.sources
    made = cited(report(diagnosis, known), sources) if args.to in FORMS else report(diagnosis, known)
    if args.finding is not None and not 0 < args.finding <= len(made["findings"]):
        raise UsageError(
            f"there are {len(made['findings'])} findings, not {args.finding}",
            "npu-doctor scan PATH numbers them in their order",
        )
    seen = versions(sources)
    looked.close()
    beside = None if args.no_env else _machine(args, known)
    if not args.no_redact:
        using = redactor(diagnosis, known, own=args.redact_words)
        made = using.report(made)
        seen = tuple(Seen(s.name, tuple((_version(v, using), using.text(p)) for v, p in s.values)) for s in seen)
        beside = _hidden(beside, using) if beside else None
        made["redacted"] = using.told
        if args.redact_map:
            common.write(using.map_text(), args.redact_map, private=True)
    language = common.language(args)
    common.write(draft.render(made, seen, language, draft.Options(args.finding, not args.no_redact, beside, args.to or "")), args.output)
    _narrate(args.to or _place(made, args.finding, known), made, language)
    if interrupts.heard():
        return exits.INTERRUPTED
    return exits.CLEAN if made["stats"]["files"] else exits.INCONCLUSIVE


def _machine(args: argparse.Namespace, known: Knowledge) -> draft.Machine | None:
    """The machine for the draft: the one that is given, else this one when there is anything of Ascend on it."""
    from doctor.env import difference, report, verdict
    from doctor.env.facts import from_values
    from doctor.env.look_at import Asked, machine

    if args.env:
        (node,) = difference.read([args.env])[:1] or (difference.Node("", {}),)
        looked = from_values(node.facts)._replace(where=args.env)
    else:
        looked = machine(Asked(), known)
        if not report.is_ascend(looked):
            return None
    failing = verdict.failures(verdict.results(looked, known.checks()))
    rows = tuple((f["id"], f["title"]) for f in (report.finding(r, looked) for r in failing))
    return draft.Machine(tuple((n, looked.value(n)) for n in report.ISSUE if looked.value(n)), rows)


def _hidden(beside: draft.Machine, using: Redactor) -> draft.Machine:
    """The machine with pseudonyms: facts are versions and names of software, titles may name paths."""
    rows = tuple((code, {lang: using.text(text) for lang, text in title.items()}) for code, title in beside.failing)
    return beside._replace(facts=tuple((n, _version(v, using)) for n, v in beside.facts), failing=rows)


def _version(value: str, using: Redactor) -> str:
    """Four numbers that stood behind the word version are no address."""
    return value if value[:1].isdigit() else using.text(value)


def _place(made: Json, number: int | None, known: Knowledge) -> str:
    """The tracker of the component that the finding is about; empty when nobody is known to keep it."""
    about = draft.subject(made, number)
    entry = known.entry(about["id"]) if about else None
    component = entry.component.lower() if entry is not None else ""
    return _OF_COMPONENT.get(component, component)


def _narrate(to: str, made: Json, language: str) -> None:
    if "redacted" in made:
        counts = ", ".join(f"{n} {kind}" for kind, n in made["redacted"]["values"].items()) or "0"
        sys.stderr.write(f"npu-doctor: {word('issue.redacted', language, counts=counts)}\n")
    else:
        sys.stderr.write(f"npu-doctor: {word('issue.plain', language)}\n")
    if to in TRACKERS:
        sys.stderr.write(f"npu-doctor: {word('issue.place', language, url=TRACKERS[to])}\n")
