"""A copy of a process that has imported the command is the command: streams, codes, folders, environments, ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import INCIDENTS

from tests import starts
from tests.starts import ROOT
from tests.terminal import terminal

LOG = str(next(INCIDENTS[0].glob("input.*")))


@pytest.mark.parametrize(
    ("args", "stdin", "environment"),
    [
        (("scan", LOG), b"", {}),
        (("scan", "-", "-f", "json", "--lang", "zh"), b"RuntimeError: NPU out of memory \xff\n", {"NO_COLOR": "1"}),
        (("scan", "no such file"), b"", {"NPU_DOCTOR_LANG": "zh"}),
        (("scan", "-", "-f", "json"), b"RuntimeError: \xe5\x86 \xff out of memory\n", {"PYTHONUTF8": "1"}),
        (("explain", "EI0006"), b"", {"FORCE_COLOR": "1"}),
        (("--no-such-option",), b"", {}),
        (("demo", "-f", "md"), b"", {"COLUMNS": "60"}),
        (("scan", LOG, "-o", "/dev/full"), b"", {}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_it_says_what_a_new_process_says(args: tuple[str, ...], stdin: bytes, environment: dict[str, str], tmp_path: Path) -> None:
    """The same on both streams and the same code; only the time that it took may differ."""
    told = {**os.environ, **environment}
    new = subprocess.run([sys.executable, "-m", "doctor", *args], input=stdin, capture_output=True, cwd=tmp_path, env=told, check=False)
    for copy in (starts.copied(args, stdin, tmp_path, told), starts.copied(args, stdin, tmp_path, told)):
        assert (plain(copy.stdout), plain(copy.stderr), copy.returncode) == (plain(new.stdout), plain(new.stderr), new.returncode)


@pytest.mark.parametrize(("args", "piped"), [(("demo", "--lang", "zh"), None), (("-v", "--lang", "en"), b"RuntimeError: NPU out of memory\n"), (("scan", "no such file"), None)])
def test_on_a_terminal_it_draws_what_a_new_process_draws(args: tuple[str, ...], piped: bytes | None, tmp_path: Path) -> None:
    """Letter for letter, in the order in which both streams were written, but for progress; the second copy as the first."""
    program = [sys.executable, "-m", "doctor"]
    new = terminal(*args, piped=piped, cwd=tmp_path, program=program, PYTHONPATH=str(ROOT), CI="1")
    for copy in (terminal(*args, piped=piped, cwd=tmp_path, CI="1") for _ in range(2)):
        assert (plain(copy.raw.encode()), copy.code) == (plain(new.raw.encode()), new.code)


def plain(told: bytes) -> bytes:
    return re.sub(rb"\d+\.\d+(?= s| \xe7\xa7\x92|,? *\n|\})", b"0", re.sub(rb"\d{4}-\d\d-\d\d[T ][\d:.+]+", b"now", told))


def test_copies_share_nothing(tmp_path: Path) -> None:
    """Environment, folder and input of one call are not those of the next."""
    (tmp_path / "here.log").write_text("[ERROR] PLUGH(3,frob):2026-11-03-10:00:14.443.001 [xyzzy.cc:14][3]the plugh is gone\n")
    assert starts.copied(("scan", "here.log"), b"", tmp_path, {**os.environ, "NPU_DOCTOR_LANG": "zh"}).returncode == 3
    after = starts.copied(("scan", "here.log"), b"", ROOT, os.environ)
    assert (after.returncode, after.stdout) == (3, b"")
    assert b"there is no file" in after.stderr


def test_what_the_interpreter_reads_itself_is_told_to_a_new_one(tmp_path: Path) -> None:
    """Locales, options of Python and the time zone count when it starts."""
    assert starts.fits(tmp_path, os.environ)
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("TZ", "Asia/Shanghai")):
        assert not starts.fits(tmp_path, {**os.environ, name: value})


def test_a_checkout_is_its_own_program(checkout: Path) -> None:
    """In its folder, its knowledge counts: one entry."""
    assert b" 1 entries" in starts.copied(("scan", LOG), b"", checkout, os.environ).stderr
    assert b" 1 entries" not in starts.copied(("scan", LOG), b"", ROOT, os.environ).stderr


def test_shells_have_it_as_a_program(tmp_path: Path) -> None:
    """In a pipe two of them run at a time; the code of the last one is the shell's."""
    tool = starts.program(tmp_path / "bin")
    line = f"echo 'RuntimeError: NPU out of memory' | {tool} scan -f jsonl - | {tool} merge - -f text; {tool} no-such-command 2> /dev/null"
    done = subprocess.run(["sh", "-c", line], capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert b"NPU out of memory" in done.stdout
