"""The knowledge browser: tree of domains, list with live search, card with links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from doctor.answer.fix_form import fix_json
from doctor.render.document import Target, pasted
from doctor.render.fixes import fixes
from doctor.tui.knowledge.cards import template_text
from doctor.tui.knowledge.last_job import LastJob, last_job, present
from doctor.tui.knowledge.shelf import Facets, Item, Shelf, ShelfKeeper, next_choice
from doctor.tui.shell import syntax
from doctor.tui.shell.bindings import bindings
from doctor.tui.shell.dialogs import Show
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.fix_copier import FixCopier
from doctor.tui.shell.frame import Frame
from doctor.tui.shell.line import GLYPHS, Row, RowsOf, Span
from doctor.tui.shell.messages import Failed, RowFolded, RowHighlighted, RowOpened
from doctor.tui.shell.views import Card, Rows
from doctor.tui.shell.widgets import Bar, Hints, SearchBox
from kb import plain
from kb.model import Entry

OFFER = "offer:"
SOON_S = 0.25  # knowledge that is compiled already is there by then, and the first picture shows it


CARD_HINTS = (
    "follow", "previous", "copy-fix", "copy-card", "repro", "command-line", "maximise", "back", "help", "quit",
)  # fmt: skip


@dataclass
class JobFound(Message):
    """The last job of this machine failed."""

    job: LastJob


@dataclass
class ShelfReady(Message):
    """The knowledge has been read."""

    shelf: Shelf


class BrowseScreen(Frame):
    """Everything that is known, to be searched and followed."""

    AUTO_FOCUS = "#list"

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = bindings(
        "severity", "component", "domains", "follow", "previous", "copy-fix", "copy-card", "repro"
    )
    HINTS: ClassVar[tuple[str, ...]] = (
        "search",
        "open",
        "severity",
        "component",
        "domains",
        "copy-fix",
        "paste",
        "open-path",
        "language",
        "help",
        "quit",
    )

    def __init__(self, code: str = "", offer: bool = False) -> None:
        super().__init__()
        self._offers = offer  # the last job of this machine, when it failed
        self._offer: LastJob | None = None
        self.facets = Facets()
        self._wanted = code
        self._opened: frozenset[str] = frozenset()
        self._items: dict[str, Item] = {}
        self._target: Target | None = None
        self._trail: list[Target] = []
        self._moved = False  # whether the reader has gone to a row
        self._copier = FixCopier()

    def hints(self) -> tuple[str, ...]:
        """What helps where the cursor is."""
        place = self.focused.id if self.focused is not None else ""
        if place == "search":
            return super().hints()
        if place == "tree":
            return ("open", "fold", "search", "back", "help", "quit")
        if place == "card":
            return self.useful(CARD_HINTS)
        return self.useful(self.HINTS)

    @property
    def keeper(self) -> ShelfKeeper:
        app = self.app
        assert isinstance(app, ShelfKeeper)
        return app

    @property
    def shelf(self) -> Shelf | None:
        return self.keeper.shelf

    def compose(self) -> ComposeResult:
        yield Bar()
        with Container(id="panes"):
            yield Rows(id="tree", classes="pane")
            with Vertical(id="list-pane", classes="pane"):
                yield SearchBox(id="search", select_on_focus=False)
                yield Bar(id="facets")
                yield Rows(id="list")
            yield Card(id="card", classes="pane")
        yield Hints()

    def on_mount(self) -> None:
        known = self.doctor.session.soon(SOON_S) if self.shelf is None else None
        if known is not None:
            self.keeper.shelf = Shelf(known)
        if self.shelf is None or not self.shelf.ready:
            self.call_after_refresh(self.run_worker, self._read, thread=True, exclusive=True, group="shelf")

    def _look(self) -> None:
        """In a thread: what the usual places tell. That it cannot be told is no fault of the knowledge."""
        worker = get_current_worker()
        try:
            found = last_job(self.doctor.session, present(), lambda: worker.is_cancelled)
        except Exception:  # noqa: BLE001 - an offer that cannot be made is none
            return
        if found is not None and not worker.is_cancelled:
            self.post_message(JobFound(found))

    def on_job_found(self, message: JobFound) -> None:
        """The offer comes first, unless the reader is on the way to something else."""
        self._offer = message.job
        untouched = self.facets == Facets() and self.focused is self.query_one("#list") and not self._moved
        self.show_items(OFFER if untouched else self.query_one("#list", Rows).current)

    def _read(self) -> None:
        """In a thread, when the first picture stands: what searching and following need."""
        try:
            shelf = self.shelf or Shelf(self.doctor.session.known)
            shelf.warm()
            for language in ("sh", "python"):  # the first card with code need not wait for its lexer
                syntax.lines("", language)
        except Exception as error:  # noqa: BLE001 - broken knowledge is told, not thrown at the terminal
            self.post_message(Failed(str(error)))
            return
        self.post_message(ShelfReady(shelf))

    def on_shelf_ready(self, message: ShelfReady) -> None:
        first, self.keeper.shelf = self.shelf is None, message.shelf
        self.doctor.settle()
        if self._offers:
            self._offers = False
            self.run_worker(self._look, thread=True, group="last-job")
        if problems := message.shelf.known.problems:
            self.doctor.tell("kb-faults", severity="warning", n=len(problems), first=str(problems[0]).split("\n")[0])
        if first or self.facets.text:
            self.show_all()
        elif self._target is not None:
            self._draw(self._target, keep=True)  # now with what names it

    def on_failed(self, message: Failed) -> None:
        self.app.exit(message=message.what, return_code=4)

    def speak(self) -> None:
        self.query_one("#search", SearchBox).placeholder = self.word("search-hint")
        self.query_one("#tree").border_title = self.word("domains")
        self.query_one("#list-pane").border_title = self.word("entries")
        self.query_one("#card").border_title = self.word("detail")
        self.bar(f"npu-doctor · {self.word('knowledge')}")
        if self.shelf is not None:
            self.show_all()
        else:
            self.query_one("#list", Rows).empty = self.word("loading")

    def show_all(self) -> None:
        """Tree, list and card anew; the places stay."""
        tree, rows = self.query_one("#tree", Rows), self.query_one("#list", Rows)
        assert self.shelf is not None
        lang = self.doctor.language
        nodes = [
            Row(
                f"node:{n.key}",
                (
                    Span(
                        "  " * n.depth
                        + (("▾ " if n.key in self._opened else "▸ ") if n.parent else "  " if n.depth else "")
                    ),
                    Span(n.label),
                ),
                (Span(str(n.size), "dim"),),
            )
            for n in self.shelf.tree(lang, self._opened)
        ]
        tree.set_rows(nodes, tree.current or f"node:{self.facets.node}")
        self.show_items(rows.current)
        if self._wanted:
            self.go_to(self._wanted)
            self._wanted = ""
        elif self._target is not None:
            self._draw(self._target, keep=True)
        elif rows.current == OFFER:
            self._show_offer()

    def show_items(self, keep: str | None = None) -> None:
        """The list for the present search and facets."""
        if self.shelf is None:
            return
        items = self.shelf.items(self.facets)
        self._items = {f"{i.target.kind}:{i.target.id}": i for i in items}
        many = len({i.target.kind for i in items}) > 1 or not self.facets.node
        offered = [OFFER] if self._offer is not None and self.facets == Facets() else []
        rows = RowsOf([*offered, *self._items], lambda key: self._row(key, many))
        view = self.query_one("#list", Rows)
        waits = bool(self.facets.text) and not self.shelf.ready
        view.empty = self.word("loading" if waits else "nothing-fits" if self.facets.text else "no-findings")
        view.set_rows(rows, keep)
        if not rows:
            self._draw(None)
        parts = [
            self.word("found", n=len(items), all=self.shelf.total(self.facets))
            if self.facets != Facets(self.facets.node)
            else str(len(items))
        ]
        parts += [self.word(self.facets.severity)] if self.facets.severity else []
        parts += [self.facets.component] if self.facets.component else []
        self.query_one("#facets", Bar).show(" · ".join(parts), self.facets.node)

    def _row(self, key: str, many: bool) -> Row:
        assert self.shelf is not None
        if key == OFFER and self._offer is not None:
            return Row(key, (Span("✗ ", "error"), Span(self._offer.headline(self.doctor.language, present()), "title")))
        item = self._items[key]
        name = item.target.id.partition("@")[0]
        glyph = (Span(GLYPHS[item.severity], item.severity), Span(" ")) if item.severity and many else ()
        wide = 7 if item.target.kind == "entry" else 12
        return Row(key, (*glyph, Span(f"{name:<{wide}} ", "id"), Span(self.shelf.title(item, self.doctor.language))))

    def go_to(self, code: str) -> None:
        """An entry, from wherever the reader comes."""
        if not code:
            return
        if self.shelf is None:
            self._wanted = code
            return
        self.facets = Facets()
        with self.prevent(SearchBox.Changed):
            self.query_one("#search", SearchBox).value = ""
        self.show_items(f"entry:{code}")
        self._draw(Target("entry", code))

    def search_typed(self, text: str) -> None:
        self.facets = self.facets._replace(text=text)
        self.show_items()

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        if message.view.id == "list" and message.key == OFFER:
            self._show_offer()
        elif message.view.id == "list" and (item := self._items.get(message.key)) is not None:
            self._trail.clear()
            self._moved = self._moved or (self._target is not None and self._target != item.target)
            self._draw(item.target)
        elif message.view.id == "tree" and message.key:
            node = message.key.removeprefix("node:")
            if node != self.facets.node:
                self.facets = self.facets._replace(node=node)
                self.show_items()

    def on_row_opened(self, message: RowOpened) -> None:
        if message.view.id == "tree":
            self.remove_class("-tree")
            self.query_one("#list", Rows).focus()
        elif message.key == OFFER and self._offer is not None:
            self.doctor.show_logs(self._offer.paths)
        else:
            self.query_one("#card", Card).focus()

    def on_row_folded(self, message: RowFolded) -> None:
        if message.view.id != "tree":
            self.query_one("#card", Card).focus()
            return
        node = message.key.removeprefix("node:")
        self._opened = self._opened ^ {node}
        self.show_all()

    def _show_offer(self) -> None:
        """The card of the last job."""
        if self._offer is not None:
            self._target = None
            self.query_one("#card", Card).show(self._offer.card(self.doctor.language))
            self.update_hints()

    def _draw(self, target: Target | None, keep: bool = False) -> None:
        self._target = target
        if not keep:
            self._copier = FixCopier()
        self.update_hints()
        card = self.query_one("#card", Card)
        card.show(self.shelf.card(target, self.doctor.language) if target and self.shelf else Doc(""), keep)

    def action_severity(self) -> None:
        if self.shelf is not None:
            self.facets = self.facets._replace(severity=next_choice(self.facets.severity, self.shelf.severities()))
            self.show_items(self.query_one("#list", Rows).current)

    def action_component(self) -> None:
        if self.shelf is not None:
            self.facets = self.facets._replace(
                component=next_choice(self.facets.component, self.shelf.components(self.facets.node))
            )
            self.show_items(self.query_one("#list", Rows).current)

    def action_domains(self) -> None:
        self.add_class("-tree")
        self.query_one("#tree", Rows).focus()

    def action_follow(self, number: int) -> None:
        target = self.query_one("#card", Card).link(number)
        if target is not None:
            if self._target is not None:
                self._trail.append(self._target)
            self._draw(target)

    def action_previous(self) -> None:
        if self._trail:
            self._draw(self._trail.pop())

    def action_back(self) -> None:
        search = self.query_one("#search", SearchBox)
        if self.maximized is not None:
            self.minimize()
        elif self.has_class("-tree") and self.has_class("-narrow"):
            self.remove_class("-tree")
            self.query_one("#list", Rows).focus()
        elif self.focused is search:
            self.leave_search(clear=True)
        elif self.focused is not self.query_one("#list"):
            self.query_one("#list", Rows).focus()
        elif self._trail:
            self.action_previous()
        elif self.facets != Facets():
            self.facets = Facets()
            search.value = ""
            self.show_items()
        else:
            super().action_back()

    def action_copy_fix(self) -> None:
        entry = self._entry()
        found = fixes((fix_json(f) for f in plain.entry(entry).fixes), self.doctor.language) if entry else ()
        self._copier.copy(self.doctor, [(f.title, pasted(f)) for f in found])

    def action_copy_card(self) -> None:
        self.doctor.copy(self.query_one("#card", Card).doc.markdown(), self.word("the-card"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A script is offered where the entry on the card has one."""
        del parameters
        if action == "repro":
            entry = self._entry()
            return entry is not None and bool(entry.repro)
        return True

    def action_repro(self) -> None:
        entry = self._entry()
        text = template_text(entry.repro[0]) if entry and entry.repro else ""
        if entry is None or not text:
            self.doctor.tell("no-repro", severity="warning")
            return
        title, name = f"{self.word('repro-title')}  {entry.code}", f"repro_{entry.code.lower()}.py"
        self.app.push_screen(Show(title, text, "python", name, self.word("template")))

    def _entry(self) -> Entry | None:
        """The entry whose card is shown, if it is one."""
        if self.shelf is None or self._target is None or self._target.kind != "entry":
            return None
        return self.shelf.known.entry(self._target.id)

    def command(self) -> str:
        session = self.doctor.session
        if self.facets.text:
            return session.command_line("kb", "search", self.facets.text)
        if self._target is not None:
            return session.command_line("explain", self._target.id.partition("@")[0])
        return super().command()
