"""Texts of a finding in both languages, with what the log told filled in. Captures are data: quoted in commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from doctor.answer.kept import writes_over
from doctor.answer.met import for_this_place, met, of_an_npu, of_this_machine, refuted
from doctor.answer.natures import (
    acts,
    changes_code,
    ends_somebody,
    for_all,
    has_no_support,
    is_for_the_caller,
    made_for_one,
    made_for_several,
    only_read,
    unlikely,
)
from doctor.answer.option_json import typable
from doctor.answer.reach import anchored, by_number, other_cards
from doctor.answer.shell_words import quoted
from doctor.base import notation
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings import python_call
from doctor.findings.devices import A_NODE
from doctor.findings.situation import UNKNOWN, Situation
from kb.model import GOALS, CodeFix, Command, Entry, Fix, Text
from kb.placeholders import closed, fill, fill_code
from parsers.lazy import lazy
from parsers.named import NamedTuple

if TYPE_CHECKING:  # `explain` fills texts without any diagnosis
    from doctor.answer.own_command import Own
    from doctor.findings.evaluate import Finding

class Values(NamedTuple):
    """What a finding's texts may name: its captures, and the facts of its scope."""

    one: Mapping[str, str]
    every: Mapping[str, tuple[str, ...]]
    zh: Mapping[str, str] = {}  # what is said otherwise in Chinese


def values(finding: Finding, situation: Situation = UNKNOWN, beside: Mapping[str, str] | None = None) -> Values:
    """The captures of the first instance, completed by its scope, by what stands `beside` it and the situation; `every` joins all instances."""
    first = finding.instances[0]
    one = {k: clean(_said(v, first.every.get(k, ())))[:300] for k, v in first.captures.items()}
    for name in ("node", "rank", "device", "pid"):
        told = getattr(first.scope, name)
        if told is not None:
            one.setdefault(name, str(told))
    if len(one.get("chip", "   ")) < 3 and finding.entry.domain not in ("npu_smi", "container"):  # a column of npu-smi's table: the number of a chip on its card, not what it is
        del one["chip"]
    for name, value in (situation.names() | situation.pair(first.captures) | {n: clean(v)[:300] for n, v in (beside or {}).items()}).items():
        one.setdefault(name, value)
    phrases = situation.phrases()
    if situation.facts.get("option"):
        from doctor.answer import peak  # few logs tell of one

        phrases |= peak.phrases(situation)
    zh = {name: text.zh for name, text in phrases.items() if name not in one}
    one = {name: text.en for name, text in phrases.items()} | one
    told = first.every.get("missing", ())
    unlisted = () if told else _not_listed(first.every.get("came", ()), first.captures)
    if (missing := told or tuple(map(str, unlisted))) and (common := _in_common(missing, first.captures)):
        one, zh = one | {"missing_are": common["en"]}, zh | {"missing_are": common["zh"]}
    every: dict[str, dict[str, None]] = {}
    for instance in finding.instances:
        for name, found in instance.every.items():
            every.setdefault(name, {}).update(dict.fromkeys(clean(v)[:300] for v in found))
    if unlisted:
        one["missing"] = notation.spans(unlisted)
        every["missing"] = {one["missing"]: None}
    if (count := one.get("count", "")).isdecimal() and 0 < int(count) <= A_NODE[-1]:  # of devices, for texts that list them
        one.setdefault("renumbered", ",".join(map(str, range(int(count)))))
    if not _COUNTS.isdisjoint(one):
        from doctor.answer import sums  # few findings tell of what they need

        one = sums.worked_out(one, first, situation)
    if situation.facts.get("seats"):
        one |= other_cards(situation, one, every)
    return Values(one, {k: tuple(v) for k, v in every.items()}, zh)


_COUNTS = frozenset({"limit_kb", "memory_limit", "compose_limit", "tp", "tried", "micro", "ids"})


def _not_listed(came: Sequence[str], captures: Mapping[str, str]) -> tuple[int, ...]:
    """The ranks that a list of those who came lacks."""
    want, got = captures.get("want", ""), captures.get("got", "")
    if not came or not want.isdecimal() or len(want) > 5:
        return ()
    from doctor.findings.rank_sets import absent  # few findings list ranks

    return absent(came, int(want), int(got) if got.isdecimal() else None)


