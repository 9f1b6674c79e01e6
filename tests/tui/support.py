"""What the tests of the interface share: a small knowledge of their own, a stage to play on, the screen as text."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path

from tests_support import HANG_S
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import WorkerCancelled

from doctor.render.layout import cells
from doctor.tui.app import DoctorApp
from doctor.tui.shell.session import Session
from kb.build import build
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.pack import Pack

HERE = Path(__file__).resolve().parent

# Half a minute for what a key sets off is not enough for a busy machine.
Pilot._wait_for_screen.__defaults__ = (float(HANG_S),)

MTE = (
    "[ERROR] RUNTIME(4242,python):2026-03-02-09:14:44.121.702 [device_error_core_proc.cc:1201]4242 ProcessStarsCoreErrorInfo:"
    "The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range."
)
KERNEL = (
    "[ERROR] RUNTIME(4242,python):2026-03-02-09:14:44.122.330 [davinci_kernel_task.cc:946]4242 PrintErrorInfo:"
    "Aicore kernel execute failed, device_id=3, fault kernel_name=GatherV2_1, program id=18."
)
NOTIFY = (
    "[ERROR] HCCL(4243,python):2026-03-02-09:44:44.500.000 [task_exception.cc:300]4243 EI0002: The wait execution of the "
    "Notify register times out. Reason: has not received the Notify record from remote rank [3]."
)
UNKNOWN = "[ERROR] DRV(4244,python):2026-03-02-09:50:00.000.001 [devdrv.c:77]4244 strange thing number 17 happened"
OOM = "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)"
HOSTILE = "[ERROR] [bold red]not markup[/] \x1b[31mred\x1b]0;title\x07 \x00\x08 [@click=app.quit]quit[/] 宽字符 \u202eabc \x9b2J"


@lru_cache(maxsize=1)
def small_knowledge() -> Knowledge:
    """Four entries, two codes, two variables, one card."""
    data, problems = build(Layer("built-in", HERE / "kb"))
    assert [str(p) for p in problems] == []
    return Knowledge((Pack(data),))


def job_logs(folder: Path) -> Path:
    """Logs of a job: one process fails, another waits for it, one writes what nobody knows."""
    info = "[INFO] GE(4242,python):2026-03-02-09:14:{:02}.000.000 [graph.cc:1]4242 step {}"
    rows = [info.format(i, i) for i in range(30)]
    (folder / "plog-4242_20260302091400000.log").write_text("\n".join([*rows, MTE, KERNEL, *rows]) + "\n")
    (folder / "plog-4243_20260302091400000.log").write_text(NOTIFY + "\n")
    (folder / "plog-4244_20260302091400000.log").write_text(f"{UNKNOWN}\n{HOSTILE}\n")
    return folder


class Stage:
    """An app under test."""

    def __init__(self, app: DoctorApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def settle(self) -> None:
        """Until no thread works and every message was handled."""
        quiet = 0
        while quiet < 3:
            busy = any(not worker.is_finished for worker in self.app.workers)
            try:
                await self.app.workers.wait_for_complete()
            except WorkerCancelled:
                pass
            await self.pilot.pause(None if quiet == 2 else 0)  # all messages each time; once, until the process rests
            quiet = 0 if busy else quiet + 1

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*("space" if c == " " else c for c in text))

    @property
    def screen(self) -> Screen[object]:
        return self.app.screen

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def toasts(self) -> str:
        return "\n".join(n.message for n in self.app._notifications)


@asynccontextmanager
async def stage(
    first: Screen[None] | None = None,
    paths: Sequence[str] = (),
    lang: str = "en",
    size: tuple[int, int] = (120, 40),
    known: Knowledge | None = None,
) -> AsyncIterator[Stage]:
    app = DoctorApp(Session(paths, lang, known=known or small_knowledge()), first=first)
    app.NOTIFICATION_TIMEOUT = HANG_S  # what is told stays until it was read, however long a busy machine takes
    async with app.run_test(size=size, notifications=True) as pilot:
        made = Stage(app, pilot)
        await made.settle()
        yield made


_TEXT = re.compile(
    r'<text class="[^"]*" x="([\d.]+)" y="[\d.]+" textLength="[\d.]+" clip-path="url\(#[^)]*-line-(\d+)\)">(.*?)</text>'
)
CELL = 12.2


def text_of(svg: str) -> str:
    """The lines of a screen in a picture of it: independent of colours and of how runs are cut."""
    lines: dict[int, dict[int, str]] = {}
    for x, line, text in _TEXT.findall(svg):
        lines.setdefault(int(line), {})[round(float(x) / CELL)] = html.unescape(text).replace("\xa0", " ")
    rows = []
    for number in range(max(lines, default=-1) + 1):
        row = ""
        for column, text in sorted(lines.get(number, {}).items()):
            row += " " * (column - cells(row)) + text
        rows.append(row.rstrip())
    return "\n".join(rows).rstrip() + "\n"


def screen_text(app: DoctorApp) -> str:
    return text_of(app.export_screenshot())
