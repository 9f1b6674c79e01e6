"""Words of the user's own, and names learnt in one line: hidden wherever they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.answer.redact import Redactor, redactor
from doctor.answer.redact_words import MAX_WORDS, own_words
from doctor.base.errors import UsageError
from doctor.judge.diagnosis import conclude
from kb.knowledge import Knowledge

LOG = "ImportError: libhccl.so: cannot open shared object file: No such file or directory (PHOENIX_v2/phoenix.py of 天宫 项目)\n"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("# our projects\nPhoenix\n\n天宫\nhost\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "md", "html", "sarif", "junit", "github"])
def test_own_words_leave_in_no_format(form: str, words: Path, run) -> None:  # type: ignore[no-untyped-def]
    """In any case, inside of other words too; the option alone is enough."""
    done = run("scan", "-", "-f", form, "--all", "--redact-words", str(words), stdin=LOG.encode(), PYTHONUTF8="1")
    told = done.stdout.decode()
    assert "ENV001" in told
    assert "phoenix" not in told.lower()
    assert "天宫" not in told


def test_own_words_leave_in_no_issue(words: Path, run) -> None:  # type: ignore[no-untyped-def]
    told = run("issue", "-", "--redact-words", str(words), stdin=LOG.encode()).stdout.decode()
    assert "libhccl" in told
    assert "phoenix" not in told.lower()
    refused = run("issue", "-", "--no-redact", "--redact-words", str(words), stdin=LOG.encode())
    assert refused.returncode == 2


def test_own_words_leave_pseudonyms_whole(words: Path) -> None:
    """A word may be a part of what a pseudonym says."""
    using = Redactor(own=own_words(str(words)))
    assert using.text("hostname: cab-7x, PHOENIX") == "<word-1>name: <host-1>, <word-2>"


@pytest.mark.parametrize("text", ["a\n", "\n".join(f"word{n}" for n in range(MAX_WORDS + 1)), "\udcff\udcfe"])
def test_a_file_of_words_that_cannot_be_used_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError):
        own_words(str(path))


def test_a_missing_file_is_refused_before_anything_is_read(run) -> None:  # type: ignore[no-untyped-def]
    done = run("scan", "/nonexistent.log", "--redact-words", "/nonexistent.txt")
    assert done.returncode == 2
    assert b"nonexistent.txt" in done.stderr


@pytest.mark.parametrize(
    ("tells", "name", "elsewhere"),
    [
        ("hostname: cab7-up", "cab7-up", "lost cab7-up at step 3"),
        ("user=xuming9 denied", "xuming9", "killed job of xuming9"),
        ("/data/lixiaoming/a.py", "lixiaoming", "rank 3 by lixiaoming"),
        ("联系人：张伟", "张伟", "请张伟处理"),
        ("password: corr3ct-horse", "corr3ct-horse", "got corr3ct-horse?"),
        ("clone https://bot:s3cr3tWord@x.corp-y.cn/a", "s3cr3tWord", "tried s3cr3tWord"),
        ("GET http://gpu-4.corp-y.cn/", "gpu-4.corp-y.cn", "gpu-4.corp-y.cn down"),
        ("z00512345 logged in", "z00512345", "by Z00512345_x"),
    ],
)
def test_what_one_line_tells_is_hidden_in_every_line(tells: str, name: str, elsewhere: str, knowledge: Knowledge) -> None:
    """Also in lines that come before it, in any case where it is no secret."""
    before, _, after = redactor(conclude([], knowledge), knowledge).report([elsewhere, tells, elsewhere])
    assert name.lower() not in before.lower()
    assert before == after
