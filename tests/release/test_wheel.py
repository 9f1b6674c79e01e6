"""What a wheel brings beside the program: manual pages and completion, made while it is built, where an installation's own shells look."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from doctor.commands import shells

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    call = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder), str(ROOT)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment in which pip installed it."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    call = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "-q", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(call, check=True, capture_output=True)
    return folder


def test_pip_installs_them_as_they_are_printed(prefix: Path) -> None:
    """Each at its place beneath the prefix, of this very version of the parsers."""
    assert {place: (prefix / place).read_text(encoding="utf-8") for _, _, place in shells.PLACES} == shells.installed()


def test_packing_again_changes_nothing(wheel: Path, tmp_path: Path) -> None:
    """What any reader finds: the same names, times, rights and bytes, whole; and nothing more to gain by doing it twice."""
    sys.path.append(str(ROOT / "packaging"))
    from smaller import pack_again

    whole, small = tmp_path / "whole.zip", tmp_path / "small.zip"
    with zipfile.ZipFile(wheel) as built:
        infos = built.infolist()
        for path, members in ((whole, infos), (small, [info for info in infos if info.file_size < 5_000])):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
                for info in members:
                    file.writestr(copy.copy(info), built.read(info), zipfile.ZIP_DEFLATED)
    pack_again(whole)
    assert whole.read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(whole) as again:
        assert again.testzip() is None
        assert [described(info) for info in again.infolist()] == [described(info) for info in infos]
    pack_again(small)  # twice with a part of it: the best compression takes its time
    once = small.read_bytes()
    pack_again(small)
    assert small.read_bytes() == once


def described(info: zipfile.ZipInfo) -> tuple[object, ...]:
    return info.filename, info.date_time, info.external_attr, info.CRC, info.file_size


def test_the_wheel_is_small_and_holds_no_sources_of_knowledge(wheel: Path) -> None:
    """At most 3 MB; the pack is in it, what it is made of is not."""
    assert wheel.stat().st_size <= 3_000_000
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert "kb/_compiled/knowledge.pack" in names
    assert [n for n in names if n.startswith(("kb/entries/", "packaging/", "tests/"))] == []


@pytest.mark.parametrize(("place", "told"), [("share/man", "show this help message"), ("share/man/zh_CN", "显示")])
def test_man_shows_the_page(prefix: Path, place: str, told: str) -> None:
    """`man -M $VENV/share/man npu-doctor`: every command, nothing that man warns of."""
    if shutil.which("man") is None:
        pytest.skip("there is no man here")
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MAN_KEEP_FORMATTING": ""}
    done = subprocess.run(["man", "--warnings", "-M", str(prefix / place), "npu-doctor"], env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert told in done.stdout
    assert [c.name for c in shells.commands("en") if f"\n   {c.name}\n" not in done.stdout] == []


def test_bash_loads_it_from_there(prefix: Path) -> None:
    script = f'. {prefix}/share/bash-completion/completions/npu-doctor; COMP_WORDS=(npu-doctor comp); COMP_CWORD=1; _npu_doctor; echo "${{COMPREPLY[@]}}"'
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd="/").stdout.split() == ["completion"]


def test_zsh_and_fish_read_what_the_wheel_prints(wheel: Path, tmp_path: Path) -> None:
    """zsh offers what stands in its function path; fish what stands among its vendors': packages of a system bring both, asked of the wheel as it is."""
    sys.path.append(str(ROOT / "tools"))
    import package

    prefix = tmp_path / "usr"
    program = tmp_path / "npu-doctor"
    program.write_bytes(b"")
    package.lay_out(tmp_path, program, wheel)
    assert {place for _, _, place in shells.OF_A_SYSTEM if not (prefix / place).is_file() and not (prefix / f"{place}.gz").is_file()} == set()
    if shutil.which("zsh"):
        script = f"fpath=({prefix}/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -D -u; print $_comps[npu-doctor]; autoload +X _npu-doctor && print read"
        done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["_npu-doctor", "read"], done.stderr
    if shutil.which("fish"):
        script = f"source {prefix}/share/fish/vendor_completions.d/npu-doctor.fish; complete -C 'npu-doctor comp'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False)
        assert [row.split("\t")[0] for row in done.stdout.splitlines()] == ["completion"], done.stderr


def test_they_are_made_with_what_a_build_has() -> None:
    """No parser of a command loads a package that only running it needs: a wheel is built with hatchling and PyYAML alone."""
    code = (
        "import sys\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'textual', 'rich', 'rapidfuzz', 'regex', 'ahocorasick_rs', 'zstandard', 'hyperscan', 'isal', 'mcp', 'torch', 'numpy', 'ClusterShell'}:\n"
        "            raise ImportError(f'{name} is asked for')\n"
        "sys.meta_path.insert(0, No())\n"
        "from doctor.commands import shells; print(len(shells.installed()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "3\n", done.stderr
