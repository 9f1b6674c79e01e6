"""What is concluded from harvests: of any hits, captures and spans, from whichever node and in whichever order."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from doctor.answer.report import report
from doctor.base.errors import UsageError
from doctor.fleet.gather import apart, read
from doctor.judge.diagnosis import conclude
from doctor.read.source import Skipped, Source, hints
from doctor.render import annotations, html, jsonl, layout, markdown, sarif, text
from doctor.scan.harvest import Caller, Cluster, Dump, Harvest, Hit, Place, Span, from_json, merge
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.situation import Said
from kb.knowledge import Knowledge, load
from kb.sought import gathered

NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # what fails has an evident place; shrinking takes minutes
KNOWN = load()
SIGNALS = KNOWN.signals()
BY_ID = {s.id: s for s in SIGNALS}
FACTS = [s.id for s in SIGNALS if s.id.startswith("fact:")]
LEAVES = [s.id for s in SIGNALS if not s.id.startswith(("fact:", "situation:"))]  # what the situation is told by is no hit

ODD = st.sampled_from(["", "0", "1", "3", "-1", "7", "²", "٣", "9" * 5000, "1" * 30, "0x1f", "a.b.c.d", "10.0.0.1", "g_1", "x|y", "\x1b[2J", "a/b", "\ud800", "<b>"])
TIMES = st.none() | st.sampled_from(["2026-01-02T03:04:05.000006", "2026-01-02T03:04:06.000006", "2026-02-30T99:99:99.999999", "0000-00-00T00:00:00.000000"])
NUMBERS = st.none() | st.sampled_from([0, 1, 2, 7, 10**17, -1])
PLACES = st.builds(
    Place, st.sampled_from(["a.log", "plog/plog-7_1.log", "node-1/plog-8_2.log", "\udcff.log", "x\x1b]0;y\x07"]), st.integers(1, 99), st.integers(1, 99), TIMES,
    st.none() | st.sampled_from(["error", "info"]), st.none() | st.sampled_from(["HCCL", "table"]), st.sampled_from(["plog", "text", "table"]),
    st.none() | st.sampled_from(["n1", "n2"]), NUMBERS, NUMBERS, NUMBERS, st.none() | st.just("w0"), ODD,
)  # fmt: skip


@cache
def _captures(name: str) -> tuple[str, ...]:
    """What a signal may capture; asked of those that are drawn: compiling all patterns takes a second of every worker."""
    signal = BY_ID[name]
    return tuple(re.compile(signal.pattern).groupindex) if signal.form == "regex" else ()


@st.composite
def hit(draw: st.DrawFn, ids: list[str]) -> Hit:
    name = draw(st.sampled_from(ids))
    captures = tuple((k, draw(ODD)) for k in _captures(name) if draw(st.booleans()))
    return Hit(name, draw(PLACES), captures)


COUNTS = st.dictionaries(st.sampled_from(LEAVES), st.integers(1, 10**6), max_size=3)
HARVESTS = st.builds(
    Harvest, st.lists(hit(LEAVES), max_size=6).map(tuple), COUNTS, st.lists(st.builds(Cluster, ODD, st.integers(1, 9), PLACES, st.lists(ODD, max_size=2).map(tuple)), max_size=3).map(tuple),
    st.dictionaries(st.sampled_from(["plog", "text"]), st.integers(1, 9)), st.lists(st.builds(Skipped, ODD, ODD), max_size=2).map(tuple),
    st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.lists(st.sampled_from(LEAVES), max_size=2).map(tuple),
    st.lists(hit(FACTS), max_size=12).map(tuple), st.lists(st.builds(Span, st.sampled_from(["a.log", "plog/plog-7_1.log"]), TIMES, TIMES, NUMBERS), max_size=3).map(tuple),
    st.lists(st.builds(Said, st.sampled_from(["chip", "cann"]), ODD, ODD, st.integers(1, 9)), max_size=3).map(tuple),
    dumps=st.lists(st.builds(Dump, ODD, ODD, st.none() | st.just("n1"), NUMBERS, NUMBERS, ODD), max_size=2).map(tuple),
    callers=st.lists(st.builds(Caller, st.sampled_from(["a.log", "plog/plog-7_1.log"]), st.integers(-1, 99), ODD, ODD, ODD), max_size=3).map(tuple),
    aside=st.lists(hit(LEAVES), max_size=3).map(tuple),
)  # fmt: skip


RENDERERS = (markdown.render, html.render, sarif.render, annotations.junit, annotations.github)


def tell(harvests_: list[Harvest], knowledge: Knowledge = KNOWN) -> None:
    diagnosis = conclude(harvests_, knowledge)
    made = report(diagnosis, knowledge)
    for lang in ("en", "zh"):
        for form in (text.render(made, lang, layout.Style(), True, True), *(render(made, lang) for render in RENDERERS)):
            assert "\x1b" not in form
        ET.fromstring(annotations.junit(made, lang).encode("utf-8", "backslashreplace"))
    jsonl.render(made, diagnosis.harvest.json())


@given(st.lists(HARVESTS, min_size=1, max_size=3))
@settings(max_examples=40, phases=NO_SHRINKING)
def test_conclusions_are_drawn_from_anything(found: list[Harvest]) -> None:
    tell(found)


@given(st.lists(HARVESTS, min_size=2, max_size=4), st.randoms())
@settings(max_examples=40, phases=NO_SHRINKING)
def test_merging_is_free_of_order_and_grouping(found: list[Harvest], chance: object) -> None:
    mixed = list(found)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert merge(mixed) == merge(found)
    assert merge([merge(found[:1]), merge(found[1:])]) == merge(found)
    assert merge([merge(found)]) == merge(found)


@given(HARVESTS)
@settings(max_examples=40, phases=NO_SHRINKING)
def test_json_and_back(one: Harvest) -> None:
    assert from_json(json.loads(json.dumps(one.json()))) == one


JUNK = st.recursive(st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | ODD, lambda x: st.lists(x, max_size=3) | st.dictionaries(ODD, x, max_size=2), max_leaves=4)


@given(HARVESTS, st.data())
@settings(max_examples=40, phases=NO_SHRINKING)
def test_a_harvest_with_anything_in_it_is_read_or_refused(one: Harvest, data: st.DataObject) -> None:
    """A value somewhere in what `merge` reads is something else than it should be."""
    row = json.loads(json.dumps(copy.deepcopy(one.json())))
    at: object = row
    for _ in range(data.draw(st.integers(1, 4))):
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()) or not isinstance(at[key], (dict, list)):  # type: ignore[index]
            at[key] = data.draw(JUNK)  # type: ignore[index]
            break
        at = at[key]  # type: ignore[index]
    try:
        read = from_json(row)
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    tell(apart([("a.jsonl", read)]))


@pytest.mark.parametrize("row", ['{"type": "harvest"}', "[]", "3", '{"type": []}', "{", '{"type": "report", "knowledge": []}', '{"type": "harvest", "hits": ' + "[" * 3000 + "]" * 3000 + "}"])
def test_what_is_no_harvest_is_refused(row: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(row)
    with pytest.raises(UsageError):
        read(str(tmp_path / "a.jsonl"))


def test_numbers_without_end_in_a_log() -> None:
    """Ranks and sizes of thousands of digits in a plog line: no number, no crash."""
    row = "[INFO] HCCL(7,python):2025-03-19-04:14:13.402.556 [op_base.cc:1] [7]Entry-HcclCommInitRootInfoInner:ranks[{n}], rank[{n}], rootinfo: host ip[10.44.2.17] port[6] nicDeploy[1] identifier[g], deviceLogicId[{n}]\n"
    data = "".join(row.replace("{n}", n) for n in ("9" * 5000, "1", "0")).encode()
    found = Scanner(Plan(KNOWN.sought()), engine="plain").scan(Source("a.log", lambda: BytesIO(data), len(data), hints("a.log")))
    assert found.facts
    tell([found])


def test_a_rank_beyond_all_machines_costs_nothing() -> None:
    """One line that names rank 10^17: no list of all the ranks that are missing."""
    line = "(VllmWorker rank=100000000000000000 pid=5) RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n"
    data = (line + line.replace("rank=1", "rank=3").replace("pid=5", "pid=6")).encode()
    tell([Scanner(Plan(gathered(SIGNALS)), engine="plain").scan(Source("a.log", lambda: BytesIO(data), len(data), hints("a.log")))])
    place = Place("a.log", 1, 1, None, "error", None, "text", None, 7, 10**17, None, None, "x")
    diagnosis = conclude([Harvest(hits=(Hit(LEAVES[0], place, ()),), facts=(Hit(FACTS[0], place, ()),), counts={LEAVES[0]: 1})], KNOWN)
    assert any("that cannot be" in s.reason for s in diagnosis.skipped)
    assert all(h.place.rank is None for h in diagnosis.harvest.hits)
