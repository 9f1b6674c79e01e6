"""Events as lines: JSON for programs, one line of text for people."""

from __future__ import annotations

import json
from typing import Any

from doctor.base import notation
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.render.layout import Style, cut, paint

Json = dict[str, Any]


def as_json(event: Json) -> str:
    return json.dumps(event, ensure_ascii=False) + "\n"


def as_text(event: Json, lang: str, style: Style) -> str:
    """One line, two for a new finding: what it is, and where it stands."""
    stamp = paint(event["time"][11:19], "dim", style)
    kind = event["event"]
    if kind == "finding":
        finding = event["finding"]
        place = finding["evidence"][0]
        tag = paint(word(finding["severity"], lang), finding["severity"], style)
        mark = f"({finding['explained_by']}) " if finding["explained_by"] else ""
        where = paint(notation.place(place['path'], place['line']), "dim", style)
        return f"{stamp} {tag} {paint(finding['id'], 'bold', style)} {mark}{finding['title'][lang]}\n         {where}\n"
    if kind == "unexplained":
        cluster = event["cluster"]
        place = cluster["evidence"]
        text = cut(clean(place["text"].split("\n")[0]), max(40, style.width - 12))
        where = paint(notation.place(place['path'], place['line']), "dim", style)
        return f"{stamp} {word('unexplained', lang)}: {text}\n         {where}\n"
    name = event["role"] if kind == "changed" else kind
    told = {k: clean(str(v)) for k, v in event.items()}
    if "verdict" in told:
        told["verdict"] = word(told["verdict"], lang) if told["verdict"] != "findings" else ""
    return f"{stamp} {word(f'watch.{name}', lang, **told).rstrip()}\n"
