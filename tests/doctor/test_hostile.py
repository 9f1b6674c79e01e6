"""Logs are hostile: nothing in them steers a terminal, becomes markup, is executed, or reaches the network."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import hostile_log

from doctor import cli
from doctor.answer import advice
from doctor.base.output import inert
from doctor.cli import main
from doctor.commands.reporting import FORMATS
from kb.invisible import STEERING
from kb.placeholders import fill, names
from tests import starts

ROOT = Path(__file__).resolve().parent.parent.parent


@functools.cache
def told(form: str, lang: str = "en") -> str:
    """What the command says of the hostile log, once for all tests."""
    done = starts.command(("scan", "-", "-f", form, "--all", "--lang", lang), hostile_log(), environment={**os.environ, "PYTHONUTF8": "1"})
    assert done.returncode in (1, 3), done.stderr
    return done.stdout.decode()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_renderer_lets_anything_through(form: str, lang: str) -> None:
    """Control characters, escapes and reordering marks are gone from every output, decoded JSON included."""
    out = told(form, lang)
    assert STEERING.findall(out.replace("\n", "")) == []
    if form in ("json", "jsonl", "sarif"):
        for row in out.splitlines() if form == "jsonl" else [out]:
            for text in _strings(json.loads(row)):
                if not text.startswith("ImportError: lib\x00"):
                    assert STEERING.findall(text.replace("\n", "")) == [], text
    assert not Path("/tmp/pwned").exists()


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for k, v in value.items() if k not in ("hits", "clusters") for s in _strings(v)]
    return [s for v in value for s in _strings(v)] if isinstance(value, list) else []


def test_markdown_fences_hold() -> None:
    """Log text stays inside its fence, and outside it is escaped: no heading, image, table or HTML of the log's own."""
    fence, outside = "", []
    for row in told("md").splitlines():
        if fence:
            if row == fence:
                fence = ""
        elif row.startswith("```"):
            fence = re.match(r"`+", row)[0]  # type: ignore[index]
        else:
            outside.append(row)
    assert fence == ""
    text = "\n".join(outside)
    assert "<script>" not in text
    assert "![x](" not in text
    assert "# heading" not in text


def test_captures_are_quoted_in_commands() -> None:
    """A captured value reaches a shell command as one word, and never as an option."""
    known = advice.Values({"lib": "$(id); rm x", "op": "-rf"}, {"pid": ("1", "2; id")})
    assert advice.shell("ldd {lib}", known) == "ldd '$(id); rm x'"
    assert advice.shell("cat {op}", known) == "cat ./-rf"
    assert advice.shell("kill {pid.all}", known) == "kill 1 '2; id'"


def test_placeholders_evaluate_nothing() -> None:
    """Only plain names are slots; attributes, calls, shell variables and captured braces stay what they are."""
    assert names("{a.__class__} {0} {b()} ${HOME} {0..7} {ok|x}") == (("ok", "x"),)
    assert fill("{a}", {"a": "{b}", "b": "no"}, {}) == "{b}"
    assert fill("{{a}} {a|none}", {}, {}) == "{a} none"


