"""Error lines that only entries claim whose condition did not hold in the end.

A leaf claims its line while scanning, long before anybody knows whether the other signals of its entry are there. What
no finding rests on is as unexplained as a line that nothing matched; without this an error that shares its wording with
half of an entry is shown nowhere, and the log passes for a clean one.
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.findings.evaluate import Finding
from doctor.scan.clusters import Clusters, template
from doctor.scan.error_lines import is_error
from doctor.scan.harvest import Harvest, Place
from parsers.lazy import lazy

_SHOWN = lazy(r"(?P<type>[A-Z]\w{2,60})\((?P<mark>['\"])(?P<message>.{3,1000})(?P=mark),?\)$")  # an exception as Python shows the object: `ValueError('no')`


def give_back(harvest: Harvest, findings: Iterable[Finding]) -> Harvest:
    """The harvest with those lines among its unexplained errors, and without those that were understood by their words."""
    hits = [h for f in findings for h in f.hits]
    explained = {(h.place.path, line) for h in hits for line in range(h.place.line, h.place.end_line + 1)}
    others = [*(c.first for c in harvest.clusters), *(h.place for h in harvest.hits)]
    explained.update((one.path, one.line) for one in others if (raised := _raised(one.text)) and any(raised in h.place.text for h in hits))
    harvest = _without(harvest, explained)
    known = {c.template for c in harvest.clusters}  # a line that a `not` leaf matched is among them already
    lost: dict[tuple[str, int], Place] = {}
    for hit in harvest.hits:
        place, spot = hit.place, (hit.place.path, hit.place.line)
        if spot in explained or spot in lost or place.kind == "table":
            continue
        first = place._replace(text=place.text.partition("\n")[0], end_line=place.line)
        if is_error(first) and template(first.text) not in known:
            lost[spot] = first
    if not lost:
        return harvest
    more = Clusters()
    for place in lost.values():
        more.add(place)
    return harvest._replace(clusters=(*harvest.clusters, *more.result()), errors=harvest.errors + more.total)


def _without(harvest: Harvest, explained: set[tuple[str, int]]) -> Harvest:
    """A line that no signal claimed may have been understood: by its words, or with the block that it stands in."""
    left = tuple(c for c in harvest.clusters if (c.first.path, c.first.line) not in explained)
    gone = sum(c.total for c in harvest.clusters) - sum(c.total for c in left)
    return harvest._replace(clusters=left, errors=max(0, harvest.errors - gone)) if gone else harvest


def _raised(text: str) -> str:
    """What a traceback ends with, of an exception that a program logged as an object; nothing of other lines.

    >>> _raised("ValueError('no room')"), _raised("ValueError: no room")
    ('ValueError: no room', '')
    """
    found = _SHOWN.match(text)
    return f"{found['type']}: {found['message']}" if found else ""
