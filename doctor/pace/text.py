"""The pace of a run, or of two, as text for a terminal."""

from __future__ import annotations

from doctor.base import notation
from doctor.base.words import word
from doctor.pace.compare import Comparison, Served
from doctor.pace.picture import picture, spark
from doctor.pace.sentences import Sentence, call, head, measure, pace_of, percent, sentences, span
from doctor.pace.verdict import Pace
from doctor.render.layout import Style, cells, cut, paint, wrap

LANES = 12  # that are shown when not all are asked for
NAME = 18  # cells of a lane's name
VALUE = 10
_ROLES = {"even": "good", "note": "dim", "warm-up": "info"}


def text(pace: Pace, lang: str, style: Style, everything: bool = False) -> str:
    rows = [paint(head(pace, lang), "bold", style), ""]
    for sentence in sentences(pace, lang):
        rows += _sentence(sentence, lang, style)
    rows += lanes(pace, lang, style, everything)
    rows += [paint(cut(word("pace.skipped", lang, path=notation.clean(s.path), why=notation.clean(s.reason)), style.width), "dim", style) for s in pace.run.skipped[:5]]
    return "\n".join(rows) + "\n"


def _sentence(one: Sentence, lang: str, style: Style) -> list[str]:
    tag = word(f"pace.{one.kind}", lang) if one.kind != "even" else ""
    room = 8 if tag else 0
    role = "warning" if one.grave else _ROLES.get(one.kind, "label")
    lines = wrap(one.text, style.width - room)
    if not tag:
        return [paint(line, role, style) for line in lines]
    first = paint(tag, role, style) + " " * max(1, room - cells(tag))
    return [(first if not number else " " * room) + line for number, line in enumerate(lines)]


def lanes(pace: Pace, lang: str, style: Style, everything: bool) -> list[str]:
    """A row of bars for each lane, the slow ones first."""
    made = picture(pace, max(10, style.width - NAME - VALUE - 6))
    if not made.strips:
        return []
    width = pace.run.steps[-1] - pace.run.steps[0] if pace.run.steps else 0
    title = f"{word('pace.lanes', lang)}: {_unit(made.measure, lang)}"
    if width and len(made.steps) > 1:
        title += f" · {word('pace.picture', lang, n=f'{(width + 1) / len(made.steps):.3g}')}"
    rows = ["", paint(title if style.unicode else title.replace("·", "|"), "bold", style)]
    shown = made.strips if everything else made.strips[:LANES]
    for strip in shown:
        name = cut(call(strip.lane, pace.run), NAME)
        bars = spark(strip.values, made.low, made.high, not style.unicode)
        value = f"{strip.usual:,.0f}/s" if made.measure == "generated" else span(strip.usual, lang)
        row = f"{name}{' ' * (NAME - cells(name))} {bars} {value}"
        rows.append(paint("! ", "warning", style) + row if strip.slow else f"  {row}")
    if len(shown) < len(made.strips):
        rows.append(word("pace.more-lanes", lang, n=len(made.strips) - len(shown)))
    return rows


def _unit(name: str, lang: str) -> str:
    return "tokens/s" if name == "generated" else measure(name, lang)


def comparison(made: Comparison, names: tuple[str, str], lang: str, style: Style) -> str:
    """Which run is slower, where the difference comes from, what was set otherwise."""
    rows: list[str] = []
    for line in difference(made, names, lang):
        rows += wrap(line, style.width)
    if rows:
        rows[0] = paint(rows[0], "warning" if made.verdict == "slower" else "good", style)
    for pace, name in ((made.before, names[0]), (made.after, names[1])):
        rows += ["", paint(notation.clean(name), "label", style), head(pace, lang)]
        for sentence in sentences(pace, lang):
            if sentence.kind != "note":
                rows += _sentence(sentence, lang, style)
        rows += lanes(pace, lang, style, False)
    return "\n".join(rows) + "\n"


def difference(made: Comparison, names: tuple[str, str], lang: str) -> list[str]:
    """The comparison in lines, the verdict first."""
    before, after = (pace_of(value, one.run, lang) for value, one in zip(made.mean, (made.before, made.after), strict=True))
    if made.verdict == "none":
        which = names[0] if len(made.before.course.line) < len(made.after.course.line) else names[1]
        return [word("pace.not-comparable", lang, path=notation.clean(which))]
    if made.served and not made.usual[0]:
        rows = [word(f"pace.served-{made.verdict}", lang, b=notation.clean(names[1]))]
    elif made.verdict == "same":
        rows = [word("pace.same", lang, a=before, b=after)]
    else:
        was, now = made.per_sample or made.mean
        rows = [word(f"pace.b-{made.verdict}", lang, b=notation.clean(names[1]), before=before, after=after, share=percent(now / was - 1, True))]
    rows += [_served(one, lang) for one in made.served]
    if made.per_sample is not None:
        was, now = made.per_sample
        rows.append(word("pace.per-sample", lang, before=span(was, lang), after=span(now, lang), share=percent(now / was - 1, True)))
    if made.shares:
        rows.append(f"{word('pace.comes-from', lang)}:")
        rows += ["  " + word("pace.from", lang, measure=measure(s.measure, lang), before=span(s.before, lang), after=span(s.after, lang), share=percent(s.share)) for s in made.shares]
    if made.settings:
        rows.append(f"{word('pace.settings', lang)}:")
        rows += ["  " + word("pace.setting", lang, name=notation.clean(name), a=notation.clean(a), b=notation.clean(b)) for name, a, b in made.settings]
    return rows


def _served(one: Served, lang: str) -> str:
    if one.measure != "generated":
        told = word("pace.moved", lang, measure=measure(one.measure, lang), before=span(one.before, lang), after=span(one.after, lang))
    else:
        told = word("pace.moved", lang, measure="tokens/s", before=f"{one.before:,.0f}", after=f"{one.after:,.0f}")
    was, now = one.running
    load = f" {word('pace.load', lang, was=f'{was:.0f}', now=f'{now:.0f}')}" if was or now else ""
    return f"  {told} ({percent(one.after / one.before - 1, True)}){load}"
