"""Bad input: each gives a clear message and the right exit code, never a traceback, a hang or silence."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
HEALTHY = "[INFO] GE(7,python3):2026-02-03-04:05:06.007.008 [ge.cc:1]7 Run:step done\n"


class Bad(NamedTuple):
    make: Callable[[Path], None]
    args: tuple[str, ...]
    code: int
    stderr: str = ""
    skipped: str = ""


def write(name: str, data: bytes | str) -> Callable[[Path], None]:
    return lambda d: (d / name).write_bytes(data if isinstance(data, bytes) else data.encode()) and None  # type: ignore[func-returns-value]


def unreadable(d: Path) -> None:
    (d / "a.log").write_text(KNOWN)
    (d / "secret.log").write_text(KNOWN)
    (d / "secret.log").chmod(0)


def loop(d: Path) -> None:
    (d / "in").mkdir()
    (d / "in" / "a.log").write_text(KNOWN)
    (d / "in" / "again").symlink_to(d / "in")


def link_out(d: Path) -> None:
    (d / "in").mkdir()
    (d / "in" / "a.log").write_text(KNOWN)
    (d / "in" / "out").symlink_to("/etc")


def tarball(d: Path) -> None:
    with tarfile.open(d / "x.tar.gz", "w:gz") as tar:
        data = KNOWN.encode()
        info = tarfile.TarInfo("../../escape.log")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("evil")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        tar.addfile(link)


def zipped(d: Path) -> None:
    with zipfile.ZipFile(d / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/a.log", KNOWN)


def bomb(d: Path) -> None:
    with gzip.open(d / "x.log.gz", "wb", compresslevel=9) as file:
        block = b"a" * (1 << 20)
        for _ in range(200):
            file.write(block)


def fifo(d: Path) -> None:
    (d / "a.log").write_text(KNOWN)
    os.mkfifo(d / "pipe")


def user_entry(text: str) -> Callable[[Path], None]:
    def make(d: Path) -> None:
        (d / "a.log").write_text(KNOWN)
        (d / "kb").mkdir()
        (d / "kb" / "usr001_mine.yaml").write_text(text)

    return make


def doubled(d: Path) -> None:
    user_entry(MINE)(d)
    (d / "kb" / "usr001_other.yaml").write_text(MINE)


MINE = """\
code: USR001
severity: error
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence: {any: [{regex: 'libhccl\\.so: (?P<what>.{1,40}) file'}]}
fixes: [{goal: resolve, title: {en: x, zh: 改}, commands: [{run: "true"}]}]
references: [{title: me}]
"""

TABLE = {
    "missing path": Bad(lambda d: None, ("nowhere.log",), 3, skipped="no such file"),
    "unreadable file": Bad(unreadable, ("{d}",), 1, skipped="no permission"),
    "directory loop": Bad(loop, ("{d}/in",), 1),
    "link out of the tree": Bad(link_out, ("{d}/in",), 1, skipped="leads out"),
    "truncated gz": Bad(write("x.log.gz", gzip.compress((KNOWN * 2000).encode())[:-30]), ("{d}",), 1, skipped="ends early"),
    "damaged gz": Bad(write("x.log.gz", b"\x1f\x8b\x08\x00garbage" * 9), ("{d}",), 3, skipped="damaged"),
    "gz bomb": Bad(bomb, ("{d}",), 3, skipped="times when unpacked"),
    "tar with escape and link": Bad(tarball, ("{d}",), 1, skipped="not followed"),
    "zip": Bad(zipped, ("{d}",), 1),
    "7z": Bad(write("x.7z", b"7z\xbc\xaf" + b"x" * 100), ("{d}",), 3, skipped="unpack it first"),
    "NULs and nothing else": Bad(write("x.log", b"\0" * 10_000), ("{d}",), 3, skipped="nothing but NUL"),
    "UTF-16 in doubt": Bad(write("x.log", "训练失败".encode("utf-16-le") * 9 + "ok\n".encode("utf-16-le")), ("{d}",), 3, skipped="iconv"),
    "damaged zip": Bad(write("x.zip", b"PK\x03\x04" + b"x" * 100), ("{d}",), 3, skipped="damaged archive"),
    "bzip2": Bad(write("x.bz2", b"BZh91AY&SY" + b"x" * 100), ("{d}",), 3, skipped="damaged bz2"),
    "binary": Bad(write("x.so", b"\x7fELF" + bytes(range(256)) * 20), ("{d}",), 3, skipped="binary"),
    "NUL bytes": Bad(write("x.log", b"\0\0\0" + KNOWN.encode() + b"\0" * 50), ("{d}",), 1),
    "invalid UTF-8": Bad(write("x.log", b"caf\xe9 \xff\xfe\n" + KNOWN.encode()), ("{d}",), 1),
    "GBK": Bad(write("x.log", "训练失败\n".encode("gbk") + KNOWN.encode()), ("{d}",), 1),
    "UTF-16": Bad(write("x.log", KNOWN.encode("utf-16")), ("{d}",), 1),
    "a 50 MB line": Bad(write("x.log", b"x" * 50_000_000 + KNOWN.encode()), ("{d}",), 1),
    "empty file": Bad(write("x.log", b""), ("{d}",), 3),
    "empty folder": Bad(lambda d: None, ("{d}",), 3),
    "CRLF": Bad(write("x.log", KNOWN.replace("\n", "\r\n")), ("{d}",), 1),
    "no final newline": Bad(write("x.log", KNOWN.rstrip("\n")), ("{d}",), 1),
    "named pipe in a folder": Bad(fifo, ("{d}",), 1, skipped="named pipe"),
    "healthy": Bad(write("x.log", HEALTHY * 50), ("{d}",), 0),
    "unknown error": Bad(write("x.log", HEALTHY.replace("INFO", "ERROR").replace("step done", "qwerty asdf") * 5), ("{d}",), 3),
    "no log of ours": Bad(write("x.txt", "shopping list\n- milk\n- eggs\n"), ("{d}",), 3),
    "bad regex in a user entry": Bad(user_entry(MINE.replace("(?P<what>", "(?P<")), ("{d}/a.log", "--kb", "{d}/kb"), 1, stderr="bad regex"),
    "YAML that is no mapping": Bad(user_entry("- a\n- b\n"), ("{d}/a.log", "--kb", "{d}/kb"), 1, stderr="no mapping"),
    "unknown key in a user entry": Bad(user_entry(MINE.replace("severity", "severty")), ("{d}/a.log", "--kb", "{d}/kb"), 1, stderr="did you mean 'severity'"),
    "a code twice": Bad(doubled, ("{d}/a.log", "--kb", "{d}/kb"), 1, stderr="is taken by"),
    "no such knowledge folder": Bad(write("a.log", KNOWN), ("{d}/a.log", "--kb", "{d}/nokb"), 4, stderr="no such knowledge folder"),
    "bad option": Bad(lambda d: None, ("--wat",), 2, stderr="--wat"),
    "bad time": Bad(write("a.log", KNOWN), ("{d}/a.log", "--since", "yesterdayish"), 2, stderr="is no time"),
    "bad level": Bad(write("a.log", KNOWN), ("{d}/a.log", "--level", "loud"), 2, stderr="is no level"),
    "output cannot be written": Bad(write("a.log", KNOWN), ("{d}/a.log", "-o", "{d}/no/such/x.json"), 2, stderr="cannot write"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_bad_input(name: str, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """The exit code is right, the reason is told, nothing crashes."""
    bad = TABLE[name]
    if name == "unreadable file" and os.geteuid() == 0:
        pytest.skip("root reads everything")
    bad.make(tmp_path)
    args = [a.replace("{d}", str(tmp_path)) for a in bad.args]
    done = run("scan", *args, "-f", "json")
    stderr = done.stderr.decode()
    assert "Traceback" not in stderr
    assert done.returncode == bad.code, (done.returncode, stderr, done.stdout[-600:])
    assert bad.stderr in stderr
    if bad.skipped:
        skipped = json.loads(done.stdout)["skipped"]
        assert any(bad.skipped in s["reason"] for s in skipped), skipped
    if bad.code == 1:
        assert json.loads(done.stdout)["findings"][0]["id"] == "ENV001"


def test_a_user_entry_is_used(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """A good entry in a folder given by --kb is matched like any other."""
    user_entry(MINE)(tmp_path)
    done = run("scan", str(tmp_path / "a.log"), "--kb", str(tmp_path / "kb"), "-f", "json")
    assert "USR001" in [f["id"] for f in json.loads(done.stdout)["findings"]]


def test_growing_file(tmp_path: Path) -> None:
    """A file that grows or shrinks while it is read gives what was there, without a fault."""
    from doctor.api import diagnose

    path = tmp_path / "a.log"
    path.write_text(HEALTHY * 1000 + KNOWN)
    with path.open("a") as writer:
        writer.write(HEALTHY)
        assert diagnose(path).roots[0].finding.entry.code == "ENV001"
    path.write_text("")
    assert diagnose(path).verdict == "inconclusive"


@pytest.mark.parametrize("words", [("scan", "{d}/a.log"), ("scan", "{d}"), ("issue", "{d}/a.log"), ("merge", "{d}/a.log"), ("ops", "{d}/a.log"), ("precision", "{d}/a.log")])
@pytest.mark.parametrize("target", ["a.log", "link"])
def test_what_is_read_is_never_overwritten(tmp_path: Path, run, words: tuple[str, ...], target: str) -> None:  # type: ignore[no-untyped-def]
    """By its name, by the name of a link, or by another name of the same file in what is read."""
    (tmp_path / "a.log").write_text(KNOWN)
    (tmp_path / "link").symlink_to("a.log")
    done = run(*(w.replace("{d}", str(tmp_path)) for w in words), "-o", str(tmp_path / target))
    assert done.returncode == 2, done.stderr
    assert b"it would be overwritten" in done.stderr
    assert (tmp_path / "a.log").read_text() == KNOWN


def test_a_report_may_be_written_anew(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """The one of yesterday beside the logs is no log."""
    (tmp_path / "a.log").write_text(KNOWN)
    for _ in range(2):
        assert run("scan", str(tmp_path), "-o", str(tmp_path / "report.json")).returncode == 1
        assert run("scan", str(tmp_path), "-o", str(tmp_path / "report.md")).returncode == 1
