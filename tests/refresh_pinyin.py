"""Writes the table of readings that searching uses: `pip install pypinyin && python tests/refresh_pinyin.py`.

It holds every common character (level one of GB 2312) and what the knowledge writes besides, with its usual readings, without tones, so that a
new title seldom needs it made anew.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "doctor" / "lookup" / "pinyin.txt"
MOST = 3  # readings of a character: the usual ones


def characters() -> list[str]:
    """The common characters, and those that are written in texts."""
    texts = (path.read_text(encoding="utf-8") for folder, kind in (("kb", "*.yaml"), ("doctor/base/words", "*.py")) for path in (ROOT / folder).rglob(kind))
    written = {character for text in texts for character in re.findall("[\u4e00-\u9fff]", text)}
    found = []
    for row in range(16, 56):
        for cell in range(1, 95):
            try:
                found.append(bytes((row + 0xA0, cell + 0xA0)).decode("gb2312"))
            except UnicodeDecodeError:
                continue
    return [*found, *sorted(written.difference(found))]


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
