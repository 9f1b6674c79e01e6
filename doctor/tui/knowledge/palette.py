"""The knowledge in the command palette: entries, codes, variables and cards by any of their words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from doctor.tui.knowledge.shelf import Facets
from doctor.tui.shell.line import shown

if TYPE_CHECKING:
    from doctor.tui.app import DoctorApp

MOST = 12


class KnowledgeCommands(Provider):
    """Finds what the search of the browser finds."""

    async def discover(self) -> Hits:
        for _ in ():
            yield DiscoveryHit("", lambda: None)

    async def search(self, query: str) -> Hits:
        app = cast("DoctorApp", self.app)
        if app.shelf is None:
            return
        for number, item in enumerate(app.shelf.items(Facets(text=query))[:MOST]):
            if item.target.kind == "entry":
                text = shown(f"{item.target.id}  {app.shelf.title(item, app.language)}")
                from rich.text import Text

                yield Hit(1.0 - number / 100, Text(text), partial(app.show_entry, item.target.id), text=text)
