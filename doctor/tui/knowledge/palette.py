"""The knowledge in the command palette: entries, codes, variables and cards by any of their words."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from doctor.tui.knowledge.shelf import Facets, ShelfKeeper
from doctor.tui.shell.host import host_of
from doctor.tui.shell.line import shown

MOST = 12


class KnowledgeCommands(Provider):
    """Finds what the search of the browser finds."""

    async def discover(self) -> Hits:
        for _ in ():
            yield DiscoveryHit("", lambda: None)

    async def search(self, query: str) -> Hits:
        keeper, host = self.app, host_of(self.screen)
        shelf = keeper.shelf if isinstance(keeper, ShelfKeeper) else None
        if shelf is None:
            return
        for number, item in enumerate(shelf.items(Facets(text=query))[:MOST]):
            if item.target.kind == "entry":
                text = shown(f"{item.target.id}  {shelf.title(item, host.language)}")
                from rich.text import Text

                yield Hit(1.0 - number / 100, Text(text), partial(host.show_entry, item.target.id), text=text)
