"""Writes the table of readings that searching uses: `pip install pypinyin && python tests/refresh_pinyin.py`.

It holds every character of the GB 2312 set with its usual readings, without tones, so that a new title seldom needs it made anew.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "doctor" / "lookup" / "pinyin.txt"
BEYOND = "昇"  # used, and not in GB 2312
MOST = 3  # readings of a character: the usual ones


def characters() -> list[str]:
    """The Chinese characters of GB 2312."""
    found = list(BEYOND)
    for row in range(16, 88):
        for cell in range(1, 95):
            try:
                found.append(bytes((row + 0xA0, cell + 0xA0)).decode("gb2312"))
            except UnicodeDecodeError:
                continue
    return found


def table() -> str:
    """A line a syllable, with the characters that are read so."""
    from pypinyin import Style, pinyin  # type: ignore[import-not-found, unused-ignore]

    by_syllable: dict[str, list[str]] = defaultdict(list)
    for character in characters():
        read = [r.replace("ü", "v") for r in pinyin(character, style=Style.NORMAL, heteronym=True)[0]]
        for syllable in list(dict.fromkeys(read))[:MOST]:
            if syllable.isascii() and syllable.isalpha():
                by_syllable[syllable].append(character)
    return "".join(f"{syllable} {''.join(found)}\n" for syllable, found in sorted(by_syllable.items()))


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
