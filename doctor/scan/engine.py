"""Where the literals of a plan stand: by the engine that suits the size of the input, without those nobody needs any more."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from doctor.scan import finder
from doctor.scan.windows import WINDOW

FIXED = 1200  # looking for every literal in nothing costs as much as in so many bytes
WORTH = 200_000  # making another finder costs as much as so many finds
SOME, MUCH = finder.LARGE, 32 << 20
MAX_QUIET = 12
DIGITS = frozenset(b"0123456789")
PATIENCE = 4  # for each finder that there is so many times as many windows pass before another: meanwhile more is found to be of no use


class Engine:
    """Chosen when the size of the input is known; workers inherit it."""

    def __init__(self, fragments: tuple[bytes, ...], name: str | None = None, digest: str = "") -> None:
        self.fragments, self._digest = fragments, digest
        self._small: finder.Finder = finder.plain(fragments)
        self._large: finder.Finder | None = None
        self._quiet: dict[frozenset[int], finder.Finder] = {}
        self._unneeded: frozenset[int] = frozenset()
        self.patterns: Mapping[int, bytes] = {}
        self._numbered: finder.Finder | None = None
        self._asked = 0  # windows for which another finder would have been made since the last one was
        self._use = finder.Use(0, name)
        self._looked = 0  # bytes of small inputs so far, with what each costs besides

    @property
    def much(self) -> bool:
        """Is so much to be looked through that making another finder may pay?"""
        return self._large is not None and self._use.size >= MUCH

    @property
    def awaited(self) -> bool:
        """Is another worker making a finder? Then it pays to go on with what there is."""
        return self._use.shelf is not None and self._use.shelf.awaited()

    def prepare(self, size: int, workers: int = 1) -> None:
        """Chooses the engine for that many bytes, of which each worker reads its share."""
        self._use = self._use._replace(size=size // workers)
        if workers > 1 and self._use.size >= MUCH:
            from doctor.scan.shelf import shelf

            self._use = self._use._replace(shelf=shelf())
        if self._use.engine is not None or size > finder.SMALL:
            self._large = finder.best(self.fragments, size, self._digest, self._use.engine)

    def find(self, data: bytes, without: frozenset[int] = frozenset()) -> finder.Finds:
        """Where which literals stand; those that nobody needs any more may be left out."""
        if without and (quiet := self._quiet.get(without)) is not None:
            return quiet(data)
        if self._large is None:
            if len(data) <= finder.SMALL and self._looked < finder.SMALL:
                self._looked += len(data) + FIXED
                return self._small(data)
            self._large = finder.best(self.fragments, max(len(data), finder.SMALL + 1), self._digest, self._use.engine)
        return self._large(data)

    def understands(self, literal: bytes, pattern: bytes) -> bool:
        """Can it find a literal only where a pattern matches?"""
        return finder.understands(literal, pattern, self._use)

    def numbered(self, forms: tuple[finder.Form, ...]) -> finder.Finder | None:
        """What finds the literals that have digits, and numbers of some forms, in no order; nothing for little input."""
        if self._numbered is None and self._large is not None and self._use.size >= SOME:
            without = frozenset(n for n, text in enumerate(self.fragments) if n not in self.patterns and DIGITS.isdisjoint(text))
            with suppress(finder.AwaitedError):
                self._numbered = finder.with_forms(self.fragments, without, self._use, self.patterns, forms, self._digest)
        return self._numbered

    def change(self, fragments: tuple[bytes, ...], unneeded: frozenset[int], patterns: Mapping[int, bytes]) -> None:
        """More literals, and some that are not looked for any more; the others keep their numbers. Some count only where a pattern matches."""
        self.fragments, self._unneeded, self.patterns = fragments, unneeded, patterns
        self._small = finder.plain(fragments)
        self._large = finder.without(fragments, unneeded, self._use, patterns)
        self._quiet.clear()
        self._numbered = None

    def quieten(self, wanted: frozenset[int], dead: frozenset[int], saved: int) -> frozenset[int]:
        """Which of the dead literals can be left out from now on: those wanted, or as many as a finder was made for.

        `saved`: how many finds there are then fewer in a window. Making a finder must cost less than these.
        """
        fitting = [made for made in self._quiet if made <= dead]
        enough = next((made for made in fitting if wanted <= made), None)
        if enough is not None:
            return enough
        pays = saved * (self._use.size // WINDOW) >= WORTH
        if self._large is not None and pays and len(self._quiet) < MAX_QUIET:
            self._asked += 1
            if self._asked >= PATIENCE ** len(self._quiet):
                with suppress(finder.AwaitedError):
                    self._quiet[wanted] = finder.without(self.fragments, wanted | self._unneeded, self._use, self.patterns, False, self._digest)
                    self._asked = 0
                    return wanted
        return max(fitting, key=lambda made: len(made & wanted), default=frozenset())
