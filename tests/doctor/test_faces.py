"""Every face of a document: no part of a fix is lost in any of them, in neither language."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from doctor import explanation
from doctor.render import annotations, compose, draft, html, layout, markdown, sarif, text
from doctor.tui.diagnosis import outline
from doctor.tui.knowledge import cards
from kb.knowledge import Knowledge
from kb.model import CodeFix, Command, Entry, EnvFix, Fix, Text

Json = dict[str, Any]
LANGS = ("en", "zh")
WIDE = layout.Style(width=400)
# Every part that a fix can have is a word of its own; the keys are the fields of the report.
STEPS, WHY, CHANGES, CAUTION = ("partstepone", "partsteptwo"), "partwhy", "partchanges", "partcaution"


def both(told: str) -> dict[str, str]:
    return {lang: f"{told}{lang}" for lang in LANGS}


FIX: Json = {
    "goal": "mitigate",
    "risk": "high",
    "title": both("parttitle"),
    "steps": [both(step) for step in STEPS],
    "env": [{"name": "PARTNAME", "value": "partvalue", "scope": "partscope", "undo": "unset PARTUNDO", "caution": both(CAUTION)}],
    "commands": [
        {"run": "partrun --now", "changes": both(CHANGES), "why": both(WHY)},
        {"run": "partfirst\npartsecond", "changes": both("partother"), "why": None},
    ],
    "code": {"lang": "python", "before": "partbefore()", "after": "partafter()"},
}
PLAIN = ("PARTNAME=partvalue", "partscope", "unset PARTUNDO", "partrun --now", "partfirst", "partsecond", "partbefore()", "partafter()")
TOLD = ("parttitle", *STEPS, CAUTION, CHANGES, WHY, "partother")
RISK = {"en": "risk: high", "zh": "风险：高"}
REPORT: Json = {
    "schema_version": 1,
    "tool": {"name": "npu-doctor", "version": "1"},
    "knowledge": {"entries": 1, "codes": 0, "digest": "d"},
    "verdict": "findings",
    "situation": {"line": both("situation"), "facts": {}},
    "decisive": None,
    "findings": [
        {
            "id": "USR001", "slug": "mine", "kind": "user-code", "role": "root", "severity": "error", "confidence": 0.95, "why": both("why"), "note": None,
            "title": both("title"), "cause": both("cause"), "scope": {"node": None, "rank": 3, "device": None, "pid": 7}, "count": 2,
            "first_seen": None, "last_seen": None, "explains": ["USR002"], "explained_by": None, "repro": None, "references": [], "fixes": [FIX],
            "evidence": [{"path": "a.log", "line": 1, "end_line": 1, "time": None, "level": None, "module": None, "text": "it broke"}],
        }
    ],
    "unexplained": [],
    "missing_evidence": [],
    "skipped": [],
    "stats": {"files": 1, "bytes": 8, "seconds": 0.1},
}  # fmt: skip
SYMPTOM = {
    **REPORT["findings"][0], "id": "USR002", "role": "symptom", "explains": [], "explained_by": "USR001", "fixes": [], "rule": "waits-for-peer",
}  # fmt: skip
REPORT["findings"].append(SYMPTOM)


def _sarif(lang: str) -> str:
    told = json.loads(sarif.render(REPORT, lang))
    return str(told["runs"][0]["results"][0]["message"]["text"])


FACES: dict[str, Callable[[str], str]] = {
    "text": lambda lang: text.render(REPORT, lang, WIDE),
    "markdown": lambda lang: markdown.render(REPORT, lang),
    "html": lambda lang: html.render(REPORT, lang),
    "issue": lambda lang: draft.render(REPORT, (), lang),
    "sarif": _sarif,
    "junit": lambda lang: annotations.junit(REPORT, lang),
    "github": lambda lang: annotations.github(REPORT, lang).replace("%0A", "\n"),
    "card": lambda lang: outline.card(REPORT, "finding:USR001", lang, str).plain(),
    "card-markdown": lambda lang: outline.card(REPORT, "finding:USR001", lang, str).markdown(),
}


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("face", FACES)
def test_no_face_loses_a_part_of_a_fix(face: str, lang: str) -> None:
    """What it changes, why, what to mind, how to take it back, how risky it is: whoever reads the command reads that too."""
    drawn = FACES[face](lang)
    assert [part for part in (*PLAIN, *(f"{told}{lang}" for told in TOLD), RISK[lang]) if part not in drawn] == []


def _entry(knowledge: Knowledge) -> Entry:
    """An entry of the knowledge with the fix that has every part."""
    entry = knowledge.entry("RTS001")
    assert entry is not None

    def told(one: Json | None) -> Text | None:
        return Text(one["en"], one["zh"]) if one else None

    fix = Fix(
        FIX["goal"],
        FIX["risk"],
        Text(**FIX["title"]),
        tuple(Text(**s) for s in FIX["steps"]),
        tuple(EnvFix(e["name"], e["value"], e["scope"], e["undo"], told(e["caution"])) for e in FIX["env"]),
        tuple(Command(c["run"], told(c["changes"]), told(c["why"])) for c in FIX["commands"]),
        CodeFix(**FIX["code"]),
    )
    return entry._replace(fixes=(fix,))


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("face", ["explain", "card"])
def test_no_face_of_the_knowledge_loses_a_part_of_a_fix(face: str, lang: str, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = _entry(knowledge)
    monkeypatch.setattr(Knowledge, "entry", lambda self, code: entry)
    if face == "explain":
        drawn = explanation.text(explanation.look_up("RTS001", knowledge), knowledge, lang, WIDE)
    else:
        drawn = cards.card(knowledge, cards.Target("entry", "RTS001"), lang).plain()
    assert [part for part in (*PLAIN, *(f"{told}{lang}" for told in TOLD), RISK[lang]) if part not in drawn] == []


@pytest.mark.parametrize("risk", ["low", "medium", "high"])
def test_risk_is_told_from_medium_on(risk: str) -> None:
    report = {**REPORT, "findings": [{**REPORT["findings"][0], "explains": [], "fixes": [{**FIX, "risk": risk}]}]}
    assert ("risk:" in text.render(report, "en", WIDE)) == (risk != "low")


def test_a_note_with_lines_never_becomes_a_command() -> None:
    """Notes hold what a log said: its second line stands behind the mark of the first."""
    command = {"run": "harmless", "changes": None, "why": both("first\nrm -rf /tmp/x #")}
    report = {**REPORT, "findings": [{**REPORT["findings"][0], "explains": [], "fixes": [{**FIX, "commands": [command]}]}]}
    for drawn in (text.render(report, "en", WIDE), markdown.render(report, "en"), annotations.junit(report, "en")):
        assert not [row for row in drawn.splitlines() if row.strip().startswith("rm -rf")]


def test_what_is_pasted_as_a_whole_takes_nothing_back() -> None:
    """A block is copied whole, from a page or a terminal: how to undo a setting stands in it as a remark."""
    for drawn in (markdown.render(REPORT, "en"), text.render(REPORT, "en", WIDE)):
        rows = [row.strip() for row in drawn.splitlines()]
        assert "# undo: unset PARTUNDO" in rows
        assert not [row for row in rows if row.startswith("unset PARTUNDO")]


@pytest.mark.parametrize(("verbose", "everything", "told"), [(False, False, False), (True, False, True), (False, True, True)])
def test_the_rule_that_folded_a_symptom(verbose: bool, everything: bool, told: bool) -> None:
    """Asked for with -v; --all tells it too. A report without rules is drawn as well."""
    drawn = text.render(REPORT, "en", WIDE, everything, verbose=verbose)
    assert ("rule: waits-for-peer" in drawn) == told
    without = {**REPORT, "findings": [REPORT["findings"][0], {**SYMPTOM, "rule": None}]}
    assert "rule:" not in text.render(without, "en", WIDE, everything, verbose=verbose)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("7 ranks wait in all_reduce no. 12 of group 0; rank 5 does not. More.", "7 ranks wait in all_reduce no. 12 of group 0; rank 5 does not."),
        ("Some of them, e.g. Ascend, say no. Others do.", "Some of them, e.g. Ascend, say no."),
        ("It ended.", "It ended."),
    ],
)
def test_the_first_sentence_is_whole(text: str, first: str) -> None:
    assert compose.sentence(text, "en") == first
