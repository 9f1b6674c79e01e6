"""From sources to the pace of the run that wrote them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from doctor.base import interrupts
from doctor.pace.reading import Reader
from doctor.pace.runs import assemble
from doctor.pace.verdict import Pace, judge
from doctor.pace.wordings import Wording
from doctor.read.source import Skipped, Source


def look(sources: Sequence[Source], skipped: Sequence[Skipped], known: Sequence[Wording], check: Callable[[], object] = interrupts.check) -> Pace:
    """The pace of all that is named. Ctrl-C ends the reading, and what was read is judged."""
    reader = Reader(known)
    reader.made.skipped += skipped
    try:
        for source in sources:
            check()
            if not source.only_adds:
                reader.read(source)
    except KeyboardInterrupt:
        interrupts.acted()
        reader.made.skipped.append(Skipped("...", "interrupted: what follows was not read"))
    return judge(assemble(reader.made))
