"""From a report to documents. Which parts a finding and a fix have is decided here, once, for every face."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from doctor.base import notation
from doctor.base.words import named, word
from doctor.base.words.told import told
from doctor.render import parts
from doctor.render.document import (
    Block,
    Command,
    Decoded,
    Document,
    Evidence,
    Fix,
    Job,
    Link,
    Pair,
    Pattern,
    Prose,
    Section,
    Target,
)
from doctor.render.fixes import alone, fixes, references
from parsers.lazy import lazy
from parsers.named import NamedTuple

Json = dict[str, Any]
Kinds = Callable[[str], str]
ById = Mapping[str, Json]  # findings
SCOPE = ("node", "rank", "device", "pid")
NODES_SHOWN = 40  # characters of the names of nodes


class Finding(NamedTuple):
    """A finding's document, and what lists of findings show of it."""

    code: str
    title: str
    severity: str
    tag: str  # the severity in words
    role: str
    confidence: str
    sure: str  # the confidence in words
    seen: int
    until: str  # when it was last seen, where that was later than the first time
    where: str  # whose fault, and when
    caller: str  # the line of source that made the call which was refused
    reason: str  # why, in a sentence or two
    against: tuple[str, ...]  # what speaks against it
    action: str  # who has to do what, in a few words
    check: Fix | None  # what to look at before anything is changed
    first: Fix | None  # the one to try first
    others: tuple[Fix, ...]  # what else could be done
    document: Document
    note: str = ""  # why it stands where it does

    @property
    def times(self) -> str:
        return notation.times(self.seen)


class Missing(NamedTuple):
    """Evidence that would help, and how to get it."""

    what: str
    how: Command


class Light(NamedTuple):
    """A group of checks of a machine: how it stands, in a word; what is there; the checks that it passed."""

    group: str
    light: str  # red | yellow | green | grey
    told: str
    text: str
    passed: tuple[str, ...]


class Answer(NamedTuple):
    """A whole report."""

    verdict: str
    told: str  # the verdict in words; empty when findings tell
    hint: str  # what the situation tells where no line does
    situation: str
    unfit: bool  # it tells of releases that do not go together
    read: str  # how much was read
    decisive: Document | None  # the line that is the answer where no entry is
    decision: Pair | None  # what to do with the job
    findings: tuple[Finding, ...]
    causes: tuple[Finding, ...]  # those of them that went wrong by themselves
    symptoms: int  # those that only followed
    context: tuple[Finding, ...]  # of another time than the failure
    noise: tuple[Finding, ...]
    job: Job | None
    unexplained: tuple[Document, ...]
    unexplained_times: int
    missing: tuple[Missing, ...]
    skipped: tuple[Pair, ...]
    lights: tuple[Light, ...]
    machine: bool  # it is about a machine, not about logs


def _hint(report: Json, lang: str) -> str:
    """What the situation tells where no line does."""
    old = next((one for one in report["situation"].get("misfits", ()) if one["software"] == "driver"), None)
    if report["verdict"] == "inconclusive" and old is not None and not (report["unexplained"] or report["findings"]):
        return word("old-driver", lang, has=old["version"], cann=old["of"], wanted=old["wanted"])
    return ""


def answer(report: Json, lang: str) -> Answer:
    """The whole report."""
    by_id = _by_id(report)
    found = {f["id"]: finding(f, report, lang, by_id=by_id) for f in report["findings"]}
    verdict = report["verdict"]
    return Answer(
        verdict=verdict,
        told=word(verdict, lang) if verdict != "findings" else "",
        hint=_hint(report, lang),
        situation=report["situation"]["line"][lang],
        unfit="misfits" in report["situation"],
        read=_read(report["stats"], lang),
        decisive=decisive(report, lang),
        decision=decision(report, lang),
        findings=tuple(found.values()),
        causes=tuple(found[f["id"]] for f in parts.roots(report)),
        symptoms=sum(f["role"] == "symptom" for f in report["findings"]),
        context=tuple(found[f["id"]] for f in parts.context(report)),
        noise=tuple(found[f["id"]] for f in parts.noise(report)),
        job=_job(report, lang),
        unexplained=tuple(cluster(c, lang) for c in report["unexplained"]),
        unexplained_times=sum(c["count"] for c in report["unexplained"]),
        missing=tuple(missing(one, lang) for one in report["missing_evidence"]),
        skipped=skipped(report, lang),
        lights=tuple(_light(group, lang) for group in report.get("environment", {}).get("groups", ())),
        machine=bool(report.get("environment", {}).get("alone")),
    )


def _light(group: Json, lang: str) -> Light:
    passed = tuple(f"{c['id']} {c['slug']}" for c in group["checks"] if c["state"] == "holds")
    return Light(named("env.group", group["name"], lang), group["light"], named("env.light", group["light"], lang), group["line"], passed)


