"""The pace of a run as rows: sentences, then a row of bars for each lane. No terminal."""

from __future__ import annotations

from doctor.base.words import word
from doctor.pace.picture import picture, spark
from doctor.pace.sentences import call, head, measure, sentences, span
from doctor.pace.verdict import Pace
from doctor.render.layout import cells, cut, wrap
from doctor.tui.shell.line import BLANK, Row, Span, plain, shown

NAME, VALUE, TAG = 18, 10, 8


def summary(pace: Pace, lang: str) -> str:
    return head(pace, lang)


def rows(pace: Pace, lang: str, room: int, wanted: str = "") -> list[Row]:
    """All of it in so many cells. `wanted`: only the rows in which all the words of a search stand."""
    found = _lanes(pace, lang, room) if pace.verdict != "none" else []
    if words := wanted.casefold().split():
        return [row for row in found if row.key and all(w in plain(row.left).casefold() for w in words)]
    if pace.verdict == "none":
        return [Row("none", (Span(shown(word("pace.none", lang)), "warning"),))]
    return [*_said(pace, lang, room), Row("", BLANK), *found]


def _said(pace: Pace, lang: str, room: int) -> list[Row]:
    made = []
    for number, one in enumerate(sentences(pace, lang)):
        tag = "" if one.kind == "even" else word(f"pace.{one.kind}", lang)
        style = "warning" if one.grave else "good" if one.kind == "even" else "dim"
        for line, text in enumerate(wrap(one.text, max(20, room - TAG - 2))):
            mark = tag if not line else ""
            left = (Span(mark + " " * max(0, TAG - cells(mark)), style), Span(shown(text), "title" if one.grave else ""))
            made.append(Row(f"said:{number}:{line}", left, of=f"said:{number}:0" if line else ""))
    return made


def _lanes(pace: Pace, lang: str, room: int) -> list[Row]:
    made = picture(pace, max(10, room - NAME - VALUE - 6))
    if not made.strips:
        return []
    unit = "tokens/s" if made.measure == "generated" else measure(made.measure, lang)
    found = [Row("", (Span(f"{word('pace.lanes', lang)}: {unit}", "label"),))]
    for number, strip in enumerate(made.strips):
        name = cut(shown(call(strip.lane, pace.run)), NAME)
        value = f"{strip.usual:,.0f}/s" if made.measure == "generated" else span(strip.usual, lang)
        bars = spark(strip.values, made.low, made.high)
        style = "warning" if strip.slow else ""
        left = (Span("! " if strip.slow else "  ", "warning"), Span(name + " " * (NAME - cells(name) + 1), style or "title"), Span(bars, style or "good"))
        found.append(Row(f"lane:{number}", left, (Span(f" {value}", style or "dim"),)))
    return found
