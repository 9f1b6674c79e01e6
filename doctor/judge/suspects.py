"""Where no line tells a cause: what the situation shows that cannot go well, as rows of the table `stack`.

A program on a chip for which it is not made fails anywhere, each time with another message that only wraps the last. The
versions and names around it tell more than those lines then; they are asked for nothing where a line tells more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from doctor.findings.chips import family
from doctor.findings.release import release
from doctor.scan.harvest import STACK, Cluster, Harvest
from kb.knowledge import Knowledge
from kb.model import Entry
from kb.pairings import CHIPS, plain

if TYPE_CHECKING:
    from doctor.findings.situation import Situation
    from doctor.judge.relate import Related

_CAUSES = ("cause", "ambiguous")


def suspected(roots: Sequence[Related], decisive: Cluster | None, unexplained: Iterable[Cluster], situation: Situation, knowledge: Knowledge) -> Harvest | None:
    """The leaves that hold of the situation, where something failed and nothing else tells why."""
    if any(_tells(r.finding.entry) for r in roots):
        return None
    known = (r.finding.instances[0].hits[0].place for r in roots)
    shown = [one for one in (decisive and decisive.first, *known, *(one.first for one in unexplained)) if one is not None]
    if not shown:
        return None
    place = shown[0]._replace(kind="table", module=STACK)
    from doctor.scan.tablescan import hits_of

    hits = hits_of(((cells, place) for cells in rows(situation)), knowledge.sought().rows)
    return Harvest(hits=hits, counts=Counter(hit.signal for hit in hits)) if hits else None


def _tells(entry: Entry) -> bool:
    """Is it a cause, and not one of several that end in the same words?"""
    return entry.role in _CAUSES and not entry.general and entry.confidence != "low"


def rows(situation: Situation) -> Iterator[dict[str, str]]:
    """What is there and cannot go well together, as is published."""
    if situation.first("image_pair") == "other-chip":
        yield {"table": STACK, "what": "image", "built": situation.first("image_chip") or "", "card": situation.first("chip") or ""}
    chips = {family(chip) for chip in situation.facts.get("chip", ())}
    frameworks = situation.facts.get("framework", ())
    for row in (one.versions for one in situation.published if one.table == CHIPS and len(chips) == 1):
        [framework], [chip], [since] = row["framework"], row["chip"], row.get("since", ("",))
        if chip not in chips or framework not in frameworks:
            continue
        [software] = row["software"]
        told = situation.first(software.replace("-", "_")) or situation.first(framework)
        if not since or (told is not None and release(plain(told)) < release(since)):
            cells = {"table": STACK, "what": "chip", "software": software, "chip": situation.first("chip") or chip, "since": since, "has": told or ""}
            yield {name: value for name, value in cells.items() if value}
