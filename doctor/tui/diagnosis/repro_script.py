"""The repro script of a finding, as far as it can be made."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.answer import advice
from doctor.tui.shell.dialogs import Show
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.session import Outcome

MAX_REREAD = 256 << 20  # bytes of logs that are read again to learn what the operator's inputs were


def make(code: str, outcome: Outcome, paths: Sequence[str], text: str, lang: str) -> tuple[str, str, str] | None:
    """File name, script and what was guessed, for a finding and the logs it stands in; None when they do not tell enough."""
    from doctor.repro import choose
    from doctor.repro.extract import operators
    from doctor.repro.gather import evidence
    from doctor.repro.operator_table import load
    from doctor.repro.short import script
    from doctor.repro.validate import SlotError

    related = next((r for r in outcome.diagnosis.related if r.finding.entry.code == code), None)
    if related is None:
        return None
    finding = related.finding
    told = dict(advice.values(finding).one)
    found = tuple(o for hit in finding.hits[:50] for o in operators(hit.place.text))
    if text:
        found = found or operators(text)
    elif outcome.diagnosis.harvest.size <= MAX_REREAD:
        found = found or evidence(paths).operators()
    template, slots = "", choose.filled(finding.entry.repro[1], told) if finding.entry.repro else ()
    if finding.entry.repro:
        template = finding.entry.repro[0]
        told.update(slots)
    elif not found:
        return None
    try:
        fits = not found or template in choose.fitting(found[0])
        wish = choose.Wish(template=template if fits else "", lang=lang, slots=slots if fits else ())
        made = script(choose.request(found[0] if found else None, load(), wish, told))
    except SlotError:
        return None
    return made.filename, made.text, "; ".join(g.pick(lang) for g in made.guessed)


def show_repro(screen: Frame, code: str, outcome: Outcome | None, text: str = "") -> None:
    """The script made of a finding; made in a thread, since logs may have to be read again."""
    if outcome is None or not code:
        screen.doctor.tell("no-repro", severity="warning")
        return
    app, paths, lang = screen.doctor, screen.doctor.session.paths, screen.doctor.language

    def work() -> None:
        try:
            made = make(code, outcome, paths, text, lang)
        except Exception as error:  # noqa: BLE001 - a script that cannot be made is told, not thrown at the terminal
            app.call_from_thread(app.tell, "gone", severity="error", why=f"{type(error).__name__}: {error}")
            return
        app.call_from_thread(show, made)

    def show(made: tuple[str, str, str] | None) -> None:
        if made is None:
            app.tell("no-repro", severity="warning")
        else:
            app.push_screen(Show(f"{screen.word('repro-title')}  {code}", made[1], "python", made[0], made[2]))

    screen.run_worker(work, thread=True, exclusive=True, group="repro")
