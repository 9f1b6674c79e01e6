"""What is written into a pack is read out of it again, whatever texts stand in it and in whatever order they are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb import columns
from kb.letters import lettered, letters_of, letters_row, written
from kb.pack import ENTRIES, LANGUAGES, LEAVES, OTHERS, ROWS, SHELVES, BrokenPackError, Pack, Writer
from kb.shelves import STEP

words = st.text(max_size=40)
text = st.tuples(words, st.one_of(words, words.map(lambda word: f"设备{word}"))).map(list)
objects = st.recursive(st.one_of(text, words, st.integers(), st.none()), lambda inner: st.lists(inner, max_size=4), max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(objects, min_size=1, max_size=3 * STEP), st.randoms(use_true_random=False), st.lists(words, max_size=9))
def test_objects_come_back(values: list[Any], order: Any, alike: list[str]) -> None:
    """With quotes, backslashes, control characters and surrogate pairs, and texts that no language is told of, whatever chose the letters, from every shelf."""
    writer = Writer(alike * 3)
    places = [(shelf, writer.add(shelf, value), value) for shelf in SHELVES for value in values]
    pack = Pack(writer.finish("digest", ""))
    order.shuffle(places)
    assert [pack.item(shelf, number) for shelf, number, _ in places] == [value for *_, value in places]


def test_a_text_that_was_told_before_is_kept_once() -> None:
    text, other = ["Collect what support asks for", "收集支持所需的信息"], ["Collect \"what\" support asks for", "收集\\支持所需的信息"]
    writer = Writer()
    numbers = [writer.add(ENTRIES, [number, text, ["x", "短"], other]) for number in range(40)]
    writer.add(ROWS, [other, text])
    [number, again] = writer.pairs([other, text])
    pack = Pack(writer.finish("digest", ""))
    assert list(pack.items(ENTRIES, 0, 40)) == [[number, text, ["x", "短"], other] for number in numbers]
    assert [list(pack.pairs()(n)) for n in (number, again)] == [other, text]
    for told, name in zip(text, LANGUAGES, strict=True):
        assert pack.data.count(written(lettered(pack.section("letters")[name]))(told)) == 1


def test_texts_are_told_by_their_numbers() -> None:
    """Those of the last object that some were taken out of, whatever was put beside it; leaves keep theirs, whatever language these are in."""
    writer = Writer(["text plain pair later null why"] * 3)
    for number in range(3 * STEP):
        writer.add(ENTRIES, [[f"text {number}", f"文字 {number}"]] * 9)
        writer.add(LEAVES, ["text", "文字", number])
    title, cause = ["a \"title\"", "标题\\"], ["why", "原因"]
    at = writer.add(ENTRIES, [title, ["plain", "pair"], cause, cause])
    writer.add(LEAVES, [title])
    numbers = list(writer.pairs([title, ["plain", "pair"], cause]))
    writer.add(OTHERS, ["later", "以后"])
    pack = Pack(writer.finish("digest", ""))
    assert pack.item(ENTRIES, at) == [title, ["plain", "pair"], cause, cause]
    assert list(pack.items(LEAVES, STEP - 1, 3)) == [["text", "文字", number] for number in range(STEP - 1, STEP + 2)]
    pair = pack.pairs()
    assert [pair(n) if isinstance(n, int) else n for n in numbers] == [tuple(title), ["plain", "pair"], ("why", "原因")]
    with pytest.raises(BrokenPackError):
        pack.item(LEAVES, 3 * STEP + 1)
    with pytest.raises(ValueError, match="left for others"):
        writer.add(ENTRIES, title)


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1), max_size=40))
def test_letters_come_back(texts: list[str]) -> None:
    singles, pairs = letters_of(texts * 3)
    assert lettered(letters_row((singles, pairs))) == ([*singles], [*pairs])


@given(st.lists(st.text(max_size=3), max_size=300))
def test_columns_come_back(values: list[str]) -> None:
    """However many values one has: line by line, and as a whole."""
    made = columns.column(values)
    assert list(columns.read(made)) == values
    assert [columns.value(made, line) for line in range(len(values))] == values


@pytest.mark.parametrize("section", ["english", "chinese", "letters", "steps", *SHELVES])
def test_a_damaged_language_is_noticed(section: str) -> None:
    """A pack that was cut or changed is built again, never shown with other words."""
    writer = Writer()
    for shelf in SHELVES:
        writer.add(shelf, ["hello", "你好"])
    writer.section("index", {})
    whole = writer.finish("digest", "")
    offset, length, _ = Pack(whole).header.sections[section]
    begin = whole.index(b"\n") + 1 + offset
    with pytest.raises(BrokenPackError, match="damaged"):
        Pack(whole[:begin] + b"\x02" * length + whole[begin + length :]).check()


def test_a_pack_of_entries_that_are_tried_knows_no_code(entries: list[Any]) -> None:
    """And says so, whoever asks beside the built-in ones."""
    from kb.build import pack_of
    from kb.knowledge import Knowledge

    tried = Knowledge((Pack(pack_of(entries[:2])),))
    assert tried.decode("507018") == ()
    assert [b.code for b in tried.catalog()] == [e.code for e in entries[:2]]
