"""What both languages say in the same letters is kept once, and comes back letter by letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.alike import joined, without
from kb.knowledge import Knowledge

WORDS = st.lists(st.sampled_from(["HCCL_X=1", "--max-model-len", "8192", "(EI0006)", "vllm", "serve", "a", "中文", "，", "\\n", "\\u0080abcd", "x.y", "'a b'", "/opt/x:/opt/x"]), max_size=40)


@given(WORDS, WORDS, st.sampled_from([" ", ""]))
def test_a_text_comes_back(english: list[str], chinese: list[str], between: str) -> None:
    one, other = " ".join(english), between.join(chinese)
    assert joined(one, without(one, other)) == other


@given(st.text(st.characters(blacklist_characters="".join(map(chr, range(32))))), st.text(st.characters(blacklist_characters="".join(map(chr, range(32))))))
def test_any_text_comes_back(one: str, other: str) -> None:
    assert joined(one, without(one, other)) == other


def test_commands_are_references() -> None:
    one, other = "Start with vllm serve MODEL --max-model-len 8192, then ask", "以 vllm serve MODEL --max-model-len 8192 启动后再请求"
    kept = without(one, other)
    assert len(kept) < len(other) - 30
    assert "vllm" not in kept


def test_a_word_is_taken_whole_or_not_at_all() -> None:
    """Who looks for `max-model-len` finds it in one of the texts."""
    assert without("the max of it", "设置 max-model-len") == "设置 max-model-len"


def test_all_texts_come_back(knowledge: Knowledge) -> None:
    for brief in knowledge.catalog():
        for text in (brief.title,):
            assert joined(text.en, without(text.en, text.zh)) == text.zh
