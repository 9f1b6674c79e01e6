"""Re-enacted real incidents: the first root names the true cause and the fixes name the cure; decoys claim no NPU fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests_support import INCIDENTS as CASES
from tests_support import Diagnosed

from doctor.render import compact
from doctor.render.call import Call
from doctor.render.layout import Style, rows_of

# The share of incidents whose first root is right. It only ever rises.
FLOOR = 0.98


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 40)])
def test_every_answer_is_one_screen(width: int, height: int, lang: str, diagnosed: Diagnosed) -> None:
    """Row by row of a terminal: in 24 rows at most 20 for one root, 22 for a job, so that with what was read and the prompt nothing scrolls away."""
    over = []
    for case in CASES:
        found = diagnosed(case)
        told = compact.render(found, lang, Style(width, rows=height), Call(("input.log",))).replace(f"{case}/", "")
        rows = rows_of(told, width)
        if rows > height - (compact.MANY if "job" in found or len([f for f in found["findings"] if f["role"] == "root"]) > 1 else compact.ONE):
            over.append((case.name, rows))
    assert over == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_larger_screen_tells_more_and_leaves_nothing_out(lang: str, diagnosed: Diagnosed) -> None:
    """Whatever can be pasted stays; of what was counted only, some is told."""
    longer = 0
    for case in CASES:
        found = diagnosed(case)
        small, large = (compact.render(found, lang, Style(100, rows=rows), Call(("input.log",))) for rows in (24, 40))
        assert {row for row in small.split("\n") if re.match(r" {13}[^\s#^.(]", row)} <= set(large.split("\n")), case.name
        longer += len(large) > len(small)
    assert longer > len(CASES) // 2


NAMED = re.compile(
    r"fault kernel_name=(?P<kernel>(?!none|not)\w{4,})|'op_name': '(?P<op>\w+)'|undefined symbol: (?P<symbol>\w+)|No module named '(?P<module>[\w.]+)'"
    r"|has no attribute '(?P<attribute>\w+)'|cannot import name '(?P<imported>\w+)'|(?P<library>lib\w+\.so[\d.]*): cannot open shared object"
)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_names_that_decide_stand_on_the_first_screen(lang: str, diagnosed: Diagnosed) -> None:
    """The kernel, operator, package or library of the lines on which the first root rests: whoever asks for help asks for it by name."""
    lost = []
    for case in CASES:
        found = diagnosed(case)
        root = next((f for f in found["findings"] if f["role"] == "root" and not found["decisive"]), None)
        if root is None:
            continue
        screen = "".join(compact.render(found, lang, Style(width=100), Call(("input.log",))).split())
        names = {name for one in root["evidence"] for told in NAMED.finditer(one["text"]) for name in told.groups() if name}
        first = sorted(names)[:1] if len(names) > 3 else names  # of a whole list, one
        lost += [(case.name, root["id"], name) for name in first if re.sub(r"_\d+$", "", name) not in screen]
    assert lost == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_text_has_a_hole(lang: str, diagnosed: Diagnosed) -> None:
    """Titles and causes as they are shown: no braces left, no empty brackets, no two stops, no blanks around nothing."""
    hole = re.compile(r"(?<![\w'\"`(（=：: ])\{\}|(?<!\w)\(\s*\)|（\s*）|[.。]{2}(?![./\w])(?<!\.\.\.)|rank 4294967295|设备 上|\s[,;.](?:\s|$)")
    bad = [(case.name, f["id"], text) for case in CASES for f in diagnosed(case)["findings"] for text in (f["title"][lang], f["cause"][lang]) if hole.search(text)]
    assert bad == []


def flat(value: Any) -> str:
    if isinstance(value, dict):
        return flat(value.get("en", "")) if set(value) <= {"en", "zh"} else " ".join(map(flat, value.values()))
    if isinstance(value, list):
        return " ".join(map(flat, value))
    return "" if value is None else str(value)


def names(text: str, word: str) -> bool:
    """The word stands in the text at the beginning of a word."""
    return re.search(r"(?<![a-z0-9_])" + re.escape(word.lower()), text) is not None


def judge(found: dict[str, Any], label: dict[str, Any]) -> str:
    """Empty when right; else what is wrong."""
    roots = [f for f in found["findings"] if f["role"] == "root"]
    loud = [f for f in roots if f["severity"] in ("error", "fatal")]
    if label["kind"] == "decoy":
        return f"claimed {loud[0]['id']} {loud[0]['title']['en']}" if loud else ""
    if not roots:
        return "no finding"
    first = roots[0]
    told = flat([first[k] for k in ("id", "slug", "title", "cause", "why", "fixes", "kind")]).lower()
    words = label["root_cause_keywords"]
    title = first["title"]["en"].lower()
    if sum(names(told, w) for w in words) < (2 if len(words) >= 3 else 1):
        return f"said {first['id']} {first['title']['en']}"
    if any(names(title, w) for w in label.get("must_not", ())):
        return f"the title names what it must not: {first['title']['en']}"
    cures = " ".join(flat(f["fixes"]) + " " + flat(f["cause"]) for f in roots[:3]).lower()
    if label.get("fix_keywords") and not any(names(cures, w) for w in label["fix_keywords"]):
        return f"{first['id']}: the fix is not named"
    return ""


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_expected_entry(case: Path, diagnosed: Diagnosed) -> None:
    """The label names which entries may be the first root; those are what comes out."""
    label = json.loads((case / "label.json").read_text(encoding="utf-8"))
    found = diagnosed(case)
    roots = [f["id"] for f in found["findings"] if f["role"] == "root" and f["severity"] in ("error", "fatal")]
    if label["kind"] == "decoy":
        assert roots == []
    elif label.get("expect"):
        first = next((f["id"] for f in found["findings"] if f["role"] == "root"), None)
        assert first in label["expect"], judge(found, label)


def test_score(diagnosed: Diagnosed) -> None:
    """The measured share of right answers stays at or above the floor; decoys are all right."""
    wrong = {}
    for case in CASES:
        label = json.loads((case / "label.json").read_text(encoding="utf-8"))
        if why := judge(diagnosed(case), label):
            wrong[case.name] = why
            assert label["kind"] != "decoy", (case.name, why)
    assert 1 - len(wrong) / len(CASES) >= FLOOR, wrong


def test_there_are_enough() -> None:
    """Each family has incidents of its own, each with its public source."""
    assert len(CASES) >= 100
    for case in CASES:
        label = json.loads((case / "label.json").read_text(encoding="utf-8"))
        assert label["source"], case.name
        assert {"kind", "root_cause", "root_cause_keywords", "family"} <= set(label), case.name
