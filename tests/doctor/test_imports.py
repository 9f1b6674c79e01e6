"""Start-up is a feature: what a command does not need is not imported. And what imports what has an order."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import grimp
import pytest

import doctor

ROOT = Path(__file__).resolve().parent.parent.parent
HEAVY = (
    "textual",
    "rich",
    "rapidfuzz",
    "regex",
    "hyperscan",
    "ahocorasick_rs",
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
        ("from doctor.commands.shells import commands; commands('en')", ("yaml",)),  # the options of all commands: wheels are built with it
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


def circles(graph: grimp.ImportGraph) -> list[str]:
    """The modules that are left when those that import none of the others are taken away, again and again."""
    left = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    while free := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in free:
            del left[module]
    return sorted(left)


def test_no_module_imports_itself_by_a_detour() -> None:
    """Imports for the type checker and inside functions count too: a circle is one wherever it is written."""
    graph = grimp.build_graph("doctor", "kb", "parsers", cache_dir=None)
    assert circles(graph) == []
    graph.add_import(importer="doctor.base.notation", imported="doctor.tui.app")
    assert {"doctor.base.notation", "doctor.tui.app"} <= set(circles(graph))


def test_the_example_of_the_package_runs(tmp_path: Path) -> None:
    """The indented lines of its docstring are a program; only the place of the logs is another one."""
    example = textwrap.dedent("\n".join(row for row in (doctor.__doc__ or "").splitlines() if row.startswith("    ")))
    (tmp_path / "train.log").write_text("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61 GiB total capacity)\n")
    assert "~/ascend/log/plog" in example
    *steps, last = example.replace("~/ascend/log/plog", str(tmp_path)).strip().splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(steps), names)
    assert "memory" in eval(last, names)
