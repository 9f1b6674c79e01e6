"""The main screens as they look, at two sizes in both languages; and the pictures of README.

What is compared is the text of the screen: colours and Textual's own drawing may change, words and places may not.
`NPU_DOCTOR_REFRESH=1 python -m pytest tests/tui/test_snapshots.py` writes them anew.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import refresh_pictures
from tui.support import OOM, job_logs, stage, text_of
from tui.test_headless import JOB

from doctor.render.layout import cells
from doctor.tui.diagnosis.diagnosis_screen import DiagnosisScreen
from doctor.tui.env.environment_screen import EnvironmentScreen
from doctor.tui.job.job_screen import JobScreen
from doctor.tui.knowledge.browse_screen import BrowseScreen
from doctor.tui.paste.paste_screen import PasteScreen
from doctor.tui.shell.frame import Frame
from kb.knowledge import Knowledge, load

HERE = Path(__file__).resolve().parent
REFRESH = bool(os.environ.get("NPU_DOCTOR_REFRESH"))
TELL = "NPU_DOCTOR_REFRESH=1 python -m pytest tests/tui/test_snapshots.py"

CHECK = {
    "id": "CHK301", "slug": "torch-and-torch-npu-differ", "kind": "version-mismatch", "role": "root", "severity": "error", "confidence": 0.95,
    "why": {"en": "the machine says fits.torch_torch_npu = no.", "zh": "该机器显示 fits.torch_torch_npu = no。"}, "note": None,
    "title": {"en": "torch 2.8.0 and torch_npu 2.7.1 do not fit together", "zh": "torch 2.8.0 与 torch_npu 2.7.1 不配套"},
    "cause": {"en": "Importing it ends in an undefined symbol.", "zh": "导入时报 undefined symbol。"},
    "scope": {"node": "node-1", "rank": None, "device": None, "pid": None}, "count": 1, "first_seen": None, "last_seen": None,
    "evidence": [{"path": "torch-2.8.0.dist-info", "line": 1, "end_line": 1, "time": None, "level": None, "module": None, "text": "python.torch 2.8.0"}],
    "explains": [], "explained_by": None, "rule": None, "repro": None, "references": [],
    "fixes": [{"goal": "resolve", "risk": "medium", "title": {"en": "Install torch 2.7.1", "zh": "安装 torch 2.7.1"}, "env": [],
               "commands": [{"run": "pip install torch==2.7.1", "changes": None, "why": None}]}],
}  # fmt: skip
MACHINE = {
    "verdict": "findings", "findings": [CHECK], "skipped": [],
    "situation": {"line": {"en": "8 x 910B3, driver 24.1.rc3", "zh": "8 x 910B3, driver 24.1.rc3"}, "facts": {}},
    "environment": {
        "facts": {"driver.version": "24.1.rc3", "python.torch": "2.8.0"},
        "groups": [
            {"name": "driver", "light": "green", "line": "24.1.rc3", "checks": [{"id": "CHK101", "slug": "driver-and-firmware-do-not-fit", "state": "holds", "title": CHECK["title"]}]},
            {"name": "python", "light": "red", "line": "torch 2.8.0, torch_npu 2.7.1", "checks": [{"id": "CHK301", "slug": CHECK["slug"], "state": "fails", "title": CHECK["title"]}]},
            {"name": "container", "light": "yellow", "line": "docker", "checks": []},
            {"name": "network", "light": "grey", "line": "", "checks": []},
        ],
    },
}  # fmt: skip

# name -> the screen, and the keys pressed on it
CASES: dict[str, tuple[Callable[[], Frame], tuple[str, ...]]] = {
    "browse": (lambda: BrowseScreen("HCL001"), ()),
    "search": (BrowseScreen, ("slash", *"507")),
    "diagnosis": (DiagnosisScreen, ("space",)),
    "evidence": (DiagnosisScreen, ("v", "n")),
    "paste": (lambda: PasteScreen(OOM), ()),
    "job": (lambda: JobScreen(JOB), ()),
    "environment": (lambda: EnvironmentScreen(lambda _: MACHINE), ()),
    "help": (BrowseScreen, ("question_mark",)),
}


def settled(text: str) -> str:
    """What changes from run to run is made equal: seconds, sizes, and the blanks that follow from their width."""
    text = re.sub(r"\d+\.\d (s|[KM]iB)\b", r"0.0 \1", text)
    text = re.sub("[▁▂▃▄▅▆▇█](?= *│)", " ", text)  # the scroll bar
    return "\n".join(re.sub(r" {2,}(?=中文 \[EN\]|\[中文\] EN)", "  ", row) for row in text.split("\n"))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", CASES)
async def test_screen(
    name: str, size: tuple[int, int], lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    job_logs(tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/config")
    make, pressed = CASES[name]
    async with stage(make(), ["logs"], lang, size) as s:
        await s.press(*pressed)
        text = settled(s.text)
    stored = HERE / "snapshots" / f"{name}-{size[0]}x{size[1]}-{lang}.txt"
    if REFRESH:
        stored.write_text(text, encoding="utf-8")
    assert text == stored.read_text(encoding="utf-8"), TELL


# README's pictures


@pytest.fixture(scope="module")
def shipped() -> Knowledge:
    return load()


@pytest.mark.parametrize(("name", "lang"), tuple(refresh_pictures.names()))
async def test_pictures_of_readme_are_current(
    name: str, lang: str, shipped: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They show what the program shows today, of the knowledge and the demo that are shipped."""
    monkeypatch.chdir(refresh_pictures.ROOT)
    svg = await refresh_pictures.drawn(name, lang, shipped)
    kept = refresh_pictures.stored(name, lang).read_text(encoding="utf-8")
    assert "url(http" not in kept
    assert settled(text_of(svg)) == settled(text_of(kept)), refresh_pictures.COMMAND


def test_wide_characters_are_as_wide_in_a_picture_as_on_screen() -> None:
    kept = refresh_pictures.stored("diagnosis", "zh").read_text(encoding="utf-8")
    widths = re.findall(r'textLength="([\d.]+)"[^>]*>([^<]*)</text>', kept)
    assert widths
    assert all(abs(float(w) - cells(html.unescape(t)) * 12.2) < 0.2 for w, t in widths if "clip-path" not in t)


@pytest.mark.parametrize(("document", "lang"), [("README.md", "en"), ("README.zh.md", "zh")])
def test_readme_shows_the_diagnosis_and_leads_to_the_other_pictures(document: str, lang: str) -> None:
    text = (refresh_pictures.ROOT / document).read_text(encoding="utf-8")
    assert re.findall(r"!\[[^\]]+\]\(tests/data/screens/([^)]+)\)", text) == [f"diagnosis-{lang}.svg"]
    linked = re.findall(r"\]\(tests/data/screens/([^)]+)\)", text)
    assert set(linked) == {f"{name}-{lang}.svg" for name in refresh_pictures.KEYS}
    assert sorted(p.name for p in refresh_pictures.SCREENS.iterdir()) == sorted(f"{n}-{x}.svg" for n, x in refresh_pictures.names())