def _job(report: Json, lang: str) -> Job | None:
    if not report.get("job"):
        return None
    from doctor.render.job import compose

    return compose(report["job"], lang)


def finding(made: Json, report: Json, lang: str, kinds: Kinds = str, by_id: ById | None = None) -> Finding:
    """One finding; `kinds` tells what a kind of fault is called, `by_id` has all of them where many are asked for."""
    tag, share = word(made["severity"], lang), notation.share(made["confidence"])
    sure = word(notation.surety(made["confidence"]), lang)
    facts = (tag, f"{word('confidence', lang)} {share} ({sure})", kinds(made["kind"]))
    found, first = fixes(made["fixes"], lang), made.get("first_fix") or 0
    return Finding(
        made["id"], made["title"][lang], made["severity"], tag, made["role"], share, sure, made["count"],
        notation.short_moment(made["last_seen"] or "") if made["last_seen"] != made["first_seen"] else "",
        scope(made, lang), made.get("caller") or "", _said(made, gist(made["cause"][lang], lang), lang), tuple(a[lang] for a in made.get("doubts") or ()), _action(made, lang),
        _picked(found, made.get("first_check")), _alone(found, first), tuple(alone(found[n]) for n in made.get("other_fixes", ()) if n < len(found)),
        Document(made["id"], made["title"][lang], facts, tuple(s for s in _sections(made, by_id or _by_id(report), lang) if s.blocks)),
        made["note"][lang] if made.get("note") else "",
    )  # fmt: skip


def _said(made: Json, text: str, lang: str) -> str:
    """The cause, behind what the log itself says of it."""
    if not (says := made.get("says")):
        return text
    return word("failed-with" if made["kind"] in ("other-machine", "other-vendor") else "cann-says", lang, text=says if says[-1] in ".!?。" else f"{says}{'。' if lang == 'zh' else '.'}") + text


def _action(made: Json, lang: str) -> str:
    """Nothing where only the kind of the fault speaks for settings or for code: the fix beneath says more."""
    action = made.get("action")
    if not action or (action["by"] == "kind" and action["class"] in ("config", "code")):
        return ""
    return str(action["text"][lang])


def _picked(found: tuple[Fix, ...], number: int | None) -> Fix | None:
    return found[number] if number is not None and number < len(found) else None


def _alone(found: tuple[Fix, ...], number: int) -> Fix | None:
    picked = _picked(found, number)
    return alone(picked) if picked is not None else None


def files(number: int, lang: str) -> str:
    """So many files, in words."""
    return word("files:one", lang) if number == 1 else word("files:many", lang, n=number)


def _read(stats: Json, lang: str) -> str:
    return word("read-so-much", lang, files=files(stats["files"], lang), size=notation.size(stats["bytes"]))


