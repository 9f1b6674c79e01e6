"""Nothing that is read is ever run: captures stay data in every fix, knowledge is plain values, links and archives lead nowhere."""

from __future__ import annotations

import io
import json
import re
import shlex
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.answer import advice
from kb.knowledge import Knowledge
from kb.model import Entry
from kb.placeholders import names

KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
HOSTILE = ["$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a\ntouch pwned", "-rf /", "x && touch pwned", "${IFS}", "\\", "!!", "~root", "*", ">pwned", "é 中"]
MARK = "CAPTURE"  # a value that needs no quoting: where it stands in a command, a hostile one would stand


def texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Everything of an entry that a user is invited to paste into a shell."""
    for fix in entry.fixes:
        yield from (("command", c.run) for c in fix.commands)
        yield from (("value", f"export {e.name}={e.value}") for e in fix.env)


def active(command: str) -> list[str]:
    """What a shell acts upon: signs outside of quotes, and expansions inside of double ones."""
    found, state, escaped = [], "", False
    for c in command:
        if escaped:
            escaped = False
        elif c == "\\" and state != "'":
            escaped = True
        elif state:
            if c == state:
                state = ""
            elif state == '"' and c in "$`":
                found.append(c)
        elif c in "'\"":
            state = c
        elif c in ";&|<>()$`~*?!{}\n":
            found.append(c)
    assert not state
    return found


def filled(command: str, value: str) -> str:
    slots = {n.removesuffix(".all") for n, _ in names(command)}
    return advice.shell(command, advice.Values(dict.fromkeys(slots, value), dict.fromkeys(slots, (value,))))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_capture_adds_nothing_to_a_command(hostile: str, knowledge: Knowledge) -> None:
    """Of all entries: with a hostile value in every slot a command does what it does with a harmless one, nested shells included."""
    slots = quoted = nested = 0
    for code in knowledge.codes_of_entries:
        entry = knowledge.entry(code)
        assert entry is not None
        for _, command in texts(entry):
            if not names(command):
                continue
            slots += 1
            tame, evil = filled(command, MARK), filled(command, hostile)
            quoted += bool(re.search(rf"'[^' ]*{MARK}[^' ]*'|\"[^\" ]*{MARK}", tame))
            assert active(evil) == active(tame), (code, command, evil)
            try:
                words = shlex.split(tame, comments=True)
            except ValueError:
                continue  # a part of a script
            others = shlex.split(evil, comments=True)
            assert len(others) == len(words), (code, command, evil)
            for program, before, word, other in zip(["", *words], words, words[1:], others[1:], strict=False):
                assert MARK in word or word == other
                assert other.startswith("-") == word.startswith("-"), (code, command, evil)
                if before == "-c" and MARK in word and program == "bash":
                    nested += 1
                    assert active(other) == active(word), (code, command, evil)
                elif before == "-c" and MARK in word and program.startswith("python"):
                    nested += 1
                    assert re.sub(r"[\w.]", "", other) == re.sub(r"[\w.]", "", word), (code, command, evil)
    assert slots > 50
    assert quoted > 5
    assert nested > 2


@pytest.mark.parametrize(
    ("command", "value", "expected"),
    [
        ("ls {x}", "a b", "ls 'a b'"),
        ("ls '{x}*'", "it's", "ls 'it'\"'\"'s*'"),
        ('grep "{x}" f', '$(id) "`x`', 'grep "\\$(id) \\"\\`x\\`" f'),
        ('grep "{x}" f', "-rf", 'grep "./-rf" f'),
        ('grep ":{x}" f', "-1", 'grep ":-1" f'),
        ("bash -c 'ping {x}'", "$(id)", "bash -c 'ping '\"'\"'$(id)'\"'\"''"),
        ("python -c 'import {x}'", "os; os.system('id')", "python -c 'import os__os.system__id__'"),
        ("python3 -m pip install '{x}'", "peft>=0.18", "python3 -m pip install 'peft>=0.18'"),
        ("python3 -m pip list | python3.11 -c 'import {x}'", "a-b", "python3 -m pip list | python3.11 -c 'import a_b'"),
        ("sed -i 's/a/{x}/' f", "b/e; id", "sed -i 's/a/b_e__id/' f"),
        ("grep '{x}' f", "plain-1.so", "grep 'plain-1.so' f"),
        ("cat {x}", "-1", "cat ./-1"),
        ("lsmod; npu-doctor explain {x}", "-8010", "lsmod; npu-doctor explain -8010"),
        ("npu-doctor explain {x}", "-8010 -f", "npu-doctor explain './-8010 -f'"),
        ("grep -rh -A8 '{x}' d", "-8010", "grep -rh -A8 '[-]8010' d"),
        ("export A={x}:$A", "${ASCEND_HOME_PATH}/opp/vendors/frob", 'export A="${ASCEND_HOME_PATH}/opp/vendors/frob":$A'),
        ("ls {x}", "$HOME/a;id", "ls '$HOME/a;id'"),
        ("ls {x}", "$(id)/a", "ls '$(id)/a'"),
        ("ls {x}", "${A:-$(id)}/a", "ls '${A:-$(id)}/a'"),
        ("ls {x}", "$HOME", "ls '$HOME'"),
        ("grep -F '{x}' d", "-8010", "grep -F './-8010' d"),
    ],
)
def test_quotes_inside_of_quotes(command: str, value: str, expected: str) -> None:
    """What stands in quotes already is not quoted again, but cannot end them; a nested program gets a name or nothing."""
    assert filled(command, value) == expected


TAGS = {
    "system": "!!python/object/apply:os.system ['touch {pwned}']",
    "new": "!!python/object/new:os.system ['touch {pwned}']",
    "name": "!!python/name:os.system",
    "module": "!!python/module:os",
    "own": "!run 'touch {pwned}'",
    "binary": "!!binary aGVsbG8=",
}
ENTRY = """\
code: USR001
severity: error
kind: user-code
title: {{en: {title}, zh: 我的}}
cause: {{en: "Mine {{0.__class__}} {{lib.__globals__}} {{lib!r:>{{lib}}}}.", zh: 我的。}}
evidence: {{any: [{{regex: 'libhccl\\.so: (?P<lib>.{{1,40}}) file'}}]}}
fixes: [{{goal: resolve, title: {{en: x, zh: 改}}, commands: [{{run: "touch {pwned}"}}]}}]
repro: {{template: single_op, with: {{op: "__import__('os').system('touch {pwned}')"}}}}
references: [{{title: me}}]
"""


@pytest.mark.parametrize("tag", TAGS)
def test_tags_of_yaml_are_refused(tag: str, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """A colleague's file cannot make an object of ours: it is named with its line, skipped, and the scan goes on."""
    pwned, folder, log = tmp_path / "pwned", tmp_path / "kb", tmp_path / "a.log"
    folder.mkdir()
    log.write_text(KNOWN)
    (folder / "usr001_mine.yaml").write_text(ENTRY.format(title=TAGS[tag].format(pwned=pwned), pwned=pwned))
    for args in (["scan", str(log), "-f", "json", "--kb", str(folder)], ["kb", "check", str(folder / "usr001_mine.yaml")]):
        done = run(*args)
        assert b"is not allowed" in done.stderr + done.stdout, (done.stdout, done.stderr)
        assert not pwned.exists()
    done = run("scan", str(log), "-f", "json", "--kb", str(folder))
    assert json.loads(done.stdout)["findings"][0]["id"] == "ENV001"


