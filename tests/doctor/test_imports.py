"""Start-up is a feature: what a command does not need is not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEAVY = (
    "textual",
    "rich",
    "rapidfuzz",
    "regex",
    "hyperscan",
    "yaml",
    "asyncio",
    "multiprocessing",
    "concurrent.futures",
)


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import doctor.cli", ()),
        ("from doctor.cli import main; main(['--help'])", ()),
        ("from doctor.cli import main; main(['explain', '507018'])", ()),
        ("from doctor.cli import main; main(['scan', 'kb/demo/train.log'])", ("rapidfuzz",)),
        ("from doctor import diagnose", ()),
        ("import parsers.line, kb.knowledge", ()),
    ],
)
def test_light(code: str, allowed: tuple[str, ...]) -> None:
    """Neither the terminal interface nor YAML nor native engines are loaded for the small jobs."""
    subprocess.run([sys.executable, "-c", "from kb.knowledge import load; load()"], cwd=ROOT, check=True)  # warm cache
    check = f"{code}\nimport sys\nsys.stderr.write('|' + ','.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=False)
    loaded = {m for m in done.stderr.rpartition("|")[2].split(",") if m}
    assert loaded <= set(allowed), done.stderr


def test_the_name_in_the_package_is_the_function() -> None:
    """The module doctor.judge.diagnosis has the same name; a fresh interpreter must still get what README promises."""
    code = "from doctor import diagnose; assert callable(diagnose), diagnose"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
