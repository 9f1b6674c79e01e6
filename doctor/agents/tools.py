"""The tools of the server. Each reads, none writes or runs anything; every answer is bounded and cited."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Iterable
from typing import Any

from doctor.agents import arguments
from doctor.agents.desk import Desk, Held, Progress
from doctor.agents.reach import RefusedError
from doctor.answer.quotes import GAP, fitted
from doctor.base import notation
from doctor.base.tokens import tokens
from doctor.base.words import word
from doctor.explanation import named, text
from doctor.read import again
from doctor.render import brief, parts
from doctor.render.layout import Style
from kb.invisible import STEERING
from parsers.named import NamedTuple

Json = dict[str, Any]
MAX_PATHS, MAX_LINES, MAX_WIDTH, PAGE = 20, 100, 1000, 40
MAX_ANSWER = 8000  # tokens


class Call(NamedTuple):
    """Who asks: what is remembered for him, and how he hears of progress and is no longer waited for."""

    desk: Desk
    progress: Progress
    stopped: Callable[[], bool]


class Tool(NamedTuple):
    name: str
    about: str
    wants: Json
    answer: Callable[[Call, Json], str]


def _report(what: str = "report of an earlier scan (default: the last)") -> Json:
    return arguments.text(what, 20)


def scan(call: Call, asked: Json) -> str:
    held = call.desk.scan(asked["paths"], call.progress, call.stopped)
    lang = call.desk.lang
    return f"{word('agents.report', lang, id=held.id)}\n{brief.render(held.made, lang, asked['budget'])}"


def evidence(call: Call, asked: Json) -> str:
    """The lines around a place; of a finding all the places on which it rests."""
    desk = call.desk
    if asked["finding"]:
        return _of_finding(desk, desk.held(asked["report"]), asked["finding"].strip().upper())
    if not asked["path"]:
        raise RefusedError("neither a place nor a finding is asked for", "give path and line, or finding")
    source = desk.source(asked["path"])
    first = max(1, asked["line"] - asked["before"])
    wanted = range(first, min(asked["line"] + asked["after"], first + MAX_LINES - 1) + 1)
    name = notation.clean(source.name)
    found = again.rows([source], [(name, line) for line in wanted])
    shown = desk.hidden(name)
    if not found:
        raise RefusedError(word("agents.no-line", desk.lang, path=shown, line=asked["line"]), "ask for a smaller line")
    desk.hidden("\n".join(found.values()))  # names that one line tells are known in the others
    rows = [f"{line}> {_quote(desk, found[name, line])}" for line in wanted if (name, line) in found]
    more = [word("agents.more-lines", desk.lang, line=wanted[-1] + 1)] if len(rows) == len(wanted) else []
    return _bounded([f"{shown}: {word('agents.quoted', desk.lang)}", *rows, *more])


def _quote(desk: Desk, raw: str) -> str:
    return fitted(STEERING.sub(GAP, desk.hidden(raw)), "", MAX_WIDTH)


def _of_finding(desk: Desk, held: Held, code: str) -> str:
    one = next((f for f in held.made["findings"] if f["id"] == code), None)
    if one is None:
        known = ", ".join(f["id"] for f in held.made["findings"][:40])
        raise RefusedError(f"{held.id} has no finding '{code[:20]}'", f"findings: {known or 'none'}")
    head = f"{held.id} {one['id']} {one['title'][desk.lang]} ({notation.times(one['count'])}). {word('agents.quoted', desk.lang)}"
    rows = (f"{notation.place(e['path'], e['line'])}\n> {fitted(e['quote'], e['matched'], MAX_WIDTH)}" for e in one["evidence"])
    return _bounded([head, *rows])


def job(call: Call, asked: Json) -> str:
    """Where it began, who waited for whom, and every rank."""
    desk, held = call.desk, call.desk.held(asked["report"])
    made = held.made.get("job")
    if not made:
        return word("agents.no-job", desk.lang)
    from doctor.render.job import compose

    story = compose(made, desk.lang)
    first = (asked["page"] - 1) * PAGE
    rows = [story.head, *(f"- {told}" for told in story.told)] if not first else []
    groups = [f"- {one.said}: {one.ranks}" for one in story.groups] if not first else []
    ranks = [_rank(one) for one in made["ranks"][first : first + PAGE]]
    more = [word("agents.more-page", desk.lang, page=asked["page"] + 1)] if len(made["ranks"]) > first + PAGE else []
    return _bounded([*rows, *groups, f"{word('agents.ranks', desk.lang)}:", *ranks, *more])


def _rank(one: Json) -> str:
    who = f"rank {one['rank']}" if one["rank"] is not None else f"pid {one['pid']}"
    state = f"{one['state']} {one['about'] or ''}".strip()
    return ", ".join([who, one["node"] or "?", state, notation.short_moment(one["last_seen"] or "?")])


def explain(call: Call, asked: Json) -> str:
    found = named(asked["what"], call.desk.known)
    if not any(found.values()):
        return word("agents.unknown", call.desk.lang, what=notation.clean(asked["what"]))
    return _bounded(text(found, call.desk.known, call.desk.lang, Style(width=100)).split("\n"))


def search(call: Call, asked: Json) -> str:
    from doctor.lookup.search import search as look

    found = look(call.desk.known, asked["query"], asked["limit"])
    return _bounded([f"{one.kind} {one.id} {one.title.pick(call.desk.lang)}" for one in found] or [word("agents.nothing-found", call.desk.lang)])


def env(call: Call, asked: Json) -> str:
    """The machine that the server runs on. Nothing is run to learn about it: what only a command tells is not known."""
    from doctor.answer.quotes import with_quotes
    from doctor.env import private, report, verdict
    from doctor.env.look_at import Asked, machine

    desk = call.desk
    looked = machine(Asked(commands=False), desk.known)
    made = report.report(looked, desk.known, verdict.results(looked, desk.known.checks()))
    made = private.redacted(made, desk.known)[0] if desk.redact else made
    facts = made["environment"]["facts"]
    rows = [f"{word('agents.facts', desk.lang)}: " + ", ".join(f"{n}={facts[n]}" for n in report.ISSUE if facts.get(n))]
    return f"{brief.render(with_quotes(made, {}), desk.lang, asked['budget'])}{rows[0]}\n"


def repro(call: Call, asked: Json) -> str:
    """The script as text; whoever asks decides whether it is run, and where."""
    from doctor import api
    from doctor.base.errors import UsageError
    from doctor.repro import repro_command

    desk = call.desk
    held = desk.held(asked["report"]) if asked["report"] or not asked["entry"] or desk.reports() else None
    options = argparse.ArgumentParser()
    repro_command.add_arguments(options)
    given = [f"--from={path}" for path in desk.again(held)] if held else []
    try:
        args = options.parse_args(["--no-try", *given, *(["--", asked["entry"]] if asked["entry"] else [])])
        args.lang = desk.lang
        made = repro_command.script(args, lambda what: api.diagnose(what, knowledge=desk.known), desk.known)
    except UsageError as error:
        raise RefusedError(error.what, error.help) from error
    told = desk.hidden(made.text)
    if told != made.text:
        try:
            ast.parse(told)
        except SyntaxError:
            raise RefusedError("this script holds names that pseudonyms would break", "the user can write it: npu-doctor repro --from LOGS -o repro.py") from None
    return told


def compare(call: Call, asked: Json) -> str:
    """What only one of two reports tells."""
    desk = call.desk
    a, b = desk.held(asked["a"]), desk.held(asked["b"])
    rows = []
    facts = [one.made["situation"]["facts"] for one in (a, b)]
    for name in sorted({*facts[0], *facts[1]}):
        if facts[0].get(name) != facts[1].get(name):
            rows.append(f"{name}: {a.id} {_values(facts[0], name)}; {b.id} {_values(facts[1], name)}")
    for one, other in ((a, b), (b, a)):
        known = {f["id"] for f in other.made["findings"]}
        rows += [f"{word('agents.only', desk.lang, id=one.id)}: {_said(f, desk.lang)}" for f in one.made["findings"] if f["id"] not in known]
        shapes = {u["template"] for u in other.made["unexplained"]}
        for u in one.made["unexplained"]:
            if u["template"] not in shapes:
                place = notation.place(u["evidence"]["path"], u["evidence"]["line"])
                rows.append(f"{word('agents.only', desk.lang, id=one.id)}: {place}\n> {fitted(u['evidence']['quote'], '', 300)}")
    if not rows:
        return word("agents.same", desk.lang, a=a.id, b=b.id)
    both = [f["id"] for f in a.made["findings"] if any(f["id"] == g["id"] for g in b.made["findings"])]
    return _bounded([word("agents.quoted", desk.lang), *rows, *([f"{word('agents.both', desk.lang)}: {', '.join(both)}"] if both else [])])


def _values(facts: Json, name: str) -> str:
    return ", ".join(facts.get(name) or ()) or "-"


def _said(finding: Json, lang: str) -> str:
    role = "" if finding in parts.roots({"findings": [finding]}) else f" ({finding['role']})"
    return f"{finding['id']} {finding['title'][lang]}{role} {notation.times(finding['count'])}"


def _bounded(rows: Iterable[str]) -> str:
    """As many rows as an answer may have; what is left out is counted."""
    taken: list[str] = []
    room, left = MAX_ANSWER, 0
    for row in rows:
        cost = tokens(row) + 1
        if left or cost > room:
            left += 1
            continue
        taken.append(row)
        room -= cost
    return "\n".join([*taken, *([f"... +{left}"] if left else [])]) + "\n"


_BUDGET = arguments.number("tokens the answer may take", brief.SMALLEST, MAX_ANSWER, brief.USUAL)
TOOLS = (
    Tool("scan", "Diagnose logs of an Ascend NPU job: files, folders, archives. Root cause, the line that decides, fix, what is not known.",
         arguments.schema(("paths",), paths=arguments.texts("under the folders the server may read", MAX_PATHS, 4096), budget=_BUDGET), scan),
    Tool("evidence", "Lines of a log around a place, or every place a finding of a report rests on.",
         arguments.schema(path=arguments.text("as a report writes it", 4096), line=arguments.number("line", 1, 1 << 40, 1), before=arguments.number("lines before", 0, 50, 5),
                          after=arguments.number("lines after", 0, 90, 10), finding=arguments.text("such as RTS001", 20), report=_report()), evidence),
    Tool("job", "A job of many ranks: where it began, who waited for whom, the state of every rank.",
         arguments.schema(report=_report(), page=arguments.number("of ranks", 1, 100_000, 1)), job),
    Tool("explain", "What an error code, entry, environment variable or card means, in any spelling.", arguments.schema(("what",), what=arguments.text("507018, EI0006, RTS001, HCCL_CONNECT_TIMEOUT")), explain),
    Tool("search", "Search the knowledge: entries, codes, variables, cards.",
         arguments.schema(("query",), query=arguments.text("words or a part of a message"), limit=arguments.number("most", 1, 30, 10)), search),
    Tool("env", "This machine: versions, chips, container, failed checks with fixes. Runs nothing.", arguments.schema(budget=_BUDGET), env),
    Tool("repro", "Text of a single-operator script that shows a fault; it is not run.", arguments.schema(entry=arguments.text("such as RTS001; default: what the report suggests", 20), report=_report()), repro),
    Tool("compare", "What only one of two reports tells: findings, errors, versions.", arguments.schema(("a", "b"), a=_report("report, such as r1"), b=_report("report, such as r2")), compare),
)  # fmt: skip


def call_tool(name: str, given: Json | None, call: Call) -> str:
    """The answer of a tool to arguments that anybody may have made up."""
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        raise RefusedError(f"there is no tool '{name[:60]}'", f"tools: {', '.join(one.name for one in TOOLS)}")
    return tool.answer(call, arguments.checked(given, tool.wants))
