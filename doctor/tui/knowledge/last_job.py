"""Whether the usual places hold logs of a job that failed lately: what somebody who just types the name came for. No terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doctor.base import notation
from doctor.base.words import word
from doctor.read import discover
from doctor.render import parts
from doctor.render.document import Document, Pair, Section
from doctor.tui.shell.doc import Doc
from parsers.named import NamedTuple

if TYPE_CHECKING:
    from doctor.read.source import Source
    from doctor.tui.shell.session import Session

Json = dict[str, Any]
RUN_S = 2 * 3600.0  # files written so long before the last one are taken for its job: who waits, waits half an hour or more
MOST = 512 << 20  # bytes that are read without being asked to
BAD = ("error", "fatal")


class LastJob(NamedTuple):
    """The job that wrote last: its logs, when it ended, what is known of it (nothing when there is too much to read unasked)."""

    paths: tuple[str, ...]
    ended: float
    size: int
    report: Json | None

    def headline(self, lang: str, now: float) -> str:
        """`job of 14 min ago failed, 8 ranks`."""
        ago = notation.duration(max(0.0, now - self.ended), lang)
        if self.report is None:
            return word("last-unread", lang, ago=ago, size=notation.size(self.size))
        ranks = len((self.report.get("job") or {}).get("ranks") or ())
        return word("last-failed-ranks" if ranks > 1 else "last-failed", lang, ago=ago, n=ranks)

    def card(self, lang: str) -> Doc:
        """What is known of it, with the first fix."""
        from doctor.render import compose

        places = sorted({str(Path(path).parent) for path in self.paths})
        where = Section("where", "", (Pair(word("logs", lang), ", ".join(places[:2]) + (" ..." if places[2:] else "")),))
        head = Document("", word("last-open", lang), (), (where,))
        roots = parts.roots(self.report) if self.report is not None else []
        if self.report is None or not roots:
            return Doc("last", lang, [head])
        found = compose.finding(roots[0], self.report, lang)
        fix = Section("fix", word("fix", lang), (found.first,) if found.first is not None else ())
        kept = (found.document.section("where"), Section("reason", "", (Pair(word("reason", lang), found.reason),)), fix)
        about = found.document._replace(sections=tuple(s for s in kept if s.blocks))
        return Doc("last", lang, [head, about], roots[0]["severity"])


def last_job(session: Session, now: float, cancelled: Callable[[], bool] = lambda: False) -> LastJob | None:
    """The last job of the usual places when it failed, or when only reading much would tell; None: nothing to offer."""
    found = discover.discover(discover.usual_places()).sources
    dated = [(written, source) for source in found if (written := _written(source)) is not None]
    if not dated:
        return None
    ended = max(written for written, _ in dated)
    mine = [source for written, source in dated if written > ended - RUN_S]
    size = sum(source.size or 0 for source in mine)
    paths = tuple(source.name for source in mine)
    if size > MOST:
        return LastJob(paths, ended, size, None)
    from doctor.tui.shell.session import Session

    own = Session(lang=session.lang, kb=session.kb, known=session.known)  # what the reader looks at meanwhile stays as it is
    outcome = own.look(cancelled=cancelled, sources=mine)
    report = outcome.report
    failed = report["decisive"] is not None or any(root["severity"] in BAD for root in parts.roots(report))
    return LastJob(paths, min(ended, now), size, report) if failed and outcome.finished else None


def _written(source: Source) -> float | None:
    """When a plain file was written last."""
    try:
        return Path(source.name).stat().st_mtime
    except OSError:
        return None


def present() -> float:
    return time.time()
