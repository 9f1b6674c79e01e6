"""The pace as one HTML file: what is said, and a map of ranks by time. No script, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from doctor.base import notation
from doctor.base.words import word
from doctor.pace.compare import Comparison
from doctor.pace.picture import picture, shades
from doctor.pace.sentences import call, head, measure, sentences, span
from doctor.pace.text import difference
from doctor.pace.tracks import NOTHING
from doctor.pace.verdict import Pace
from doctor.render.html_style import STYLE

COLUMNS = 84
CELL = 8  # pixels of a column
NAMES = 150
NAMED = 64  # rows beyond which they are thin, and only a pointer tells their names
SHADES = 5
_MAP = """
.map rect.back { fill: var(--rule); } .map rect.none { fill: var(--ground); } .map .s1 { fill: var(--amber); fill-opacity: .3; }
.map .s2 { fill: var(--amber); fill-opacity: .65; } .map .s3 { fill: var(--red); fill-opacity: .6; } .map .s4 { fill: var(--red); fill-opacity: .8; } .map .s5 { fill: var(--red); }
.course { width: 100%; height: 90px; display: block; } .course polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
"""


def render(pace: Pace, lang: str) -> str:
    return "\n".join([*_begin(lang), *_run(pace, lang, "h1"), *_end()]) + "\n"


def comparison(made: Comparison, names: tuple[str, str], lang: str) -> str:
    rows = [*_begin(lang)]
    first, *others = difference(made, names, lang)
    rows.append(f'<section class="{"warning" if made.verdict == "slower" else "clean"}"><h1>{escape(first)}</h1>')
    rows += (f"<p>{escape(line.strip())}</p>" for line in others)
    rows.append("</section>")
    for pace, name in ((made.before, names[0]), (made.after, names[1])):
        rows.append(f"<h2>{escape(notation.clean(name))}</h2>")
        rows += _run(pace, lang, "h3")
    return "\n".join([*rows, *_end()]) + "\n"


def _begin(lang: str) -> Iterator[str]:
    yield f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{escape(word('pace.page', lang))}</title>\n<style>{STYLE}{_MAP}</style>\n</head>\n<body>"
    yield "<header><b>npu-doctor</b></header>\n<main>"


def _end() -> Iterator[str]:
    yield "</main>\n</body>\n</html>"


def _run(pace: Pace, lang: str, heading: str) -> Iterator[str]:
    told = sentences(pace, lang)
    yield f'<section class="{"warning" if pace.verdict == "uneven" else "clean"}"><{heading}>{escape(head(pace, lang))}</{heading}>'
    for one in told:
        tag = "" if one.kind == "even" else f'<span class="tag">{escape(word(f"pace.{one.kind}", lang))}</span> '
        yield _paragraph(one.kind, tag, one.text)
    yield "</section>"
    if len(pace.course.line) > 1:
        yield from _course(pace, lang)
    yield from _map(pace, lang)


def _paragraph(kind: str, tag: str, told: str) -> str:
    dim = ' class="dim"' if kind == "note" else ""
    return f"<p{dim}>{tag}{escape(told)}</p>"


def _course(pace: Pace, lang: str) -> Iterator[str]:
    """The line of the whole run."""
    size = len(pace.course.line)
    width = max(1, size // 1000)
    parts = (pace.course.line[a : a + width] for a in range(0, size, width))
    line = [max((v for v in part if v == v), default=NOTHING) for part in parts]
    if all(v != v for v in line):
        return
    high = max(v for v in line if v == v)
    points = " ".join(f"{n},{round(88 - 84 * v / (high or 1), 1)}" for n, v in enumerate(line) if v == v)
    told = escape(f"{measure('total', lang)}: 0 - {span(high, lang)}")
    yield f'<section><h2>{told}</h2><svg class="course" role="img" viewBox="0 0 {len(line)} 90" preserveAspectRatio="none"><title>{told}</title><polyline points="{points}"/></svg></section>'


def _map(pace: Pace, lang: str) -> Iterator[str]:
    """Ranks by time: what costs more than is usual in the same steps is darker."""
    made = picture(pace, COLUMNS)
    if len(made.strips) < 2:
        return
    rows = shades(made, pace.step_s)
    height = 14 if len(rows) <= NAMED else 5 if len(rows) <= 4 * NAMED else 2
    left = NAMES if len(rows) <= NAMED else 0
    columns = len(made.steps)
    yield f'<section><h2>{escape(word("pace.lanes", lang))}: {escape(measure(made.measure, lang) if made.measure != "generated" else "tokens/s")}</h2><p class="dim">{escape(word("pace.map", lang))}</p>'
    yield f'<div class="scroll"><svg class="map" role="img" width="{left + columns * CELL}" height="{len(rows) * height}" viewBox="0 0 {left + columns * CELL} {len(rows) * height}">'
    for number, (strip, row) in enumerate(zip(made.strips, rows, strict=True)):
        name = call(strip.lane, pace.run)
        value = f"{strip.usual:,.0f}/s" if made.measure == "generated" else span(strip.usual, lang)
        top = number * height
        yield f"<g><title>{escape(f'{name}: {value}')}</title>"
        if left:
            yield f'<text x="0" y="{top + 11}">{escape(("! " if strip.slow else "") + name[:18])}</text>'
        yield f'<rect class="back" x="{left}" y="{top}" width="{columns * CELL}" height="{max(1, height - 1)}"/>'
        yield from _cells(row, left, top, max(1, height - 1))
        yield "</g>"
    yield "</svg></div></section>"


def _cells(row: Sequence[float], left: int, top: int, height: int) -> Iterator[str]:
    """Neighbours of one shade are one rectangle."""
    at = 0
    for shade, group in groupby(-1 if v < 0 else min(SHADES, int(v * SHADES + 0.5)) for v in row):
        size = len(list(group))
        if shade:
            kind = "none" if shade < 0 else f"s{shade}"
            yield f'<rect class="{kind}" x="{left + at * CELL}" y="{top}" width="{size * CELL}" height="{height}"/>'
        at += size
