"""What every screen has: a bar, hints by context, a narrow form, both languages, the way back."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input

from doctor.base.words import word
from doctor.tui.shell import keys
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import Show
from doctor.tui.shell.host import MEDIUM, NARROW, Host, host_of
from doctor.tui.shell.views import STYLE_CLASSES, LineView
from doctor.tui.shell.widgets import Bar, Hints, SearchBox


class Frame(Screen[None]):
    """A full screen. Subclasses say what the hints are (`hints`) and draw themselves in the language of the app (`speak`)."""

    COMPONENT_CLASSES: ClassVar[set[str]] = STYLE_CLASSES
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "back", "maximise", "command-line", "search"
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

    def draw(self) -> None:
        """Draws rows anew that are made for the width there is and for what is searched."""

    def hints(self) -> tuple[str, ...]:
        """The keys worth knowing where the reader is."""
        return ("accept", "back") if isinstance(self.focused, SearchBox) else self.useful(self.HINTS)

    def useful(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Without the keys that can do nothing now."""
        return tuple(name for name in names if self.check_action(keys.KEYS[name].action, ()) is not False)

    # The search: one box on every screen

    @property
    def search_box(self) -> SearchBox:
        return self.query_one("#search", SearchBox)

    def action_search(self) -> None:
        """The focus at once: what is typed next is for the box."""
        self.search_box.add_class("-open")
        self.set_focus(self.search_box)

    def leave_search(self, clear: bool) -> None:
        """Back to where the reader was; `clear`: as if nothing had been searched."""
        box = self.search_box
        if clear:
            box.value = ""
        if not box.value:
            box.remove_class("-open")
        if self.focused is box:
            self.set_focus(self.query_one(self.AUTO_FOCUS or "LineView"))

    def on_search_box_left(self) -> None:
        self.leave_search(clear=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if isinstance(event.input, SearchBox):
            event.stop()
            self.leave_search(clear=False)
            self.searched(event.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        if isinstance(event.input, SearchBox):
            event.stop()
            self.search_typed(event.value)

    def search_typed(self, text: str) -> None:
        """Called as it is typed; what `draw` draws looks into the box itself."""
        del text
        self.draw()

    def searched(self, text: str) -> None:
        """Called when it has been typed."""

    def update_hints(self) -> None:
        for line in self.query(Hints):
            line.show(keys.hints(self.hints(), self.doctor.keymap_chosen, self.doctor.language))

    def on_compose(self) -> None:
        self._shape(self.app.size.width)  # before anything is drawn: the first layout is the right one

    def on_resize(self, event: events.Resize) -> None:
        self._shape(event.size.width)
        self.call_after_refresh(self.draw)

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
        session = self.doctor.session
        faulty = len(session.known.problems) if session.loaded else 0
        marks = [self.word("kb-faulty", n=faulty)] if faulty else []
        marks += [] if self.doctor.redact else [self.word("redact-off-bar")]
        self.query_one(Bar).show(told, "  ".join([*marks, language]), place)

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
        elif isinstance(self.focused, SearchBox) or self.search_box.value:
            self.leave_search(clear=True)
        elif len(self.app.screen_stack) > 1:
            self.app.pop_screen()
