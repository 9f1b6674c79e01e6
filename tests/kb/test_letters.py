"""Texts come back from a pack's letters as they were, whatever they say and whatever the letters were made for."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from kb import letters

_TEXTS = st.text(st.one_of(st.sampled_from("thenot 设备内存。的\xf0\xa0é·×“🧯\ud800"), st.characters(min_codepoint=0x20)), max_size=60)


def _spelled(text: str) -> str:
    """As it stands between the quotes of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


@given(st.lists(_TEXTS, max_size=8), st.lists(_TEXTS, max_size=8))
def test_a_text_is_read_as_it_was_written(known: list[str], others: list[str]) -> None:
    made = letters.letters_of(map(_spelled, known * letters.SEVERAL))
    again = json.loads(json.dumps(made))
    write, read = letters.written(made), letters.reader(again)
    for text in (*known, *others):
        stored = write(_spelled(text))
        assert json.loads(f'"{read(stored)}"') == text
        assert not {1, 2} & set(stored)  # which stand between the texts of a pack


def test_what_is_told_often_takes_one_byte_and_what_is_told_seldom_two() -> None:
    seldom = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    made = letters.letters_of(["device 内存"] * 99 + [seldom] + ["the plughs"] * 4)
    write = letters.written(made)
    assert len(write("device")) == len(write("内存")) == 1
    assert len(write("内")) <= 2
    assert len(write(seldom)) <= 2 * len(seldom) < len(seldom.encode())
    assert write("\U0001f9ef") == rb"\ud83e\uddef"


def test_words_for_which_no_single_letter_is_left_take_two() -> None:
    words = [f"plugh{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    made = letters.letters_of([" ".join(words)] * 3)
    assert len(letters.written(made)(" ".join(words))) <= 2 * len(words)


def test_a_blank_before_a_word_that_is_only_known_without_it_stays() -> None:
    made = letters.letters_of(["(device)"] * 9)
    write, read = letters.written(made), letters.reader(made)
    assert read(write("a device")) == "a device"
    assert len(write("a device")) == 3


def test_a_word_without_a_letter_is_written_in_the_words_that_it_is_made_of() -> None:
    made = letters.letters_of(["host memory"] * 9)
    write, read = letters.written(made), letters.reader(made)
    assert read(write("the hostmemory hostile")) == "the hostmemory hostile"
    assert len(write("hostile")) == len("ile") + 1
    assert len(write("x" * 100_000)) == 100_000


def test_of_very_many_texts_some_choose_the_letters() -> None:
    many = ("device memory " * 50 for _ in range(letters.ENOUGH // 500))
    assert " memory" in letters.letters_of(many)[0]
    assert next(many, None) is not None
