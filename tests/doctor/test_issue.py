"""`npu-doctor issue`: a text that can be sent as it is. Hidden by default, in the reader's language, short enough for a tracker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doctor.answer.report import report
from doctor.answer.versions import versions
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.render import draft

SECTIONS = {
    "en": ["Environment", "Symptoms", "Root cause, as far as the logs tell", "Evidence", "What was tried", "Reproduction"],
    "zh": ["环境", "现象", "根因（以日志能证明的为限）", "证据", "已尝试的方法", "复现"],
}
LOG = """\
zhangwei@train-box-17:~$ pip list
torch==2.5.1 torch_npu-2.5.1.post1-cp310-cp310-manylinux_2_17_aarch64.whl vllm==0.9.1 vllm_ascend==0.9.1rc1
source /usr/local/Ascend/ascend-toolkit/8.2.RC1/set_env.sh with /home/zhangwei/lib/python3.10/site-packages
Driver Version: 24.1.0.3 on 10.23.45.67
ImportError: libhccl.so: cannot open shared object file: No such file or directory
[ERROR] GE(77,python):2026-01-02-03:04:05.006.007 [b.cc:3]77 F: connect 10.23.45.67 failed
"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_draft_has_what_maintainers_ask_for(lang: str, run) -> None:  # type: ignore[no-untyped-def]
    """Versions with the log that names them, the root first, its evidence, boxes to tick, and the command of the script."""
    done = run("issue", "-", "--lang", lang, stdin=LOG.encode(), PYTHONUTF8="1")
    told = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^## (.*)$", told, re.MULTILINE)[:6] == SECTIONS[lang]
    assert told.startswith("# ENV001 ")
    for row in ("- CANN: 8.2.RC1", "- torch_npu: 2.5.1.post1", "- torch: 2.5.1", "- vllm: 0.9.1", "- vllm-ascend: 0.9.1rc1", "- driver: 24.1.0.3", "- Python: 3.10"):
        assert row in told, row
    assert "libhccl.so: cannot open shared object file" in told
    assert "- [ ] " in told
    assert "zhangwei" not in told
    assert "10.23.45.67" not in told
    assert "train-box-17" not in told
    assert re.search(r"1 ip, 1 user", done.stderr.decode())


