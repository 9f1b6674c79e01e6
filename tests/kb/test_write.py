"""Knowledge that somebody writes, takes over or passes on: `npu-doctor kb new|import|pack|add`, and what `kb check` says of it."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from doctor import cli
from doctor.base.errors import UsageError
from doctor.judge.mutation import mutants
from doctor.judge.proof import Bench
from kb import build, bundle, draft, faultdiag, in_use, knowledge, lint, trial
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.lint import Context
from kb.load import read_entry
from kb.model import Entry, Kind

LINES = [
    "[ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.118.305 [a.cc:1617]41388 Frobnicate widget 'left arm' failed, ret=12, path /opt/x/y.bin",
    "2026-01-01 00:00:00,123 ERROR my.mod: Quorum of gizmo 17 refused because lease 0x1f expired",
    "zorkmid treasury is unable to settle",
    'gribble {"code": 12, "why": "no plover"} is invalid {here|there} # and: so',
    "(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [core.py:880] Snollygoster 3/4 timed out after 31.5 s at 10.1.2.3:7777",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NPU_DOCTOR_LANG", "en")
    return tmp_path


def _log(folder: Path) -> Path:
    path = folder / "train.log"
    path.write_text("ok 1\n" + "".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def _filled(path: Path) -> None:
    """What a person writes into a draft."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'en: "TO WRITE[^"]*"', 'en: "A fault of the test"', text)
    text = re.sub(r'zh: "TO WRITE[^"]*"', 'zh: "测试中的故障"', text)
    path.write_text(re.sub(r'title: "TO WRITE[^"]*"', 'title: "an issue"', text), encoding="utf-8")


@pytest.mark.parametrize("number", range(2, len(LINES) + 2))
def test_a_draft_needs_nothing_but_its_texts(number: int, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The leaf sees the line and not its near counter-example; once the marked texts are written, `kb check` is green."""
    assert cli.main(["kb", "new", f"{_log(here)}:{number}", "-o", "mine"]) == 0
    (path,) = (here / "mine").glob("*.yaml")
    assert "USR001" in capsys.readouterr().out
    assert cli.main(["kb", "check", str(path)]) == 4
    told = capsys.readouterr().out
    assert told.count("error: ") == told.count("is to be written") > 0
    assert re.search(rf"--> {re.escape(str(path))}:\d+\n   \|  ", told)
    _filled(path)
    assert cli.main(["kb", "check", str(path)]) == 0, capsys.readouterr().out


def test_drafts_take_the_next_free_code_and_lose_nothing(here: Path) -> None:
    for number in (2, 3):
        assert cli.main(["kb", "new", f"{_log(here)}:{number}"]) == 0
    names = sorted(path.name[:6] for path in here.glob("*.yaml"))
    assert names == ["usr001", "usr002"]


@pytest.mark.parametrize(
    ("place", "said"),
    [("train.log", "is no LOG:LINE"), ("train.log:99", "has no line 99"), ("nothing.log:1", "no such file"), ("train.log:1", "rare enough"), ("train.log:0", "is no LOG:LINE")],
)
def test_a_place_that_cannot_be_used(place: str, said: str, here: Path) -> None:
    _log(here)
    with pytest.raises(UsageError, match=said):
        cli.main(["kb", "new", place])
    assert list(here.glob("*.yaml")) == []


def test_a_line_that_is_known_is_refined(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.log").write_text("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity)\n")
    assert cli.main(["kb", "new", "known.log:1"]) == 0
    assert capsys.readouterr().err.startswith("MEM001")
    (path,) = here.glob("*.yaml")
    assert "refines: [MEM001" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "ok", "\x00\x1b[31m", "{" * 300, "'" * 500, "x" * 8000, "1 2 3 4 5", "'a' 'b' 'c' quibblesome 'd'", "\ud800 grumblefish \ufeff\u2028 went"])
def test_no_line_breaks_a_draft(text: str) -> None:
    """Whatever a log holds, the file can be read by the loader, or there is none."""
    found = draft.leaf(draft.message(text))
    if found is not None:
        made = draft.entry("USR001", text, found, None, (), "").encode("utf-8", "surrogatepass")
        assert isinstance(read_entry("x/usr001_a.yaml", made, {"user-code": KIND}, "mine"), Entry)


KIND = Kind(("x", "x"), ())  # type: ignore[arg-type]

FAULTS = {
    "41001": {
        "attribute.class": "Software", "attribute.component": "AI Framework", "attribute.module": "Compiler",
        "attribute.cause_zh": "抽象类型合并失败", "attribute.description_zh": "求梯度时类型不匹配。", "attribute.suggestion_zh": ["1. 检查类型", "2. 修改 {x}"],
        "attribute.cause_en": "Abstract types do not join", "attribute.description_en": "Types differ in the gradient.", "attribute.suggestion_en": "Check {the} types.",
        "rule": [{"dst_code": "41002"}, {"dst_code": "20106"}], "source_file": "TrainLog", "regex.in": ["Abstract plugh", "cannot join (with) xyzzy"],
    },
    "41002": {
        "attribute.class": "Hardware", "attribute.component": "NPU", "attribute.module": "NPU", "attribute.cause_zh": "后续故障",
        "attribute.description_zh": "描述。", "attribute.suggestion_zh": "建议。", "source_file": "CANN_Plog", "regex.in": [["plover egg dropped"], ["plover nest", "is empty"]],
    },
    "41003": {"regex.in": ["ab"], "source_file": "OS"},
    "41004": "nothing",
    "blacklist": [["ERROR", "FUSION of xyzzy"], ["x"]],
}  # fmt: skip


def test_entities_of_ascend_fd_become_entries(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keywords, files, texts, chains and masking rules are taken over; what cannot be is listed, with the reason."""
    Path("faults.json").write_text(json.dumps(FAULTS, ensure_ascii=False), encoding="utf-8")
    assert cli.main(["kb", "import", "ascend-fd", "faults.json", "-o", "mine"]) == 0
    told = capsys.readouterr().out
    for left in ("41001: rule dst_code 20106", "41002: attribute.cause_en", "41003: the entity", "41004: the entity", "blacklist 1: the rule"):
        assert left in told
    assert cli.main(["kb", "check", "mine"]) == 0, capsys.readouterr().out
    Path("a.log").write_text("RuntimeError: Abstract plugh of f cannot join (with) xyzzy here\nERROR in FUSION of xyzzy\n")
    cli.main(["scan", "a.log", "--kb", "mine", "-f", "json"])
    out = capsys.readouterr().out
    found = {f["id"]: f for f in json.loads(out[out.index("{") :])["findings"]}
    assert found["USR001"]["title"]["en"].startswith("Abstract types do not join")
    assert found["USR001"]["title"]["zh"].startswith("抽象类型合并失败")
    assert "Check {the} types." in json.dumps(found["USR001"]["fixes"])
    assert found["USR003"]["kind"] == "noise"


def test_a_fault_is_a_symptom_of_what_leads_to_it() -> None:
    made = faultdiag.entries(FAULTS, ())
    text = next(text for name, text in made.files.items() if name.startswith("usr002"))
    assert "symptom_of: [{entry: USR001}]" in text
    assert "in: plog" in text


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{", b"[" * 100_000])
def test_what_holds_no_entities_is_refused(data: bytes, here: Path) -> None:
    Path("faults.json").write_bytes(data)
    with pytest.raises(UsageError, match="holds no fault entities"):
        cli.main(["kb", "import", "ascend-fd", "faults.json"])
    assert list(here.glob("*.yaml")) == []


@pytest.mark.parametrize("data", [b'{"1": {"regex.in": [1]}}', b'{"1": {"regex.in": [["a"], "b"]}, "blacklist": {"a": 1}}', b'{"blacklist": [["a"], "b", [["c"]]]}'])
def test_what_maps_to_nothing_is_told(data: bytes, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("faults.json").write_bytes(data)
    assert cli.main(["kb", "import", "ascend-fd", "faults.json"]) == 3
    assert "not mapped" in capsys.readouterr().out
    assert list(here.glob("*.yaml")) == []


def test_knowledge_is_not_compiled_anew_for_the_file_that_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only when something else has changed since: whoever writes an entry tries it after every change."""
    layer = Layer("built-in", tmp_path / "kb")
    folder = layer.root / "entries" / "x"
    folder.mkdir(parents=True)
    one, other = folder / "usr001_a.yaml", folder / "usr002_b.yaml"
    for path in (one, other):
        path.write_text("code: X")
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    data, _ = build.build(Layer("mine", tmp_path / "nothing"))
    place = in_use._place(layer.root)
    assert place is not None
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    now = max(path.stat().st_mtime for path in (place, *in_use.HERE.glob("*.py"))) + 100
    os.utime(place, (now, now))
    os.utime(one, (now + 50, now + 50))
    assert in_use.compiled_before(layer, {one.resolve()}) is not None
    os.utime(other, (now + 60, now + 60))
    assert in_use.compiled_before(layer, {one.resolve()}) is None


@pytest.fixture
def packed(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    Path("faults.json").write_text(json.dumps({k: FAULTS[k] for k in ("41001", "41002")}), encoding="utf-8")
    cli.main(["kb", "import", "ascend-fd", "faults.json", "-o", "mine"])
    assert cli.main(["kb", "pack", "mine", "-o", "mine.kbz"]) == 0
    assert "2 entries" in capsys.readouterr().out
    return here / "mine.kbz"


def test_what_is_packed_can_be_added_and_is_used(packed: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same folder makes the same file; adding it twice changes nothing."""
    again = bundle.pack(here / "mine")[0]
    assert again == packed.read_bytes()
    for _ in range(2):
        assert cli.main(["kb", "add", str(packed)]) == 0
        assert "used from now on" in capsys.readouterr().out
    assert len(list((here / "config/npu-doctor/kb").iterdir())) == 2
    assert cli.main(["kb", "show", "USR001"]) == 0


def _tampered(packed: Path, how: str) -> bytes:
    with zipfile.ZipFile(packed) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    yaml = next(name for name in files if name != bundle.MANIFEST)
    if how == "changed":
        files[yaml] = files[yaml].replace(b"npu-smi info", b"rm -rf /data")
        files[yaml] += b"\n"
    elif how == "more":
        files["usr009_x.yaml"] = files[yaml]
    elif how == "less":
        del files[yaml]
    elif how == "out":
        files["../../usr009_x.yaml"] = files[yaml]
    elif how == "no-manifest":
        del files[bundle.MANIFEST]
    elif how == "manifest":
        files[bundle.MANIFEST] = b'{"format": 1, "files": ["a"]}'
    elif how == "broken":
        return packed.read_bytes()[:-40]
    path = packed.with_name("tampered.kbz")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path.read_bytes()


@pytest.mark.parametrize("how", ["changed", "more", "less", "out", "no-manifest", "manifest", "broken"])
def test_a_tampered_pack_is_refused_whole(how: str, packed: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.kbz").write_bytes(_tampered(packed, how))
    assert cli.main(["kb", "add", "bad.kbz"]) == 4
    assert "refused, nothing was added" in capsys.readouterr().err
    assert not (here / "config").exists()
    assert cli.main(["kb", "add", "bad.kbz", "--lang", "zh"]) == 4
    assert "已拒绝" in capsys.readouterr().err


def test_a_pack_never_takes_the_code_of_another_entry(packed: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = here / "config/npu-doctor/kb"
    own.mkdir(parents=True)
    (one, *_) = sorted((here / "mine").glob("usr001*"))
    (own / "usr001_my-own.yaml").write_bytes(one.read_bytes())
    assert cli.main(["kb", "add", str(packed)]) == 4
    assert "USR001 is taken" in capsys.readouterr().err
    assert [p.name for p in own.iterdir()] == ["usr001_my-own.yaml"]


def test_what_cannot_be_read_is_not_packed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine").mkdir()
    with pytest.raises(UsageError, match="holds no entries"):
        cli.main(["kb", "pack", "mine"])
    (here / "mine" / "usr001_a.yaml").write_text("code: USR001\n")
    assert cli.main(["kb", "pack", "mine"]) == 4
    assert "usr001_a.yaml" in capsys.readouterr().err
    assert list(here.glob("*.kbz")) == []


@pytest.fixture
def known() -> Knowledge:
    return knowledge.load()


NESTED = """\
code: USR001
severity: warning
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence:
  all:
    - {text: "frobnication of the gizmo"}
    - any:
        - {text: "went quite wrong"}
        - all: [{text: "ended in plugh"}, {text: "for want of xyzzy"}]
references: [{title: me}]
samples:
  match:
    - {name: one, text: "frobnication of the gizmo went quite wrong"}
    - {name: two, text: "frobnication of the gizmo ended in plugh for want of xyzzy"}
  no_match:
    - {name: three, text: "went quite wrong"}
    - {name: four, text: "frobnication of the gizmo"}
    - {name: five, text: "frobnication of the gizmo ended in plugh"}
    - {name: six, text: "frobnication of the gizmo for want of xyzzy"}
"""


def _told(text: str, folder: Path, known: Knowledge) -> list[str]:
    path = folder / "usr001_mine.yaml"
    path.write_text(text, encoding="utf-8")
    tried = trial.of_files([path], known)
    bench = Bench(tried.knowledge)
    return [p for entry in tried.entries for p in bench.problems(entry) + lint.check(entry, Context(tried.knowledge))]


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("", ""),
        ("five", "branch 2.2.2 of the evidence (leaf 3) is not needed"),
        ("six", "branch 2.2.1 of the evidence (leaf 2) is not needed"),
        ("four", "branch 2 of the evidence (the 'any') is not needed"),
        ("two", "leaf USR001/2 is hit by no sample"),
    ],
)
def test_every_part_of_a_nested_condition_is_shown_to_matter(gone: str, said: str, tmp_path: Path, known: Knowledge) -> None:
    text = "\n".join(row for row in NESTED.split("\n") if not gone or f"name: {gone}," not in row)
    if gone in ("four", "two"):  # what else would show it
        text = "\n".join(row for row in text.split("\n") if "name: five" not in row and "name: six" not in row)
    told = _told(text, tmp_path, known)
    assert (said in "\n".join(told)) if said else told == []


def test_an_alternative_that_sees_nothing_of_its_own_is_told(tmp_path: Path, known: Knowledge) -> None:
    text = NESTED.replace('        - {text: "went quite wrong"}\n', '        - {text: "went quite wrong"}\n        - {text: "quite wrong"}\n')
    assert any("whatever it sees, another one sees as well" in row for row in _told(text, tmp_path, known))


def test_a_leaf_that_no_word_decides_is_told(tmp_path: Path, known: Knowledge) -> None:
    """Every mutant of its own line is still matched: it looks for anything."""
    text = NESTED.replace('{text: "frobnication of the gizmo"}', "{regex: '(?:frobnication|of the|gizmo) (?:\\S+ ){0,9}(?:of|the|gizmo|went|ended|for)'}")
    told = _told(text, tmp_path, known)
    assert any("matches whatever its words are" in row for row in told)


def test_mutants_take_away_each_member_once(entries: tuple[Entry, ...]) -> None:
    for entry in entries[:200]:
        made = [m.entry.condition for m in mutants(entry) if not m.what.startswith("'")]
        assert entry.condition not in made
