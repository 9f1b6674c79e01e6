"""What a person sees: the real program in a terminal of 80x24, in both languages."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import ROOT, terminal

from doctor.api import report
from doctor.render import compact, layout
from doctor.render.call import Call
from doctor.render.compose import gist
from doctor.render.document import Evidence
from doctor.render.excerpt import excerpt, passage
from doctor.render.layout import Style, cells
from tests.simulate.jobs import simulate

DEMO = "kb/demo"
TRACEBACK = b"""Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import torch_npu
ImportError: libhccl.so: cannot open shared object file: No such file or directory
"""
UNKNOWN = b"[ERROR] PLUGH(77,python):2026-01-02-03:04:05.678.901 [plugh.cc:12]xyzzy refused the frob, ret EE1009\n"
LABELS = {
    "en": ("on", "where", "job", "why", "evidence", "fix", "more", "next:"),
    "zh": ("环境", "位置", "作业", "原因", "证据", "修复", "更多", "下一步:"),
}


@pytest.fixture
def job(tmp_path: Path) -> str:
    """The logs of a job of 64 ranks in which one failed."""
    made = simulate(5, 64, "aicore")
    for name, text in made.files.items():
        path = tmp_path / "job" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return "job"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_demo_is_answered_on_one_screen(lang: str) -> None:
    """80x24: headline with severity, code and confidence; situation, place, job, reason, evidence with its mark, fix, what is left out, next."""
    seen = terminal("scan", DEMO, "--lang", lang)
    answer = seen.rows[:-1]  # the last line is what was read
    assert seen.code == 1
    assert len(answer) <= 24
    assert all(cells(row) <= 80 for row in answer if not row.startswith(" " * 13))
    assert answer[0].split()[1] == "RTS001"
    assert "95%" in answer[0]
    places = [next(n for n, row in enumerate(answer) if row.split()[:1] == [label]) for label in LABELS[lang]]
    assert places == sorted(places)
    assert any(set(row.strip().split()[0]) == {"^"} for row in answer if row.strip())
    check = next(n for n, row in enumerate(answer) if row.split()[:1] == [{"en": "check", "zh": "先查"}[lang]])
    assert any(row.startswith(" " * 13) and row.strip()[:1] not in "#^" for row in answer[check:])  # something to paste
    assert answer[-1].endswith(f"npu-doctor browse {DEMO}")


def test_one_root_takes_at_most_twenty_lines() -> None:
    """Piped, as a traceback comes: the same program, no path to name again, so the entry is proposed."""
    seen = terminal("--lang", "en", piped=TRACEBACK)
    answer = seen.rows[:-1]
    assert len(answer) <= 20
    assert answer[0].startswith("ERROR  ENV001")
    assert answer[-1] == "next: npu-doctor explain ENV001"


def test_the_line_of_evidence_is_centred_on_what_matched(tmp_path: Path) -> None:
    """However long the line: what matched is in sight, and the mark stands beneath it, Chinese characters counted double."""
    text = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
    (tmp_path / "a.log").write_text(f"{'前文' * 300} {text} {'后文' * 300}\n")
    rows = terminal("scan", "a.log", "--lang", "en", cwd=tmp_path).rows
    mark = next(n for n, row in enumerate(rows) if set(row.strip()) == {"^"})
    line, under = rows[mark - 1], rows[mark]
    at, size = len(under) - len(under.lstrip()), under.count("^")
    before = next(n for n in range(len(line) + 1) if cells(line[:n]) >= at)
    assert "libhccl.so" in line[before : before + size]
    assert cells(line) <= 80


def test_a_frame_of_a_stack_is_not_the_evidence_where_the_exception_is() -> None:
    """One line is shown: that which says what went wrong, not the file in which it did."""
    log = (
        'Traceback (most recent call last):\n  File "/opt/env/lib/python3.11/site-packages/sglang/srt/managers/scheduler.py", line 3003, in run\n    self.pool = Pool()\n'
        "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 72.00 MiB (NPU 3; 61.27 GiB total capacity; 56.05 GiB already allocated; 30.00 MiB free)\n"
    )
    rows = terminal("--lang", "en", piped=log.encode()).rows
    mark = next(n for n, row in enumerate(rows) if set(row.strip().split()[:1]) and set(row.strip().split()[0]) == {"^"})
    assert "out of memory" in rows[mark - 1]


def test_what_a_program_tells_of_its_own_course_is_not_the_evidence_where_the_failure_is() -> None:
    """A crash is known by two lines, the step before it and the signal: the second is the one to show."""
    log = "[INFO] acl init\n[INFO] acl set device, device_id: 0\nrun.sh: line 3: 4411 Segmentation fault      (core dumped) ./main\n"
    rows = terminal("--lang", "en", piped=log.encode()).rows
    mark = next(n for n, row in enumerate(rows) if set(row.strip().split()[:1]) and set(row.strip().split()[0]) == {"^"})
    assert "Segmentation fault" in rows[mark - 1]


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("text", ["AI Core 或 Vector Core 执行异常（507015/507035）：算子在设备上崩溃了，" * 3 + "致。", "word " * 33 + "range)"])
def test_no_paragraph_ends_in_a_line_of_two_characters(text: str, width: int) -> None:
    rows = layout.wrap(text, width)
    assert all(cells(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert cells(rows[-1]) >= layout.ORPHAN


def test_goal_and_risk_stay_together() -> None:
    """However the title of a fix breaks: `[resolve; risk: low]` is one piece."""
    for width in range(60, 100, 3):
        text = terminal("--lang", "en", piped=TRACEBACK, size=(width, 40)).text
        assert re.search(r"\[\w+; risk: \w+\]", text), width


def test_a_note_stands_over_its_command() -> None:
    """What to know of a variable begins where the variable does."""
    rows = terminal("--lang", "zh", piped=b"RuntimeError: what():  HelpACLExecute:/home/build/c10/npu/NPUQueue.cpp:147 NPU error, error code is 0\n").rows
    at = next(n for n, row in enumerate(rows) if "export TASK_QUEUE_ENABLE" in row)
    assert rows[at - 1].index("#") == rows[at].index("export")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_headline_stays_in_sight(lang: str) -> None:
    """In 24 rows with what was read and the prompt beneath, long lines to paste counted as the terminal breaks them."""
    seen = terminal("scan", DEMO, "--lang", lang)
    assert layout.rows_of(seen.text, 80) + 1 <= 24


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_something_to_paste_is_on_the_smallest_screen(lang: str) -> None:
    """A remedy in words and a look that can be pasted: when rows are scarce the sentences wait, not the command."""
    rows = terminal("scan", DEMO, "--lang", lang).rows
    do = next(n for n, row in enumerate(rows) if row.split()[:1] == [{"en": "do", "zh": "处理"}[lang]])
    assert any(row.startswith(" " * 13) and row.strip()[:1] not in "#^" for row in rows[do:])
    assert any(row.split()[:1] == [{"en": "fix", "zh": "修复"}[lang]] for row in rows[do:])


def test_counts_and_times_of_what_came_again() -> None:
    """Row 18: one line with how often and when last, not a line each."""
    text = "".join(
        f"[ERROR] HCCL(7,python):2026-01-02-03:04:{n:02}.000.000 [x.cc:1]ImportError: libhccl.so: cannot open shared object file: No such file\n" for n in range(40)
    )
    seen = terminal("--lang", "en", piped=text.encode())
    assert "x40, last 03:04:39" in seen.text
    assert seen.text.count("cannot open shared object file") <= 2


def test_what_speaks_against_it_is_said() -> None:
    """Row 19: a victim alone is told with the doubt, and with less confidence."""
    text = b"[ERROR] HCCL(7,python):2026-01-02-03:04:05.000.000 [x.cc:1]EI0002: The wait execution of the Notify register times out. rank 3\n"
    seen = terminal("--lang", "en", piped=text)
    assert "50% possible" in seen.rows[0]
    told = "against  this is what a victim prints: the cause is not in these logs"
    assert told in seen.text
    assert told in terminal("-v", "--lang", "en", piped=text).text


@pytest.mark.parametrize("reason", ["EZ9999: [PID: 7] 2026-03-25-07:29:56.118.221 (EZ9999):  Xyzzy: x1 dim 448 is no multiple of 512.[FUNC:Look][FILE:a.cpp][LINE:4]", "EE1003: [PID: 7] 2026-03-25-07:29:56.118.221 The argument is invalid.Reason: Xyzzy: x1 dim 448 is no multiple of 512."])
def test_what_cann_says_beneath_an_error_that_is_passed_on(reason: str) -> None:
    """It is shown, and nobody is told that the cause stands elsewhere."""
    queue = "(Worker pid=7) RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is aclnnXyzzy."
    seen = terminal("--lang", "en", piped=f"{queue}\n(Worker pid=7) {reason}\n".encode())
    assert "x1 dim 448 is no multiple of 512" in seen.text
    assert "that sentence decides" in seen.text
    assert "not in these" not in seen.text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_error_that_nobody_knows(lang: str) -> None:
    """Row 23: it is shown with its decoded code, with the way to get more, and is no success."""
    seen = terminal("--lang", lang, piped=UNKNOWN)
    assert seen.code == 3
    assert "xyzzy refused the frob" in seen.text
    assert "Execution_Error_Model" in seen.text
    assert len(seen.rows) <= 24


def test_nothing_found_says_what_was_read(tmp_path: Path) -> None:
    """A clean log: how much was read, and where to go from there."""
    (tmp_path / "ok.log").write_text("[INFO] HCCL(7,python):2026-01-02-03:04:05.000.000 [x.cc:1]all is well\n")
    seen = terminal("scan", "ok.log", "--lang", "en", cwd=tmp_path)
    assert seen.code == 0
    assert seen.rows[0] == "No fault found."
    assert "read     1 file," in seen.text
    assert "next: npu-doctor browse ok.log" in seen.text


def test_more_is_shown_step_by_step() -> None:
    """-q a line a root, then the screen, -v, -vv: each shows what the one before left out; the answer alone is on standard output."""
    lengths = [len(terminal("demo", "--lang", "en", *more).rows) for more in (("-q",), (), ("-v",), ("-vv",))]
    assert lengths == sorted(set(lengths))
    whole = terminal("demo", "--lang", "en", "-v").text
    assert all(f"{n}. [" in whole for n in range(1, 5))


def test_the_answer_and_the_narration_go_apart(run) -> None:  # type: ignore[no-untyped-def]
    """Row 50: standard output holds the answer alone, also in JSON; what is told beside it stands on standard error."""
    done = run("scan", DEMO, "--lang", "en")
    assert b"knowledge:" not in done.stdout
    assert b"knowledge:" in done.stderr
    assert b"knowledge:" not in run("scan", DEMO, "-q").stderr
    assert json.loads(run("scan", DEMO, "-f", "json").stdout)["verdict"] == "findings"


def test_further_roots_are_never_cut_in_silence(tmp_path: Path) -> None:
    """Each with headline, place and first fix; beyond a few their number and the option that shows them."""
    names = ("libhccl.so", "libgomp.so.1")
    (tmp_path / "1.log").write_text("".join(f"ImportError: {n}: cannot open shared object file: No such file or directory\n" for n in names))
    texts = [
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.5 GiB already allocated; 318.20 MiB free)",
        "OSError: [Errno 28] No space left on device",
        "OSError: [Errno 98] Address already in use: port 29500",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "ValueError: host not found: Name or service not known",
        "Segmentation fault (core dumped)",
    ]
    for number, text in enumerate(texts, 2):
        (tmp_path / f"{number}.log").write_text(f"Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n{text}\n")
    seen = terminal("scan", ".", "--lang", "en", cwd=tmp_path)
    roots = [f for f in json.loads(subprocess.run(
        [sys.executable, "-m", "doctor", "scan", str(tmp_path), "-f", "json"], cwd=ROOT, capture_output=True, check=False).stdout)["findings"] if f["role"] == "root"]  # fmt: skip
    heads = [row for row in seen.rows if row[:5] in ("ERROR", "FATAL") or row[:4] in ("WARN", "INFO")]
    assert len(roots) > 5
    assert len(heads) + int(next(row for row in seen.rows if row.endswith("--all")).split()[1]) == len(roots)


def test_the_rank_that_broke_a_job(job: str, tmp_path: Path) -> None:
    """64 ranks: who failed first and how many waited is one sentence, the picture has a mark for each, all within 24 lines."""
    seen = terminal("scan", job, "--lang", "en", cwd=tmp_path)
    rank = next(iter(simulate(5, 64, "aicore").truth.ranks))
    assert f"rank {rank} failed first" in seen.text
    assert "63 ranks" in seen.text
    assert "X failed  w waits" in seen.text
    assert len(seen.rows) <= 25


def test_the_line_of_time_has_every_root(job: str, tmp_path: Path) -> None:
    """Row 62: --timeline draws who lived how long beneath the answer."""
    seen = terminal("scan", job, "--timeline", "--lang", "en", cwd=tmp_path)
    bars = [row for row in seen.rows if "──" in row]
    assert len(bars) == 2
    assert "failed first" in bars[0]
    assert bars[0].index("X") < bars[1].rindex("w  ")


@pytest.mark.parametrize(
    ("args", "code"),
    [((DEMO,), 1), ((DEMO, "--exit-zero"), 0), ((DEMO, "--fail-on", "fatal"), 0), ((DEMO, "--nope"), 2), (("no/such/place",), 3), ((DEMO, "-o", "x.unknown"), 2)],
)
def test_exit_codes(args: tuple[str, ...], code: int) -> None:
    """Row 49: part of the interface."""
    assert terminal("scan", *args).code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[ERROR] TBE Subprocess[task_distribute] raise error[], main process disappeared!", 3),
        ("WARNING 05-30 14:36:52 [_custom_ops.py:21] Failed to import from vllm._C with ImportError('/l/vllm/_C.abi3.so: undefined symbol: _ZN5torch3jit17parseE')", 0),
        ("(TaskRunner pid=21) WARNING: Platform 'huawei' (PlatformNPU) is registered but not available. This may be due to this ray actor being a CPU-only actor.", 0),
    ],
)
def test_what_a_code_says_of_lines_without_a_cause(text: str, code: int, tmp_path: Path) -> None:
    """A process that others say is gone is no success; a line that is known as harmless is, whatever it looks like."""
    (tmp_path / "run.log").write_text(text + "\n")
    seen = terminal("scan", str(tmp_path), "--lang", "en", cwd=tmp_path)
    assert seen.code == code
    assert ("No fault found" in seen.text, "plog" in seen.text) == ((code == 0), False) or code == 3


def test_a_path_that_is_not_there_is_one_line() -> None:
    """No diagnosis around it, and the name that was meant."""
    seen = terminal("scan", "kb/dmeo", "--lang", "en")
    assert seen.rows == ["npu-doctor: there is no file or folder 'kb/dmeo': did you mean 'kb/demo'?"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--lang", "zh", "explain", "507018"), "AI CPU 算子"),
        (("explain", "507018", "--lang", "zh"), "AI CPU 算子"),
        (("507018", "--lang", "zh"), "AI CPU 算子"),
        (("--lang", "zh", DEMO), "RTS001"),
        (("--lang", "zh", "scan", "--help"), "选项"),
        (("--lang", "zh", "scan", "--nope"), "不认识的参数"),
        (("--lang", "zh", "scan", "no/such"), "没有文件或目录"),
        (("--lang", "zh", "help"), "退出码"),
    ],
)
def test_the_language_is_taken_wherever_it_stands(args: tuple[str, ...], told: str) -> None:
    """Row 54: before or after the command; help and wrong calls, too."""
    assert told in terminal(*args).text


@pytest.mark.parametrize(
    ("written", "told", "code"),
    [
        ("507018", "ACL_ERROR_RT_AICPU_EXCEPTION", 0), ("ExchangeDevice", "RTS021", 0), ("drvMemcpy", "RTS025", 0), ("HCCL_CONECT_TIMEOUT", "HCCL_CONNECT_TIMEOUT", 1),
        ("987654", "nothing is known", 1),
    ],
)  # fmt: skip
def test_explain(written: str, told: str, code: int) -> None:
    """Row 57: any spelling, words of messages, near names; another number is never offered."""
    seen = terminal("explain", written, "--lang", "en")
    assert seen.code == code
    assert told in seen.text
    assert written != "987654" or not any(c.isdigit() for c in seen.text.replace("987654", ""))


def test_what_a_file_says_is_told(tmp_path: Path) -> None:
    """`-o r.md` names the file and the verdict; a suffix that is no format is refused before anything is read."""
    seen = terminal("demo", "-o", str(tmp_path / "r.md"), "--lang", "en")
    assert f"wrote {tmp_path / 'r.md'}: ERROR RTS001" in seen.text
    refused = terminal("demo", "-o", str(tmp_path / "r.unknown"), "--lang", "en")
    assert "suffixes: text, json" in refused.text
    assert not (tmp_path / "r.unknown").exists()


def test_csv(run) -> None:  # type: ignore[no-untyped-def]
    """Row 52: a row a root; the other formats have tests of their own."""
    rows = list(csv.DictReader(io.StringIO(run("demo", "-f", "csv", PYTHONUTF8="1").stdout.decode())))
    assert [(row["code"], row["rank"]) for row in rows] == [("RTS001", "3"), ("SMI017", "")]
    assert rows[1]["explains"] == ""  # empty, not a quote


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("npu-doctor sc", "scan"), ("npu-doctor scan --ti", "--timeline"), ("npu-doctor scan -f js", "jsonl"), ("npu-doctor kb se", "search"), ("npu-doctor completion z", "zsh")],
)
def test_bash_completes(typed: str, offered: str, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Row 56: the script that the program prints, in a real bash."""
    script = tmp_path / "c.bash"
    script.write_bytes(run("completion", "bash").stdout)
    words = typed.split(" ")
    told = f'source {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _npu_doctor; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", told], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert offered in done.stdout.split()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("shell", ["zsh", "fish", "man"])
