"""`explain` answers for every code that is known to be printed anywhere in the stack, in both languages."""

from __future__ import annotations

from pathlib import Path

from doctor.commands.explain import look_up, text
from doctor.render.layout import Style
from kb.knowledge import Knowledge

CODES = (Path(__file__).parent.parent / "data" / "known-codes.txt").read_text().split("\n")[:-1]


def test_every_code_is_explained(knowledge: Knowledge) -> None:
    """Meaning and first action stand in English and Chinese for each."""
    silent = []
    for code in CODES:
        rows = knowledge.decode(code)
        if not rows or not all(rows[0][k].get(lang) for k in ("meaning", "action") for lang in ("en", "zh")):
            silent.append(code)
    assert silent == []
    assert len(CODES) > 2900


def test_explanation_reads_in_both_languages(knowledge: Knowledge) -> None:
    """What is printed differs by language and names the code."""
    for code in CODES[::50]:
        found = look_up(code, knowledge)
        en, zh = (text(found, knowledge, lang, Style()) for lang in ("en", "zh"))
        assert found["codes"][0]["code"] in en
        assert en != zh