def test_no_network() -> None:
    """A scan, an explanation and a search open no socket."""
    code = (
        "import socket\n"
        "def no(*a, **k): raise SystemExit('network!')\n"
        "socket.socket = no; socket.create_connection = no; socket.getaddrinfo = no\n"
        "from doctor.cli import main\n"
        "main(['demo', '-f', 'json']); main(['explain', '507018']); main(['kb', 'search', 'hccl'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-400:]


def test_nothing_is_written_but_the_cache(run, checkout: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A scan leaves the logs' folder and the home as they were, the cache apart."""
    home, logs = tmp_path / "home", tmp_path / "logs"
    home.mkdir()
    logs.mkdir()
    (logs / "a.log").write_bytes(hostile_log())
    before = (logs / "a.log").read_bytes()
    run("scan", str(logs), cwd=checkout, HOME=str(home))
    assert [p.name for p in logs.iterdir()] == ["a.log"]
    assert (logs / "a.log").read_bytes() == before
    assert {p.relative_to(home).parts[0] for p in home.rglob("*")} <= {".cache"}


def test_a_read_only_or_missing_home_is_no_hindrance(run, checkout: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Without a place for the cache the diagnosis still comes."""
    for home in (str(tmp_path / "none" / "at" / "all"), "/proc", ""):
        line = b"ImportError: libhccl.so: cannot open shared object file: No such file"
        done = run("-f", "json", stdin=line, cwd=checkout, HOME=home)
        assert done.returncode == 1, done.stderr


def test_a_damaged_cache_is_rebuilt(run, checkout: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Whatever stands in the cache, the answer is right."""
    line = b"ImportError: libhccl.so: cannot open shared object file: No such file"
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    assert run(stdin=line, cwd=checkout, **env).returncode == 1
    (pack,) = tmp_path.rglob("*.pack")
    whole = pack.read_bytes()
    for damage in (b"", b"garbage\n\n", whole[:5000], whole.replace(b"libhccl", b"xxxxxxx")):
        assert damage != whole
        pack.write_bytes(damage)
        done = run("-f", "json", stdin=line, cwd=checkout, **env)
        assert json.loads(done.stdout)["findings"][0]["id"] == "ENV001", done.stderr
        assert pack.read_bytes() == whole


COMMAND = re.compile(r"^\s*::[a-z-]|##\[|##vso\[", re.MULTILINE)


@pytest.mark.parametrize("form", [f for f in FORMATS if f != "github"])
def test_no_log_commands_the_pipeline(form: str) -> None:
    """What runners of GitHub and Azure take for commands is broken up in every text, and stays what it was in JSON."""
    assert COMMAND.findall(told(form)) == []
    said = {"a": "##vso[task.x]y", "b": "::error::z", "c": "##[group]"}
    assert json.loads(inert(json.dumps(said, indent=1), "json")) == said


@pytest.mark.parametrize("words", [("-v",), ("--all", "--no-pager")])
def test_no_line_that_is_quoted_alone_is_a_command(words: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Evidence stands on rows of its own, and runners pass over blanks before a command."""
    log = tmp_path / "a.log"
    log.write_text("::error::pwn ##vso[task.x] ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
    assert cli.main(["scan", str(log), *words]) == 1
    out = capsys.readouterr().out
    assert "pwn" in out
    assert COMMAND.findall(out) == []


def test_annotations_quote_commands() -> None:
    """The format that consists of commands has none of a log's."""
    out = told("github")
    assert {row.split("::")[1].split(" ")[0] for row in out.splitlines()} <= {"error", "warning", "notice", ""}
    assert all(row.startswith(("::error", "::warning", "::notice")) for row in out.splitlines())


def test_knowledge_steers_no_terminal_either(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """An entry whose texts hold escapes or invisible characters is refused."""
    from tests.doctor.test_bad_input import MINE

    for evil in ("\\e[2J", "\\u202e", "\\u200b", "\\x9b"):
        (tmp_path / "usr001_x.yaml").write_text(MINE.replace("{en: Mine, ", f'{{en: "Mine {evil}", '))
        done = run("kb", "show", "USR001", "--kb", str(tmp_path))
        assert b"steers a terminal" in done.stderr
        assert done.returncode == 2


@pytest.mark.parametrize("command", ["memory", "hang", "pace"])
def test_json_of_no_command_steers_a_terminal(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a file is a value like any other: whole in JSON, and harmless where JSON is printed."""
    evil = tmp_path / "a\u202eb\x9bc\u2028\U000e0041.log"
    slow = (ROOT / "tests" / "data" / "pace" / "slow.log").read_bytes()
    evil.write_bytes(slow + b"NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)\n")
    (tmp_path / f"hccl_trace_rank_{evil.stem}_3").write_bytes(b"\x80\x04cposix\nsystem\n")
    (tmp_path / f"{evil.stem}.pickle").write_bytes(b"\x80\x04cposix\nsystem\n")
    main([command, str(tmp_path), "-f", "json"])
    out = capsys.readouterr().out
    assert STEERING.findall(out.replace("\n", "")) == []
    if command == "memory":
        assert any("\u202eb\x9bc\u2028\U000e0041" in text for text in _strings(json.loads(out)))


def test_json_keeps_its_values() -> None:
    """Whatever is escaped for the eye is the same when it is read."""
    told = json.dumps(["a\x7fb\u202ec\ufeff\U000e0041 芯片 ##[x]"], ensure_ascii=False)
    assert json.loads(inert(told, "json")) == json.loads(told)
    assert STEERING.findall(inert(told, "json")) == []
