"""The report for a terminal: the answer first, a fix that can be pasted, the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from doctor.base import notation
from doctor.base.words import word
from doctor.render import lights
from doctor.render.compose import Answer, Finding, answer
from doctor.render.document import (
    Block,
    Command,
    Decoded,
    Document,
    Evidence,
    Job,
    Link,
    Pair,
    Prose,
    Reference,
    Section,
)
from doctor.render.layout import Style, cells, cut, paint, wrap
from doctor.render.terminal import LABEL, bullet, command, command_labelled, fixes, headline, indented, labelled

Json = dict[str, Any]
FULL = 3  # roots shown in full; further ones get a line each unless everything is asked for


def render(
    report: Json, lang: str, style: Style, everything: bool = False, timeline: bool = False, verbose: bool = False
) -> str:
    """The whole report as text; with the timeline of a job and the rules that folded symptoms when they are asked for."""
    return "\n".join(_Text(lang, style, everything, verbose or everything).lines(answer(report, lang), timeline)) + "\n"


class _Text:
    """How much is shown, in which words and how wide."""

    def __init__(self, lang: str, style: Style, everything: bool, verbose: bool) -> None:
        self.lang, self.style, self.everything, self.verbose = lang, style, everything, verbose

    def lines(self, made: Answer, timeline: bool) -> Iterator[str]:
        if made.told:
            yield paint(made.told, "good" if made.verdict == "clean" else "warning", self.style)
            if made.hint:
                yield from labelled(word("why", self.lang), made.hint, self.style)
            yield ""
        situation = tuple(labelled(word("on", self.lang), made.situation, self.style)) if made.situation else ()
        if made.decisive is not None:
            yield from self._decisive(made.decisive, situation)
        elif not made.causes and situation:
            yield from (*situation, "")
        yield from self._causes(made.causes, () if made.decisive is not None else situation)
        if made.decision is not None:
            yield from (*labelled(made.decision.label, made.decision.text, self.style), "")
        if made.job is not None:
            yield from self._job(made.job, timeline)
        if made.lights:
            yield self._title("env.machine")
            yield from (*lights.table(made.lights, self.style), "")
        yield from self._unexplained(made)
        if made.context:
            yield self._title("context")
            for one in made.context[: None if self.everything else 4]:
                yield from bullet(f"{one.code} {one.title}: {one.note}", self.style)
            yield ""
        if made.noise:
            yield self._title("noise")
            for one in made.noise[: 20 if self.everything else 4]:
                yield from bullet(f"{one.code} {one.title} ({one.times})", self.style)
            yield ""
        if made.missing:
            yield self._title("missing")
            for need in made.missing:
                yield from bullet(need.what, self.style)
                yield from command(need.how, self.lang, self.style, 4)
            yield ""
        yield from self._skipped(made)
        if made.causes:
            again = "npu-doctor env" if made.machine else "npu-doctor scan ..."
            told = f"{word('next', self.lang)}: npu-doctor explain {made.causes[0].code} {self.style.dot} {again} -o report.md"
            yield from (paint(row, "dim", self.style) for row in wrap(told, self.style.width))

    def _job(self, job: Job, timeline: bool) -> Iterator[str]:
        from doctor.render import timeline as drawing

        yield from drawing.ranks(job, self.lang, self.style, self.everything)
        if timeline and job.events:
            yield from drawing.timeline(job, self.lang, self.style)

    def _title(self, name: str, after: str = "") -> str:
        return paint(word(name, self.lang) + after, "bold", self.style)

    def _more(self, number: int) -> str:
        return f"  {word('n-more', self.lang, n=number)} (--all)"

    def _decisive(self, one: Document, situation: Sequence[str]) -> Iterator[str]:
        """The line that is the answer: whole, and with what its parts mean."""
        style, head = self.style, cells(one.code) + 2
        rows = wrap(one.title, style.width - head)
        yield paint(one.code, "error", style) + "  " + ("\n" + " " * head).join(paint(row, "bold", style) for row in rows)
        yield from situation
        for found in one.evidence:
            yield from self._evidence(found, word("evidence", self.lang), "")
        for pair in one.section("caller").blocks:
            if isinstance(pair, Pair):
                yield from labelled(pair.label, pair.text, style)
        for block in one.section("codes").blocks:
            if isinstance(block, Decoded):
                yield from labelled("", block.told, style)
        for section in (one.section("nearest"), one.section("in-general")):
            if section.blocks:
                told = ", ".join(f"{b.target.id} {b.text}" for b in section.blocks if isinstance(b, Link))
                yield from labelled("", f"{section.label}: {told}", style)
        yield ""

    def _causes(self, causes: Sequence[Finding], situation: Sequence[str]) -> Iterator[str]:
        short = False  # a bare headline came last
        for number, finding in enumerate(causes):
            aside = finding.severity == "info" and causes[0].severity in ("fatal", "error")
            short = not self.everything and (number >= FULL or aside)
            if short:
                yield from headline(finding, self.style)
            else:
                yield from self._finding(finding, () if number else situation)
        if short:
            yield ""

    def _finding(self, finding: Finding, situation: Sequence[str]) -> Iterator[str]:
        yield from headline(finding, self.style)
        yield from situation
        for section in finding.document.sections:
            # A note stands in `why` as well.
            if section.name != ("note" if self.everything else "why"):
                yield from self._section(section, finding)
            if section.name == "cause" and finding.against:
                yield from labelled(word("against", self.lang), word("semicolon", self.lang).join(finding.against), self.style)
        yield ""

    def _section(self, section: Section, finding: Finding) -> Iterator[str]:
        if section.name == "fix":
            yield from fixes(finding.document.fixes, self.lang, self.style)
            return
        label, shown = section.label, self._shown(section)
        for block in shown:
            if isinstance(block, Evidence):
                yield from self._evidence(block, label, finding.times if label else "")
            elif isinstance(block, Link):
                yield from self._beside(block, label)
            elif isinstance(block, Command):
                yield from command_labelled(label, block.run, self.style)
            elif isinstance(block, Reference):
                yield from labelled(label, f"{block.title}  {block.url}".strip(), self.style, "dim", block.url)
            elif isinstance(block, (Prose, Pair)):
                yield from labelled(label or block.label, block.text, self.style)
            label = ""
        if section.name == "explains" and len(shown) < len(section.blocks):
            left = word("n-more", self.lang, n=len(section.blocks) - len(shown))
            yield from labelled("", left, self.style, "dim")

    def _shown(self, section: Section) -> tuple[Block, ...]:
        """What of a section is shown when not everything is asked for."""
        blocks = section.blocks
        if self.everything:
            return blocks
        if section.name == "explains":
            return blocks if self.verbose or len(blocks) <= 5 else blocks[:4]
        return blocks[: {"evidence": 2, "refs": 1}.get(section.name)]

    def _evidence(self, one: Evidence, label: str, times: str) -> Iterator[str]:
        often = f"  ({times})" if times not in ("", notation.times(1)) else ""
        yield from labelled(label, notation.place(one.path, one.line) + often, self.style, "dim", one.path)
        for row in one.text.split("\n")[: 12 if self.everything else 4]:
            short = row if self.everything else cut(notation.brief(row), 2 * (self.style.width - LABEL - 2))
            yield from labelled("", short, self.style)

    def _beside(self, link: Link, label: str) -> Iterator[str]:
        """What only happened because of this; when it is asked for, with the rule that says so."""
        title = cut(link.text, self.style.width - LABEL - 12)
        yield from labelled(label, f"{link.target.id} {title} {link.aside}", self.style, "dim")
        if self.verbose and link.rule:
            yield from labelled("", f"  {word('rule', self.lang)}: {link.rule}", self.style, "dim")

    def _unexplained(self, made: Answer) -> Iterator[str]:
        answer = made.decisive.evidence if made.decisive is not None else ()
        found = [cluster for cluster in made.unexplained if cluster.evidence != answer]
        if not found:
            return
        limit = len(found) if self.everything else (2 if made.causes else 6)
        yield self._title("unexplained", f": {made.unexplained_times}")
        for cluster in found[:limit]:
            yield from self._cluster(cluster, not made.causes)
        if len(found) > limit:
            yield self._more(len(found) - limit)
        yield ""

    def _cluster(self, cluster: Document, hint: bool) -> Iterator[str]:
        for one in cluster.evidence:
            yield from bullet(f"{cluster.code}  {cut(one.text, 3 * self.style.width)}", self.style)
            yield f"    {paint(notation.place(one.path, one.line), 'dim', self.style)}"
        for block in cluster.section("codes").blocks[:3]:
            if isinstance(block, Decoded):
                yield from indented(block.told, self.style)
        near = [b for b in cluster.section("nearest").blocks if isinstance(b, Link)]
        if near and hint:
            names = ", ".join(f"{link.target.id} {link.text}" for link in near[:2])
            yield from indented(f"{word('nearest', self.lang)}: {names}", self.style)

    def _skipped(self, made: Answer) -> Iterator[str]:
        if not made.skipped:
            return
        yield self._title("skipped", f" ({len(made.skipped)})")
        for one in made.skipped[: None if self.everything else 5]:
            yield from bullet(f"{one.label}: {one.text}", self.style)
        if len(made.skipped) > 5 and not self.everything:
            yield self._more(len(made.skipped) - 5)
        yield ""
