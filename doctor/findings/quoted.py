"""Messages that a note only quotes, of a try before this one: `Without noop layers it answers "...", so I added one.`"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.findings.evaluate import Apart, Finding, leaves_of
from doctor.scan.harvest import Harvest, Hit
from parsers.lazy import lazy

_SAID = r"[\"“`「『](?P<{}>[^\"”`」』\n]{{8,300}})[\"”`」』]"
_WAS = (
    r"(?:\b(?:[Ww]ithout|[Bb]efore|[Ee]arlier|[Pp]reviously|[Yy]esterday|[Aa]t first|[Ii]nitially|[Ll]ast (?:week|month|time|night)|[Uu]sed to|[Gg]ot rid of|[Ss]olved|[Ff]ixed)\b"
    r"|之前|此前|先前|原先|原来|起初|一开始|最初|上次|昨天|解决了|已解决|不加|去掉|如果不)"
)
_STILL = r"\b(?:now|but|still|since|today)\b|现在|如今|但|仍|今天"
_PAST = lazy(rf"{_WAS}(?:(?!{_STILL})[^.!?。！？;；\n\"“`「『]){{0,120}}" + _SAID.format("a") + r"|" + _SAID.format("b") + r"[^.!?。！？\n\"“`「『]{0,60}(?:\b(?:solved|fixed|gone|disappeared)\b|已解决|解决了|消失)")
_SENTENCE = 60  # characters: what is shorter is no account of what was tried


def without_quoted(findings: Sequence[Finding], harvest: Harvest) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings without those that only such sentences tell, where a program printed how it ended."""
    told = [f for f in findings if f.entry.role != "noise" and all(map(_is_quoted, _decisive(f)))]
    if not told:
        return tuple(findings), ()
    printed = any(h.place.kind == "traceback" for f in findings if f not in told and f.entry.role in ("cause", "ambiguous") for h in f.hits)
    if not printed and not any(c.first.kind == "traceback" for c in harvest.clusters):
        return tuple(findings), ()
    return tuple(f for f in findings if f not in told), tuple(f._replace(apart=Apart("quoted")) for f in told)


def _decisive(finding: Finding) -> list[Hit]:
    """What makes it hold, without what only adds to that."""
    leaves = {leaf for part in finding.entry.condition for leaf in leaves_of(part)}
    return [hit for hit in finding.hits if (leaf := hit.signal.partition("/")[2]).isdecimal() and int(leaf) in leaves] or list(finding.hits)


def _is_quoted(hit: Hit) -> bool:
    """Does what was found stand in quotation marks, in a sentence that tells it as past?"""
    text = hit.place.text
    if hit.place.kind != "text" or hit.place.level or len(text) < _SENTENCE:
        return False
    said = [m["a"] or m["b"] for m in _PAST.finditer(text)]
    return any(value[:40] in one for one in said for _, value in hit.captures if len(value) >= 8) or (bool(said) and not any(len(value) >= 8 for _, value in hit.captures))
