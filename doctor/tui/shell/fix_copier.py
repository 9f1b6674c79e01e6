"""Copying fixes: the first one that can be pasted, and at the next press the next one."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.base.words import word
from doctor.tui.shell.host import Host


class FixCopier:
    """Remembers which fix of a card was copied last."""

    def __init__(self) -> None:
        self._next = 0

    def copy(self, app: Host, fixes: Sequence[tuple[str, str]]) -> None:
        """`fixes`: titles and what can be pasted of each, in their order."""
        usable = [(number, title, text) for number, (title, text) in enumerate(fixes, 1) if text]
        if not usable:
            app.tell("copy-nothing", severity="warning")
            return
        at = self._next % len(usable)
        self._next = at + 1
        number, title, text = usable[at]
        app.copy(text, word("fix-of", app.language, n=number, all=len(fixes), title=title))
