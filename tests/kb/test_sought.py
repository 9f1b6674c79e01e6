"""What is looked for is the same whether it was put together before or now, from one layer or from several."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from kb.build import build
from kb.code_forms import of_code
from kb.knowledge import Knowledge, load
from kb.layers import Layer
from kb.model import Signal
from kb.pack import Pack
from kb.sought import Layered, Sought, Whole, gathered, group, names_of

KNOWN = load()
OWN = """\
code: {code}
severity: error
kind: user-code
confidence: high
title: {{en: Mine, zh: 我的}}
cause: {{en: Mine., zh: 我的。}}
evidence: {{any: [{{text: {text}}}]}}
fixes: [{{goal: resolve, title: {{en: Look., zh: 查看。}}}}]
references: [{{title: me}}]
"""


def announced(sought: Sought) -> dict[bytes, set[tuple[bytes, str]]]:
    """Every literal with its anchors and the leaves that they announce."""
    return {
        literal: {(anchor, name) for anchor, signal in sought.pairs[n] for name in sought.names[signal]}
        for n, literal in enumerate(sought.literals)
    }


def test_what_is_stored_is_what_would_be_put_together() -> None:
    stored, made = KNOWN.sought(), gathered(KNOWN.signals())
    told = announced(stored)
    assert set().union(*told.values()) == set().union(*announced(made).values())
    assert [literal for literal, pairs in told.items() if any(literal not in anchor for anchor, _ in pairs)] == []
    assert [stored.signals[n] for n in range(stored.count)] == [made.signals[n] for n in range(made.count)]
    assert (stored.facts, stored.silent, stored.tables) == (made.facts, made.silent, made.tables)
    assert {t: stored.rows[t] for t in stored.tables} == {t: made.rows[t] for t in made.tables}
    assert stored.situation == made.situation
    assert _whole(stored) == _whole(made)


def _signal(name: str, text: str, claims: bool = True) -> Signal:
    return Signal(name, "text", text, (text,), 0, (), "", (), True, claims=claims)


def test_the_same_words_are_looked_for_once_and_told_to_all_who_ask() -> None:
    sought = gathered([_signal("TST001/0", "device lost"), _signal("TST002/0", "device lost", claims=False), _signal("TST003/0", "no card", claims=False)])
    assert sought.count == 2
    assert sought.names[0] == ("TST001/0", "TST002/0")
    assert sought.silent == {1}


def _code(name: str, code: str) -> Signal:
    pattern, anchors = of_code(code)
    return Signal(name, "code", pattern, anchors, 0, (), "", (), True)


def _whole(sought: Sought) -> set[bytes]:
    return {literal for literal in sought.literals if isinstance(literal, Whole)}


def test_a_bare_code_counts_as_a_whole_word_until_somebody_looks_for_it_as_a_part_of_one() -> None:
    codes = [_code("TST001/0", "507011"), _code("TST001/1", "507012"), _code("TST002/0", "EZ9999"), _code("TST002/1", "0x91")]
    assert _whole(gathered(codes)) == {b"507011", b"507012"}
    assert _whole(gathered([*codes, _signal("TST003/0", "507012")])) == {b"507011"}
    of_user = group([_code("OWN001/0", "507011"), _signal("OWN001/1", "507012"), _code("OWN001/2", "507013")])
    layers = [Layered(found._asdict(), found.signals.__getitem__, lambda signal: signal) for found in (group(codes), of_user)]
    assert _whole(Sought(layers)) == {b"507011", b"507013"}
    assert _whole(Sought(layers[::-1])) == {b"507011", b"507013"}


def test_chinese_words_are_looked_for_in_both_encodings() -> None:
    sought = gathered([_signal("TST001/0", "设备丢失")])
    assert {a for n in range(2) for a, _ in sought.pairs[n]} == {"设备丢失".encode(), "设备丢失".encode("gb18030")}


LEAVES = st.builds("{}{:03}/{}".format, st.sampled_from(("ABC", "ABD")), st.integers(1, 5), st.integers(0, 3)) | st.just("OWN1/0")
FACTS = st.sampled_from(("fact:comm-entry/0", "fact:comm-entry/1"))


@given(st.lists(st.lists(LEAVES, min_size=1, max_size=3).map(" ".join) | FACTS, max_size=12))
@example(["ABC001/0", "ABC001/1", "ABC003/0", "ABC003/1 ABD001/2", "ABD001/3", "ABD002/0", "ABC004/0"])
def test_names_are_read_back(lines: list[str]) -> None:
    """A leaf that follows the one before it, or begins an entry further on in the family, is told by a step."""
    signals = [_signal(name, f"words number {n}") for n, line in enumerate(lines) for name in line.split()]
    assert list(names_of(group(signals).names)) == lines


def _with(folder: Path, code: str, text: str, overrides: bool) -> Knowledge:
    (folder / "own.yaml").write_text(OWN.format(code=code, text=text), encoding="utf-8")
    if overrides:
        (folder / "layer.yaml").write_text(f"overrides: [{code}]\n", encoding="utf-8")
    data, faults = build(Layer("user", folder))
    assert not faults
    return Knowledge((*KNOWN.packs, Pack(data)))


def test_another_layer_adds_to_what_the_first_one_looks_for(tmp_path: Path) -> None:
    literal = next(x for n, x in enumerate(KNOWN.sought().literals) if x.isalpha() and len(x) > 12)
    known = _with(tmp_path, "USR001", literal.decode(), overrides=False)
    before, after = announced(KNOWN.sought()), announced(known.sought())
    assert after[literal] == before[literal] | {(literal, "USR001/0")}
    assert {k: v for k, v in after.items() if k != literal} == {k: v for k, v in before.items() if k != literal}


def test_a_replaced_entry_is_no_longer_looked_for(tmp_path: Path) -> None:
    known = _with(tmp_path, "MEM001", "words that stand nowhere else", overrides=True)
    leaves = [s.id for s in known.signals() if s.entry == "MEM001"]
    assert leaves == ["MEM001/0"]
    names = {name for n in range(known.sought().count) for name in known.sought().names[n]}
    assert len([name for name in names if name.startswith("MEM001/")]) == 1


def test_an_entry_that_may_not_replace_is_not_looked_for(tmp_path: Path) -> None:
    known = _with(tmp_path, "MEM001", "words that stand nowhere else", overrides=False)
    assert announced(known.sought()).get(b"words that stand nowhere else", set()) == set()
    assert [s.id for s in known.signals() if s.entry == "MEM001"] == [s.id for s in KNOWN.signals() if s.entry == "MEM001"]
