"""The roots of an incident as it is, and as a relation makes it."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from unittest import mock

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read.discover import discover, standard_input
from doctor.read.source import Source
from doctor.scan import ranges
from doctor.scan.harvest import Harvest
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.metamorphic.relations import RELATIONS

INCIDENTS = Path(__file__).resolve().parents[1] / "data" / "incidents"
SMALL = 700  # bytes of a range


def cases() -> list[Path]:
    return sorted(next(p.parent.glob("input.*")) for p in INCIDENTS.glob("*/label.json"))


def drawn(case: Path, count: int = 3) -> list[str]:
    """The relations that are tried on an incident in every run: chance, but always the same."""
    names = sorted(RELATIONS)
    begin = zlib.crc32(case.parent.name.encode())
    return [names[(begin + number * 17) % len(names)] for number in range(count)]


def plain(case: Path, scanner: Scanner, knowledge: Knowledge) -> list[str]:
    found = discover([str(case)])
    return roots(conclude([scanner.scan(source) for source in found.sources], knowledge))


def changed(case: Path, name: str, scanner: Scanner, knowledge: Knowledge) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="npu-doctor-metamorphic-") as folder:
        place = Path(folder)
        RELATIONS[name](case.read_bytes(), place)
        if (pipe := place / "stdin").exists():
            with pipe.open("rb") as stream:
                return roots(conclude([scanner.scan(standard_input(stream))], knowledge))
        if (cut := place / "ranges").exists():
            return roots(conclude(_in_ranges(discover([str(cut)]).sources, scanner), knowledge))
        if (cut := place / "workers").exists():
            return roots(conclude(_in_workers(discover([str(cut)]).sources, scanner), knowledge))
        return roots(conclude([scanner.scan(source) for source in discover([folder]).sources], knowledge))


def _in_ranges(sources: tuple[Source, ...], scanner: Scanner) -> list[Harvest]:
    with mock.patch.object(ranges, "RANGE", SMALL):
        parts = [part for source in sources for part in ranges.cut(source)]
    return ranges.join(parts, {number: ranges.scan_one(part, scanner) for number, part in enumerate(parts)})


def _in_workers(sources: tuple[Source, ...], scanner: Scanner) -> list[Harvest]:
    from doctor.scan.pool import run_pool
    from doctor.scan.progress import Progress

    with mock.patch.object(ranges, "RANGE", SMALL * 4):
        parts = [part for source in sources for part in ranges.cut(source)]
    done: dict[int, Harvest] = {}
    run_pool(parts, scanner, 2, done, Progress(0, len(parts), "en"))
    return ranges.join(parts, done)


def roots(diagnosis: Diagnosis) -> list[str]:
    return [r.finding.entry.code for r in diagnosis.roots]


