"""What is installed, as lists of packages show it, and what is not: pip sorts a whole list, so what is not in its place is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.findings.started import Started
from kb.pairings import PACKAGES, Pairing
from parsers.lazy import lazy

_ROW = lazy(r"(?:^| )(?P<name>[A-Za-z][\w.-]*)(?: +|==)(?P<version>\d[\w.+!-]*)(?= |$)")
_TOLD = lazy(r"(?P<name>[A-Za-z][\w.-]*)`? version: (?P<version>\d[\w.+!-]*)$")  # of an environment that somebody reports


def lacking(lists: Sequence[str], rows: Sequence[Pairing]) -> tuple[str, ...]:
    """The packages that software imports from its environment, and that every list which would show them lacks."""
    known = [tuple(_names(one)) for one in lists]
    wanted = dict.fromkeys(name for row in rows if row.table == PACKAGES for name in row.versions["packages"])
    return tuple(name for name in wanted if (told := [_holds(names, name.lower()) for names in known]) and True not in told and False in told)


def installed(lists: Sequence[str], releases: Sequence[str]) -> dict[str, str]:
    """The version of every package that is told, by the name that Python imports it by; none of what two environments have in two.

    >>> installed(["attrs      1.2 torch-npu 2.1.0 "], ["PEFT version: 0.12.0"])
    {'attrs': '1.2', 'torch_npu': '2.1.0', 'peft': '0.12.0'}
    """
    found: dict[str, set[str]] = {}
    for row in (*(row for one in lists for row in _ROW.finditer(one)), *(row for one in releases if (row := _TOLD.match(one)) is not None)):
        found.setdefault(re.sub(r"[-_.]+", "_", row["name"].lower()), set()).add(row["version"])
    return {name: next(iter(versions)) for name, versions in found.items() if len(versions) == 1}


def listed(package: str, lists: Sequence[str], started: Sequence[Started]) -> dict[str, str]:
    """A package that lists show: `installed`, or `editable` with the folder of its sources, which may be `hidden` by a mount over it."""
    name = re.sub(r"[-_.]+", "[-_.]", package)
    found = next((row for one in lists if (row := re.search(rf"(?i)(?:^| ){name} +\d[\w.+!-]*(?: +(/[^\s:]+))?(?= |$)", one))), None)
    place = found[1] if found is not None else None
    if not place:
        return {} if found is None else {"listed": "installed"}
    for one in started:
        for option in one.options if one.kind == "docker" else ():
            source, target = [*(part.rstrip("/") for part in option.value.split(":")), ""][:2]
            if option.name == "volume" and source and target and f"{place}/".startswith(f"{target}/"):
                return {"listed": "editable hidden", "editable": place, "mount_from": source, "mount_to": target}
    return {"listed": "editable", "editable": place}


def _names(told: str) -> Iterator[str]:
    return (re.sub(r"[-_.]+", "-", row["name"].lower()) for row in _ROW.finditer(told))


def _holds(names: Sequence[str], wanted: str) -> bool | None:
    """None: it would stand behind what is shown of the list, or the list is not sorted."""
    if wanted in names:
        return True
    return False if names and list(names) == sorted(names) and wanted < names[-1] else None