def _in_common(lists: Sequence[str], captures: Mapping[str, str]) -> dict[str, str] | None:
    """What ranks that are named as missing have in common."""
    from doctor.findings.rank_sets import described  # few findings name ranks

    sizes = [int(value) for name in ("want", "size") if (value := captures.get(name, "")).isdecimal() and len(value) < 8]
    ranks = [int(n) for text in lists for n in re.findall(r"[0-9]{1,6}", text)]
    found = described(ranks, sizes[0] if sizes else None)
    return None if found is None else found.text


_TEMPLATE = lazy(r"\{\}|\{\d\}|%[sdr]")


def _said(value: str, every: Sequence[str]) -> str:
    """A message as it was printed: the line of source that raised it stands in the log as well, with holes."""
    return next((other for other in every if not _TEMPLATE.search(other)), value) if _TEMPLATE.search(value) else value


def prose(text: Text, known: Values) -> Text:
    return Text(fill(text.en, known.one, known.every), closed(fill(text.zh, {**known.one, **known.zh} if known.zh else known.one, known.every, "、")))


def shell(text: str, known: Values) -> str:
    """A command with its captures quoted for the shell."""
    return fill(text, by_number(text, known.one), known.every, " ", quoted)


def chosen(fixes: Sequence[Fix], situation: Situation, captures: Mapping[str, str] | None = None) -> tuple[Fix, ...]:
    """Those that fit the situation, of each goal those made for it first; last what the logs leave open. Others are left out."""
    return tuple(one.fix for one in _fitting(fixes, situation, captures, None))


class _Fitting(NamedTuple):
    """A fix that the situation does not contradict."""

    fix: Fix
    certain: bool  # the logs tell that it fits; else they leave it open
    followed: bool | None  # is what it asks for there already? None: a part of it


def _fitting(fixes: Sequence[Fix], situation: Situation, captures: Mapping[str, str] | None, finding: Finding | None) -> list[_Fitting]:
    """Each that fits, in that order."""
    fitting = [_Fitting(for_this_place(fix, situation), fits is True, _done(fix, situation, finding)) for fix in fixes if (fits := situation.fits(fix.when, captures)) is not False and not of_an_npu(fix, situation) and not writes_over(fix, situation, captures)]
    possible = [one for one in fitting if not refuted(one.fix, situation)]
    if situation.first("kubernetes"):
        from doctor.answer.container_forms import of_others  # few logs are of pods

        possible = [one for one in possible if not of_others(one.fix, situation)]
    if any(one.fix.goal != "locate" for one in possible):
        fitting = possible
    if situation.facts.get("tried"):
        from doctor.answer.tried import tried_last  # few people say

        fitting = [one._replace(certain=one.certain and not was) for one, was in zip(fitting, tried_last([one.fix for one in fitting], [one.certain for one in fitting], situation), strict=True)]
    if any(one.fix.goal != "locate" and one.followed is False for one in fitting):  # else nothing would be left to do
        fitting = [one if one.followed is False else one._replace(certain=False) for one in fitting if one.followed is not True]

    def order(one: _Fitting) -> tuple[bool, bool, int, bool]:
        return one.followed is None, not one.certain, GOALS.index(one.fix.goal), unlikely(one.fix, one.certain)

    return sorted(fitting, key=order)


def _done(fix: Fix, situation: Situation, finding: Finding | None) -> bool | None:
    """Is what a fix asks for there: installed (`met`), set, or in the reader's own command?"""
    if fix.goal == "locate" and not (fix.commands and all(_SERVES.match(command.run) for command in fix.commands)):
        return False
    if finding is not None and finding.entry.kind == "out-of-memory":
        from doctor.answer.unchanged import makes_no_room  # few logs tell of memory

        if (none := makes_no_room(fix, situation, finding)) is not False:
            return none
    if situation.variables:
        from doctor.answer.variables import there  # few logs show any

        if there(fix, situation):
            return True
    runs = _started_by(fix)
    if finding is None or not situation.started or not runs or fix.env:
        return met(fix, situation)
    from doctor.answer.own_command import has_all  # few logs show one

    return all(has_all(run, situation.started, finding.instances[0].paths, _to_less(fix, finding)) for run in runs) or met(fix, situation)


