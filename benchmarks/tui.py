"""First paint, the answer to a key, a two-gibibyte log at its last line: `python -m benchmarks.tui`.

Measures with all the knowledge that is installed (plus as many made-up entries as --entries asks for) and prints medians
against the budget; exits with 1 when a budget is exceeded. Processor time stands beside the time on the clock: on a machine
that is busy otherwise it is the figure that can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import resource
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

QUERIES = ("507018", "EI0006", "hccl timeout", "drvmemcpy", "内存", "out of memory", "timeot")


class Figure(NamedTuple):
    name: str
    value: float
    unit: str
    budget: float


def first_paint(rounds: int = 7) -> list[Figure]:
    """`npu-doctor browse` in a terminal of its own, from its start until the list of entries was sent to the terminal."""
    clock, work, size = zip(*(paint() for _ in range(rounds + 1)), strict=True)  # the first one may compile knowledge
    return [
        Figure("first paint with the list, median", statistics.median(clock[1:]), "s", 0.6),
        Figure("its processor time, median", statistics.median(work[1:]), "s", 0.6),
        Figure("bytes sent up to then, median", statistics.median(size[1:]) / 1024, "KiB", 64),
    ]


def paint() -> tuple[float, float, float]:
    """Seconds on the clock, seconds of processor, bytes."""
    begin = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LINES": "40", "COLUMNS": "120"}
        os.execve(sys.executable, [sys.executable, "-m", "doctor", "browse", "--lang", "en"], env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = b""
    try:
        while b"All entries" not in seen or b"quit" not in seen:  # the tree, and the last line of the screen
            if not select.select([terminal], [], [], 30)[0]:
                raise TimeoutError("nothing was drawn")
            seen += os.read(terminal, 1 << 16)
        clock = time.perf_counter() - begin
        times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return clock, (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"), len(seen)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


async def keys(entries: int) -> list[Figure]:
    """Every key of several searches, and the cursor through the list, each up to the drawn answer."""
    from textual.geometry import Size

    from doctor.tui.app import DoctorApp
    from doctor.tui.shell.session import Session
    from doctor.tui.shell.views import Rows

    session = Session(known=more_knowledge(entries))
    app = DoctorApp(session)
    typing: list[float] = []
    moving: list[float] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen.size == Size(120, 40)
        for query in QUERIES:
            await pilot.press("slash")
            for c in query:
                typing.append(await timed(pilot, "space" if c == " " else c))
            await pilot.press("escape", "escape")
        searching = WORK[:]
        WORK.clear()
        for key in ("down",) * 30 + ("pagedown",) * 10 + ("G", "g", "L", "L"):
            moving.append(await timed(pilot, key))
        count = len(app.screen.query_one("#list", Rows).rows)
    return [
        Figure(f"key while searching, median ({count} entries)", 1e3 * statistics.median(typing), "ms", 50),
        Figure("key while searching, worst", 1e3 * max(typing), "ms", 50),
        Figure("its processor time, median", 1e3 * statistics.median(searching), "ms", 50),
        Figure("key in the list, median", 1e3 * statistics.median(moving), "ms", 50),
        Figure("key in the list, worst", 1e3 * max(moving), "ms", 50),
        Figure("its processor time, median", 1e3 * statistics.median(WORK), "ms", 50),
    ]


class Drawn:
    """When a screen drew last: from a key up to there is what a person waits for."""

    def __init__(self) -> None:
        from textual.screen import Screen

        self.at = 0.0
        real = Screen._compositor_refresh

        def refresh(screen: Screen[object]) -> None:
            real(screen)
            self.at = time.perf_counter()

        Screen._compositor_refresh = refresh  # type: ignore[method-assign]


DRAWN: list[Drawn] = []
WORK: list[float] = []  # processor time of each key: what a machine that is busy otherwise does not change much


async def timed(pilot: object, key: str) -> float:
    """Seconds from a key to the last drawing that it led to. (The pilot itself waits longer, to be sure.)"""
    if not DRAWN:
        DRAWN.append(Drawn())
    begin = DRAWN[0].at = time.perf_counter()
    work = time.thread_time()
    await pilot.press(key)  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]
    WORK.append(time.thread_time() - work)
    return DRAWN[0].at - begin


def more_knowledge(entries: int):  # type: ignore[no-untyped-def]
    """The installed knowledge, its entries repeated under further codes until there are as many as asked for."""
    from kb.build import pack_of
    from kb.knowledge import Knowledge, load
    from kb.pack import Pack

    known = load()
    have = known.codes_of_entries
    more = []
    for number in range(max(0, entries - len(have))):
        entry = known.entry(have[number % len(have)])
        assert entry is not None
        code = f"Z{chr(65 + number // 26000 % 26)}{chr(65 + number // 1000 % 26)}{number % 1000:03}"
        more.append(entry._replace(code=code))
    return Knowledge((*known.packs, Pack(pack_of(more)))) if more else known


async def huge_log() -> list[Figure]:
    """A sparse log of two gibibytes with real lines at its end, opened at the last line."""
    from doctor.read.source import Source, hints
    from doctor.tui.app import DoctorApp
    from doctor.tui.evidence.evidence_screen import LAST, EvidenceScreen
    from doctor.tui.evidence.logview import LogView
    from doctor.tui.knowledge.browse_screen import BrowseScreen
    from doctor.tui.shell.session import Session

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plog-1_1.log")
        with open(path, "wb") as file:
            file.truncate(2 << 30)
            file.seek(2 << 30)
            file.write(b"\n" + b"[INFO] GE(1,python):2026-03-02-09:14:44.121.702 [a.cc:1]1 step\n" * 1000)
        source = Source(path, lambda: open(path, "rb"), os.path.getsize(path), hints(path), True)
        app = DoctorApp(Session(), first=BrowseScreen())
        opened: list[float] = []
        work: list[float] = []
        moving: list[float] = []
        async with app.run_test(size=(120, 40)) as pilot:
            await app.workers.wait_for_complete()
            await pilot.pause()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(5):
                begin, busy = time.perf_counter(), time.process_time()
                screen = EvidenceScreen(source, LAST)
                app.push_screen(screen)
                while not (screen.is_mounted and screen.query(LogView) and screen.view.rows):
                    await asyncio.sleep(0)
                opened.append(time.perf_counter() - begin)
                work.append(time.process_time() - busy)
                await pilot.pause()
                await app.workers.wait_for_complete()  # the line is numbered: two gibibytes of line breaks were counted
                moving += [await timed(pilot, key) for key in ("pageup", "pagedown", "up", "down", "G")]
                await pilot.press("escape")
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return [
        Figure("2 GiB log at its last line, median", statistics.median(opened), "s", 0.5),
        Figure("its processor time, median", statistics.median(work), "s", 0.5),
        Figure("key in it, median", 1e3 * statistics.median(moving), "ms", 50),
        Figure("key in it, worst", 1e3 * max(moving), "ms", 50),
        Figure("memory for it", grown / 1024, "MiB", 64),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--entries", type=int, default=5000, help="entries to search in (default: 5000)")
    args = parser.parse_args()
    figures = [*first_paint(), *asyncio.run(keys(args.entries)), *asyncio.run(huge_log())]
    for figure in figures:
        mark = "ok" if figure.value <= figure.budget else "OVER"
        print(f"{figure.name:48} {figure.value:8.2f} {figure.unit:4} budget {figure.budget:6.1f}  {mark}")
    return 0 if all(f.value <= f.budget for f in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
