"""The verdict about a job that does not move, as text and as JSON."""

from __future__ import annotations

from typing import Any

from doctor.base.notation import clean
from doctor.base.words import both, word
from doctor.hang.verdict import SLOW, Kind, Reason, Verdict, ranks_told
from doctor.read.source import Skipped
from parsers.named import NamedTuple

FORMAT = 1
_MOST_UNREAD = 8


class Read(NamedTuple):
    """What the verdict rests on."""

    flights: int
    stacks: int
    files: int
    skipped: tuple[Skipped, ...]


def answer(verdict: Verdict) -> str:
    """`hang`, `slow`, `none` or `unknown`."""
    if verdict.kind is Kind.UNKNOWN:
        return "unknown"
    return "hang" if verdict.hung else "slow" if verdict.kind in SLOW else "none"


def text(verdict: Verdict, read: Read, language: str) -> str:
    """Some lines for a terminal."""
    told = answer(verdict)
    lines = [f"{word(f'hang.is-{told}', language)}: {_headline(verdict, language)}"]
    places = (("where", verdict.line), ("others", verdict.other_line), ("call", verdict.call), ("waiting", ranks_told(verdict.waiting)))
    if told_places := [f"  {word(f'hang.{name}', language)}: {clean(value)}" for name, value in places if value]:
        lines += ["", *told_places]
    if verdict.reasons:
        lines += ["", f"{word('hang.speaks', language)}:", *(f"  - {clean(reason(one, language))}" for one in verdict.reasons)]
    lines += ["", f"{word('hang.now', language)}:", *(f"  - {clean(one)}" for one in now(verdict, language))]
    lines += ["", f"{word('hang.next', language)}:", *(f"  - {word(f'hang.{name}', language)}" for name in _NEXT)]
    lines += ["", word("hang.seen", language, flights=read.flights, stacks=read.stacks, files=read.files)]
    if read.skipped:
        from doctor.base.words.told import told as translated

        lines.append(f"{word('hang.unread', language)}:")
        lines += [f"  {clean(one.path)}: {clean(translated(one.reason, language))}" for one in read.skipped[:_MOST_UNREAD]]
        if len(read.skipped) > _MOST_UNREAD:
            lines.append(f"  ... +{len(read.skipped) - _MOST_UNREAD}")
    return "\n".join(lines) + "\n"


_NEXT = ("set-recorder", "set-files", "set-cost")


def now(verdict: Verdict, language: str) -> list[str]:
    """What to do while it still hangs."""
    values = {"who": _who(verdict, language), "line": verdict.line or verdict.other_line or "?"}
    key = "slow" if verdict.kind in SLOW else verdict.kind.value
    first = [] if verdict.kind is Kind.NONE else [word(f"hang.do-{key}", language, **values)]
    return [*first, word("hang.do-dump", language), word("hang.do-never", language)]


def reason(one: Reason, language: str) -> str:
    return word(one.word, language, **dict(one.values))


def data(verdict: Verdict, read: Read) -> dict[str, Any]:
    """The same for programs."""
    return {
        "format": FORMAT,
        "type": "hang",
        "answer": answer(verdict),
        "kind": verdict.kind.value,
        "ranks": sorted(set(verdict.ranks)),
        "waiting": sorted(set(verdict.waiting)),
        "call": verdict.call,
        "line": verdict.line,
        "other_line": verdict.other_line,
        "headline": {language: _headline(verdict, language) for language in ("en", "zh")},
        "reasons": [{"what": one.word.partition(".")[2], **dict(one.values), "said": both(one.word, **dict(one.values))} for one in verdict.reasons],
        "now": {language: now(verdict, language) for language in ("en", "zh")},
        "next": {language: [word(f"hang.{name}", language) for name in _NEXT] for language in ("en", "zh")},
        "read": {"flights": read.flights, "stacks": read.stacks, "files": read.files},
        "skipped": [one._asdict() for one in read.skipped],
    }


def _headline(verdict: Verdict, language: str) -> str:
    together = verdict.kind is Kind.SILENT and any(one.word == "hang.all-silent" for one in verdict.reasons)
    return word(f"hang.kind-{'all-silent' if together else verdict.kind.value}", language, who=_who(verdict, language))


def _who(verdict: Verdict, language: str) -> str:
    ranks = ranks_told(verdict.ranks)
    named = dict(verdict.reasons[0].values).get("who", "") if verdict.kind is Kind.SILENT else ""
    if not ranks and not named:
        return word("hang.who-none", language)
    if not ranks:
        return named
    return word("hang.who-one" if len(set(verdict.ranks)) == 1 else "hang.who-many", language, ranks=ranks)