_LESS = lazy(r"(?i)\b(?:smaller|lower|less|fewer|shorter|reduce)\b")


def _to_less(fix: Fix, finding: Finding) -> bool:
    """Is the advice to take less of something, so that its numbers are examples?"""
    return finding.entry.kind == "out-of-memory" or _LESS.search(fix.title.en) is not None


def _started_by(fix: Fix) -> tuple[str, ...]:
    """The commands that a fix consists of: its own, or the one line for a shell that its code is."""
    if fix.code is None:
        return tuple(command.run for command in fix.commands)
    line = fix.code.after.strip()
    return (line,) if fix.code.lang in ("bash", "shell") and not fix.commands and "\n" not in line and _SERVES.match(line) else ()


class Advised(NamedTuple):
    """The fixes that fit, filled; the first `certain` are made for this situation, as far as the logs tell it."""

    fixes: tuple[Fix, ...]
    certain: int
    followed: int = 0  # at the end: what was followed in part already
    asked: int | None = None  # the one that the message itself asks for


def fixes(finding: Finding, situation: Situation, known: Values, elsewhere: Fix | None = None, library: bool = False, way: str = "") -> Advised:
    """Prose is filled in prose, commands and values are quoted, code gets literals.

    `elsewhere` is what can be done where a library makes the call, and all that the entry knows is a change of the caller's code, or nothing to paste.
    Where the entry knows something else as well, nobody is sent into the code of a `library`.
    `way` names what code of a serving engine the exception passed.
    """
    fitting = _fitting(finding.entry.fixes, situation, finding.instances[0].captures, finding)
    if library and any(one.certain and one.fix.goal != "locate" and not changes_code(one.fix) for one in fitting):
        fitting = sorted((one._replace(certain=one.certain and not changes_code(one.fix)) for one in fitting), key=lambda one: not one.certain)
    if elsewhere is not None and not has_no_support(finding.entry):
        own = [n for n, one in enumerate(fitting) if one.certain and one.fix.goal != "locate"]
        if all(is_for_the_caller(fitting[n].fix) for n in own):
            fitting.insert(sum(one.certain for one in fitting), _Fitting(elsewhere, True, False))
        elif elsewhere.when and (only_read(finding.entry, [fitting[n].fix for n in own]) or (elsewhere.commands and finding.entry.kind == "user-code")) and not any(acts(fitting[n].fix) for n in own):
            fitting.insert(own[0], _Fitting(elsewhere, True, False))
    off = None
    if way or situation.started or situation.variables or situation.facts.get("worded") or "full-on" in situation.facts.get("option", ()):
        from doctor.answer.beyond import worked_out  # few logs tell so much

        off = worked_out(finding, way, situation, [one.fix for one in fitting if one.certain])
    if off is not None:  # it need not be found by trial
        fitting = [one for one in fitting if one.fix.goal != "locate" or not any(_SERVES.match(command.run) for command in one.fix.commands)]
    if situation.facts.get("vllm_ascend") or situation.facts.get("vllm") or any(one.kind == "docker" for one in situation.started):
        from doctor.answer.newer import with_image, with_newer  # few logs tell of it

        fitting = [one._replace(fix=with_image(with_newer(one.fix, situation, finding.instances[0].captures.get("imported", "")), situation)) for one in fitting]
    called = situation.words() | {name: value for name, value in finding.instances[0].captures.items() if value and name in ("pod", "namespace")} | situation.card(known.one.get("device", ""))
    filled = tuple(
        fix._replace(
            title=prose(fix.title, known),
            steps=tuple(prose(s, known) for s in fix.steps),
            env=tuple(e._replace(value=shell(e.value, known), caution=_maybe(e.caution, known)) for e in fix.env),
            commands=tuple(_command(c, finding, situation, known, called, _to_less(fix, finding)) for c in fix.commands) or _by_phrase(fix, finding, situation),
            code=_code(fix.code, finding, situation, known, called, _to_less(fix, finding)) if fix.code else None,
        )
        for fix, *_ in fitting
    )
    certain, followed = sum(one.certain for one in fitting), sum(one.followed is None for one in fitting)
    if off is not None:
        same = [n for n, fix in enumerate(filled) if off.commands and [c.run for c in fix.commands] == [c.run for c in off.commands]]
        filled = (off, *(fix for n, fix in enumerate(filled) if n not in same))
        certain += 1 - sum(n < certain for n in same)
    if any("vllm-ascend:" in command.run for fix in filled for command in fix.commands):
        from doctor.answer.image_tags import real  # few fixes name an image

        filled = real(filled, situation)
    if situation.facts.get("checkout"):
        from doctor.answer.checkouts import from_source  # few logs show one

        filled = tuple(from_source(fix, situation) for fix in filled)
    if any(one.kind == "llm" for one in situation.started):
        from doctor.answer.in_python import in_python  # few logs show a call

        filled = tuple(map(in_python, filled))
    if situation.facts.get("seen") or situation.facts.get("kubernetes") or situation.started:
        from doctor.answer import container_forms, engine_forms, orchestrated  # few programs are started by others

        forms = (engine_forms.told(fix, situation, finding.instances[0].paths) for fix in filled)
        filled = tuple(orchestrated.told(container_forms.told(fix, situation), situation) for fix in forms)
    if situation.variables or any(one.kind == "docker" for one in situation.started):
        from doctor.answer.variables import placed  # few logs show any

        filled = tuple(placed(fix, situation) for fix in filled)
    if not any(_SAYS_SO.search(hit.place.text) for hit in finding.instances[0].hits):
        return Advised(filled, certain, followed)
    from doctor.answer.asked import asked  # few messages ask for anything

    by_message = asked(finding, situation, filled)
    if by_message.fix is None:
        return Advised(filled, certain, followed, by_message.known)
    at = 0 if finding.entry.confidence == "low" or finding.entry.general else certain  # who only knows what kind of thing failed knows no better
    return Advised((*filled[:at], by_message.fix, *filled[at:]), certain + 1, followed, at if at == 0 else None)