def test_nothing_is_hidden_only_when_asked(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """--no-redact leaves everything, and says so on the screen and in the draft."""
    done = run("issue", "-", "--no-redact", "--lang", "en", stdin=LOG.encode(), PYTHONUTF8="1")
    assert "10.23.45.67" in done.stdout.decode()
    assert "NOT redacted" in done.stderr.decode()
    assert "Nothing was made anonymous" in done.stdout.decode()
    refused = run("issue", "-", "--no-redact", "--redact-map", str(tmp_path / "m.json"), stdin=LOG.encode())
    assert refused.returncode == 2


def test_into_a_file_with_the_names_apart(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """-o writes the draft; what stands for what goes into a file of the user's own only when asked."""
    log, out, names = tmp_path / "a.log", tmp_path / "issue.md", tmp_path / "names.json"
    log.write_text(LOG)
    done = run("issue", str(log), "-o", str(out), "--redact-map", str(names), "--to", "vllm-ascend")
    assert done.stdout == b""
    assert "ENV001" in out.read_text(encoding="utf-8")
    assert "10.23.45.67" not in out.read_text(encoding="utf-8")
    assert "10.23.45.67" in names.read_text(encoding="utf-8")
    assert b"github.com/vllm-project/vllm-ascend/issues" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.log", "issue.md", "names.json"]


def test_of_another_finding(run) -> None:  # type: ignore[no-untyped-def]
    """--finding N chooses what the issue is about; a number too high is told."""
    done = run("issue", "kb/demo", "--finding", "2", "--lang", "en")
    assert done.stdout.decode().startswith("# ")
    assert not done.stdout.decode().startswith("# RTS001")
    assert run("issue", "kb/demo", "--finding", "99").returncode == 2


def test_of_what_nobody_knows(run) -> None:  # type: ignore[no-untyped-def]
    """Without a finding the shape of the first error is the title, and the errors are shown as unexplained."""
    text = b"[ERROR] GE(77,python):2026-01-02-03:04:05.006.007 [b.cc:3]77 Frob:qwerty asdf went wrong with 507899999\n" * 3
    done = run("issue", "-", "--lang", "en", stdin=text)
    assert done.returncode == 0
    assert "No known fault was recognised" in done.stdout.decode()
    assert "qwerty asdf" in done.stdout.decode().splitlines()[0]
    assert run("issue", "no-such-file").returncode == 3


EVIL = ["\x1b]0;owned\x07", "\x9b31m", "\u202egnp.exe\u202c", "<script>alert(1)</script>", "```\n# heading\n```", "![x](http://evil/x.png)",
        "| a | b |", "@everyone", "<!-- hidden", "[bold]x[/]"]  # fmt: skip


@pytest.mark.parametrize("hidden", [True, False])
def test_nothing_of_the_log_becomes_markup(hidden: bool, run) -> None:  # type: ignore[no-untyped-def]
    """Outside of fences no heading, image, tag, comment or mention of the log's own; inside nothing that ends the fence."""
    rows = [f"ImportError: lib{e}.so: cannot open shared object file: No such file or directory {e}" for e in EVIL]
    rows += [f"[ERROR] HCCL(7,py):2026-01-02-03:04:05.006.007 [a.cc:1] [7]unheard of {e} torch==2.5.1{e} trouble" for e in EVIL]
    done = run("issue", "-", *(() if hidden else ("--no-redact",)), stdin="\n".join(rows).encode(), PYTHONUTF8="1")
    told = done.stdout.decode()
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told.replace("\n", "")) == []
    fence, outside = "", []
    for row in told.splitlines():
        bare = row.strip()
        if fence:
            fence = "" if bare == fence else fence
        elif bare.startswith("```"):
            fence = re.match(r"`+", bare)[0]  # type: ignore[index]
        else:
            outside.append(row)
    text = "\n".join(outside)
    assert fence == ""
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    for bad in ("<script>", "![x](", "<!--", "@everyone", "| a | b |"):
        assert bad not in text


def test_a_draft_fits_a_tracker(bench: Bench) -> None:
    """Evidence is cut where the text would be longer than trackers take; the sections all stay."""
    long = "ImportError: libhccl.so: cannot open shared object file: No such file or directory " + "`x` é漢 " * 4000
    text = "\n".join(f"{long} {n}" for n in range(40)) + "\n"
    source = discover.given_text(text)
    made = report(conclude([bench._scanner.scan(source)], bench.knowledge), bench.knowledge)
    for finding in made["findings"]:
        finding["evidence"] = [{**one, "text": one["text"] * 60} for one in finding["evidence"] * 20]
        finding["cause"] = {k: v * 20 for k, v in finding["cause"].items()}
    told = draft.render(made, versions([source]), "en")
    assert len(told) <= draft.MAX_TEXT
    assert re.findall(r"^## (.*)$", told, re.MULTILINE)[:6] == SECTIONS["en"]


def test_versions_that_begin_alike_are_one() -> None:
    """`2.5` beside `2.5.1` says nothing new; a wheel's tags are no part of its version; a broken log ends nothing."""

    def broken() -> None:
        raise OSError(5, "Input/output error")

    good = discover.given_text("torch_npu 2.5\ntorch_npu==2.5.1\ntorch_npu-2.5.1-cp310-cp310-linux_aarch64.whl\n| npu-smi 24.1.rc2   Version: 24.1.rc2 |\n")
    found = {s.name: [v for v, _ in s.values] for s in versions([good._replace(open=broken), good])}  # type: ignore[arg-type]
    assert found == {"torch_npu": ["2.5.1"], "npu-smi": ["24.1.rc2"], "driver": ["24.1.rc2"]}
