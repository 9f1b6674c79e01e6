"""What is written into a pack is read out of it again, whatever texts stand in it and in whatever order they are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.letters import written
from kb.pack import LANGUAGES, TEXTS, BrokenPackError, Pack, Writer

words = st.text(max_size=40)
text = st.tuples(words, st.one_of(words, words.map(lambda word: f"设备{word}"))).map(list)
objects = st.recursive(st.one_of(text, words, st.integers(), st.none()), lambda inner: st.lists(inner, max_size=4), max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(objects, min_size=1, max_size=3 * TEXTS), st.randoms(use_true_random=False), st.lists(words, max_size=9))
def test_objects_come_back(values: list[Any], order: Any, alike: list[str]) -> None:
    """With quotes, backslashes, control characters and surrogate pairs, and texts that no language is told of, whatever chose the letters."""
    writer = Writer(alike * 3)
    places = [(list(writer.add(value)), value) for value in values]
    pack = Pack(writer.finish("digest", ""))
    order.shuffle(places)
    assert [pack.item(at) for at, _ in places] == [value for _, value in places]


def test_a_text_that_was_told_before_is_kept_once() -> None:
    text, other = ["Collect what support asks for", "收集支持所需的信息"], ["Collect \"what\" support asks for", "收集\\支持所需的信息"]
    writer = Writer()
    places = [writer.add([number, text, ["x", "短"], other]) for number in range(40)]
    writer.add([other, text])
    [number, again] = writer.pairs([other, text])
    pack = Pack(writer.finish("digest", ""))
    assert [pack.item(at) for at in places] == [[number, text, ["x", "短"], other] for number in range(40)]
    assert [list(pack.pairs()(n)) for n in (number, again)] == [other, text]
    for told, name in zip(text, LANGUAGES, strict=True):
        assert pack.data.count(written(pack.section("letters")[name])(told)) == 1


def test_members_are_read_alone() -> None:
    """With their texts, and the texts by number; two that are alike are two. Words of objects are letters of one byte or two."""
    writer = Writer(["text plain pair later null why"] * 3)
    for number in range(3 * TEXTS):
        writer.add([[f"text {number}", f"文字 {number}"]] * 9)
    title, leaf, cause = ["a \"title\"", "标题\\"], [1, ["why", "原因"]], ["why", "原因"]
    at = writer.add([title, ["plain", "pair"], leaf, leaf, cause])
    members = [list(place) for place in writer.parts(at, [title, leaf, leaf, cause])]
    numbers = list(writer.pairs([title, ["plain", "pair"], leaf[1]]))
    writer.add(["later", "以后"])
    pack = Pack(writer.finish("digest", ""))
    assert [pack.item(place) for place in members] == [title, leaf, leaf, cause]
    assert members[1] != members[2]
    pair = pack.pairs()
    assert [pair(n) if isinstance(n, int) else n for n in numbers] == [tuple(title), ["plain", "pair"], ("why", "原因")]


@pytest.mark.parametrize("section", ["english", "chinese", "letters", "texts", "blob"])
def test_a_damaged_language_is_noticed(section: str) -> None:
    """A pack that was cut or changed is built again, never shown with other words."""
    writer = Writer()
    writer.add(["hello", "你好"])
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
