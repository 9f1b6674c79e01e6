"""Draws the pictures of README anew: `python tests/refresh_pictures.py`. The shipped knowledge on the shipped demo, nothing else."""

from __future__ import annotations

import asyncio
import html
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from doctor.render.layout import cells  # noqa: E402
from doctor.tui.app import DoctorApp  # noqa: E402
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen  # noqa: E402
from doctor.tui.shell.session import Session  # noqa: E402
from kb.knowledge import Knowledge, load  # noqa: E402

SCREENS = ROOT / "tests" / "data" / "screens"
COMMAND = "python tests/refresh_pictures.py"
SIZE = (120, 34)
KEYS: Mapping[str, tuple[str, ...]] = {"diagnosis": ("space",), "evidence": ("v",), "job": ("t",)}  # picture -> keys pressed
LANGUAGES = ("en", "zh")
CELL = 12.2  # units of the picture
FONTS = 'ui-monospace, Menlo, Consolas, "Noto Sans Mono CJK SC", monospace'
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_TEXT = re.compile(r'(<text class="[^"]*" x="[\d.]+" y="[\d.]+" textLength=")[\d.]+("[^>]*>)(.*?)(</text>)')


def picture(app: DoctorApp) -> str:
    """The screen as SVG that fetches nothing: the reader's own font draws it, wide characters as wide as they are."""
    svg = _FONT_FACES.sub("", app.export_screenshot(title="npu-doctor")).replace("Fira Code", FONTS.replace('"', "'"))
    return _TEXT.sub(lambda m: f"{m[1]}{cells(html.unescape(m[3])) * CELL:.1f}{m[2]}{m[3]}{m[4]}", svg)


async def drawn(name: str, lang: str, known: Knowledge) -> str:
    """One picture, whatever the terminal is that this runs in."""
    from tui.support import Stage

    app = DoctorApp(Session(["kb/demo"], lang, known=known), first=DiagnosisScreen())
    app.theme = "dark"
    async with app.run_test(size=SIZE) as pilot:
        stage = Stage(app, pilot)
        await stage.settle()
        await stage.press(*KEYS[name])
        return picture(app)


def names() -> Iterator[tuple[str, str]]:
    return ((name, lang) for name in KEYS for lang in LANGUAGES)


def stored(name: str, lang: str) -> Path:
    return SCREENS / f"{name}-{lang}.svg"


def main() -> None:
    os.chdir(ROOT)
    known = load()
    SCREENS.mkdir(exist_ok=True)
    for old in SCREENS.glob("*.svg"):
        old.unlink()
    for name, lang in names():
        stored(name, lang).write_text(asyncio.run(drawn(name, lang, known)), encoding="utf-8")


if __name__ == "__main__":
    main()
