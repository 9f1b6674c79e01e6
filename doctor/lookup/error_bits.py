"""AI Core error words decoded bit by bit: `errcode:(0x800000, 0, 0)`."""

from __future__ import annotations

import re
from typing import Any

from kb.knowledge import Knowledge

_WORDS = re.compile(
    r"(?:errcode\s*[:=]?\s*)?\(\s*(0x[0-9a-fA-F]+|\d+)\s*,\s*(0x[0-9a-fA-F]+|\d+)\s*(?:,\s*(0x[0-9a-fA-F]+|\d+)\s*)?\)?"
)


def decode(written: str, knowledge: Knowledge) -> list[dict[str, Any]]:
    """The meaning of every bit that is set in the words of an AI Core error; empty when the text is none."""
    match = _WORDS.search(written)
    if not match:
        return []
    table = {
        (int(r["word"]), int(r["bit"])): r
        for r in knowledge.all_codes()
        if r.get("bit") is not None and str(r.get("word", "")).isdigit()
    }
    found: list[dict[str, Any]] = []
    for number, text in enumerate(match.groups()):
        value = int(text, 0) if text else 0
        for bit in range(value.bit_length()):
            if value >> bit & 1:
                row = table.get((number, bit))
                where = f"word {number}, bit {bit} (0x{1 << bit:x})"
                meaning = row["meaning"] if row else {"en": "not documented", "zh": "没有公开说明"}
                found.append(
                    {
                        "where": where,
                        "name": row.get("name") if row else None,
                        "meaning": meaning,
                        "action": row.get("action") if row else None,
                    }
                )
    if not found:
        found.append(
            {
                "where": "0",
                "name": None,
                "meaning": {
                    "en": "no fault bit is set: the kernel timed out or trapped (an assertion, an index out of range)",
                    "zh": "没有置位：算子超时，或触发了 trap（断言、索引越界）",
                },
                "action": None,
            }
        )
    return found