def test_every_command_and_option_is_in_what_shells_are_told(shell: str, lang: str, run) -> None:  # type: ignore[no-untyped-def]
    """Made from the parsers: nothing is left out."""
    told = run("completion", shell, "--lang", lang, PYTHONUTF8="1").stdout.decode().replace("\\", "")
    commands = json.loads(run("schema", "commands", PYTHONUTF8="1").stdout)["commands"]
    assert [c["name"] for c in commands if c["name"] not in told] == []
    flags = {flag for c in commands for option in c["options"] for flag in option["flags"] if flag.startswith("--")}
    assert [flag for flag in sorted(flags) if (f"-l {flag[2:]}" if shell == "fish" else flag) not in told] == []


def test_long_reports_go_through_the_pager(tmp_path: Path) -> None:
    """Opened at the top; not when asked not to, and not what fits."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nhead -n 2\n")
    pager.chmod(0o755)
    env = {"PAGER": str(pager), "NO_PAGER": "-"}
    whole = terminal("demo", "-vv", "--lang", "en", **env)
    assert "PAGED" in whole.text
    assert "RTS001" in whole.text
    assert "PAGED" not in terminal("demo", "-vv", "--no-pager", **env).text
    assert "PAGED" not in terminal("demo", "-q", **env).text
    assert whole.code == 1


def test_links_only_where_they_are_known() -> None:
    """OSC 8 around the place of the evidence in a terminal that says it knows it; else plain text."""
    linked = terminal("scan", DEMO, TERM="xterm-kitty")
    assert "\x1b]8;;file://" in linked.raw
    assert "\x1b]8;" not in terminal("scan", DEMO).raw
    assert "\x1b]8;" not in terminal("scan", DEMO, TERM="xterm-kitty", NO_COLOR="1").raw
    assert linked.rows[:-1] == terminal("scan", DEMO).rows[:-1]


def test_no_colour_when_it_is_not_wanted() -> None:
    assert "\x1b[" in terminal("scan", DEMO).raw
    assert "\x1b[" not in terminal("scan", DEMO, NO_COLOR="1", CI="1").raw  # nor does progress erase its line
    assert "\x1b[" not in terminal("scan", DEMO, TERM="dumb").raw


def _luminance(number: int) -> float:
    """Of one of the 256 colours: a cube of six steps, then greys."""
    levels = (0, 95, 135, 175, 215, 255)
    rest = number - 16
    rgb = (8 + 10 * (number - 232),) * 3 if number >= 232 else (levels[rest // 36], levels[rest // 6 % 6], levels[rest % 6])
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("role", sorted(layout.SHADES))
def test_roles_read_on_light_and_on_dark(role: str) -> None:
    """Each shade stands out from white as from black by 3.8 to 1 or more."""
    luminance = _luminance(layout.SHADES[role])
    assert min(1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05) >= 3.8


def test_labels_are_not_the_dimmest_text() -> None:
    assert layout.paint("x", "label", Style(colour=True)) != layout.paint("x", "dim", Style(colour=True))
    assert "\x1b[2m" not in layout.paint("x", "label", Style(colour=True))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_width_of_the_real_terminal(width: int) -> None:
    """What is drawn fits; lines to paste are never broken."""
    rows = terminal("scan", DEMO, "--lang", "zh", size=(width, 24)).rows
    wide = [row for row in rows if cells(row) > width and not row.startswith(" " * 13) and "kb/demo" not in row and "KiB" not in row]
    assert wide == []


def test_progress_moves_and_goes(tmp_path: Path) -> None:
    """On standard error, while a scan takes its time; nothing of it is left, and nothing is drawn without a terminal."""
    row = b"[INFO] HCCL(7,python):2026-01-02-03:04:05.000.000 [x.cc:1]all is well, and again and again\n"
    (tmp_path / "a.log").write_bytes(row * 30_000)
    seen = terminal("scan", "a.log", "-j", "1", "--lang", "en", cwd=tmp_path, NPU_DOCTOR_ENGINE="plain")  # seconds for what others read at once
    drawn = [piece for piece in seen.raw.split("\r") if "MB/s" in piece]
    assert len(set(drawn)) > 1
    assert "MB/s" not in seen.text


def test_a_killed_worker_is_an_error() -> None:
    """Exit code 1, and no warning: somebody ended the job."""
    seen = terminal("--lang", "en", piped=b"torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 6 (pid: 56700) of binary: /opt/env/bin/python\n")
    assert seen.rows[0].startswith("ERROR  DST016")
    assert seen.code == 1


def test_an_exception_that_is_told_by_its_frames_is_no_success() -> None:
    """Exit code 1 for a warning that rests on the frame which raised: the program ended there, whoever is to blame."""
    text = b'Traceback (most recent call last):\n  File "/w/e.py", line 1, in <module>\n    f()\n  File "/usr/lib/python3/dist-packages/plugh/a.py", line 3, in f\n    g()\n'
    seen = terminal("--lang", "en", piped=text + b"AttributeError: module 'plugh' has no attribute 'frob'\n")
    assert seen.rows[0].startswith("WARN  MNG004")
    assert seen.code == 1


def test_errors_that_no_root_explains_are_no_success(tmp_path: Path) -> None:
    """A remark beside an error that nobody knows: exit code 3, as README says."""
    (tmp_path / "a.log").write_bytes(UNKNOWN)
    (tmp_path / "npu-smi.txt").write_text((ROOT / "kb/demo/npu-smi.txt").read_text())
    seen = terminal("scan", ".", "--lang", "en", cwd=tmp_path)
    assert seen.code == 3
    assert terminal("scan", ".", "--fail-on", "fatal", cwd=tmp_path).code == 3


def test_width_of_the_terminal_behind_two_pipes() -> None:
    """`npu-doctor ... 2>&1 | less`: neither stream is the terminal, the session still has one."""
    process, handle = pty.fork()
    if not process:
        command = f"stty cols 52; {sys.executable} -m doctor explain EI0006 --lang en 2>/dev/null | cat"
        os.execve("/bin/sh", ["sh", "-c", command], {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": ""})
    seen = b""
    while True:
        try:
            piece = os.read(handle, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.waitpid(process, 0)
    os.close(handle)
    rows = seen.decode().replace("\r", "").rstrip("\n").split("\n")
    assert rows[0].startswith("EI0006")
    assert 40 < max(cells(row) for row in rows if row.startswith("  ") and "/" not in row) <= 52


@pytest.mark.parametrize("text", ["x" * 300, "字" * 200, "ab 字" * 60])
@pytest.mark.parametrize("matched", ["", "missing", "needle", "针"])
@pytest.mark.parametrize("width", [20, 69, 109])
def test_an_excerpt_fits_and_holds_what_matched(text: str, matched: str, width: int) -> None:
    """Whatever stands around it, and where nothing matched."""
    told = text[:150] + ("" if matched == "missing" else matched) + text[150:]
    made = excerpt(Evidence("a.log", 1, told, "", matched), width)
    assert cells(made.text) <= width
    if matched in ("needle", "针"):
        assert matched in made.text
        assert cells(made.text[: made.text.index(matched)]) == made.at
        assert made.size == cells(matched)
    else:
        assert made.size == 0


def test_what_decided_stands_in_two_rows_where_one_does_not_hold_it() -> None:
    """A long path before the symbol that is missing: the symbol is what a reader looks for. What fits in a row has a mark instead."""
    path, symbol = "/opt/plugh/xyzzy/lib/python3.10/site-packages/frobnicator/lib/libfrob_speed_adapter.so", "_ZN5plugh5xyzzyERKSs"
    long = Evidence("a.log", 1, f"OSError: {path}: undefined symbol: {symbol}", "", f"{path}: undefined symbol: {symbol}")
    rows = passage(long, 69)
    assert len(rows) == 2
    assert symbol in rows[1]
    assert all(cells(row) <= 69 for row in rows)
    assert passage(long._replace(matched=symbol), 69) == ()


@pytest.mark.parametrize("text", ["x" * 300, "字" * 200, "ab 字" * 60, "frob " * 90 + "END"])
@pytest.mark.parametrize("width", [29, 69, 109])
def test_two_rows_hold_both_ends_of_what_matched(text: str, width: int) -> None:
    """However long it is, and in whatever script."""
    rows = passage(Evidence("a.log", 1, f"before {text} after", "", text), width)
    assert 1 <= len(rows) <= 2
    assert all(cells(row) <= width for row in rows)
    assert rows[0][:3] in text + "before"
    assert "END" not in text or "END" in rows[-1]


BOTH = {"en": "it is slow", "zh": "会变慢"}
STEP: dict[str, Any] = {
    "goal": "locate", "risk": "medium", "title": {"en": "Look", "zh": "查看"}, "commands": [],
    "env": [{"name": "PLUGH", "value": "1", "scope": "process", "undo": "unset PLUGH", "caution": BOTH}],
}  # fmt: skip
SENTENCE: dict[str, Any] = {"goal": "resolve", "risk": "low", "title": {"en": "Take another xyzzy", "zh": "换一个 xyzzy"}, "commands": [], "env": [], "steps": [BOTH]}


def _one_root(**parts: Any) -> dict[str, Any]:
    """A report with one root."""
    found = {
        "id": "USR001", "slug": "mine", "kind": "user-code", "role": "root", "severity": "error", "confidence": 0.95, "why": BOTH, "note": None, "against": None,
        "title": BOTH, "cause": BOTH, "scope": {"node": None, "rank": 3, "device": None, "pid": 7}, "count": 1, "first_seen": None, "last_seen": None,
        "explains": [], "explained_by": None, "repro": None, "references": [], "fixes": [STEP, STEP], "doubts": [BOTH], "first_fix": 0,
        "evidence": [{"path": "a.log", "line": 1, "end_line": 1, "time": None, "level": None, "module": None, "text": "it broke", "matched": "broke"}],
        **parts,
    }  # fmt: skip
    return {
        "verdict": "findings", "situation": {"line": BOTH, "facts": {}}, "decisive": None, "findings": [found], "unexplained": [], "missing_evidence": [],
        "skipped": [], "stats": {"files": 1, "bytes": 8, "seconds": 0.1},
    }  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_step_is_shown_with_how_to_take_it_back(lang: str) -> None:
    """The first fix of the screen: command, undo, risk, and what to know before."""
    told = compact.render(_one_root(), lang, Style(), Call(("a log",)))
    assert "export PLUGH=1" in told
    assert "unset PLUGH" in told
    assert {"en": "risk: medium", "zh": "风险：中"}[lang] in told
    assert f"# {BOTH[lang]}" in told
    assert told.endswith("npu-doctor browse 'a log'\n")
    assert {"en": "1 more fix: -v", "zh": "另有 1 个修复方法：-v"}[lang] in told


@pytest.mark.parametrize(("lang", "told"), [("en", "CANN 8.0.0 (torch_npu 2.7.1 goes with 8.3.RC1)"), ("zh", "CANN 8.0.0（torch_npu 2.7.1 配套 8.3.RC1）")])
def test_releases_that_do_not_go_together_are_told_on_the_first_screen(tmp_path: Path, lang: str, told: str) -> None:
    """Whatever failed: who helps asks for the versions first, and a list of packages lies beside the log."""
    (tmp_path / "train.log").write_bytes(TRACEBACK)
    (tmp_path / "versions.txt").write_text("Package      Version\n------------ -------\ntorch        2.7.1\ntorch-npu    2.7.1\n\ncann_version=8.0.0\n")
    shown = compact.render(report(str(tmp_path)), lang, Style(), Call())
    assert told in " ".join(row.strip() for row in shown.split("\n"))
    (tmp_path / "versions.txt").write_text("torch-npu    2.7.1\ncann_version=8.3.RC1\n")
    assert "misfits" not in report(str(tmp_path))["situation"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_where_nothing_of_the_first_fix_can_be_pasted_the_next_one_is_shown_whole(lang: str) -> None:
    """With goal, risk, command and undo; where the first can be pasted, of the others only their titles are told."""
    told = compact.render(_one_root(fixes=[SENTENCE, SENTENCE, STEP], other_fixes=[1, 2]), lang, Style(), Call())
    assert told.index(SENTENCE["title"][lang]) < told.index(STEP["title"][lang]) < told.index("export PLUGH=1") < told.index("unset PLUGH")
    assert told.count({"en": "risk: medium", "zh": "风险：中"}[lang]) == 1
    told = compact.render(_one_root(fixes=[STEP, SENTENCE, {**STEP, "env": [{**STEP["env"][0], "name": "XYZZY"}]}], other_fixes=[1, 2]), lang, Style(), Call())
    assert "export PLUGH=1" in told
    assert "XYZZY" not in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_large_screen_has_other_fixes_whole(lang: str) -> None:
    """With what can be pasted of them: who looks for a way out need not ask again; they are not counted as left out."""
    other = {**STEP, "env": [{**STEP["env"][0], "name": "XYZZY"}]}
    made = _one_root(fixes=[STEP, SENTENCE, other, STEP], other_fixes=[1, 2])
    told = compact.render(made, lang, Style(rows=40), Call(("a log",)))
    assert told.index("export PLUGH=1") < told.index(SENTENCE["title"][lang]) < told.index("export XYZZY=1")
    assert {"en": "1 more fix: -v", "zh": "另有 1 个修复方法：-v"}[lang] in told


def test_the_height_of_the_terminal_counts() -> None:
    """What has room is told: the same answer is longer where there are more rows, and never fills more than there are."""
    small, large = (terminal("scan", DEMO, "--lang", "en", size=(100, rows)) for rows in (24, 50))
    assert len(small.rows) < len(large.rows) <= 50


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        ("en", "acl has one state a process. Another library began first. No more.", "acl has one state a process. Another library began first."),
        ("en", "The runtime refused the call, as its memory pool was full already. No more.", "The runtime refused the call, as its memory pool was full already."),
        ("en", "That is all.", "That is all."),
        ("zh", "acl 的状态唯一。其他库已先初始化。再无。", "acl 的状态唯一。其他库已先初始化。"),
    ],
)
def test_a_short_sentence_leads_to_the_next(lang: str, text: str, told: str) -> None:
    """A first sentence of a few words says nothing that helps."""
    assert gist(text, lang) == told


def test_an_enormous_text_is_not_made_shorter_remark_by_remark() -> None:
    """Thousands of remarks of a user's knowledge do not make it fit."""
    from doctor.render.shorter import shorter

    asked: list[int] = []

    def fits(text: str) -> bool:
        asked.append(len(text))
        return False

    assert shorter("it failed (see below) " * 5000, fits).startswith("it failed (see")
    assert len(asked) < 2