_STOP = {"en": lazy(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.?!](?!(?<=\bno\.)\s\d)(?:\s+(?=[^a-z\s])|$)"), "zh": lazy("[。！？]")}


def sentence(text: str, lang: str) -> str:
    """The first sentence of a text."""
    one = " ".join(text.split())
    stop = _STOP[lang].search(one)
    return one[: stop.end()].strip() if stop else one


_SHORT = {"en": 50, "zh": 24}


def gist(text: str, lang: str) -> str:
    """The first sentence of a text; where that is short, it only leads to the next one."""
    one = " ".join(text.split())
    first = sentence(one, lang)
    after = one[len(first) :]
    return first if len(first) >= _SHORT[lang] else f"{first}{after[: len(after) - len(after.lstrip())]}{sentence(after, lang)}"


def _sections(made: Json, by_id: ById, lang: str) -> Iterable[Section]:
    def labelled(name: str, *blocks: Block) -> Section:
        return Section(name, word(name, lang), blocks)

    where = scope(made, lang)
    yield Section("where", "", (Pair(word("where", lang), where),) if where else ())
    yield Section("caller", "", (Pair(word("caller", lang), made["caller"]),) if made.get("caller") else ())
    note = (Prose(made["note"][lang]),) if made.get("note") else ()
    yield Section("note", word("why", lang), note)
    yield labelled("cause", Prose(_said(made, made["cause"][lang], lang)))
    often = word("times", lang, n=made["count"]) if made["count"] > 1 else ""
    yield labelled("evidence", *map(evidence, made["evidence"]))._replace(aside=often)
    above = made["explained_by"]
    yield Section("explained_by", word("symptom_of", lang), _beside([above] if above else [], by_id, lang))
    yield labelled("explains", *_beside(made["explains"], by_id, lang))
    yield labelled("why", Prose(made["why"][lang]))
    yield labelled("scheduler", *(Prose(one["text"][lang]) for one in made.get("scheduler", ())))
    todo = _action(made, lang)
    yield Section("action", "", (Pair(word("action", lang), todo),) if todo else ())
    yield labelled("fix", *fixes(made["fixes"], lang))
    yield labelled("repro", *([Command(repro(made))] if made["repro"] else ()))
    yield labelled("refs", *references(made["references"], (made.get("page") or {}).get(lang, ""), made["id"]))


def decision(report: Json, lang: str) -> Pair | None:
    """What to do with the job, how far the log supports it, and why."""
    made = report.get("decision")
    if made is None:
        return None
    target = made["target"] or {}
    card = ", ".join(f"{word(k, lang)} {target[k]}" for k in ("node", "device") if target.get(k) is not None)
    action = word(f"decision:{made['action']}", lang, target=card) if made["action"] == "isolate" else word(f"decision:{made['action']}", lang)
    sure = word(f"status:{made['status']}", lang)
    return Pair(word("decision", lang), f"{action} ({sure}): {made['why'][lang]}")


def _by_id(report: Json) -> ById:
    return {f["id"]: f for f in report["findings"]}


def _beside(codes: Iterable[str], by_id: ById, lang: str) -> tuple[Link, ...]:
    """Other findings of the report."""
    return tuple(
        Link(Target("finding", c), one["title"][lang], notation.times(one["count"]), one.get("rule") or "")
        for c in codes
        if (one := by_id.get(c)) is not None
    )


def scope(made: Json, lang: str) -> str:
    """Whose fault and when: node, rank, device, process, as far as the log says."""
    told = [f"{word(k, lang)} {made['scope'][k]}{_others(made['scope'], lang) if k == 'node' else ''}" for k in SCOPE if made["scope"][k] is not None]
    if made["first_seen"]:
        told.append(notation.short_moment(made["first_seen"]))
    return ", ".join(told)


def _others(made: Json, lang: str) -> str:
    """The same finding on other nodes: how many there are, and their names as far as a line holds them."""
    names = made.get("nodes") or ()
    told = notation.folded(names)
    return word("of-nodes", lang, n=len(names), names=told if len(told) <= NODES_SHOWN else f"{told[:NODES_SHOWN]}...") if names else ""


def evidence(one: Json) -> Evidence:
    return Evidence(one["path"], one["line"], one["text"], notation.moment(one["time"]), one.get("matched") or "")


def repro(made: Json) -> str:
    """The command that writes a script for the finding, from the log in which it stands when that can be read again."""
    log = made["evidence"][0]["path"] if made["evidence"] else "<"
    source = f" --from {shlex.quote(log)}" if not log.startswith("<") and "!" not in log else ""
    return f"npu-doctor repro {made['id']}{source} -o repro.py"


def cluster(made: Json, lang: str) -> Document:
    """Errors of one shape that no entry claims."""
    codes = tuple(Decoded(c["code"], c["name"] or "", c["meaning"][lang]) for c in made["codes"] if c["meaning"])
    near = tuple(
        Link(Target("entry", n["id"]), f"{n['title'][lang]} ({_beside_it(n, lang)})", notation.share(n["score"])) for n in made["nearest"] or ()
    )
    if (by := named("modules.by", made["module"] or "", lang)) != (made["module"] or ""):
        codes = (Decoded(made["module"], "", by), *codes)
    sections = (
        Section("shape", "", (Pattern(made["template"]),)),
        Section("evidence", word("evidence", lang), (evidence(made["evidence"]),)),
        Section("codes", "", codes),
        Section("nearest", word("nearest", lang), near),
    )
    facts = (made["level"] or "", made["module"] or "")
    return Document(notation.times(made["count"]), word("unexplained", lang), facts, tuple(s for s in sections if s.blocks))


def _beside_it(near: Json, lang: str) -> str:
    """What an unknown line and an entry have in common, and what the entry is about besides."""
    shares = word("near-shares", lang, words=", ".join(near["shares"]))
    return f"{shares}; {word('near-lacks', lang, words=', '.join(near['lacks']))}" if near["lacks"] else shares


def decisive(report: Json, lang: str) -> Document | None:
    """The line nearest to the origin of a failure that no entry explains, and what only stands beside it."""
    one = report["decisive"]
    if one is None:
        return None
    shown = cluster(one, lang)
    beside = Section("in-general", word("in-general", lang), _beside([one["general"]] if one["general"] else [], _by_id(report), lang))
    caller = Section("caller", "", (Pair(word("caller", lang), one["caller"]),) if one.get("caller") else ())
    sections = tuple(s for s in (*shown.sections, caller, beside) if s.blocks)
    return Document(word("decisive", lang), word("decisive-told", lang), shown.facts, sections)


def skipped(report: Json, lang: str) -> tuple[Pair, ...]:
    """What was not read, and why."""
    return tuple(Pair(s["path"], told(s["reason"], lang)) for s in report["skipped"])


def missing(one: Json, lang: str) -> Missing:
    command, _, remark = one["how"][lang].partition("    # ")
    return Missing(one["what"][lang], Command(command, (remark,) if remark else ()))
