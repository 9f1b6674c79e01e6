"""Logs as people paste them: broken at a terminal's width, with a page's signs, under marks and numbers, newest first."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.api import report
from parsers.pasted import bare, decoded, joined, plain, straight, upright, ways

LOG = (
    "2026-03-02 10:00:01 INFO start\n"
    "Traceback (most recent call last):\n"
    '  File "/srv/app/main.py", line 12, in <module>\n'
    "    import cv2\n"
    "ImportError: /lib/aarch64-linux-gnu/libgomp.so.1: cannot allocate memory in static TLS block\n"
    "2026-03-02 10:00:04 INFO the launcher goes on and says something that is about as long as a line of a terminal may be, or longer\n"
)
FIRST, LINE = "ENV006", 5
QUOTED = "AttributeError: module 'vllm' has no attribute '__version__'\n"
words = st.text("abcdefghij  ", min_size=1, max_size=200).map(str.strip).filter(bool)


def broken(text: str, width: int) -> str:
    """As a terminal of that width shows it, and a mouse copies it."""
    return "".join(f"{row[at : at + width]}\n" for row in text.splitlines() for at in range(0, max(len(row), 1), width))


def between_words(text: str, width: int) -> str:
    return "".join("\n".join(textwrap.wrap(row, width, drop_whitespace=True, break_long_words=False, break_on_hyphens=False) or [""]) + "\n" for row in text.splitlines())


def first(text: str) -> tuple[str, int]:
    root = report(text)["findings"][0]
    return root["id"], root["evidence"][0]["line"]


def marked(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{mark}{row}\n" for row in text.splitlines())


def counted(form: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{form.format(number)}{row}\n" for number, row in enumerate(text.splitlines(), 7))


def test_the_log_itself() -> None:
    assert first(LOG) == (FIRST, LINE)


@pytest.mark.parametrize("carried", [
    marked(">"), marked(">> "), marked("# "), marked("+"), marked("Mar 02 10:00:01.123456 host python[7]: "), marked("10:00:01 "), marked("\u200b"),
    counted("{}:"), counted("{:6}\t"), counted("{:4}  "), counted("Mar 02 10:00:{:02} host python: "),
])  # fmt: skip
def test_what_every_line_begins_with_changes_nothing(carried: Callable[[str], str]) -> None:
    assert first(carried(LOG)) == (FIRST, LINE)


@pytest.mark.parametrize("width", [61, 72, 80, 85])
def test_a_line_that_was_broken_is_read_whole(width: int) -> None:
    code, line = first(broken(LOG, width))
    assert code == FIRST
    assert "ImportError" in broken(LOG, width).splitlines()[line - 1], "the line that is shown is the one where it begins"


def test_a_line_that_was_broken_between_words_is_read_whole() -> None:
    code, line = first(between_words(LOG, 80))
    assert code == FIRST
    assert "ImportError" in between_words(LOG, 80).splitlines()[line - 1]


def test_the_newest_line_first() -> None:
    turned = "".join(row + "\n" for row in reversed(LOG.splitlines()))
    code, line = first(turned)
    assert code == FIRST
    assert "ImportError" in turned.splitlines()[line - 1]


@pytest.mark.parametrize("carried", [html.escape(QUOTED), html.escape(html.escape(QUOTED)), QUOTED.replace(" '", " ‘").replace("' ", "’ ").replace("_'", "_’")])
def test_signs_of_pages_and_editors(carried: str) -> None:
    assert carried != QUOTED
    assert straight(decoded(carried.encode())) == QUOTED.encode()
    assert first(carried) == first(QUOTED)


@given(st.lists(words, min_size=1, max_size=12), st.integers(60, 120))
def test_broken_lines_come_back(rows: list[str], width: int) -> None:
    """Where at least two were broken, for a single one may be as long by chance."""
    text = "\n".join(rows)
    cut = broken(text, width).removesuffix("\n")
    if sum(len(row) > width for row in rows) < 2 or any(len(row) % width == 0 for row in rows):
        return
    assert text.encode() in [data for data, _ in joined(cut.encode())]


@given(st.text("ab \n>|0129:“&;quot\t", max_size=300))
def test_numbers_lead_to_lines_that_are_there(text: str) -> None:
    rows = text.encode().count(b"\n") + 1
    for data, numbers in ways(plain(text.encode())):
        assert not numbers or (len(numbers) >= data.count(b"\n") and all(1 <= number <= rows for number in numbers))


@pytest.mark.parametrize("text", ["", "one line", "| NPU  Name |\n| 0    910B |\n", "a\nb\n", "[ERROR] x\n[ERROR] y\n"])
def test_what_was_carried_as_it_is_stays(text: str) -> None:
    assert list(joined(text.encode())) == []
    assert upright(text.encode()) is None
    assert straight(text.encode()) == text.encode()


def test_a_word_that_all_lines_begin_with_is_their_own() -> None:
    assert bare(b"error one\nerror two\n") == b"one\ntwo\n"
    assert bare(b"errors\nerrand\n") == b"errors\nerrand\n"
