"""A comparison for people: text for a terminal, Markdown, a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_html
from typing import Any

from doctor.base.notation import duration, message, place, short_moment
from doctor.base.words import named, word
from doctor.baseline.compare import LATER, MORE, NEW
from doctor.baseline.report import NOTHING
from doctor.baseline.within import NODES
from doctor.render.html_style import STYLE
from doctor.render.layout import Style, cut, paint
from doctor.render.markdown import escape, fence
from doctor.render.terminal import bullet, labelled

Json = dict[str, Any]
SHORT = 6  # differences in full, unless all are asked for
OTHERS = 5
SETTINGS = 12


def behind(drawn: str, made: Json, form: str, lang: str, style: Style) -> str:
    """A drawn report with the comparison behind it; forms for machines other than JSON have no place for it."""
    if form == "text":
        return f"{drawn}\n{paint(word('diff.beside', lang), 'bold', style)}: {text(made, lang, style)}"
    if form == "md":
        return f"{drawn}\n## {escape(word('diff.beside', lang))}\n\n{markdown(made, lang, 3)}"
    if form == "html":
        return drawn.replace("</main>", f"<h2>{escape_html(word('diff.beside', lang))}</h2>\n{section(made, lang)}</main>", 1)
    return drawn


def text(made: Json, lang: str, style: Style, everything: bool = False) -> str:
    """For a terminal."""
    return "\n".join(_text(made, lang, style, everything)) + "\n"


def _text(made: Json, lang: str, style: Style, everything: bool) -> Iterator[str]:
    yield paint(head(made, lang), "warning" if made["verdict"] == "differs" else "good", style)
    for label, told in _facts(made, lang):
        yield from labelled(label, told, style)
    shown = made["differences"][: None if everything else SHORT]
    for number, one in enumerate(shown, 1):
        yield ""
        yield f"{paint(f'{number}. {_kind(one, lang)}', one['severity'], style)}  {_who(one, lang, style.dot)}"
        yield from labelled("", cut(_line(one), 2 * style.width), style)
        if one["first"] is not None:
            yield f"{' ' * 11}{paint(place(one['first']['path'], one['first']['line']), 'dim', style)}"
        for told in _asides(one, lang):
            yield from labelled("", told, style)
    hidden = len(made["differences"]) - len(shown)
    yield ""
    if hidden:
        yield from bullet(f"{word('diff.untold', lang, n=hidden)}: {word('diff.all', lang)}", style)
    if everything:
        for one in made["others"]:
            yield from bullet(f"{_kind(one, lang)}  {cut(one['shape'], 2 * style.width)}  {_who(one, lang, style.dot)}", style)
    for told in _notes(made, lang, everything):
        yield from bullet(told, style)


def head(made: Json, lang: str) -> str:
    """The result in one sentence."""
    n, every = len(made["differences"]) + made["untold"], sum(made["counts"].values())
    if n:
        return word("diff.head-one" if n == 1 else "diff.head", lang, n=n, all=every)
    if made["verdict"] == NOTHING:
        return word("diff.nothing", lang)
    return word("diff.head-none" if made["verdict"] == "differs" else "diff.same", lang, **({"all": every} if made["verdict"] == "differs" else {}))


def _facts(made: Json, lang: str) -> Iterator[tuple[str, str]]:
    usual, run = made["usual"], made["run"]
    if among := made.get("among"):
        told = word("diff.usual-nodes", lang, n=len(run["nodes"])) if among == NODES else word("diff.usual-processes", lang, n=run["voices"])
        yield word("diff.usual", lang), told
    else:
        name = "diff.usual-run" if usual["runs"] == 1 else "diff.usual-runs"
        yield word("diff.usual", lang), word(name, lang, **{"lines": usual["lines"], "shapes": _shapes(usual["shapes"], lang)} | ({} if usual["runs"] == 1 else {"runs": usual["runs"]}))
    files = word("diff.file", lang) if run["files"] == 1 else word("diff.files", lang, n=run["files"])
    voices = word("diff.voice", lang) if run["voices"] == 1 else word("diff.voices", lang, n=run["voices"])
    heard = {"files": files, "lines": run["lines"], "shapes": _shapes(run["shapes"], lang), "voices": voices}
    if among:
        yield word("diff.run", lang), word("diff.run-nodes", lang, **heard)
    else:
        yield word("diff.run", lang), word("diff.run-told", lang, **heard, length=f"{made['length']:.2g}")
    for number, one in enumerate(made["settings"][:SETTINGS]):
        yield word("diff.settings", lang) if not number else "", word("diff.setting", lang, name=one["name"], here=", ".join(one["here"]), usual=", ".join(one["usual"]))
    if len(made["settings"]) > SETTINGS:
        yield "", f"... +{len(made['settings']) - SETTINGS}"
    for number, one in enumerate(made["suspects"][:3]):
        name = "diff.suspect-alone" if one["lines"] else "diff.suspect-named"
        yield word("diff.suspect", lang) if not number else "", word(name, lang, name=one["who"], **({"n": one["lines"]} if one["lines"] else {}))
    for number, one in enumerate(made["quiet"][:5]):
        yield word("diff.quiet", lang) if not number else "", word("diff.quiet-one", lang, voice=one["voice"], time=duration(one["seconds_early"], lang))


def _shapes(number: int, lang: str) -> str:
    return word("diff.shape", lang) if number == 1 else word("diff.shapes", lang, n=number)


def _kind(one: Json, lang: str) -> str:
    return named("diff.kind", one["kind"], lang)


def _who(one: Json, lang: str, dot: str) -> str:
    """How often, who, when."""
    told = []
    if one["kind"] == LATER:
        told.append(word("diff.after", lang, time=duration(one["after_s"] or 0, lang), usual=duration(one["usually"], lang)))
    elif one["times"]:
        told.append(word("diff.time-once", lang) if one["times"] == 1 else word("diff.times", lang, n=one["times"]))
    if one["kind"] not in (NEW, LATER):
        told.append(word("diff.usually", lang, n=f"{one['usually']:.3g}"))
    if one["only"]:
        told.append(
            word("diff.alone", lang, who=one["voices"][0], of=one["of"]) if one["said_by"] == 1 else word("diff.alone-node", lang, who=", ".join(one["nodes"]))
        )
    elif one["of"] > 1:
        told.append(word("diff.by", lang, n=one["said_by"], of=one["of"]))
    if one["first"] is not None and one["first"]["time"]:
        told.append(short_moment(one["first"]["time"]))
    if one["kind"] in (NEW, MORE) and one["after_s"] is not None:
        told.append(word("diff.begins", lang, time=duration(one["after_s"], lang)))
    return f" {dot} ".join(told)


def _line(one: Json) -> str:
    return message(one["first"]["text"]) if one["first"] is not None else one["shape"]


def _asides(one: Json, lang: str) -> Iterator[str]:
    if one["near"]:
        yield f"{word('diff.near', lang)}: {one['near']}"
    for code in one["codes"]:
        yield f"npu-doctor explain {code['id']}: {code['title'][lang]}"


def _notes(made: Json, lang: str, everything: bool) -> Iterator[str]:
    """What was left out, and why."""
    if made["untold"]:
        yield word("diff.untold", lang, n=made["untold"])
    if not everything and (others := sum(made["counts"].values()) - len(made["differences"]) - made["untold"]):
        yield f"{word('diff.others', lang, n=others)}: {word('diff.all', lang)}"
    if made["values"]:
        yield word("diff.values", lang, n=made["values"])
    if further := made["run"]["further"] + made["usual"]["further"]:
        yield word("diff.further", lang, n=further)
    for told in made["skipped"][: None if everything else OTHERS]:
        yield f"{word('diff.skipped', lang)}: {told}"
    if not everything and len(made["skipped"]) > OTHERS:
        yield f"{word('diff.skipped', lang)}: +{len(made['skipped']) - OTHERS}"


def markdown(made: Json, lang: str, level: int = 1) -> str:
    """For an issue or a message."""
    return "\n".join(_markdown(made, lang, level)) + "\n"


def _markdown(made: Json, lang: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} {escape(head(made, lang))}"
    yield ""
    for label, told in _facts(made, lang):
        yield f"- {escape(f'{label}: {told}' if label else told)}"
    for number, one in enumerate(made["differences"], 1):
        yield ""
        yield f"{'#' * (level + 1)} {number}. {_kind(one, lang)}: {escape(_who(one, lang, '·'))}"
        yield ""
        if one["first"] is not None:
            yield escape(place(one["first"]["path"], one["first"]["line"]))
        yield from fence(_line(one))
        yield from (f"- {escape(told)}" for told in _asides(one, lang))
    yield ""
    yield from (f"- {escape(told)}" for told in _notes(made, lang, everything=False))


def page(made: Json, lang: str) -> str:
    """One HTML file."""
    title = escape_html(f"npu-doctor diff: {head(made, lang)}")
    return (
        f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><b>npu-doctor diff</b></header>\n<main>\n{section(made, lang)}</main>\n</body>\n</html>\n"
    )


def section(made: Json, lang: str) -> str:
    """A part of a page."""
    return "\n".join(_html(made, lang)) + "\n"


def _html(made: Json, lang: str) -> Iterator[str]:
    yield f'<section class="{"warning" if made["verdict"] == "differs" else "clean"}"><h1>{escape_html(head(made, lang))}</h1>'
    yield "<dl>" + "".join(f"<dt>{escape_html(label)}</dt><dd>{escape_html(told)}</dd>" for label, told in _facts(made, lang)) + "</dl></section>"
    for number, one in enumerate(made["differences"], 1):
        yield f'<section class="{one["severity"]}"><p><span class="tag">{number}. {escape_html(_kind(one, lang))}</span> <span class="dim">{escape_html(_who(one, lang, "·"))}</span></p>'
        yield f"<pre>{escape_html(_line(one))}</pre>"
        if one["first"] is not None:
            yield f'<p class="dim">{escape_html(place(one["first"]["path"], one["first"]["line"]))}</p>'
        yield "".join(f"<p>{escape_html(told)}</p>" for told in _asides(one, lang))
        yield "</section>"
    yield "<ul>" + "".join(f"<li>{escape_html(told)}</li>" for told in _notes(made, lang, everything=False)) + "</ul>"
