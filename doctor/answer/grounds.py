"""What speaks for a finding and what against it, in words, and how far the log supports it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.base import notation
from doctor.base.notation import clean
from doctor.base.words import both, word
from doctor.judge.relate import Related
from kb.model import Text

_SURE = {"high": 0.95, "medium": 0.75, "low": 0.5}
_DOUBTED = 0.75  # at most, while a line that nobody explains stands nearer to the origin


def confidence(related: Related) -> float:
    """How far the log supports the finding: the entry's own claim, less for what only waits or wraps."""
    entry = related.finding.entry
    sure = _SURE[entry.confidence]
    if related.role == "root" and entry.role == "symptom":
        sure = min(sure, 0.5)
    if entry.role == "wrapper":
        sure = 0.2
    if related.against is not None:
        sure = min(sure, _DOUBTED)
    if entry.status == "draft":
        sure -= 0.1
    return round(sure, 2)


def why(related: Related, first: bool = False) -> Text:
    """Why this finding, and why at this place: what matched, how often, what it explains or what explains it; `first`: a launcher names its process as the one that failed first."""
    told = [Text(**said) for said in _reasons(related, first)]
    if related.note is not None and related.note.en:
        told.insert(0, related.note)
    return Text("; ".join(t.en for t in told) + ".", "；".join(t.zh for t in told) + "。")


def _reasons(related: Related, first: bool) -> Iterator[dict[str, str]]:
    finding = related.finding
    often = "once" if finding.total == 1 else "often" if finding.exact else "at-least"
    yield both(f"why-{often}", place=notation.place(clean(finding.first.path), finding.first.line), n=finding.total)
    leaves = len({h.signal for h in finding.instances[0].hits})
    if leaves > 1:
        yield both("why-signals", n=leaves)
    if related.explained_by:
        yield both("why-follows", code=related.explained_by)
    elif related.explains:
        yield both("why-explains", codes=", ".join(related.explains[:6]) + (" ..." if len(related.explains) > 6 else ""))
    if related.role == "root" and finding.entry.role == "symptom":
        yield both("against-named" if first else "against-victim")
    if related.role == "root" and finding.entry.role == "ambiguous":
        yield both("why-nothing-else")
    doubt = against(related)
    if doubt is not None:
        yield {"en": word("why-against", "en", doubt=doubt.en), "zh": word("why-against", "zh", doubt=doubt.zh)}


def against(related: Related) -> Text | None:
    """The line that speaks against a finding, in words; None when none does."""
    line = related.against
    return Text(**both("against-earlier", place=notation.place(clean(line.path), line.line))) if line is not None else None
