"""What a code means is told where it was found: nobody is sent to look it up."""

from __future__ import annotations

import pytest

from doctor import report
from kb.knowledge import Knowledge


@pytest.mark.parametrize("code", ["0x81078603", "0x80E01809", "0x80CB8009"])
def test_an_event_is_told_by_its_meaning_in_both_languages(knowledge: Knowledge, code: str) -> None:
    """Title, cause and fix say what the table of codes says."""
    line = f"[EVENT] KERNEL(1790,event_server):2026-04-20-16:24:16.988.102 [fault_manager] event_id: [{code}], device id: [2], severity: [major]\n"
    finding = next(f for f in report(line, knowledge=knowledge)["findings"] if f["id"] == "DRV741")
    [row] = knowledge.decode(code)
    assert row["name"] in finding["title"]["en"]
    for lang in ("en", "zh"):
        assert row["meaning"][lang].rstrip(".。") in finding["cause"][lang]
        assert any(row["action"][lang].rstrip(".。") in step[lang] for fix in finding["fixes"] for step in fix.get("steps", ()))


def test_a_code_that_no_table_knows_is_told_as_it_stands(knowledge: Knowledge) -> None:
    """No hole is left in the texts."""
    line = "[EVENT] KERNEL(1790,event_server):2026-04-20-16:24:16.988.102 [fault_manager] event_id: [0x8ABCDEF1], device id: [2]\n"
    finding = next(f for f in report(line, knowledge=knowledge)["findings"] if f["id"] == "DRV741")
    assert finding["title"]["en"] == "NPU fault event 0x8ABCDEF1"
    assert "{" not in "".join(finding["cause"].values())
    assert [step["en"] for fix in finding["fixes"] for step in fix.get("steps", ())] == ["Look at the part that the code names."]
