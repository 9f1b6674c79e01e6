"""What a screen may ask of the application it stands in. Which screens there are the application alone knows."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from rich.markup import escape
from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from doctor.base.words import word
from doctor.tui.shell import clipboard, keys
from doctor.tui.shell.line import shown
from doctor.tui.shell.session import Session

if TYPE_CHECKING:
    from doctor.read.source import Source
    from doctor.tui.shell.pseudonyms import Pseudonyms
    from doctor.tui.shell.session import HitLine

NARROW, MEDIUM = 100, 130  # cells: below these a screen has another shape
COLLECT = (20_000, 20, 20)
WRITES = (Input, TextArea)  # what takes letters as letters
Severity = Literal["information", "warning", "error"]


class Host(App[None]):
    """The session, the language, toasts, the clipboard, and the way to other screens."""

    language: reactive[str] = reactive("en", init=False)

    def __init__(self, session: Session, low_bandwidth: bool = False) -> None:
        super().__init__()
        self.session = session
        self.low_bandwidth = low_bandwidth
        self.redact = True  # what is exported and copied for others
        self._aims: WeakKeyDictionary[events.Key, Widget] = WeakKeyDictionary()  # to whom a key was given
        self._under_way: list[Widget] = []  # to whom the keys were given that have not come back yet
        self.keymap_chosen, self.keymap_faults = keys.load_keymap(keys.keymap_file())
        self.set_reactive(Host.language, session.lang)

    # Keys that are typed ahead: the box that a key opens gets those behind it, however fast they come

    async def on_event(self, event: events.Event) -> None:
        """Keys go to who has the focus; behind a key that is still under way they wait, so that their order stays."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            focused = self.focused or self.screen
            if isinstance(focused, WRITES) and self._under_way and self._under_way[-1].is_running:
                focused = self._under_way[-1]
                self._aims[event] = focused
                self._under_way.append(focused)
                focused._forward_event(event)
                return
            self._aims[event] = focused
            if not isinstance(focused, WRITES):
                self._under_way.append(focused)
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """A key that nobody took. What writes got the focus meanwhile: then it is a letter, no command."""
        aim = self._aims.pop(event, None)
        if aim in self._under_way:
            self._under_way.remove(aim)
        focused = self.focused
        if aim is not None and focused is not aim and isinstance(focused, WRITES):
            event.prevent_default()
            again = events.Key(event.key, event.character)
            self._aims[again] = focused
            focused._forward_event(again)

    # Other screens

    def show_entry(self, code: str) -> None:
        """The knowledge, at an entry when one is given."""
        raise NotImplementedError

    def show_log(self, source: Source, line: int, hits: Sequence[HitLine], pseudonyms: Pseudonyms | None) -> None:
        """A log at a line, with the lines that a finding rests on."""
        raise NotImplementedError

    def show_logs(self, paths: tuple[str, ...]) -> None:
        """The diagnosis of logs."""
        raise NotImplementedError

    def show_job(self, job: Mapping[str, Any]) -> None:
        """The ranks and the timeline of a job."""
        raise NotImplementedError

    def show_pace(self) -> None:
        """How fast the run of the present logs is, and which of its ranks are slow."""
        raise NotImplementedError

    def job_changed(self, job: Mapping[str, Any]) -> None:
        """More was read of the job that is shown."""
        raise NotImplementedError

    def show_finding(self, code: str) -> None:
        """A finding in the report that the present screen was opened from."""
        raise NotImplementedError

    # What is told and copied

    def tell(self, text_name: str, severity: Severity = "information", **values: object) -> None:
        """A toast, in the reader's language. Its text is never markup."""
        text = shown(word(text_name, self.language, **values))
        if "markup" in inspect.signature(self.notify).parameters:
            self.notify(text, severity=severity, markup=False)
        else:
            self.notify(escape(text), severity=severity)

    def copy(self, text: str, what: str) -> None:
        """Copies in a thread (a clipboard tool may take its time) and tells by which way."""
        self._copy_made(lambda: text, what)

    def copy_for_others(self, plain: Callable[[], str], hidden: Callable[[], str], what: str) -> None:
        """Copies the second form, unless the reader wants things as they are."""
        if self.redact:
            self._copy_made(hidden, word("redacted-what", self.language, what=what))
        else:
            self._copy_made(plain, what)

    def _copy_made(self, make: Callable[[], str], what: str) -> None:
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

    def settle(self) -> None:
        """Garbage, which the start does not collect, is collected from here on: an interface is open for days.

        What was read by now stays, so that no key press waits for a walk through the knowledge.
        """
        gc.freeze()
        gc.set_threshold(*COLLECT)
        gc.enable()


def host_of(part: MessagePump) -> Host:
    """The application that a screen or a widget stands in."""
    app = part.app
    assert isinstance(app, Host)
    return app