_SAYS_SO = lazy(r"--[a-z]|[Pp]lease |[Cc]onsider |[Yy]ou (?:should|may|must|need) |[:.;,] (?:[Tt]ry|Use|Set|Either|Increase|Decrease|Reduce) |pip3? (?:\w{1,12} )?install |[A-Z]_[A-Z0-9_]+ ?=|[a-z]_[a-z_]+ ?==? ?(?:[Tt]rue|[Ff]alse)|(?:multiple of|divisible by) \d")  # options, variables, options as Python writes them, packages, numbers that must divide
_SERVES = lazy(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:vllm serve|sglang serve|python3? -m (?:vllm|sglang)\b)")


def _command(command: Command, finding: Finding, situation: Situation, known: Values, called: Mapping[str, str], less: bool) -> Command:
    """A command filled in, in the reader's own words where the logs show how they started the program, and what it is `called`."""
    safe = known if command.changes is None else known._replace(one=anchored(command.run, known.one))
    filled = command._replace(run=of_this_machine(shell(command.run, safe), situation), changes=_maybe(command.changes, known), why=_maybe(command.why, known))
    theirs = _theirs(filled.run, finding, situation, less)
    if theirs is None:
        run = _worded(filled.run, known, called)
        alone = run != filled.run and _SERVES.match(run)  # it looks whole now, and is not
        return typable(filled._replace(run=run, why=Text(**both("own-rest")).then(filled.why) if alone else filled.why))
    return filled._replace(run=theirs.run, why=theirs.note.then(filled.why))


def _by_phrase(fix: Fix, finding: Finding, situation: Situation) -> tuple[Command, ...]:
    """Advice that only names the option by which a framework leaves graphs out, as the reader's own command with it."""
    if not situation.started or fix.env or fix.code is not None or not any("{graphs_off" in step.en for step in fix.steps):
        return ()
    from doctor.answer.own_command import with_phrase  # few logs show one

    off = situation.phrases().get("graphs_off")
    theirs = with_phrase(off.en, situation.started, finding.instances[0].paths) if off is not None else None
    return () if theirs is None else (Command(theirs.run, Text(**both("own-slower")), theirs.note),)


def _worded(run: str, known: Values, called: Mapping[str, str]) -> str:
    """A command with the words put in that it leaves to its reader, where the logs tell what they stand for."""
    if not called and "VERSION" not in run and "X.Y.Z" not in run and "Ascend-cann-" not in run and "mindspore==" not in run and "install -U " not in run:
        return run
    from doctor.answer import known_words  # few logs tell of a name

    filled = known_words.versions(known_words.filled(run, called, quoted), known.one)
    return known_words.as_released(known_words.of_software(filled, known.one))


