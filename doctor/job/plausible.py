"""Facts whose captures can be what they are called. Lines of a log, and harvests of other nodes, say what they like."""

from __future__ import annotations

from collections import Counter

from doctor.job.facts import tells_enough
from doctor.read.source import Skipped
from doctor.scan.harvest import Harvest, Hit, Place
from doctor.scan.packed import only
from parsers.lazy import lazy

_SMALL, _LARGE, _TIME = lazy(r"-?[0-9]{1,6}"), lazy(r"-?[0-9]{1,18}"), lazy(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_FORMS = {
    **dict.fromkeys(("size", "comm_rank", "rank", "logic", "device", "on_device", "local"), _SMALL),
    **dict.fromkeys(("index", "count", "root_port", "port"), _LARGE),
    "seconds": _TIME,
}
_IMPOSSIBLE = "numbers of ranks or devices that cannot be"
_INCOMPLETE = "facts about the job without what is read from them"
MAX_RANKS = 1_000_000  # of a job; as many are listed when all but one are missing
LONGEST = 4000  # characters of a capture


def sound(harvest: Harvest) -> Harvest:
    """The harvest without facts and ranks that no job can have; what was left out is told."""
    odd = Counter(
        (hit.place.path, _IMPOSSIBLE if tells_enough(hit) else _INCOMPLETE) for hit in harvest.facts if not _usable(hit)
    )
    places = (*(h.place for h in harvest.hits), *(c.first for c in harvest.clusters))
    odd.update((place.path, _IMPOSSIBLE) for place in places if not _has_place(place))
    if not odd:
        return harvest
    told = tuple(Skipped(path, f"{why}, in {n} lines: left out") for (path, why), n in odd.items())
    return harvest._replace(
        hits=tuple(h if _has_place(h.place) else h._replace(place=h.place._replace(rank=None)) for h in harvest.hits),
        clusters=tuple(c if _has_place(c.first) else c._replace(first=c.first._replace(rank=None)) for c in harvest.clusters),
        facts=only(harvest.facts, _usable),
        skipped=tuple(sorted((*harvest.skipped, *told))),
    )


def _has_place(place: Place) -> bool:
    return place.rank is None or -1 <= place.rank < MAX_RANKS


def _usable(hit: Hit) -> bool:
    if not _has_place(hit.place) or not tells_enough(hit):
        return False
    for name, value in hit.captures:
        form = _FORMS.get(name)
        if name == "on" and (value.isdigit() or value[:1] == "-"):  # a rank, or an address
            form = _SMALL
        if len(value) > LONGEST or (form is not None and form.fullmatch(value) is None):
            return False
    return True
