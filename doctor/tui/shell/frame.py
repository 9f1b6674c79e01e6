"""What every screen has: a bar, hints by context, a narrow form, both languages, the way back."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.screen import Screen

from doctor.base.words import word
from doctor.tui.shell import keys
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import Show
from doctor.tui.shell.host import MEDIUM, NARROW, Host, host_of
from doctor.tui.shell.views import STYLE_CLASSES, LineView
from doctor.tui.shell.widgets import Bar, Hints


class Frame(Screen[None]):
    """A full screen. Subclasses say what the hints are (`hints`) and draw themselves in the language of the app (`speak`)."""

    COMPONENT_CLASSES: ClassVar[set[str]] = STYLE_CLASSES
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "back", "maximise", "command-line"
    )
    HINTS: ClassVar[tuple[str, ...]] = ()
    HELP_TITLE = "help-title"

    @property
    def doctor(self) -> Host:
        return host_of(self)

    def word(self, text_name: str, /, **values: object) -> str:
        return word(text_name, self.doctor.language, **values)

    def speak(self) -> None:
        """Draws all texts anew; called when the language changed and when the screen comes up."""

    def hints(self) -> tuple[str, ...]:
        return self.HINTS

    def update_hints(self) -> None:
        for line in self.query(Hints):
            line.show(keys.hints(self.hints(), self.doctor.keymap_chosen, self.doctor.language))

    def on_compose(self) -> None:
        self._shape(self.app.size.width)  # before anything is drawn: the first layout is the right one

    def on_resize(self, event: events.Resize) -> None:
        self._shape(event.size.width)

    def _shape(self, width: int) -> None:
        self.set_class(width < NARROW, "-narrow")
        self.set_class(NARROW <= width < MEDIUM, "-medium")

    def on_screen_resume(self) -> None:
        self.speak()
        self.update_hints()

    def on_descendant_focus(self) -> None:
        self.update_hints()

    def bar(self, told: str, place: str = "") -> None:
        """The bar on top: what is told, what is looked at as far as there is room, the two languages with the present one marked."""
        language = "[中文] EN" if self.doctor.language == "zh" else "中文 [EN]"
        right = language if self.doctor.redact else f"{self.word('redact-off-bar')}  {language}"
        self.query_one(Bar).show(told, right, place)

    def command(self) -> str:
        """The command line that gives what this screen shows."""
        return self.doctor.session.command_line("kb", "list")

    def action_command_line(self) -> None:
        self.app.push_screen(Show(self.word("command-line"), self.command(), "sh"))

    def action_redact(self) -> None:
        """For all screens: nobody expects to be asked twice."""
        self.doctor.redact = not self.doctor.redact
        on = self.doctor.redact
        self.doctor.tell("redact-on" if on else "redact-off", severity="information" if on else "warning")
        self.speak()

    def action_maximise(self) -> None:
        if self.maximized is not None:
            self.minimize()
        elif isinstance(self.focused, LineView):
            self.maximize(self.focused, container=False)

    def action_back(self) -> None:
        if self.maximized is not None:
            self.minimize()
        elif len(self.app.screen_stack) > 1:
            self.app.pop_screen()
