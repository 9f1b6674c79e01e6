"""Where the literals of a plan stand: by the engine that suits the size of the input, without those nobody needs any more."""

from __future__ import annotations

from doctor.scan import finder

QUIET_FROM = 128 << 20
MAX_QUIET = 6


class Engine:
    """Chosen when the size of the input is known; workers inherit it."""

    def __init__(self, fragments: tuple[bytes, ...], name: str | None = None, digest: str = "") -> None:
        self._fragments, self._name, self._digest = fragments, name, digest
        self._small: finder.Finder = finder.plain(fragments)
        self._large: finder.Finder | None = None
        self._quiet: dict[frozenset[int], finder.Finder] = {}
        self._expected = 0

    def prepare(self, size: int) -> None:
        """Chooses the engine for that many bytes."""
        self._expected = size
        if self._name is not None or size > finder.SMALL:
            self._large = finder.best(self._fragments, size, self._digest, self._name)

    def find(self, data: bytes, without: frozenset[int] = frozenset()) -> finder.Finds:
        """Where which literals stand; those that nobody needs any more may be left out."""
        if without and (quiet := self._quiet.get(without)) is not None:
            return quiet(data)
        if self._large is None:
            if len(data) <= finder.SMALL:
                return self._small(data)
            self._large = finder.best(self._fragments, len(data), self._digest, self._name)
        return self._large(data)

    def quieten(self, dead: frozenset[int]) -> bool:
        """Makes a finder without literals that only hold up: what it costs is saved again in a few hundred megabytes."""
        if dead in self._quiet:
            return True
        if self._large is None or self._expected < QUIET_FROM or len(self._quiet) >= MAX_QUIET:
            return False
        numbers = [n for n in range(len(self._fragments)) if n not in dead]
        part = finder.best(tuple(self._fragments[n] for n in numbers), self._expected, "", self._name, keep=False)
        self._quiet[dead] = lambda data: [(end, numbers[n]) for end, n in part(data)]
        return True
