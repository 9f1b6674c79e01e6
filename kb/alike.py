"""What a text says in the same letters in both languages: a command, a variable, a code, a name. In a pack it stands in English alone.

    Set HCCL_CONNECT_TIMEOUT=600 on every node
    在每个节点设置 HCCL_CONNECT_TIMEOUT=600

In the Chinese text stands a reference: how many words, and how far from where the last one ended, for both languages name things in
nearly the same order. Words are only taken whole, from blank to blank or Chinese sign: whoever looks for one finds it in one of the texts.

>>> joined("Set A_B=1, then run c.sh", without("Set A_B=1, then run c.sh", "先设置 A_B=1，再运行 c.sh"))
'先设置 A_B=1，再运行 c.sh'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from parsers.lazy import lazy

SHORTEST = 4  # letters: a reference is two
_FEW = "\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"  # so many words, from one on: JSON has no such characters
_MANY = "\x04"  # the number follows
_BACK, _FORTH = 30, 64  # words
_FIRST = 0x20
_WORD = lazy(r"(?<![A-Za-z0-9_\\\x80-\U0010ffff])[A-Za-z0-9_]+")  # behind a sign that a pack may write as an escape there is none
_GOES_ON = lazy(r"[A-Za-z0-9_]")
_STRETCH = lazy(r"[!-~]+(?: [!-~]+)*")
_OPENS, _CLOSES = "([{\"'`", ")]}\"'`.,;:!?"
_LEAD = lazy(r"[^A-Za-z0-9_ ]*(?=[A-Za-z0-9_])")
_END = lazy(r"[)\]}\"'`.,;:!?]*(?: |$)")
_MOST = 0x7E - _FIRST
_REFERENCE = lazy(rf"(?:(?P<few>[{_FEW}])|{_MANY}(?P<many>[ -~]))(?P<far>[ -~])")


def without(english: str, chinese: str) -> str:
    """The Chinese text with references to the English one."""
    if not any(len(found[0]) >= SHORTEST for found in _STRETCH.finditer(chinese)):
        return chinese
    words = [found.span() for found in _WORD.finditer(english)]
    at: dict[str, list[int]] = {}
    for number, (begin, end) in enumerate(words):
        at.setdefault(english[begin:end], []).append(number)
    done = 0

    def shorter(stretch: re.Match[str]) -> str:
        nonlocal done
        made, rest = "", stretch[0]
        while (found := _LEAD.match(rest)) is not None:
            lead = found[0]
            letters, number, count = _longest(rest[len(lead) :], lead.strip(_OPENS), english, words, at, done)
            if letters:
                made += lead + _reference(number - done, count)
                done = number + count
                rest = rest[len(lead) + letters :]
            token = rest.partition(" ")[0] if not letters else ""
            rest = rest[len(token) :]
            closing = len(rest) - len(rest.lstrip(_CLOSES + " "))
            made, rest = made + token + rest[:closing], rest[closing:]
        return made + rest

    return _STRETCH.sub(shorter, chinese)


def may_refer(part: str) -> bool:
    """Can a part of a Chinese text hold a reference, so that it is not found letter by letter?"""
    return _STRETCH.search(part) is not None


def joined(english: str, kept: str) -> str:
    """The inverse of `without`."""
    if _REFERENCE.search(kept) is None:
        return kept
    words = [found.span() for found in _WORD.finditer(english)]
    done = 0

    def told(found: re.Match[str]) -> str:
        nonlocal done
        count = _FEW.index(found["few"]) + 1 if found["few"] else ord(found["many"]) - _FIRST
        number = done + ord(found["far"]) - _FIRST - _BACK
        done = number + count
        return english[words[number][0] : words[done - 1][1]]

    return _REFERENCE.sub(told, kept)


def _longest(rest: str, lead: str, english: str, words: Sequence[tuple[int, int]], at: dict[str, list[int]], done: int) -> tuple[int, int, int]:
    """How many letters from a word on stand in the English text behind the same `lead`, to where a word ends in both; the number of their first word there, and how many they are."""
    first = _WORD.match(rest)
    best = (0, 0, 0)
    for number in at.get(first[0], ()) if first is not None else ():
        begin = words[number][0]
        if not -_BACK <= number - done <= _FORTH or not english.endswith(lead, 0, begin):
            continue
        for letters, count in _ends(rest, english, begin):
            if count > _MOST or english[begin : begin + letters] != rest[:letters]:
                break
            if letters >= SHORTEST and letters > best[0] and _END.match(rest, letters) is not None:
                best = (letters, number, count)
    return best


def _ends(rest: str, english: str, begin: int) -> Iterator[tuple[int, int]]:
    """After which letters a word ends in both, and which word it is."""
    for count, found in enumerate(_WORD.finditer(rest), 1):
        end = begin + found.end()
        if _GOES_ON.match(english, end) is not None:
            return
        yield found.end(), count


def _reference(far: int, count: int) -> str:
    many = _FEW[count - 1] if count <= len(_FEW) else _MANY + chr(_FIRST + count)
    return many + chr(_FIRST + far + _BACK)
