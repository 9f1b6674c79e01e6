"""A report as the text of a file."""

from __future__ import annotations

import json

from doctor.tui.diagnosis import outline


def report_text(report: outline.Json, suffix: str, lang: str) -> str:
    """The report in the form that a suffix names."""
    from doctor.render import layout, markdown, text

    if suffix.lower() == ".json":
        return json.dumps(report, ensure_ascii=False, indent=1) + "\n"
    if suffix.lower() in (".txt", ".text", ".log"):
        return text.render(report, lang, layout.Style(width=100), True)
    return markdown.render(report, lang)
