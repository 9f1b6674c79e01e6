"""What is not installed, as a whole list of packages shows it: pip sorts the list, so what is not in its place is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.pairings import PACKAGES, Pairing
from parsers.lazy import lazy

_ROW = lazy(r"(?:^| )(?P<name>[A-Za-z][\w.-]*) +\d[\w.+!-]*(?= |$)")


def lacking(lists: Sequence[str], rows: Sequence[Pairing]) -> tuple[str, ...]:
    """The packages that software imports from its environment, and that every list which would show them lacks."""
    known = [tuple(_names(one)) for one in lists]
    wanted = dict.fromkeys(name for row in rows if row.table == PACKAGES for name in row.versions["packages"])
    return tuple(name for name in wanted if (told := [_holds(names, name.lower()) for names in known]) and True not in told and False in told)


def _names(told: str) -> Iterator[str]:
    return (re.sub(r"[-_.]+", "-", row["name"].lower()) for row in _ROW.finditer(told))


def _holds(names: Sequence[str], wanted: str) -> bool | None:
    """None: it would stand behind what is shown of the list, or the list is not sorted."""
    if wanted in names:
        return True
    return False if names and list(names) == sorted(names) and wanted < names[-1] else None
