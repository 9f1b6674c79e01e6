"""Faulty knowledge is told with what, where and what to do; one bad file never hides the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import built_in_entries

from kb import in_use, knowledge, yamldoc
from kb.build import Layer, build, kinds
from kb.kinds import read_kinds
from kb.knowledge import Knowledge
from kb.layers import HERE
from kb.load import read_entry
from kb.model import TRAITS, Edge, Entry
from kb.pack import BrokenPackError, Pack, keep_newest
from kb.stored import Stored, entry_of, file_of, stored_entry

GOOD = """\
code: TST001
severity: error
role: cause
kind: out-of-memory
title: {en: Test fault, zh: 测试故障}
cause: {en: It broke., zh: 坏了。}
evidence:
  any:
    - {text: "a very special message"}
fixes:
  - goal: resolve
    title: {en: Mend it, zh: 修好}
    commands: [{run: "npu-smi info"}]
references: [{kind: doc, title: none}]
samples:
  match: [{name: one, text: "a very special message"}]
"""


def problems(text: str) -> list[str]:
    got = read_entry("kb/entries/test/tst001_test-fault.yaml", text.encode(), kinds())
    return [] if isinstance(got, Entry) else [str(p) for p in got]


def test_a_good_entry_loads() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("change", "what", "line"),
    [
        (("severity: error", "severty: error"), "unknown key 'severty'", 2),
        (("severity: error", "severity: eror"), "did you mean 'error'", 2),
        (("kind: out-of-memory", "kind: out-of-memry"), "did you mean 'out-of-memory'", 4),
        (("code: TST001", "code: T1"), "no entry code", 1),
        (("zh: 测试故障}", "}"), "'zh' is missing", 5),
        (("{text: \"a very special message\"}", "{text: \"abc\"}"), "6 characters", 9),
        (("{text: \"a very special message\"}", "{regex: 'a(b'}"), "bad regex", 9),
        (("{text: \"a very special message\"}", "{regex: '\\d+ .* \\d+'}"), "no fixed text", 9),
        (("{text: \"a very special message\"}", "{text: abcdefgh, regex: abcdefgh}"), "exactly one of", 9),
        (("goal: resolve", "goal: repair"), "is no value of 'goal'", 11),
        (("code: TST001", "code: TST001\ncode: TST002"), "stands twice", 2),
        (("code: TST001", "code: !!python/object:os.system x"), "tag", 1),
        (("  any:", "  all:\n   - x\n  any:"), "must be a mapping", 9),
    ],
)  # fmt: skip
def test_faults_say_what_and_where(change: tuple[str, str], what: str, line: int) -> None:
    """The message names the fault, the file with its line, and what to write instead."""
    found = problems(GOOD.replace(*change))
    assert any(what in p and f"tst001_test-fault.yaml:{line}" in p for p in found), found


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"- just\n- a list\n", "no mapping"),
        (b"code: [unclosed\n", "not valid YAML"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"a: &x [1,2]\nb: &y [*x,*x,*x,*x,*x,*x,*x,*x]\nc: &z [*y,*y,*y,*y,*y,*y,*y,*y]\nd: &w [*z,*z,*z,*z,*z,*z,*z,*z]\ne: &v [*w,*w,*w,*w,*w,*w,*w,*w]\nf: &u [*v,*v,*v,*v,*v,*v,*v,*v]\ng: [*u,*u,*u,*u,*u,*u,*u,*u]\n", "too many values"),
        (b"a: " + b"[" * 200 + b"]" * 200, "nested too deeply"),
        *((piece * 300_000, "nested too deeply") for piece in (b"[", b"{a: ", b"- ", b"? ")),
        (b"a: &x [*x]\n", "nothing that is complete"),
        (b"a: !!python/object/apply:os.system [id]\n", "tag"),
        (b"!!python/name:os.system x: 1\n", "tag"),
        (b"a: 1\n---\nb: 2\n", "one document"),
    ],
)  # fmt: skip
def test_hostile_yaml_is_refused(data: bytes, what: str) -> None:
    """No tag is executed, no alias bomb expands, no depth overflows."""
    got = read_entry("x.yaml", data, kinds())
    assert isinstance(got, list)
    assert what in str(got[0])


def test_scalars_are_strings() -> None:
    """Numbers, booleans and versions stay what they look like."""
    doc = yamldoc.parse("x", b"a: 0012\nb: off\nc: 9.10\nd: 1e3\n")
    assert isinstance(doc, yamldoc.Document)
    assert doc.value == {"a": "0012", "b": "off", "c": "9.10", "d": "1e3"}


def test_one_fault_does_not_hide_the_others(tmp_path: Path) -> None:
    """A folder with a broken file and a doubled code still gives its good entry, and names both faults."""
    (tmp_path / "tst001_test-fault.yaml").write_text(GOOD)
    (tmp_path / "tst002_broken.yaml").write_text(GOOD.replace("severity", "severty"))
    (tmp_path / "tst003_doubled.yaml").write_text(GOOD)
    data, faults = build(Layer("user", tmp_path))
    assert list(Pack(data).entries) == ["TST001"]
    assert any("severty" in str(f) for f in faults)
    assert any("is taken by" in str(f) for f in faults)


@pytest.mark.parametrize(
    "damage",
    [lambda d: d[: len(d) // 2], lambda d: b"{}\n" + d, lambda d: b"", lambda d: d.replace(b"TST001", b"TST9")],
)
def test_a_damaged_pack_is_noticed(tmp_path: Path, damage: object) -> None:
    """A cache that was cut off or changed is never believed."""
    (tmp_path / "tst001_test-fault.yaml").write_text(GOOD)
    data, _ = build(Layer("user", tmp_path))
    with pytest.raises(BrokenPackError):
        Pack(damage(data)).section("index")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("leaf", "what"),
    [
        ("{regex: '(?:(?:(?:a{100}){100}){100}){100}hello'}", "written out it is longer"),
        ("{regex: 'hello" + "(?:" * 900 + ")" * 900 + "'}", "bad regex"),
        ("{regex: 'hello" + "[ab]" * 600 + "'}", "at most 2000"),
        ("{regex: 'hello a{99999999999}'}", "bad regex"),
        ("{regex: 'hello world', lines: nan}", "'lines' must be a number"),
        ("{regex: 'hello world', lines: 1e300}", "'lines' must be a number"),
        ("{regex: 'hello world', lines: 5000}", "at most 200 lines"),
        ("{exit: " + "9" * 5000 + "}", "'exit' is a number"),
        ("{fields: {table: ps, where: {stat: '~ (['}}}", "bad regex"),
        ("\n    - ".join(f"{{text: hello {n:04}}}" for n in range(500)), "at most 400 leaves"),
    ],
)  # fmt: skip
def test_a_leaf_that_would_cost_too_much_is_refused(leaf: str, what: str) -> None:
    text = GOOD.replace("    - {text:", f"    - {leaf}\n    - {{text:", 1)
    got = read_entry("x.yaml", text.encode(), kinds(), "user")
    assert isinstance(got, list)
    assert any(what in str(fault) for fault in got), got


@pytest.mark.parametrize(
    ("leaf", "what"),
    [
        ("{raised: {typ: KeyError}}", "did you mean 'type'"),
        ("{raised: {from: library}}", "asks for nothing that tells failures apart"),
        ("{raised: {type: KeyError, from: libary}}", "choices here: library, user, unknown"),
        ("{raised: {type: 'KeyError: 7'}}", "is no name of an exception"),
        ("{raised: {in: vllm-ascend}}", "is no name of a package"),
        ("{raised: {in: []}}", "'in' names nothing"),
        ("{raised: {type: KeyError, message: 'a(b'}}", "bad regex"),
        ("{raised: {type: KeyError}, lines: 3}", "'lines' does not go with 'raised'"),
        ("{raised: {type: KeyError}, in: plog}", "'in' does not go with 'raised'"),
        ("{raised: KeyError}", "must be a mapping"),
        ("{raised: {type: KeyError}, text: KeyError}", "exactly one of"),
    ],
)
def test_a_leaf_that_asks_exceptions_wrongly_is_refused(leaf: str, what: str) -> None:
    """Every fault of `raised` is told with its line and the words that stand there instead."""
    first = problems(GOOD.replace('{text: "a very special message"}', leaf, 1))[0]
    assert what in first
    assert ":9" in first


def loaded(text: str) -> Entry:
    got = read_entry("x.yaml", text.encode(), kinds())
    assert isinstance(got, Entry), got
    return got


def test_an_edge_by_trait_stands_for_every_kind_that_has_it() -> None:
    """So a new kind with the trait needs no edit of the entry."""
    entry = loaded(GOOD + "symptom_of: [{entry: MEM001}, {trait: restarts, scope: node}, {kind: driver}]\n")
    expected = (Edge("MEM001", "", "job"), Edge("", "restart", "node"), Edge("", "driver", "job"))
    assert entry.symptom_of == expected
    many = {e.kind for e in loaded(GOOD + "symptom_of: [{trait: raises}]\n").symptom_of}
    assert many == {name for name, kind in kinds().items() if "raises" in kind.traits}


@pytest.mark.parametrize(
    ("key", "edge", "what"),
    [
        ("symptom_of", "{trait: raise}", "did you mean 'raises'"),
        ("symptom_of", "{trait: raises, kind: driver}", "unknown key 'kind'"),
        ("caused_by", "{trait: raises}", "unknown key 'trait'"),
        ("caused_by", "{kind: driver, scope: node}", "unknown key 'scope'"),
    ],
)
def test_a_wrong_edge_by_trait_is_refused(key: str, edge: str, what: str) -> None:
    """`caused_by` names what to check next: a trait is too wide for that."""
    assert any(what in told for told in problems(GOOD + f"{key}: [{edge}]\n"))


def test_an_entry_has_the_traits_of_its_kind() -> None:
    """Also after it went through a pack."""
    text = GOOD.replace("kind: out-of-memory", "kind: network-config")
    entry = loaded(text)
    assert entry.traits == ("downstream", "raises")
    assert entry_of(entry.code, file_of(entry), Stored(*json.loads(json.dumps(stored_entry(entry))))) == entry


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("odd: {en: Odd, zh: 怪, traits: [end_job]}", "did you mean 'ends_job'"),
        ("odd: {en: Odd, zh: 怪, trait: ends_job}", "unknown key 'trait'"),
        ("odd: {en: Odd, one, zh: 怪}", "unknown key 'one'"),
        ("odd: {en: Odd}", "'zh' is missing"),
        ("odd: Odd", "must be a mapping"),
        ("- odd", "must be a mapping"),
    ],
)
def test_a_faulty_list_of_kinds_is_named(line: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text(line + "\n")
    assert any(what in str(told) for told in read_kinds(path)[1])


def test_every_trait_is_had() -> None:
    """The list of kinds is sound, and no trait is a word without use."""
    found, faults = read_kinds(HERE / "kinds.yaml")
    assert faults == []
    assert {t for kind in found.values() for t in kind.traits} == set(TRAITS)


def test_an_entry_without_evidence_is_refused() -> None:
    text = GOOD.split("evidence:")[0] + "fixes:" + GOOD.split("fixes:")[1]
    assert any("'evidence' is missing" in told for told in problems(text))


def test_facts_of_users_run_under_a_time_limit(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(
        "- {id: rank, about: identity, forms: [{regex: 'my rank is (?P<rank>(a+)+)b'}], references: [{title: me}], samples: [{text: my rank is 3}]}\n"
    )
    data, faults = build(Layer("user", tmp_path))
    assert not faults
    assert [s.trusted for s in Knowledge((Pack(data),)).signals()] == [False]


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("codes/c.yaml", "codes: [{code: '1', meaning: {en: a}}]", "'meaning' has not the form"),
        ("codes/c.yaml", "codes: [{code: '1', meaning: {en: a, zh: b}, causes: [x]}]", "'causes' has not the form"),
        ("codes/c.yaml", "codes: [{code: [], meaning: {en: a, zh: b}}]", "needs 'code'"),
        ("codes/c.yaml", "codes: [x]", "must be a mapping"),
        ("envvars.yaml", "- {name: A, purpose: {a: [b]}}", "'purpose' has not the form"),
        ("cards/c.yaml", "- {code: CARD-A, title: x, text: {en: a, zh: b}}", "'title' has not the form"),
        ("cards/c.yaml", "- {code: CARD-A, title: {en: a, zh: b}}", "needs 'text'"),
    ],
)
def test_rows_of_a_wrong_form_are_named(tmp_path: Path, name: str, text: str, what: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    _, faults = build(Layer("user", tmp_path))
    assert [what in str(f) for f in faults] == [True], faults


def test_a_cache_keeps_what_was_written_last(tmp_path: Path) -> None:
    """Compiled knowledge of folders that nobody uses any more is tidied up; other files are nobody's business."""
    for number in range(5):
        place = tmp_path / f"kb-{number}.pack"
        place.write_bytes(b"x")
        os.utime(place, ns=(number, number))
    (tmp_path / "clip").write_bytes(b"x")
    keep_newest(tmp_path, "kb-*.pack", 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clip", "kb-3.pack", "kb-4.pack"]


def test_many_folders_do_not_push_the_built_in_knowledge_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout's own compiled knowledge is the oldest file of the cache and stays; of the others the oldest goes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "ours").mkdir()
    built_in = in_use._place(HERE)
    assert built_in is not None
    built_in.parent.mkdir(parents=True)
    others = [built_in.parent / f"kb-{number}.pack" for number in range(in_use.KEEP_PACKS)]
    for number, place in enumerate((built_in, *others)):
        place.write_bytes(b"x")
        os.utime(place, ns=(number, number))
    knowledge.load((str(tmp_path / "ours"),), Pack(build(Layer("built-in", tmp_path / "ours"))[0]))
    assert built_in.exists()
    assert [place.exists() for place in others] == [False, *(True for _ in others[1:])]


def test_the_same_knowledge_gives_the_same_fragments() -> None:
    """Whatever order sets have in a process: else a scan would find its way by other literals every day."""
    text = (
        "import itertools; from kb.fragments import assign_all; from kb.model import Signal; "
        "words = ('copy', 'memory', 'stream', 'kernel', 'device', 'context', 'event'); "
        "said = ['the call failed, ' + ' '.join(w) for w in itertools.permutations(words, 3)]; "
        "some = [Signal(f'TST{n:03}/0', 'text', t, (t,), 0, (), '', (), True) for n, t in enumerate(said)]; "
        "print([s.fragments for s in assign_all(some, chr(10).join(said))])"
    )
    told = {
        subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


def test_an_entry_comes_out_of_a_pack_as_it_went_in() -> None:
    """What a pack leaves out follows from the rest: names of leaves, patterns of codes, texts as their own anchors, the slug."""
    read, _ = built_in_entries()
    entries = [entry._replace(signals=tuple(signal._replace(options=()) for signal in entry.signals)) for entry in read]  # the others are not chosen
    stored = [stored_entry(entry) for entry in entries]
    assert [entry_of(entry.code, file_of(entry), Stored(*row)) for row, entry in zip(json.loads(json.dumps(stored)), entries, strict=True)] == entries
    assert len(json.dumps(stored)) < 0.95 * len(json.dumps([entry._asdict() for entry in entries]))
