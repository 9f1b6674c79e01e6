"""The application: screens, language, theme, clipboard, toasts. What it shows comes from the session."""

from __future__ import annotations

import gc
import inspect
import time
from collections.abc import Callable, Iterable
from typing import ClassVar, Literal

from rich.markup import escape
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen

from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.knowledge.palette import KnowledgeCommands
from doctor.tui.knowledge.shelf import Shelf
from doctor.tui.shell import clipboard, keys
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import Help
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.line import shown
from doctor.tui.shell.session import Session
from doctor.tui.shell.words import word

THEMES = ("textual-dark", "textual-light", "nord", "gruvbox", "ansi-dark", "ansi-light", "textual-ansi")
PLAIN_THEMES = ("ansi-dark", "textual-ansi")  # what the terminal's own colours carry: few bytes
SETTLE_S = 5.0
COLLECT = (20_000, 20, 20)
Severity = Literal["information", "warning", "error"]


class DoctorApp(App[None]):
    """npu-doctor in a terminal."""

    TITLE = "npu-doctor"
    CSS_PATH = "app.tcss"
    COMMANDS = App.COMMANDS | {KnowledgeCommands}
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        *bindings("paste", "open-path", "knowledge", "language", "theme", "palette", "help", "quit"),
        Binding("ctrl+c", "interrupt", show=False, id="interrupt", priority=True),
    ]

    language: reactive[str] = reactive("en", init=False)

    def __init__(self, session: Session, low_bandwidth: bool = False, first: Screen[None] | None = None) -> None:
        super().__init__()
        self.session = session
        self.low_bandwidth = low_bandwidth
        self.redact = True  # what is exported and copied for others
        self.shelf: Shelf | None = None
        self.keymap_chosen, self._keymap_faults = keys.load_keymap(keys.keymap_file())
        self._first = first
        self._interrupted = 0.0
        self.set_reactive(DoctorApp.language, session.lang)

    def get_default_screen(self) -> Screen[None]:
        return self._first or BrowseScreen()

    def on_mount(self) -> None:
        if self.low_bandwidth:
            self.animation_level = "none"
            self.theme = next((t for t in PLAIN_THEMES if t in self.available_themes), self.theme)
        if self.keymap_chosen:
            self.set_keymap(self.keymap_chosen)
        for fault in self._keymap_faults:
            self.tell("keymap-fault", severity="warning", path=str(keys.keymap_file()), why=fault)
        self.set_timer(SETTLE_S, self.settle)

    def settle(self) -> None:
        """Garbage, which the start does not collect, is collected from here on: an interface is open for days.

        What was read by now stays, so that no key press waits for a walk through the knowledge.
        """
        gc.freeze()
        gc.set_threshold(*COLLECT)
        gc.enable()

    def tell(self, text_name: str, severity: Severity = "information", **values: object) -> None:
        """A toast, in the reader's language. Its text is never markup."""
        text = shown(word(text_name, self.language, **values))
        if "markup" in inspect.signature(self.notify).parameters:
            self.notify(text, severity=severity, markup=False)
        else:
            self.notify(escape(text), severity=severity)

    def watch_language(self, language: str) -> None:
        self.session.lang = language
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                screen.speak()
                screen.update_hints()

    def action_language(self) -> None:
        self.language = "en" if self.language == "zh" else "zh"

    def action_theme(self) -> None:
        usable = [t for t in THEMES if t in self.available_themes]
        at = usable.index(self.theme) if self.theme in usable else -1
        self.theme = usable[(at + 1) % len(usable)]
        self.tell("theme-now", name=self.theme)

    def action_help(self) -> None:
        """The keys that work where the reader stands."""
        ids = [a.binding.id for a in self.screen.active_bindings.values() if a.binding.id]
        names = list(dict.fromkeys("follow" if i.startswith("follow-") else i for i in ids))
        order = list(keys.KEYS)
        self.push_screen(Help(sorted((n for n in names if n in keys.KEYS), key=order.index)))

    def action_interrupt(self) -> None:
        """The first ctrl+c asks, the second one within two seconds quits."""
        now = time.monotonic()
        if now - self._interrupted < 2:
            self.exit(return_code=130)
            return
        self._interrupted = now
        self.tell("quit-again")

    def action_paste(self) -> None:
        from doctor.tui.paste.paste_screen import PasteScreen

        if not isinstance(self.screen, PasteScreen):
            self.push_screen(PasteScreen())

    def action_open_path(self) -> None:
        from doctor.tui.shell.opening import ask_path

        ask_path(self)

    def action_knowledge(self) -> None:
        self.show_entry("")

    def show_entry(self, code: str) -> None:
        """The knowledge, at an entry when one is given."""
        if isinstance(self.screen, BrowseScreen):
            self.screen.go_to(code)
        else:
            self.push_screen(BrowseScreen(code))

    def copy(self, text: str, what: str) -> None:
        """Copies in a thread (a clipboard tool may take its time) and tells by which way."""
        self.copy_made(lambda: text, what)

    def copy_for_others(self, plain: Callable[[], str], hidden: Callable[[], str], what: str) -> None:
        """Copies the second form, unless the reader wants things as they are."""
        if self.redact:
            self.copy_made(hidden, word("redacted-what", self.language, what=what))
        else:
            self.copy_made(plain, what)

    def copy_made(self, make: Callable[[], str], what: str) -> None:
        def work() -> None:
            try:
                text = make()
            except Exception as error:  # noqa: BLE001 - a thread's error is shown, not thrown at the terminal
                self.call_from_thread(self.tell, "redact-failed", severity="error", why=f"{type(error).__name__}: {error}")
                return
            done = clipboard.copy(text, lambda t: self.call_from_thread(self.copy_to_clipboard, t))
            self.call_from_thread(self._copied, done, what)

        self.run_worker(work, thread=True, group="copy", exclusive=True)

    def _copied(self, done: clipboard.Copied, what: str) -> None:
        self.clear_notifications()  # of several copies the last one is what the clipboard holds
        if done.ways:
            how = " + ".join(done.ways)
            self.tell("copied-what", what=what, how=how)
        else:
            self.tell("copied-file", severity="warning", path=done.path)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the screen by its name, in the reader's language; then Textual's own."""
        zh = self.language == "zh"
        for active in screen.active_bindings.values():
            name = active.binding.id or ""
            if name in keys.KEYS and name not in ("up", "down", "palette"):
                key = keys.KEYS[name]
                action = active.binding.action
                yield SystemCommand(
                    key.short[zh], f"{key.tip[zh]}  ({keys.shown_key(key.keys)})", self._runner(action, active.node)
                )
        yield from super().get_system_commands(screen)

    def _runner(self, action: str, node: object):  # type: ignore[no-untyped-def]
        async def go() -> None:
            await self.run_action(action, node)  # type: ignore[arg-type]

        return go
