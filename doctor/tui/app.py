"""The application: it alone knows all screens and opens them. What they show comes from the session."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.knowledge.palette import KnowledgeCommands
from doctor.tui.knowledge.shelf import ShelfKeeper
from doctor.tui.shell import keys, themes
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import Help
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.host import Host
from doctor.tui.shell.session import Session

if TYPE_CHECKING:
    from doctor.read.source import Source
    from doctor.tui.shell.pseudonyms import Pseudonyms
    from doctor.tui.shell.session import HitLine

SETTLE_S = 5.0


class DoctorApp(Host, ShelfKeeper):
    """npu-doctor in a terminal."""

    TITLE = "npu-doctor"
    CSS_PATH = "app.tcss"
    COMMANDS = App.COMMANDS | {KnowledgeCommands}
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        *bindings("paste", "open-path", "knowledge", "environment", "language", "theme", "palette", "help", "quit"),
        Binding("ctrl+c", "interrupt", show=False, id="interrupt", priority=True),
    ]

    def __init__(self, session: Session, low_bandwidth: bool = False, first: Screen[None] | None = None) -> None:
        super().__init__(session, low_bandwidth)
        for theme in themes.themes():
            self.register_theme(theme)
        colours = "standard" if low_bandwidth else self.console.color_system  # the terminal's own colours are few bytes
        asked = os.environ.get("NPU_DOCTOR_THEME", "")
        self.theme = asked if asked in themes.PALETTES else themes.fitting(os.environ, colours)
        self._first = first
        self._interrupted = 0.0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What a theme of somebody else's lacks."""
        return themes.variables(themes.DARK)

    def get_default_screen(self) -> Screen[None]:
        return self._first or BrowseScreen()

    def on_mount(self) -> None:
        if self.low_bandwidth:
            self.animation_level = "none"
        if self.keymap_chosen:
            self.set_keymap(self.keymap_chosen)
        for fault in self.keymap_faults:
            self.tell("keymap-fault", severity="warning", path=str(keys.keymap_file()), why=fault)
        self.set_timer(SETTLE_S, self.settle)

    def watch_language(self, language: str) -> None:
        self.session.lang = language
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                screen.speak()
                screen.update_hints()

    # Screens: what the first picture does not need is imported when it is opened

    def show_entry(self, code: str) -> None:
        if isinstance(self.screen, BrowseScreen):
            self.screen.go_to(code)
        else:
            self.push_screen(BrowseScreen(code))

    def show_log(self, source: Source, line: int, hits: Sequence[HitLine], pseudonyms: Pseudonyms | None) -> None:
        from doctor.tui.evidence.evidence_screen import EvidenceScreen

        self.push_screen(EvidenceScreen(source, line, hits, pseudonyms))

    def show_job(self, job: Mapping[str, Any]) -> None:
        from doctor.tui.job.job_screen import JobScreen

        self.push_screen(JobScreen(job))

    def show_pace(self) -> None:
        from doctor.tui.pace.pace_screen import PaceScreen, of_paths

        paths = tuple(path for path in self.session.paths if path != "-")
        if paths:
            self.push_screen(PaceScreen(lambda known: of_paths(paths, known), ("pace", *paths)))
        else:
            self.tell("pace.none", severity="warning")

    def job_changed(self, job: Mapping[str, Any]) -> None:
        from doctor.tui.job.job_screen import JobScreen

        for screen in self.screen_stack:
            if isinstance(screen, JobScreen):
                screen.change(job)

    def show_finding(self, code: str) -> None:
        from doctor.tui.diagnosis.report_screen import ReportScreen

        self.pop_screen()
        if isinstance(self.screen, ReportScreen):
            self.screen.go_to(f"finding:{code}")

    def show_logs(self, paths: tuple[str, ...]) -> None:
        """The diagnosis of logs."""
        from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen

        self.session.paths = paths
        self.push_screen(DiagnosisScreen())

    def action_paste(self) -> None:
        from doctor.tui.paste.paste_screen import PasteScreen

        if not isinstance(self.screen, PasteScreen):
            self.push_screen(PasteScreen())

    def action_open_path(self) -> None:
        from doctor.tui.shell.opening import ask_paths

        ask_paths(self, self.show_logs)

    def action_knowledge(self) -> None:
        self.show_entry("")

    def action_environment(self) -> None:
        from doctor.tui.env.environment_screen import EnvironmentScreen, this_machine

        if not isinstance(self.screen, EnvironmentScreen):
            self.push_screen(EnvironmentScreen(this_machine))

    def action_help(self) -> None:
        """The keys that work where the reader stands."""
        ids = [a.binding.id for a in self.screen.active_bindings.values() if a.binding.id]
        names = list(dict.fromkeys("follow" if i.startswith("follow-") else i for i in ids))
        order = list(keys.KEYS)
        self.push_screen(Help(sorted((n for n in names if n in keys.KEYS), key=order.index)))

    # Everything else

    def action_language(self) -> None:
        self.language = "en" if self.language == "zh" else "zh"

    def action_theme(self) -> None:
        names = list(themes.PALETTES)
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]
        self.tell("theme-now", name=self.theme)

    def action_interrupt(self) -> None:
        """The first ctrl+c asks, the second one within two seconds quits."""
        now = time.monotonic()
        if now - self._interrupted < 2:
            self.exit(return_code=130)
            return
        self._interrupted = now
        self.tell("quit-again")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the screen by its name, in the reader's language; then Textual's own."""
        zh = self.language == "zh"  # found by its English name as well: not every terminal can be written Chinese into
        for active in screen.active_bindings.values():
            name = active.binding.id or ""
            if name in keys.KEYS and name not in ("up", "down", "palette"):
                key = keys.KEYS[name]
                action = active.binding.action
                yield SystemCommand(
                    " ".join(dict.fromkeys((key.short[zh], key.short[0]))), f"{key.tip[zh]}  ({keys.shown_key(key.keys)})", self._runner(action, active.node)
                )
        yield from super().get_system_commands(screen)

    def _runner(self, action: str, node: object):  # type: ignore[no-untyped-def]
        async def go() -> None:
            await self.run_action(action, node)  # type: ignore[arg-type]

        return go
