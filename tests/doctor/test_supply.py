"""The check of dependencies finds what is missing and what would move; README says why each of them is there. No network is used."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks import supply

ROOT = Path(__file__).resolve().parent.parent.parent
X86, ARM = supply.Target("3.10", "x86_64"), supply.Target("3.13", "aarch64")


def row(name: str, wheel: str, *requires: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "version": "1.0", "requires_dist": list(requires)}, "download_info": {"url": f"https://index/{wheel}"}}


INDEX = {
    "pure": row("Pure", "pure-1.0-py3-none-any.whl", "native>=1; python_version < '3.13'", "win; sys_platform == 'win32'", "more; extra == 'more'"),
    "native": row("native", "native-1.0-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
    "more": row("more", "more-1.0-cp310-cp310-manylinux_2_28_x86_64.whl", "pure"),
}


def ask(*args: str) -> list[dict[str, Any]] | None:
    """An index that has no wheel of `native` for aarch64 and never heard of `gone`."""
    names = [re.match(r"[\w-]+", a)[0] for a in args if not a.startswith("-") and re.match(r"[a-z]+($|[<>=])", a)]  # type: ignore[index]
    names = [n for n in names if n != "cp"]
    if "gone" in names or ("native" in names and any("aarch64" in a for a in args)):
        return None
    return [INDEX[n] for n in names]


def test_dependencies_of_dependencies_are_asked_for() -> None:
    """Markers and extras are those of the target, not of this machine; a circle ends."""
    assert supply.wheels([Requirement("pure[more]")], X86, 28, ask) == {"pure": ("1.0", "any"), "native": ("1.0", "2.17"), "more": ("1.0", "2.28")}
    assert supply.wheels([Requirement("pure")], ARM, 28, ask) == {"pure": ("1.0", "any")}
    assert supply.wheels([Requirement("native; python_version < '3'")], X86, 28, ask) == {}


def test_a_package_for_older_pythons_than_this_one() -> None:
    """pip refuses it because of the Python that it runs on itself; whether the target's Python fits is looked at here."""
    old = {"metadata": {"name": "old", "version": "1.2", "requires_python": "<3.11,>=3.8"}, "download_info": {"url": "https://x/old-1.2-py3-none-any.whl"}}

    def refuses(*args: str) -> list[dict[str, Any]] | None:
        return [old] if "--ignore-requires-python" in args else None

    assert supply.wheels([Requirement("old")], X86, 28, refuses) == {"old": ("1.2", "any")}
    assert supply.wheels([Requirement("old")], ARM, 28, refuses) == {"old": ("", "")}


def test_what_is_missing_is_named() -> None:
    """One that has no wheel hides none of the others, and the exit code tells."""
    found = {t: supply.wheels([Requirement("pure"), Requirement("gone>=2"), Requirement("native")], t, 28, ask) for t in (X86, ARM)}
    rows, missing = supply.table(found)
    assert missing == ["gone>=2 on x86_64 with Python 3.10", "gone>=2 on aarch64 with Python 3.13", "native on aarch64 with Python 3.13"]
    assert any(r.startswith("native") and "glibc 2.17" in r and "MISSING" in r for r in rows)


