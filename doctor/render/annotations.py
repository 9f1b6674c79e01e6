"""The report for build servers: JUnit XML, the workflow commands that GitHub shows beside a run, the code quality report of GitLab."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from doctor.base import notation
from doctor.base.words import word
from doctor.render import fingerprint, plain
from doctor.render.compose import Finding, answer
from doctor.render.document import Evidence, Prose

Json = dict[str, Any]
_LEVELS = {"fatal": "error", "error": "error", "warning": "warning", "info": "notice"}
_QUALITY = {"fatal": "blocker", "error": "critical", "warning": "major", "info": "info"}
# What XML 1.0 cannot hold, not even escaped.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Json, lang: str) -> str:
    """One case for each root cause and each unrecognised error; what is only a hint passes. A clean log is one case that passes."""
    made = answer(report, lang)
    cases = [_case(f, lang) for f in made.causes]
    for told in (one for cluster in made.unexplained for one in cluster.evidence):
        cases.append((f"{word('unexplained', lang)}: {told.text[:120]}", "error", told.text[:200], _told(told)))
    if made.verdict == "inconclusive" and not made.unexplained:
        cases.append((made.told, "error", made.told, ""))
    cases += [(name, "", "", "") for one in made.lights for name in one.passed]
    if not cases:
        cases.append((word("clean", lang), "", "", ""))
    failed, broken = (sum(kind == k for _, kind, _, _ in cases) for k in ("failure", "error"))
    counts = f'tests="{len(cases)}" failures="{failed}" errors="{broken}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="npu-doctor" {counts}>']
    lines.append(f'<testsuite name="npu-doctor" {counts} skipped="0" time="{report["stats"]["seconds"]:.3f}">')
    for name, kind, message, text in cases:
        lines.append(f"<testcase classname={_attribute('npu-doctor')} name={_attribute(name)}>")
        if kind:
            lines.append(f"<{kind} message={_attribute(message)}>{escape(_NO_XML.sub('?', text))}</{kind}>")
        lines.append("</testcase>")
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"


def _case(finding: Finding, lang: str) -> tuple[str, str, str, str]:
    name = f"{finding.code} {finding.title}"
    if finding.severity == "info":
        return name, "", "", ""
    text = [_cause(finding), "", *map(_told, finding.document.evidence[:3])]
    return name, "failure", finding.title, "\n".join([*text, *plain.fixes(finding.document.fixes, lang)])


def _cause(finding: Finding) -> str:
    return "\n".join(b.text for b in finding.document.section("cause").blocks if isinstance(b, Prose))


def _told(one: Evidence) -> str:
    return f"{notation.place(one.path, one.line)}\n{one.text}"


def github(report: Json, lang: str) -> str:
    return "".join(f"{line}\n" for line in _commands(report, lang))


def _commands(report: Json, lang: str) -> Iterator[str]:
    made = answer(report, lang)
    for finding in made.causes:
        text = "\n".join([_cause(finding), *plain.fixes(finding.document.fixes, lang)])
        yield _command(_LEVELS[finding.severity], finding.document.evidence[:1], f"{finding.code} {finding.title}", text)
    for cluster in made.unexplained:
        yield _command("warning", cluster.evidence, cluster.title, "\n".join(one.text for one in cluster.evidence))


def gitlab(report: Json, lang: str) -> str:
    """What GitLab shows in a merge request; a fault that was there before is known by its fingerprint."""
    made = answer(report, lang)
    rows = [_quality(f.code, f"{f.code} {f.title}", _QUALITY[f.severity], f.document.evidence[:1], fingerprint.of_finding(f.code)) for f in made.causes]
    for cluster, one in zip(made.unexplained, report["unexplained"], strict=True):
        text = " ".join(one["evidence"]["text"].split())[:200]
        rows.append(_quality("UNKNOWN", f"{cluster.title}: {text}", "minor", cluster.evidence, fingerprint.of_error(one["template"])))
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def _quality(name: str, text: str, severity: str, at: tuple[Evidence, ...], print_: str) -> Json:
    path, line = (at[0].path, max(1, at[0].line)) if at else ("-", 1)
    return {"description": text, "check_name": name, "fingerprint": print_, "severity": severity, "location": {"path": path, "lines": {"begin": line}}}


def _command(level: str, at: tuple[Evidence, ...], title: str, text: str) -> str:
    place = "".join(f"file={_property(one.path)},line={max(1, one.line)}," for one in at)
    return f"::{level} {place}title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("?", text), {"\n": "&#10;", "\t": "&#9;"})
