"""Does the launcher name a process as the one that failed first? What such a one printed is no victim's, however little it says.

    failed (exitcode: 1) local_rank: 1 (pid: 4242) of binary: /opt/env/bin/python
"""

from __future__ import annotations

from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from parsers.lazy import lazy

# torch's launcher stops the others when it has seen this; what it stopped itself ends by SIGTERM.
_FIRST = lazy(r"failed \(exitcode: (?!-15\)|143\))-?\d{1,5}\) local_rank: \d{1,6} \(pid: (?P<pid>\d{1,9})\)")


def named_first(related: Related, diagnosis: Diagnosis) -> bool:
    """Is it a root that follows from something, of the only process that a launcher names so?"""
    if related.role != "root" or related.finding.entry.role not in ("symptom", "wrapper"):
        return False
    mine = {pid for instance in related.finding.instances for pid in instance.pids}
    if not mine:
        return False
    named = {int(found["pid"]) for one in diagnosis.related for hit in one.finding.hits if (found := _FIRST.search(hit.place.text)) is not None}
    return len(named) == 1 and named <= mine and (len(mine) == 1 or related.finding.first.pid in named)  # of several that say the same it is told of the one that is shown
