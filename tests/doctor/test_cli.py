"""The command line as its users meet it: pipes, locales, narrow screens, closed pipes, two languages."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests_support import HANG_S, fits_schema

from doctor.answer import advice
from doctor.cli import COMMANDS
from doctor.render.layout import cells
from kb.in_use import cache_folder

ROOT = Path(__file__).resolve().parent.parent.parent
TRACEBACK = b"""Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import torch_npu
ImportError: libhccl.so: cannot open shared object file: No such file or directory
"""


def test_demo_names_the_injected_cause_first(run) -> None:  # type: ignore[no-untyped-def]
    """The AI Core exception of rank 3 is the one root; the HCCL timeouts of the seven others fold beneath it."""
    done = run("demo", "-f", "json")
    report = json.loads(done.stdout)
    roots = [f for f in report["findings"] if f["role"] == "root" and f["severity"] in ("fatal", "error")]
    assert done.returncode == 1
    assert [f["id"] for f in roots] == ["RTS001"]
    assert "HCL001" in roots[0]["explains"]
    assert roots[0]["scope"]["pid"] == 41233


def test_report_fits_its_schema(run) -> None:  # type: ignore[no-untyped-def]
    schema = json.loads(run("schema").stdout)
    for done in (
        run("demo", "-f", "json"),
        run("-f", "json", stdin=TRACEBACK),
        run("-f", "json", stdin=b"[ERROR] X(1,p):2026-01-01-00:00:00.000.000 [a.c:1] boom 507018\n"),
    ):
        fits_schema(json.loads(done.stdout), schema)


def test_piped_input_needs_no_argument(run) -> None:  # type: ignore[no-untyped-def]
    done = run(stdin=TRACEBACK)
    assert done.returncode == 1
    assert b"ENV001" in done.stdout


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "gbk"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1", "FORCE_COLOR": "1"},
        {"COLUMNS": "40"},
        {"HOME": "/nonexistent"},
    ],
    ids=str,
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_any_terminal(env: dict[str, str], lang: str, run) -> None:  # type: ignore[no-untyped-def]
    """The answer comes in any locale, encoding and width, in both languages, without escapes where none are wanted."""
    cache = cache_folder()
    assert cache is not None
    done = run("--lang", lang, stdin=TRACEBACK, **{"XDG_CACHE_HOME": str(cache.parent), **env})
    assert done.returncode == 1, done.stderr
    assert b"ENV001" in done.stdout
    assert b"\x1b" not in done.stdout


def test_a_pipe_is_as_wide_as_the_terminal_behind_it(run) -> None:  # type: ignore[no-untyped-def]
    """`npu-doctor | head` is read on a screen, the one that errors are written to."""
    ours, theirs = os.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 52, 0, 0))
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        command = [sys.executable, "-m", "doctor", "explain", "EI0006", "--lang", "en"]
        piped = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, cwd=ROOT, env=env, check=True, timeout=HANG_S).stdout
    finally:
        os.close(ours)
        os.close(theirs)
    assert piped == run("explain", "EI0006", "--lang", "en", COLUMNS="52").stdout
    assert piped != run("explain", "EI0006", "--lang", "en", COLUMNS="100").stdout


def test_forty_columns(run) -> None:  # type: ignore[no-untyped-def]
    """On 40 columns nothing but commands to paste is wider than the screen."""
    done = run("--lang", "zh", stdin=TRACEBACK, COLUMNS="40", PYTHONUTF8="1")
    wide = [row for row in done.stdout.decode().split("\n") if cells(row) > 42 and not row.startswith(" " * 12)]
    assert wide == []


def test_colours_only_when_asked(run) -> None:  # type: ignore[no-untyped-def]
    assert b"\x1b[" in run("--color", "always", stdin=TRACEBACK).stdout
    assert b"\x1b[" not in run(stdin=TRACEBACK).stdout


def test_a_closed_pipe_is_no_fault() -> None:
    """`| head -1` gets its line; nobody sees a traceback."""
    done = subprocess.run(
        f"{sys.executable} -m doctor kb list | head -1",
        shell=True,
        capture_output=True,
        cwd=ROOT,
        env=os.environ,
        check=False,
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_languages_share_ids_and_evidence(run) -> None:  # type: ignore[no-untyped-def]
    """The same ids, evidence and texts come out whichever language is asked for; JSON always carries both."""
    en, zh = (json.loads(run("demo", "-f", "json", "--lang", lang).stdout) for lang in ("en", "zh"))
    for report in (en, zh):
        report.pop("stats")
    assert en == zh


def test_language_is_chosen_by_flag_then_variable_then_locale(run) -> None:  # type: ignore[no-untyped-def]
    zh = "修复".encode()
    assert zh in run("--lang", "zh", stdin=TRACEBACK, NPU_DOCTOR_LANG="en", PYTHONUTF8="1").stdout
    assert zh in run(stdin=TRACEBACK, NPU_DOCTOR_LANG="zh", LC_ALL="C.UTF-8").stdout
    assert zh in run(stdin=TRACEBACK, LC_ALL="zh_CN.UTF-8", PYTHONUTF8="1").stdout
    assert zh not in run(stdin=TRACEBACK, LC_ALL="C.UTF-8").stdout


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str, run) -> None:  # type: ignore[no-untyped-def]
    done = run(command, "--help")
    assert done.returncode == 0
    assert b"npu-doctor " + command.encode() in done.stdout


@pytest.mark.parametrize(
    ("args", "help_"),
    [
        (["scna"], "did you mean 'npu-doctor scan'"),
        (["explain"], "required"),
        (["kb", "show", "XYZ999"], "there is no entry"),
        (["kb"], "required"),
    ],
)
def test_wrong_calls_say_what_to_do(args: list[str], help_: str, run) -> None:  # type: ignore[no-untyped-def]
    done = run(*args)
    assert done.returncode == 2
    assert help_ in done.stderr.decode()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("507018", "ACL_ERROR_RT_AICPU_EXCEPTION"),
        ("EI0006", "EI0006"),
        ("retCode=0x28", "AICPU"),
        ("drvRetCode=17", "DRV_"),
        ("errcode:(0x800000, 0, 0)", "bit 23"),
        ("-8005", "DCMI"),
        ("161002", "ACLNN"),
        ("ERR00100", "ERR00100"),
        ("80E01801", "0x80E01801"),
        ("HCCL_CONNECT_TIMEOUT", "120"),
        ("RTS001", "invalid device address"),
    ],
)
def test_explain(written: str, told: str, run) -> None:  # type: ignore[no-untyped-def]
    """Codes in any spelling, entries and variables, in both languages."""
    for lang in ("en", "zh"):
        done = run("explain", written, "--lang", lang, PYTHONUTF8="1")
        assert done.returncode == 0, done.stderr
        if lang == "en":
            assert told.lower() in done.stdout.decode().lower()


def test_a_negative_code_in_a_command_of_a_fix_is_explained(run) -> None:  # type: ignore[no-untyped-def]
    """Advice names the code that the log printed; what it says to type works as it stands."""
    command = advice.shell("npu-doctor explain {code}", advice.Values({"code": "-8010"}, {}))
    assert b"DCMI_ERR_CODE_SEND_MSG_FAIL" in run(*shlex.split(command)[1:]).stdout


def test_explain_unknown_offers_what_is_near(run) -> None:  # type: ignore[no-untyped-def]
    done = run("explain", "HCCL_CONECT_TIMEOUT")
    assert done.returncode == 1
    assert b"HCCL_CONNECT_TIMEOUT" in done.stderr


def test_output_file_and_format_by_suffix(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    for suffix, begins in (("json", b"{"), ("md", b"# npu-doctor"), ("jsonl", b'{"type":"report"')):
        target = tmp_path / f"r.{suffix}"
        run("demo", "-o", str(target))
        assert target.read_bytes().startswith(begins)


def test_selection(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """--since, --pid and --level leave out lines that say they are others; lines that do not say are kept."""
    log = tmp_path / "a.log"
    line = "[ERROR] DRV({pid},p):2026-01-0{day}-00:00:00.000.000 [x.cc:1]1 libhccl.so: cannot open shared object file: No such file\n"
    log.write_text(line.format(pid=1, day=1) + line.format(pid=2, day=3))

    def count(*args: str) -> int:
        found = json.loads(run("scan", str(log), "-f", "json", *args).stdout)["findings"]
        return max((f["count"] for f in found), default=0)

    assert count() == 2
    assert count("--pid", "1") == count("--since", "2026-01-02") == count("--until", "2026-01-02 12:00") == 1
    assert count("--pid", "3") == 0
    assert count("--level", "error") == 2