@pytest.mark.parametrize(
    ("wheel", "glibc"),
    [
        ("a-1-py3-none-any.whl", "any"),
        ("a-1-cp310-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", "2.17"),
        ("a-1-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "2.27"),
        ("a-1-cp310-cp310-manylinux2014_x86_64.whl", "2.17"),
    ],
)
def test_the_oldest_machine_of_a_wheel(wheel: str, glibc: str) -> None:
    assert supply.needs(f"https://index/{wheel}") == glibc


def test_a_network_that_is_down_is_no_missing_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "ERROR: Could not fetch URL")
    monkeypatch.setattr(supply.subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(SystemExit, match="Could not fetch"):
        supply.pip("x")


# What is there already stays


def wheel(folder: Path, name: str, version: str) -> None:
    """A package without content: what pip looks at is in it."""
    flat = name.replace("-", "_")
    with zipfile.ZipFile(folder / f"{flat}-{version}-py3-none-any.whl", "w") as archive:
        info = f"{flat}-{version}.dist-info"
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def lowest(requirement: Requirement) -> str:
    """The oldest version that the range lets in."""
    return next(s.version for s in requirement.specifier if s.operator == ">=")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every dependency of ours in its oldest version and in a newer one, and nothing else in the world."""
    for one in supply.declared(()):
        wheel(tmp_path, one.name, lowest(one))
        wheel(tmp_path, one.name, f"{lowest(one)}.9")
    wheel(tmp_path, "numpy", "1.26.4")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_nothing_that_is_installed_moves(index: Path) -> None:
    """With the oldest versions that our ranges let in, all of ours is content, although newer ones could be had."""
    ours = supply.declared(())
    held, added = supply.beside([f"{r.name}=={lowest(r)}" for r in ours] + ["numpy==1.26.4"], ours)
    assert len(held) == len(ours) + 1
    assert added == {}
    some = [f"{r.name}=={lowest(r)}" for r in ours[:2]]
    held, added = supply.beside(some, ours)
    assert added is not None
    assert set(added) == {canonicalize_name(r.name) for r in ours[2:]}


def test_what_would_have_to_move_is_found(index: Path) -> None:
    """An installed package that is older than our range is a conflict, told before anything is installed."""
    wheel(index, "rich", "12.0")
    assert supply.beside(["rich==12.0"], supply.declared(()))[1] is None


def test_all_extras_are_looked_at_but_the_one_left_out() -> None:
    """Those of tests and lint as well: a group with a remark behind it does not swallow the next one."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    part = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    written = {canonicalize_name(name) for name in re.findall(r"\"([A-Za-z][\w-]*)", part)} - {"torch"}
    assert {"pytest", "ruff", "mypy", "types-pyyaml", "atheris"} <= written
    assert {canonicalize_name(r.name) for r in supply.declared()} == written | {canonicalize_name(r.name) for r in supply.declared(())}
    assert [r.name for r in supply.declared(["fuzz"])][len(supply.declared(())) :] == ["atheris"]


def test_ranges_are_ranges() -> None:
    """Each begins with the oldest version that works, and none is pinned: pip keeps what is installed."""
    for one in supply.declared(()):
        operators = {s.operator for s in one.specifier}
        assert ">=" in operators, one
        assert not operators & {"==", "===", "~="}, one


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_every_dependency_has_its_reason(name: str) -> None:
    """The table of README names exactly what a user installs, with a reason each."""
    text = (ROOT / name).read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, `()（）、，-]+?) \| ([^|]+) \|$", text[text.rindex("## ") :], re.MULTILINE)
    named = {canonicalize_name(word) for cell, why in rows if len(why.strip()) >= 4 for word in re.findall(r"[A-Za-z_]{3,}", cell)}
    assert {canonicalize_name(r.name) for r in supply.declared(())} <= named


def test_only_what_is_declared_is_imported() -> None:
    """Whatever the program imports from outside is one of its dependencies."""
    allowed = {"yaml", "rich", "textual", "rapidfuzz", "regex", "ahocorasick_rs", "hyperscan", "isal", "zstandard", "torch", "torch_npu", "ClusterShell", "ray", "mcp", "anyio", "uvicorn", "kb", "doctor", "parsers", "hatchling", "npu_doctor_gateway"}
    found = set()
    for room in ("doctor", "kb", "parsers"):
        for path in (ROOT / room).rglob("*.py"):
            if "repro" in path.parts and room == "kb":
                continue  # templates of scripts that run elsewhere
            found |= set(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    outside = {n for n in found if n not in sys.stdlib_module_names}
    assert outside - allowed - {"__future__"} == set(), outside - allowed
