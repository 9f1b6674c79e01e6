"""Boxes: the help, a text to look at, copy and save, a question with one answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from doctor.base.words import word
from doctor.render.document import Code, Document, Pair, Prose, Section
from doctor.tui.shell import keys
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.host import NARROW, Host, host_of
from doctor.tui.shell.line import shown
from doctor.tui.shell.views import STYLE_CLASSES, Card
from doctor.tui.shell.widgets import Bar, Hints, LineInput


class Dialog(ModalScreen[str]):
    """A box over the screen; Esc closes it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = STYLE_CLASSES
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("back")
    HINTS: ClassVar[tuple[str, ...]] = ()

    @property
    def doctor(self) -> Host:
        return host_of(self)

    def word(self, text_name: str, /, **values: object) -> str:
        return word(text_name, self.doctor.language, **values)

    def on_compose(self) -> None:
        self.set_class(self.app.size.width < NARROW, "-narrow")

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")

    def on_mount(self) -> None:
        for line in self.query(Hints) if self.HINTS else ():
            line.show(keys.hints(self.HINTS, self.doctor.keymap_chosen, self.doctor.language))

    def action_back(self) -> None:
        self.dismiss("")


class Help(Dialog):
    """All keys of a screen, with a sentence each."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("help", "quit")
    HINTS: ClassVar[tuple[str, ...]] = ("back", "down", "up")

    def __init__(self, names: list[str]) -> None:
        super().__init__(classes="-tall")
        self._names = names

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Card()
            yield Hints()

    def on_mount(self) -> None:
        zh = self.doctor.language == "zh"
        pairs = []
        for name in self._names:
            chosen = self.doctor.keymap_chosen.get(name, keys.KEYS[name].keys)
            shown_keys = "1-9" if name == "follow" else " ".join(keys.shown_key(k) for k in chosen.split(","))
            pairs.append(Pair(f"{shown_keys:>14}", f"{keys.KEYS[name].tip[zh]}  ({name})"))
        foot = Prose(self.word("help-foot", path=str(keys.keymap_file())))
        sections = (Section("keys", "", tuple(pairs)), Section("foot", "", (foot,)))
        card = self.query_one(Card)
        card.show(Doc("help", self.doctor.language, [Document("npu-doctor", self.word("help-title"), (), sections)]))
        card.focus()

    def action_help(self) -> None:
        self.dismiss("")

    def action_quit(self) -> None:
        self.dismiss("")


class Show(Dialog):
    """A text: a command line, a script. `y` copies it, `s` saves it."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings("copy", "save")
    HINTS: ClassVar[tuple[str, ...]] = ("copy", "save", "back")

    def __init__(self, title: str, text: str, lang: str = "", filename: str = "", remark: str = "") -> None:
        super().__init__(classes="-tall" if text.count("\n") > 6 else "")
        self._title, self._text, self._lang, self._filename, self._remark = title, text, lang, filename, remark

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Bar()
            yield Card()
            yield Hints()

    def on_mount(self) -> None:
        self.query_one(Bar).show(self._title)
        code = Section("about", "", (Code(self._text, self._lang),))
        doc = Doc("show", self.doctor.language, [Document("", "", (self._remark,), (code,))])
        card = self.query_one(Card)
        if not self.has_class("-tall"):
            card.styles.height = min(14, self._text.count("\n") + 3)
        card.show(doc)
        card.focus()

    def action_copy(self) -> None:
        self.doctor.copy(self._text, self._title)

    def action_save(self) -> None:
        ask(
            self.doctor,
            self.word("save-as"),
            self._filename or "npu-doctor.txt",
            lambda name: save(self.doctor, name, self._text),
        )


class Ask(Dialog):
    """One question, one line of answer; Enter gives it, Esc gives none."""

    def __init__(self, title: str, value: str = "", remark: str = "") -> None:
        super().__init__()
        self._title, self._value, self._remark = title, value, remark

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Bar()
            yield LineInput(self._value, id="answer")
            yield Bar(id="remark")
            yield Hints()

    def on_mount(self) -> None:
        self.query_one(Bar).show(self._title)
        self.query_one("#remark", Bar).show(self._remark)
        escape = keys.hints(("back",), self.doctor.keymap_chosen, self.doctor.language)
        self.query_one(Hints).show([("Enter", self.word("ok")), *escape])
        self.set_focus(self.query_one(Input))  # at once: what was typed ahead is for it

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


def ask(
    app: Host, title: str, value: str, answered: Callable[[str], object], remark: str = "", empty: bool = False
) -> None:
    """Asks, and hands the answer over unless there is none."""

    def done(answer: str | None) -> None:
        if answer or (empty and answer is not None):
            answered(answer)

    app.push_screen(Ask(title, value, remark), done)


def save(app: Host, name: str, text: str) -> bool:
    """Writes a new file; never over one that is there."""
    path = Path(name).expanduser()
    told = shown(str(path))
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except FileExistsError:
        app.tell("save-exists", severity="error", path=told)
        return False
    except OSError as error:
        with contextlib.suppress(OSError):
            path.unlink()  # half a report would look like a whole one
        app.tell("save-failed", severity="error", path=told, why=error.strerror or str(error))
        return False
    app.tell("saved", path=told)
    return True
