"""What identifies people and places in the lines of a run, and where else the same names stand bare."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from doctor.answer import redact_public
from doctor.answer.redact import (
    ANYWHERE,
    LONGEST_WORD,
    SHORTEST_PERSON,
    SHORTEST_SECRET,
    SHORTEST_WORD,
    Redactor,
    any_of,
)

MAX_NAMES = 5000  # of a run that are remembered


class Names(Redactor):
    """Hides what identifies behind the kind of thing that it is, the same in every run, and remembers what it was."""

    def __init__(self) -> None:
        self._inside: dict[str, str] = {}  # what is replaced in other words, too
        self._whole: dict[str, str] = {}  # in lower case
        super().__init__()

    def hidden(self, text: str) -> str:
        """The text with the kind of thing in the place of each name."""
        return self._replaced(text)

    def pattern(self, keep: Callable[[], Container[str]], masked: Callable[[str], str]) -> Callable[[str], str]:
        """What replaces the names that are known by now wherever they stand, and as they look once they are masked; `keep`: words that are none."""
        if not self._inside and not self._whole:
            return str
        words = keep()
        inside = self._inside | {masked(name): kind for name, kind in self._inside.items()}
        whole = self._whole | {masked(name): kind for name, kind in self._whole.items()}
        inside = {name: kind for name, kind in inside.items() if len(name) >= (SHORTEST_PERSON if kind == "person" else SHORTEST_SECRET)}
        whole = {name: kind for name, kind in whole.items() if SHORTEST_WORD <= len(name) <= LONGEST_WORD and name.strip("#<>") not in words}
        parts = [re.escape(name) for name in sorted(inside, key=len, reverse=True)]
        if whole:
            parts.append(rf"(?<![A-Za-z0-9<])(?i:{any_of(whole)})(?![A-Za-z0-9>])")
        known = re.compile("|".join(parts) or r"(?!)")
        return lambda text: known.sub(lambda found: f"<{inside.get(found[0]) or whole.get(found[0].lower(), 'word')}>", text)

    def _name(self, kind: str, value: str, learnt: bool = True) -> str:
        if learnt:
            self._remember(value, "", kind)
        return f"<{kind}>"

    def _remember(self, value: str, told: str, kind: str) -> None:
        del told
        if len(self._inside) + len(self._whole) < MAX_NAMES:
            if kind in ANYWHERE:
                self._inside.setdefault(value, kind)
            else:
                self._whole.setdefault(value.lower(), kind)

    def _host(self, name: str) -> str:
        low = name.lower()
        if redact_public.is_host(low) or name.startswith("<") or not any(c.isalpha() for c in name):
            return name
        self._remember(name, "", "host")
        first = low.partition(".")[0]
        if first != low and len(first) > SHORTEST_WORD and not redact_public.is_host(first):
            self._remember(first, "", "host")
        return "<host>"
