"""Writes the table of readings that searching uses: `pip install pypinyin && python tests/refresh_pinyin.py`.

It holds every common character (level one of GB 2312) and what the knowledge writes besides, with its usual readings, without tones, so that a
new title seldom needs it made anew. Level one of GB 2312 is in the order of its readings: of most lines a number tells what is read so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from doctor.lookup.pinyin import common

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "doctor" / "lookup" / "pinyin.txt"
MOST = 3  # readings of a character: the usual ones
NONE = "-"  # of a character that has none


def characters() -> list[str]:
    """The common characters, and those that are written in texts."""
    found = list(common())
    texts = (path.read_text(encoding="utf-8") for folder, kind in (("kb", "*.yaml"), ("doctor/base/words", "*.py")) for path in (ROOT / folder).rglob(kind))
    written = {character for text in texts for character in re.findall("[\u4e00-\u9fff]", text)}
    return [*found, *sorted(written.difference(found))]


def table() -> str:
    """A line a syllable: how many of the next common characters are read so, and which others."""
    from pypinyin import Style, pinyin  # type: ignore[import-not-found, unused-ignore]

    read: dict[str, list[str]] = {}
    for character in characters():
        told = dict.fromkeys(r.replace("ü", "v") for r in pinyin(character, style=Style.NORMAL, heteronym=True)[0])
        read[character] = [syllable for syllable in list(told)[:MOST] if syllable.isascii() and syllable.isalpha()]
    return lines(read)


def lines(read: dict[str, list[str]]) -> str:
    """The table of what each character may be read as."""
    rest = {character: list(told) for character, told in read.items()}
    runs: list[tuple[str, int]] = []
    following = list(common())
    for at, character in enumerate(following):
        told = read.get(character) or [NONE]
        if not runs or runs[-1][0] not in told:  # the one that holds for most of what follows
            runs.append((max(told, key=lambda one: next((n for n, other in enumerate(following[at:]) if one not in read.get(other, ())), len(following))), 0))
        syllable, count = runs[-1]
        runs[-1] = syllable, count + 1
        if syllable in rest.get(character, ()):
            rest[character].remove(syllable)
    others: dict[str, list[str]] = defaultdict(list)
    for character, told in rest.items():
        for syllable in told:
            others[syllable].append(character)
    rows = [(syllable, count, "".join(others.pop(syllable, ()))) for syllable, count in runs]
    rows += [(syllable, 0, "".join(found)) for syllable, found in sorted(others.items())]
    return "".join(f"{syllable} {count} {found}".rstrip() + "\n" for syllable, count, found in rows)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