def test_knowledge_of_users_runs_nothing(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Its commands are shown, its placeholders are names and nothing else, its script holds its words as text or not at all."""
    pwned, folder, log = tmp_path / "pwned", tmp_path / "kb", tmp_path / "a.log"
    folder.mkdir()
    log.write_text(KNOWN)
    (folder / "usr001_mine.yaml").write_text(ENTRY.format(title="Mine", pwned=pwned))
    for form in ("text", "json", "md", "jsonl"):
        done = run("scan", str(log), "-f", form, "--all", "--kb", str(folder))
        assert done.returncode == 1, done.stderr
        assert f"touch {pwned}".encode() in done.stdout
        assert b"<class" not in done.stdout
    script = run("repro", "USR001", "--from", str(log), "--kb", str(folder))
    run("issue", str(log), "--kb", str(folder))
    assert b"__import__('os')" not in script.stdout or b'"__import__(' in script.stdout
    assert not pwned.exists()


# Archives and links

NAMES = ["../../escape.log", "/tmp/npu-doctor-absolute.log", "a/../../../escape.log", "..\\..\\escape.log", "C:\\escape.log", "a\x1b[31m.log", "$(touch pwned).log", "-rf"]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}


@pytest.mark.parametrize("form", ["tar", "tar.gz", "zip"])
def test_archives_lead_nowhere(form: str, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Members called `../x`, `/x` or worse are read in memory: their text is diagnosed, and no file is made anywhere."""
    place = tmp_path / "in" / "deep"
    place.mkdir(parents=True)
    path = place / f"x.{form}"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in NAMES:
                archive.writestr(zipfile.ZipInfo(name), KNOWN)
    else:
        with tarfile.open(path, "w:gz" if form == "tar.gz" else "w") as tar:
            for name in NAMES:
                info = tarfile.TarInfo(name)
                info.size = len(KNOWN)
                tar.addfile(info, io.BytesIO(KNOWN.encode()))
            for kind, target in ((tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "/etc/passwd"), (tarfile.CHRTYPE, ""), (tarfile.FIFOTYPE, "")):
                info = tarfile.TarInfo(f"odd-{kind.decode()}")
                info.type, info.linkname = kind, target
                tar.addfile(info)
    before = everything(tmp_path)
    done = run("scan", str(place), "-f", "json")
    report = json.loads(done.stdout)
    assert report["findings"][0]["id"] == "ENV001"
    assert report["findings"][0]["count"] == len(NAMES)
    assert everything(tmp_path) == before
    assert not any(Path(p).exists() for p in ("/tmp/npu-doctor-absolute.log", "/tmp/escape.log"))
    if form != "zip":
        assert sum("odd-" in s["path"] for s in report["skipped"]) == 4
    assert b"\x1b" not in done.stdout


def test_links_that_leave_the_folder(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """To a file, a folder, through another link, to nothing, in a circle, to a device: none is followed, each that leaves is named."""
    outside, place = tmp_path / "outside", tmp_path / "in"
    outside.mkdir()
    place.mkdir()
    (outside / "secret.log").write_text("RuntimeError: secret of somebody else 507018\n")
    (place / "a.log").write_text(KNOWN)
    (place / "inside.log").symlink_to(place / "a.log")
    (place / "circle").symlink_to(place / "circle")
    leaving = {"file.log": outside / "secret.log", "folder": outside, "up": "..", "chain.log": place / "file.log", "device": "/dev/zero", "nothing.log": outside / "none"}
    for name, target in leaving.items():
        (place / name).symlink_to(target)
    done = run("scan", str(place), "-f", "json")
    report = json.loads(done.stdout)
    named = {Path(s["path"]).name for s in report["skipped"]}
    assert b"secret of somebody" not in done.stdout
    assert report["findings"][0]["count"] == 1
    assert report["stats"]["files"] == 1
    assert named >= set(leaving)
