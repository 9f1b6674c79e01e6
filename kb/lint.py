"""Checks of one entry that need no matching: each check is a small function from an entry to what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kb import effort, fragments, plain, raised
from kb.draft import TO_WRITE
from kb.fetching import executes_what_it_fetches
from kb.knowledge import Knowledge
from kb.model import Condition, Entry, Signal, Text
from kb.placeholders import names, open_slots, optional
from parsers.raised import PATTERNS

Check = Callable[[Entry, "Context"], Iterator[str]]

MAX_TITLE = 90  # characters of a title as lists show it

_UNDECIDED = re.compile(r":[^:]{3,}?[,;] or \b|\b(?:[Ee]ither|often|usually|mostly|probably|likely|perhaps|possibly)\b")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DESTRUCTIVE = re.compile(
    r"\bpkill\b(?!\s+-0)|\bkillall\b|\bkill\s+(?:-9\s+)?\$\(|xargs\s+(?:-r\s+)?kill|\brm\s+-[a-z]*r[a-z]*f?\s+(?:/\s|/$|~|\$HOME\s|\*)|\bmkfs\b|\bdd\s+if=|>\s*/dev/sd"
)
_FIXED_KILL = re.compile(r"\bkill\s+(?:-\w+\s+)?\d+")


class Context:
    """What checks look things up in: the variables known, and the codes of all entries."""

    def __init__(self, known: Knowledge) -> None:
        self.variables = {name: known.variable(name) or {} for name in known.variables()}
        self.codes = frozenset(known.codes_of_entries)


def check(entry: Entry, context: Context) -> list[str]:
    return [f"{entry.code}: {what}" for one in CHECKS for what in one(entry, context)]


def _texts(entry: Entry) -> Iterator[tuple[str, Text]]:
    yield "title", entry.title
    yield "cause", entry.cause
    for variant in entry.variants:
        yield from (("a variant's title", variant.title),) if variant.title else ()
        yield from (("a variant's cause", variant.cause),) if variant.cause else ()
    for fix in entry.every_fix:
        yield "a fix's title", fix.title
        yield from (("a step", s) for s in fix.steps)
        yield from (("a caution", e.caution) for e in fix.env if e.caution)
        yield from (("a command's why", c.why) for c in fix.commands if c.why)


def two_languages(entry: Entry, _: Context) -> Iterator[str]:
    """Both languages are written, Chinese is Chinese, and both use the same placeholders."""
    for where, text in _texts(entry):
        if not _HAN.search(text.zh):
            yield f"{where}: the zh text holds no Chinese: {text.zh[:50]!r}"
        if _HAN.search(text.en):
            yield f"{where}: the en text holds Chinese: {text.en[:50]!r}"
        if {n for n, _d in names(text.en)} != {n for n, _d in names(text.zh)}:
            yield f"{where}: en and zh use different placeholders"


def title_is_short(entry: Entry, _: Context) -> Iterator[str]:
    for title in (entry.title, *(v.title for v in entry.variants if v.title)):
        shown = plain.text(title).en
        if len(shown) > MAX_TITLE:
            yield f"the title has {len(shown)} characters; at most {MAX_TITLE} fit a line"


def decided_if_sure(entry: Entry, _: Context) -> Iterator[str]:
    """A title that offers alternatives, or says how often it is so, tells that the log does not decide: then nobody is sure."""
    said = [(entry.title, entry.role, entry.confidence)]
    said += [(v.title, v.role or entry.role, v.confidence or entry.confidence) for v in entry.variants if v.title is not None]
    for title, role, confidence in said:
        if confidence == "high" and role in ("cause", "ambiguous") and entry.severity in ("fatal", "error") and _UNDECIDED.search(title.en):
            yield f"the title '{title.en}' offers more than one cause and is held for sure: write confidence medium, or let a variant decide"


def has_references(entry: Entry, _: Context) -> Iterator[str]:
    if not entry.references:
        yield "a claim needs at least one reference"


def has_advice(entry: Entry, _: Context) -> Iterator[str]:
    """An error that nobody can act on is no help; the order is locate, mitigate, resolve."""
    must_help = entry.severity in ("fatal", "error") and entry.role not in ("wrapper", "noise")
    if must_help and not any(f.env or f.commands or f.code for f in entry.fixes):
        yield "an entry of this severity needs a fix with a command, a variable or code"
    for fixes in (entry.fixes, *(v.fixes for v in entry.variants)):
        goals = [("locate", "mitigate", "resolve").index(f.goal) for f in fixes]
        if goals != sorted(goals):
            yield "fixes are ordered locate, mitigate, resolve"


def known_variables(entry: Entry, context: Context) -> Iterator[str]:
    """A variable in a fix is one that the reference explains, with a value that it allows."""
    for fix in entry.every_fix:
        for env in fix.env:
            row = context.variables.get(env.name)
            if row is None:
                yield f"the variable {env.name} is not in kb/envvars.yaml"
                continue
            if not env.undo:
                yield f"{env.name}: say how to undo it"
            bounds = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", str(row.get("range", "")))
            if bounds and re.fullmatch(r"-?\d+", env.value) and not int(bounds[1]) <= int(env.value) <= int(bounds[2]):
                yield f"{env.name}={env.value} is outside its range {row['range']}"


def nothing_destructive(entry: Entry, _: Context) -> Iterator[str]:
    """Advice never destroys: processes are named by the log or by a look, never all at once."""
    for fix in entry.every_fix:
        for command in fix.commands:
            if executes_what_it_fetches(command.run):
                yield f"the command fetches something and executes it unseen: {command.run!r}: fetch, look, then run"
            if _DESTRUCTIVE.search(command.run):
                yield f"destructive command: {command.run!r}: name the pids, say what is lost"
            if _FIXED_KILL.search(command.run):
                yield f"a fixed pid in {command.run!r}: use a capture or PID"


def placeholders_bound(entry: Entry, _: Context) -> Iterator[str]:
    """Every name in a text is bound however the entry matches, or has a default."""
    groups = [_captures(s) for s in entry.signals]
    always = frozenset().union(*(_bound(part, groups) for part in entry.condition)) if entry.condition else frozenset()
    table = any(s.form == "fields" for s in entry.signals)
    used = [t for _, text in _texts(entry) for t in (text.en, text.zh)]
    used += [c.run for f in entry.every_fix for c in f.commands] + [e.value for f in entry.every_fix for e in f.env]
    used += [v for _, v in entry.repro[1]] if entry.repro else []
    for text in used:
        for name, default in names(optional(text, lambda _: False)):
            if default is None and name not in always and not table:
                yield f"the placeholder {{{name}}} is not bound on every path: write {{{name}|a default}}"


def _captures(signal: Signal) -> frozenset[str]:
    """What a leaf captures whenever it matches."""
    if signal.form == "raised":
        return raised.groups(signal.where)
    return frozenset(re.compile(signal.pattern).groupindex if signal.form == "regex" else ())


def _bound(condition: Condition, groups: list[frozenset[str]]) -> frozenset[str]:
    if isinstance(condition, int):
        return groups[condition]
    how, members = condition
    sets = [_bound(m, groups) for m in members]
    if how == "all":
        return frozenset().union(*sets)
    return frozenset.intersection(*sets) if how == "any" and sets else frozenset()


def safe_patterns(entry: Entry, _: Context) -> Iterator[str]:
    """Patterns that cannot run away: no nested repeats, no leading gap, bounded gaps."""
    for signal in entry.signals:
        for pattern in _patterns(signal):
            if pattern.startswith((".*", ".+", "^.*")):
                yield f"{signal.id}: a leading gap is never needed: the search finds the place"
            if effort.nested_repeat(pattern):
                yield f"{signal.id}: a repeat inside a repeat can take for ever: {pattern!r}"


def _patterns(signal: Signal) -> tuple[str, ...]:
    if signal.form == "raised":
        return tuple(value for key, value in signal.where if key in PATTERNS)
    return (signal.pattern,) if signal.form == "regex" else ()


def rare_anchors(entry: Entry, _: Context) -> Iterator[str]:
    """A signal whose fixed text is everywhere slows every scan: anchor it on words that healthy logs do not have."""
    for signal in entry.signals:
        if (found := fragments.weak(signal)) > fragments.COMMON:
            yield f"{signal.id}: {signal.anchors} stands {found} times in ordinary logs: anchor it on rarer words"


def edges_resolve(entry: Entry, context: Context) -> Iterator[str]:
    for code in [*entry.refines, *(e.entry for e in (*entry.symptom_of, *entry.caused_by) if e.entry)]:
        if code not in context.codes:
            yield f"it points at {code}, which does not exist"
        if code == entry.code:
            yield "it points at itself"


def has_samples(entry: Entry, _: Context) -> Iterator[str]:
    if not entry.match:
        yield "no match sample: a claim needs its proof"
    taken = [s.name for s in (*entry.match, *entry.no_match)]
    for name in sorted({n for n in taken if taken.count(n) > 1}):
        yield f"two samples are called {name}"


def name_fits(entry: Entry, _: Context) -> Iterator[str]:
    if entry.layer == "built-in" and f"/{entry.code.lower()}_" not in entry.path.replace("\\", "/"):
        yield f"the file should be called {entry.code.lower()}_{entry.slug}.yaml"
    if re.match(r"(?:use|avoid|check|do-not|fix)-", entry.slug):
        yield f"the slug '{entry.slug}' names a remedy; name the fault"


# What ends work or changes what others use. Looking at it (`docker run --rm`, `changes: nothing`) does not.
_UNDONE_BY_NOBODY = re.compile(
    r"\b(?:npu-driver|npu-firmware|Ascend-hdk|Ascend-cann)\S*\.run\b"
    r"|\bpip3? (?:un)?install\b|\b(?:apt|apt-get|yum|dnf)(?: -y)? (?:install|remove)\b|\brmmod\b"
    r"|\bnpu-smi (?:set|clear|upgrade)\b|\breboot\b|\bshutdown\b|\bipmitool chassis power (?:cycle|off|reset)"
    r"|\bsystemctl (?:restart|stop)\b|\bdocker (?:rm|restart|stop|kill)\b|\bkubectl (?:delete|drain)\b"
    r"|\bkill (?!-0)|\brm -\w*r"
)
# `npu-smi set ... -i 0`, `hccn_tool -i {device|0} -ip -s ...`: a number that no log told.
_NO_CARD = re.compile(r"\b(?:npu-smi (?:set|clear|upgrade)|hccn_tool)\b[^|;&]*?\s-[icp] (?:\d|\{\w+\|\d+\})")
_SLOT_LEFT = re.compile(r"\{\w+(?:\.all)?(?:\||\s|$)|(?<![\w)\]])\(\s*\)|（\s*）|\s[:：](?:\s|$)|  +\S|[:：]\s*[.。]?$|<[A-Za-z_][\w ./-]*>")
# Chinese and Latin are set apart by one blank, around a slot as well; code in a text keeps its signs.
_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|“[^”]*”")
_FROM_CHIP = re.compile(r"chipId[^()]{0,6}\(\?P<device>")


def risk_is_told(entry: Entry, _: Context) -> Iterator[str]:
    """Installing, resetting, deleting, rebooting and killing is never of low risk."""
    for fix in entry.every_fix:
        for command in fix.commands:
            if command.changes is not None and fix.risk == "low" and (found := _UNDONE_BY_NOBODY.search(command.run)):
                yield f"'{found[0]}' in {command.run[:60]!r} is not of low risk: write risk: medium or high, and what is lost"


def names_its_card(entry: Entry, _: Context) -> Iterator[str]:
    """A command that changes a device names one that the log told, or says NPU_ID: never number 0 for want of a better."""
    for fix in entry.every_fix:
        for command in fix.commands:
            if command.changes is not None and _NO_CARD.search(command.run):
                yield f"{command.run[:80]!r} changes a card that no log named: write NPU_ID and a look that finds it"


def device_is_no_chip(entry: Entry, _: Context) -> Iterator[str]:
    """chipId counts chips of the board: with two dies a chip, the devices are others."""
    for signal in entry.signals:
        if _FROM_CHIP.search(signal.pattern):
            yield f"{signal.id}: chipId is not the device: take it from device_id, or call the capture chip"


def reads_without_a_log(entry: Entry, _: Context) -> Iterator[str]:
    """Outside a diagnosis every text is a sentence: no slot, no empty brackets, nothing introduced that does not follow."""
    shown = plain.entry(entry)
    prose = [("title", shown.title), ("cause", shown.cause)]
    prose += [("a variant", t) for v in shown.variants for t in (v.title, v.cause) if t]
    prose += [("a fix's title", f.title) for f in shown.every_fix] + [("a step", s) for f in shown.every_fix for s in f.steps]
    prose += [("a command's why", c.why) for f in shown.every_fix for c in f.commands if c.why]
    for where, text in prose:
        for written in text:
            if found := _SLOT_LEFT.search(_QUOTED.sub("'x'", written)):
                yield f"{where} without a log has a hole at {written[max(0, found.start() - 20) : found.end() + 10]!r}"
    for command in (c for f in shown.every_fix for c in f.commands):
        if re.search(r"\{\w+(?:\||$)|<[A-Za-z][\w -]* ?[\w-]+>", command.run.replace("${", "$")) and "<<" not in command.run:
            yield f"a command without a log has a slot or '<...>', which a shell reads: {command.run[:80]!r}: write NAME"


def code_is_filled(entry: Entry, _: Context) -> Iterator[str]:
    """Code is pasted as it stands: a slot in it has a default, which is written where the log tells nothing."""
    for fix in entry.every_fix:
        for text in (fix.code.before, fix.code.after) if fix.code else ():
            for name in open_slots(text, fix.code.lang if fix.code else ""):
                yield f"the code of {fix.title.en[:40]!r} shows the slot {{{name}}} as it is: write {{{name}|a default}}, in code every slot has one"


def code_has_single_braces(entry: Entry, _: Context) -> Iterator[str]:
    """Braces are doubled in commands and sentences; code is pasted as it stands, and doubled ones are a fault in it."""
    for fix in entry.every_fix:
        if fix.code and fix.code.lang in ("python", "json") and any("{{" in text and 'f"' not in text for text in (fix.code.before, fix.code.after)):
            yield f"the code of {fix.title.en[:40]!r} has doubled braces, which are printed so: write single ones"


def is_written(entry: Entry, _: Context) -> Iterator[str]:
    """A draft marks what only a person can write."""
    told = [(where, text) for where, pair in _texts(entry) for text in pair] + [("a reference", r.title) for r in entry.references]
    for where, text in told:
        if TO_WRITE in text:
            yield f"{where} is to be written: {text[:60]!r}"


CHECKS: tuple[Check, ...] = (
    name_fits, two_languages, title_is_short, decided_if_sure, has_references, has_advice, known_variables, nothing_destructive,
    placeholders_bound, safe_patterns, rare_anchors, edges_resolve, has_samples,
    risk_is_told, names_its_card, device_is_no_chip, reads_without_a_log, code_is_filled, code_has_single_braces, is_written,
)  # fmt: skip
