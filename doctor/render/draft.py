"""An issue for maintainers, as Markdown: what they ask for first, in the order in which they read. Short enough for any tracker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from doctor.answer.versions import Seen
from doctor.base import notation
from doctor.base.words import word
from doctor.render import forms, markdown, parts
from doctor.render.compose import Answer, Finding, answer
from doctor.render.document import Command, Decoded, Document, Evidence, Link, Pair, Pattern, Prose, Reference
from doctor.render.markdown import escape, fence
from parsers.named import NamedTuple

Json = dict[str, Any]
MAX_TEXT = 60_000  # trackers take 65 536 characters
LIMITS = (
    (8, 1500),
    (4, 600),
    (2, 300),
    (1, 160),
)  # places of evidence, characters of each: fewer when the text is too long
WANTED = ("NPU", "driver", "CANN", "torch_npu", "torch", "Python")
_OF_MACHINE = {
    "chips.name": "NPU", "driver.version": "driver", "cann.version": "CANN", "python.torch_npu": "torch_npu", "python.torch": "torch",
    "python.version": "Python",
}  # fmt: skip
MAX_PARTS = 12
CALLED = "@\u200b"  # an @ that calls nobody
COLLECT = "npu-smi info\ncat /usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info\npip list 2>/dev/null | grep -iE 'torch|npu|vllm|mindspore|transformers'\npython -V; cat /etc/os-release"


class Machine(NamedTuple):
    """The machine beside the logs: fact by fact, and the checks that it fails."""

    facts: tuple[tuple[str, str], ...]
    failing: tuple[tuple[str, Json], ...]


class Options(NamedTuple):
    """What the caller knows besides the report."""

    finding: int | None = None  # number of the finding that the issue is about; None: the first root
    redacted: bool = True
    machine: Machine | None = None
    form: str = ""  # whose form is filled in


DEFAULT = Options()


def render(report: Json, seen: Sequence[Seen], lang: str, options: Options = DEFAULT) -> str:
    """The draft; of a report that is too long for a tracker, less evidence."""
    text = ""
    for places, width in LIMITS:
        text = "\n".join(_lines(report, seen, lang, options, places, width)) + "\n"
        if len(text) <= MAX_TEXT:
            break
    return text


def subject(report: Json, number: int | None) -> Json | None:
    """The finding that the issue is about."""
    if number is not None:
        found: Json = report["findings"][number - 1]
        return found
    roots = parts.roots(report)
    loud = [f for f in roots if f["severity"] != "info"]
    return loud[0] if loud else None


def _prose(text: str) -> str:
    """Markdown that shows the text and calls nobody: a name behind an @ would get a message."""
    return escape(text).replace("@", CALLED)


def _lines(report: Json, seen: Sequence[Seen], lang: str, options: Options, places: int, width: int) -> Iterator[str]:
    made, wanted = answer(report, lang), subject(report, options.finding)
    about = next((f for f in made.findings if wanted is not None and f.code == wanted["id"]), None)
    title = f"{about.code} {about.title}" if about else _untitled(made, lang)
    stack = "".join(f" {s.name} {s.values[0][0]}" for s in seen if s.name in ("NPU", "CANN"))
    yield f"# {_prose(title)}{_prose(f' ({stack.strip()})' if stack else '')}"
    yield ""
    yield f"> {_prose(word('draft.checked', lang, version=report['tool']['version'], files=report['stats']['files']))}"
    if options.redacted:
        counts = ", ".join(f"{n} {kind}" for kind, n in report.get("redacted", {}).get("values", {}).items()) or "0"
        yield f"> {_prose(word('draft.redacted', lang, counts=counts))}"
    else:
        yield f"> {word('draft.plain', lang)}"
    sections = _sections(report, seen, made, about, lang, options, places, width)
    if options.form in forms.FORMS:
        yield from forms.filled(options.form, sections, report, lang)
    else:
        yield from (row for rows in sections.values() for row in rows)
    yield from ("", f"<sub>npu-doctor {report['tool']['version']}, knowledge {report['knowledge']['digest']}</sub>")


def _sections(
    report: Json, seen: Sequence[Seen], made: Answer, about: Finding | None, lang: str, options: Options, places: int, width: int
) -> dict[str, list[str]]:
    """The parts of the draft by their names, in the order in which a maintainer reads."""
    return {
        "environment": list(_environment(seen, options.machine, lang)),
        "machine": list(_machine(options.machine, lang)) if options.machine is not None else [],
        "symptoms": list(_symptoms(report.get("job"), made, about, lang)),
        "cause": list(_cause(about, made, lang) if about else _unknown(made, lang, places)),
        "evidence": list(_evidence(made, about, lang, places, width)),
        "unexplained": list(_unexplained(made, about, lang, places, width)),
        "tried": list(_tried(about, lang)),
        "repro": list(_repro(about, lang)),
        "missing": list(_missing(made, lang)),
    }


def _untitled(made: Answer, lang: str) -> str:
    """Nothing is known: the shape of the first error is what others will search for."""
    return _shape(made.unexplained[0])[:120] if made.unexplained else word("draft.clean", lang)


def _shape(cluster: Document) -> str:
    return "".join(b.text for b in cluster.section("shape").blocks if isinstance(b, Pattern))


def _environment(seen: Sequence[Seen], machine: Machine | None, lang: str) -> Iterator[str]:
    yield from ("", f"## {word('draft.environment', lang)}", "")
    for one in seen:
        values = ", ".join(version for version, _ in one.values)
        yield f"- {one.name}: {_prose(values)}  ({_prose(one.values[0][1])})"
    told = {s.name for s in seen} | {_OF_MACHINE.get(fact, "") for fact, _ in (machine.facts if machine else ())}
    absent = [name for name in WANTED if name not in told]
    if absent:
        yield f"- {word('draft.not-seen', lang, names=', '.join(absent))}"
        yield from fence(COLLECT, "sh")


def _machine(one: Machine, lang: str) -> Iterator[str]:
    """What npu-doctor env tells of the machine, and what does not fit there."""
    yield from ("", f"### {_prose(word('draft.machine', lang))}", "")
    yield from (f"- {name}: {_prose(value)}" for name, value in one.facts)
    yield from (f"- **{code}** {_prose(title[lang])}" for code, title in one.failing[:8])


def _symptoms(job: Json | None, made: Answer, about: Finding | None, lang: str) -> Iterator[str]:
    yield from ("", f"## {word('draft.symptoms', lang)}", "")
    told = False
    if job:
        waiting = sum(r["state"] in ("waiting", "gave-up") for r in job["ranks"])
        yield f"- {word('draft.stopped', lang, n=job['processes'], world=job['world_size'] or '?', waiting=waiting)}"
        told = True
    for other in _explained(made, about)[:MAX_PARTS]:
        yield _counted(other, lang)
        told = True
    if not told:
        yield f"- {word('draft.no-symptoms', lang)}"


def _explained(made: Answer, about: Finding | None) -> list[Finding]:
    """What only happened because of it."""
    by_code = {f.code: f for f in made.findings}
    links = about.document.section("explains").blocks if about else ()
    return [by_code[b.target.id] for b in links if isinstance(b, Link)]


def _counted(one: Finding, lang: str) -> str:
    return f"- {one.code} {_prose(one.title)} ({word('times', lang, n=one.seen)})"


def _unknown(made: Answer, lang: str, places: int) -> Iterator[str]:
    yield from ("", f"## {word('draft.root', lang)}", "")
    yield word("draft.none" if made.unexplained else "draft.clean", lang)
    for cluster in made.unexplained[: 2 * places]:
        codes = [b for b in cluster.section("codes").blocks if isinstance(b, Decoded)][:3]
        meanings = "".join(f"; {_prose(f'{c.code} = {c.name} {c.meaning}')}" for c in codes)
        yield f"- {cluster.code} {_prose(_shape(cluster))}{meanings}"


def _cause(about: Finding, made: Answer, lang: str) -> Iterator[str]:
    yield from ("", f"## {word('draft.root', lang)}", "")
    yield f"**{about.code} {_prose(about.title)}** · {about.tag} · {word('confidence', lang)} {about.confidence}"
    yield ""
    for name in ("where", "why", "cause", "refs"):
        section = about.document.section(name)
        for block in section.blocks[:3]:
            if isinstance(block, (Pair, Prose)):
                yield f"- {section.label or block.label}: {_prose(block.text)}"
            elif isinstance(block, Reference):
                yield f"- {section.label}: {_prose(block.title)}" + (f" <{block.url}>" if block.url else "")
    others = [f for f in made.findings if f.role == "root" and f is not about and f.severity != "info"]
    if others:
        yield from ("", word("draft.further", lang))
        yield from (_counted(f, lang) for f in others[:MAX_PARTS])


def _evidence(made: Answer, about: Finding | None, lang: str, places: int, width: int) -> Iterator[str]:
    found = about.document.evidence if about else tuple(one for c in made.unexplained for one in c.evidence)
    if not found:
        return
    yield from ("", f"## {word('draft.evidence', lang)}")
    for one in found[:places]:
        yield from ("", _place(one))
        yield from fence(one.text[:width] + (" ..." if len(one.text) > width else ""))
    for other in _explained(made, about)[: max(1, places // 2)]:
        for one in other.document.evidence[:1]:
            yield from ("", f"{other.code} {_place(one)}")
            yield from fence(one.text[:width])


def _place(one: Evidence) -> str:
    return notation.place(_prose(one.path), one.line)


def _unexplained(made: Answer, about: Finding | None, lang: str, places: int, width: int) -> Iterator[str]:
    """Beside a root there may be errors that nobody knows: a maintainer may."""
    if about is None or not made.unexplained:
        return
    yield from ("", f"{word('unexplained', lang)}: {made.unexplained_times}")
    for cluster in made.unexplained[: max(1, places // 2)]:
        for one in cluster.evidence:
            yield from ("", f"{cluster.code} {_place(one)}")
            yield from fence(one.text[:width])


def _tried(about: Finding | None, lang: str) -> Iterator[str]:
    """Every fix whole: who ticks it has to know what it does."""
    yield from ("", f"## {word('draft.tried', lang)}", "", word("draft.tick", lang), "")
    for fix in about.document.fixes if about else ():
        yield f"- [ ] {fix.goal}: {_prose(fix.headline)}"
        for part in markdown.parts(fix, lang, _prose):
            yield from (f"  {line}".rstrip() for line in part.split("\n"))
    yield f"- [ ] {word('draft.other', lang)}"


def _repro(about: Finding | None, lang: str) -> Iterator[str]:
    yield from ("", f"## {word('draft.repro', lang)}", "")
    commands = [b for b in about.document.section("repro").blocks if isinstance(b, Command)] if about else []
    yield word("draft.script" if commands else "draft.by-hand", lang)
    yield from fence("".join(f"{one.run} && python repro.py" for one in commands), "sh")


def _missing(made: Answer, lang: str) -> Iterator[str]:
    if made.missing:
        yield from ("", f"## {word('draft.missing', lang)}", "")
        for one in made.missing:
            yield f"- {_prose(one.what)}"
            yield from (f"  {row}" for row in fence(markdown.script((one.how,), lang), "sh"))
    if made.skipped:
        yield from ("", f"## {word('skipped', lang)}", "")
        yield from (f"- {_prose(s.label)}: {_prose(s.text)}" for s in made.skipped[:MAX_PARTS])
        if len(made.skipped) > MAX_PARTS:
            yield f"- {word('n-more', lang, n=len(made.skipped) - MAX_PARTS)}"