def _code(code: CodeFix, finding: Finding, situation: Situation, known: Values, called: Mapping[str, str], less: bool) -> CodeFix:
    """Code with what the log told; a line for a shell that starts a program is the reader's own command, where that is known."""
    filled = code._replace(before=fill_code(code.before, known.one), after=fill_code(code.after, known.one))
    if code.lang not in ("bash", "shell"):
        return filled
    rows: list[str] = []
    changed = False
    for row in filled.after.split("\n"):
        begun = bool(rows) and rows[-1].endswith("\\")
        theirs = None if begun or row.endswith("\\") else _theirs(row.strip(), finding, situation, less)
        rows += [_worded(row, known, called)] if theirs is None else [f"# {theirs.note.en}", theirs.run]
        changed = changed or theirs is not None
    calls = [n for n, row in enumerate(rows) if row.startswith(python_call.BEGIN)]
    if calls:  # of theirs: what else an example shows is said by its remarks
        return CodeFix("python", "", "\n".join(row for n in calls for row in rows[n - 1 : n + 1]))
    return filled._replace(before="" if changed else filled.before, after="\n".join(rows))


def _theirs(run: str, finding: Finding, situation: Situation, less: bool) -> Own | None:
    """The reader's own command with what an advised one changes; None where the logs show none."""
    if not situation.started:
        return None
    from doctor.answer.own_atc import meant  # few logs show one
    from doctor.answer.own_command import own

    return own(run, meant(situation.started, finding.instances[0].captures), finding.instances[0].paths, less, _SERVES.match(run) is not None)  # a part of theirs would drop what else it says


CALLER = "caller"  # of a fix that is for those who make the call: a library's
# How a fix begins that is for the case that another one does not help, or is not possible.
_ELSE = lazy(r"(?:Or|If|Only|Else|Otherwise|Still|Persisting|Repeated|Nothing left|Not back|When|Fails|Until)\b")


class Start(NamedTuple):
    """With which of the fixes to begin: what to look at, what to do then, and what else could be done."""

    check: int | None
    fix: int | None
    others: tuple[int, ...] = ()


def start(advised: Advised, entry: Entry) -> Start:
    """What a proven cause needs can be done at once, where it can be pasted; else something is looked at first."""
    fixes, certain, followed, asked = advised
    proven = entry.role == "cause" and entry.confidence == "high"
    remedies = [n for n, fix in enumerate(fixes) if fix.goal != "locate"]
    if entry.role == "symptom" or not remedies:  # the cause is elsewhere
        return Start(None, 0 if fixes else None)

    own = any(made_for_one(fixes[n]) for n in remedies if n < certain)

    def order(n: int) -> tuple[bool, bool, bool, bool, bool, bool, bool, bool, int]:
        fix = fixes[n]
        pasted = bool(fix.env or fix.commands or fix.code)
        other = bool(_ELSE.match(fix.title.en))
        return n >= len(fixes) - followed, n >= certain, n != asked, unlikely(fix, n < certain), other, fix.goal != "resolve", proven and not pasted, own and made_for_several(fix), n

    remedies.sort(key=order)
    looks = sorted((n for n, fix in enumerate(fixes[:certain]) if fix.goal == "locate" and (fix.commands or fix.code)), key=lambda n: for_all(fixes[n]))
    at_once = proven and acts(fixes[remedies[0]]) and not ends_somebody(fixes[remedies[0]])
    of_library = any(fact == CALLER for fix in fixes for fact, _ in fix.when)
    others = [n for n in remedies[1:] if n < certain and not (of_library and is_for_the_caller(fixes[n]))]
    if not of_library and not any(acts(fixes[n]) for n in (remedies[0], *others)):  # what mends for a whole stack, where the logs leave the stack open
        others += [n for n in remedies[1:] if n >= certain and for_all(fixes[n]) and acts(fixes[n])][:1]
    if remedies[0] == asked:  # its author knows without looking
        at_once = True
    return Start(None if at_once or not looks else looks[0], remedies[0], tuple(others))


def _maybe(text: Text | None, known: Values) -> Text | None:
    return prose(text, known) if text is not None else None
