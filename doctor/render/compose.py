"""From a report to documents. Which parts a finding and a fix have is decided here, once, for every face."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from doctor.base import notation
from doctor.base.words import named, word
from doctor.render import parts
from doctor.render.document import (
    Answer,
    Block,
    Bullet,
    Code,
    Command,
    Decoded,
    Document,
    Event,
    Evidence,
    Finding,
    Fix,
    FixPart,
    Group,
    Job,
    Link,
    Missing,
    Pair,
    Pattern,
    Prose,
    Reference,
    Section,
    Target,
)  # fmt: skip

Json = dict[str, Any]
Kinds = Callable[[str], str]
STATES = ("root", "fault", "stopped", "silent", "waiting", "gave-up", "alive", "ended")
SCOPE = ("node", "rank", "device", "pid")


def answer(report: Json, lang: str) -> Answer:
    """The whole report."""
    found = {f["id"]: finding(f, report, lang) for f in report["findings"]}
    verdict = report["verdict"]
    return Answer(
        verdict=verdict,
        told=word(verdict, lang) if verdict != "findings" else "",
        findings=tuple(found.values()),
        causes=tuple(found[f["id"]] for f in parts.roots(report)),
        noise=tuple(found[f["id"]] for f in parts.noise(report)),
        job=job(report["job"], lang) if report.get("job") else None,
        unexplained=tuple(cluster(c, lang) for c in report["unexplained"]),
        unexplained_times=sum(c["count"] for c in report["unexplained"]),
        missing=tuple(missing(one, lang) for one in report["missing_evidence"]),
        skipped=skipped(report),
    )


def finding(made: Json, report: Json, lang: str, kinds: Kinds = str) -> Finding:
    """One finding; `kinds` tells what a kind of fault is called."""
    tag, share = word(made["severity"], lang), notation.share(made["confidence"])
    sure = word(notation.surety(made["confidence"]), lang)
    facts = (tag, f"{word('confidence', lang)} {share} ({sure})", kinds(made["kind"]))
    return Finding(
        made["id"], made["title"][lang], made["severity"], tag, made["role"], share, sure, made["count"],
        Document(made["id"], made["title"][lang], facts, tuple(s for s in _sections(made, report, lang) if s.blocks)),
    )  # fmt: skip


def _sections(made: Json, report: Json, lang: str) -> Iterable[Section]:
    def labelled(name: str, *blocks: Block) -> Section:
        return Section(name, word(name, lang), blocks)

    where = scope(made, lang)
    yield Section("where", "", (Pair(word("where", lang), where),) if where else ())
    note = (Prose(made["note"][lang]),) if made.get("note") else ()
    yield Section("note", word("why", lang), note)
    yield labelled("cause", Prose(made["cause"][lang]))
    often = word("times", lang, n=made["count"]) if made["count"] > 1 else ""
    yield labelled("evidence", *map(evidence, made["evidence"]))._replace(aside=often)
    above = made["explained_by"]
    yield Section("explained_by", word("symptom_of", lang), _beside([above] if above else [], report, lang))
    yield labelled("explains", *_beside(made["explains"], report, lang))
    yield labelled("why", Prose(made["why"][lang]))
    yield labelled("fix", *fixes(made["fixes"], lang))
    yield labelled("repro", *([Command(repro(made))] if made["repro"] else ()))
    yield labelled("refs", *references(made["references"]))


def _beside(codes: Iterable[str], report: Json, lang: str) -> tuple[Link, ...]:
    """Other findings of the report."""
    wanted = list(codes)
    by_id = {f["id"]: f for f in report["findings"]} if wanted else {}
    return tuple(
        Link(Target("finding", c), one["title"][lang], notation.times(one["count"]), one.get("rule") or "")
        for c in wanted
        if (one := by_id.get(c)) is not None
    )


def scope(made: Json, lang: str) -> str:
    """Whose fault and when: node, rank, device, process, as far as the log says."""
    told = [f"{word(k, lang)} {made['scope'][k]}" for k in SCOPE if made["scope"][k] is not None]
    if made["first_seen"]:
        told.append(notation.moment(made["first_seen"]))
    return ", ".join(told)


def evidence(one: Json) -> Evidence:
    return Evidence(one["path"], one["line"], one["text"], notation.moment(one["time"]))


def repro(made: Json) -> str:
    """The command that writes a script for the finding, from the log in which it stands when that can be read again."""
    log = made["evidence"][0]["path"] if made["evidence"] else "<"
    source = f" --from {shlex.quote(log)}" if not log.startswith("<") and "!" not in log else ""
    return f"npu-doctor repro {made['id']}{source} -o repro.py"


def fixes(found: Iterable[Json], lang: str) -> tuple[Fix, ...]:
    """Fixes in the order in which to try them."""
    return tuple(_fix(fix, lang) for fix in found)


def _fix(fix: Json, lang: str) -> Fix:
    risk = fix.get("risk") or "low"
    notes = (f"{word('risk', lang)}: {named('risk', risk, lang)}",) if risk != "low" else ()
    steps: list[FixPart] = [Bullet(step[lang]) for step in fix.get("steps", ())]
    for env in fix["env"]:
        steps += _setting(env, lang)
    steps += [_command(command, lang) for command in fix["commands"]]
    return Fix(named("goal", fix["goal"], lang), fix["title"][lang], notes, (*steps, *_code(fix.get("code"), lang)))


def _setting(env: Json, lang: str) -> tuple[Command, Command]:
    """A variable to set, and how to take that back."""
    wide = env["scope"] not in ("", "process")  # that of the process is what a reader takes for granted
    notes = [f"{word('scope', lang)}: {named('scope', env['scope'], lang)}"] if wide else []
    if env["caution"]:
        notes.append(_line(env["caution"][lang]))
    return Command(f"export {env['name']}={env['value']}", tuple(notes)), Command(env["undo"], (), True)


def _command(command: Json, lang: str) -> Command:
    notes = [_line(command["why"][lang])] if command["why"] else []
    if command["changes"]:
        notes.append(f"{word('changes', lang)}: {_line(command['changes'][lang])}")
    return Command(command["run"], tuple(notes))


def _code(code: Json | None, lang: str) -> tuple[Code, ...]:
    if not code:
        return ()
    after = Code(code["after"].rstrip(), code["lang"])
    if not code["before"].strip():
        return (after,)
    before = Code(code["before"].rstrip(), code["lang"], word("before", lang), True)
    return before, after._replace(note=word("after", lang))


def _line(text: str) -> str:
    """A note stands behind a `#`: a second line of it would be taken for a command."""
    return " ".join(text.split("\n"))


def references(found: Iterable[Mapping[str, Any]]) -> tuple[Reference, ...]:
    return tuple(Reference(str(r.get("title") or ""), str(r.get("url") or "")) for r in found)


def cluster(made: Json, lang: str) -> Document:
    """Errors of one shape that no entry claims."""
    codes = tuple(Decoded(c["code"], c["name"] or "", c["meaning"][lang]) for c in made["codes"] if c["meaning"])
    near = tuple(
        Link(Target("entry", n["id"]), n["title"][lang], notation.share(n["score"])) for n in made["nearest"] or ()
    )
    sections = (
        Section("shape", "", (Pattern(made["template"]),)),
        Section("evidence", word("evidence", lang), (evidence(made["evidence"]),)),
        Section("codes", "", codes),
        Section("nearest", word("nearest", lang), near),
    )
    facts = (made["level"] or "", made["module"] or "")
    return Document(notation.times(made["count"]), word("unexplained", lang), facts, tuple(s for s in sections if s.blocks))


def skipped(report: Json) -> tuple[Pair, ...]:
    """What was not read, and why."""
    return tuple(Pair(s["path"], s["reason"]) for s in report["skipped"])


def missing(one: Json, lang: str) -> Missing:
    command, _, remark = one["how"][lang].partition("    # ")
    return Missing(one["what"][lang], Command(command, (remark,) if remark else ()))


def job(made: Json, lang: str) -> Job:
    """The processes by what they did, the root's first."""
    groups: dict[tuple[str, str], list[Json]] = {}
    for row in made["ranks"]:
        groups.setdefault((row["state"], row["about"] or ""), []).append(row)
    ordered = sorted(groups.items(), key=lambda g: (STATES.index(g[0][0]), -len(g[1]), g[0][1]))
    absent = made["missing_ranks"]
    return Job(
        word("job-head", lang, seen=made["processes"], world=made["world_size"] or "?"),
        tuple(
            Group(
                len(members), word(f"state-{state}", lang, about=about),
                notation.spans([m["rank"] for m in members if m["rank"] is not None]),
            )
            for (state, about), members in ordered
        ),
        Group(len(absent), word("state-missing", lang), notation.spans(absent)) if absent else None,
        _clocks(made["skew"], lang),
        tuple(
            Event(notation.short_moment(e["time"]), e["node"] or "?", e["ahead"] or 0.0, e["text"][lang])
            for e in made["timeline"]
        ),
    )  # fmt: skip


def _clocks(skew: list[Json], lang: str) -> str:
    """How far the clocks of the nodes are apart; nothing when no event tells."""
    if not skew:
        return ""
    ahead = [s["seconds_ahead"] for s in skew]
    spread, within = f"{max(ahead) - min(ahead):.1f}", f"{max(s['within'] for s in skew):.1f}"
    return word("clocks", lang, nodes=len(skew), spread=spread, within=within)
