"""The report for build servers: JUnit XML, and the workflow commands that GitHub shows beside a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from doctor.base.words import word
from doctor.render.parts import roots

Json = dict[str, Any]
_LEVELS = {"fatal": "error", "error": "error", "warning": "warning", "info": "notice"}
# What XML 1.0 cannot hold, not even escaped.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Json, lang: str) -> str:
    """One case for each root cause and each unrecognised error; what is only a hint passes. A clean log is one case that passes."""
    cases = [_case(f, lang) for f in roots(report)]
    for cluster in report["unexplained"]:
        told = cluster["evidence"]
        text = f"{told['path']}:{told['line']}\n{told['text']}"
        cases.append((f"{word('unexplained', lang)}: {told['text'][:120]}", "error", told["text"][:200], text))
    if report["verdict"] == "inconclusive" and not report["unexplained"]:
        cases.append((word("inconclusive", lang), "error", word("inconclusive", lang), ""))
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


def _case(finding: Json, lang: str) -> tuple[str, str, str, str]:
    name = f"{finding['id']} {finding['title'][lang]}"
    if finding["severity"] == "info":
        return name, "", "", ""
    text = [finding["cause"][lang], ""]
    text += [f"{one['path']}:{one['line']}\n{one['text']}" for one in finding["evidence"][:3]]
    text += [f"{number}. {fix['title'][lang]}" for number, fix in enumerate(finding["fixes"], 1)]
    return name, "failure", finding["title"][lang], "\n".join(text)


def github(report: Json, lang: str) -> str:
    return "".join(f"{line}\n" for line in _commands(report, lang))


def _commands(report: Json, lang: str) -> Iterator[str]:
    for finding in roots(report):
        at = finding["evidence"][0] if finding["evidence"] else None
        fixes = "".join(f"\n{number}. {fix['title'][lang]}" for number, fix in enumerate(finding["fixes"], 1))
        title = f"{finding['id']} {finding['title'][lang]}"
        yield _command(_LEVELS[finding["severity"]], at, title, finding["cause"][lang] + fixes)
    for cluster in report["unexplained"]:
        yield _command("warning", cluster["evidence"], word("unexplained", lang), cluster["evidence"]["text"])


def _command(level: str, at: Json | None, title: str, text: str) -> str:
    place = f"file={_property(at['path'])},line={max(1, at['line'])}," if at else ""
    return f"::{level} {place}title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("?", text), {"\n": "&#10;", "\t": "&#9;"})
