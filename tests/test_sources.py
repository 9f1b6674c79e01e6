"""Everything in the source documents that helps to troubleshoot is covered, and every question is answered in real noise."""

from __future__ import annotations

import ast
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from doctor.cli import COMMANDS
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

DATA = Path(__file__).parent / "data"
ROWS: list[dict[str, Any]] = yaml.safe_load((DATA / "sources.yaml").read_text(encoding="utf-8"))
ASKED = [row for row in ROWS if "incidents" in row]
# How many questions each document asks: a question cannot be lost by deleting its row.
QUESTIONS = {"guide-1.5": 24, "guide-1.11": 22}
DOCUMENTS = {"guide-1.5", "guide-1.11", "course", "mindspore", "ptdbg"}


def noise(seed: str, lines: int = 300) -> list[str]:
    """Healthy lines of a run: progress, INFO and WARNING lines of several modules, warnings of libraries."""
    r = random.Random(seed)
    made = []
    for n in range(lines):
        pid, clock = (
            9000 + r.randrange(8),
            f"2026-04-0{1 + r.randrange(9)}-10:{r.randrange(60):02}:{r.randrange(60):02}",
        )
        made.append(
            r.choice(
                (
                    f"[INFO] HCCL({pid},python3):{clock}.100.200 [op_base.cc:2210] [{pid}]Entry-HcclAllReduce: count[{n}], dataType[float16], op[sum]",
                    f"[INFO] RUNTIME({pid},python3):{clock}.100.200 [stream.cc:1121] {pid} StreamSync: stream_id={n}, ret=0, error code 0",
                    f"[INFO] GE({pid},python3):{clock}.100.200 [graph_manager.cc:1204]{pid} PreRun: ErrorNo: 0(success) [COMP][Process]done, graph {n}",
                    f"[EVENT] PROFILING({pid},python3):{clock}.100.200 [msprof_callback_impl.cpp:79] >>> (tid:{pid}) MsprofCtrlCallback called, type: {n}",
                    f" iteration {n:8}/   10000 | elapsed time per iteration (ms): {r.random() * 900:.1f} | lm loss: {9 - n / 100:.4f} | loss scale: 1.0 |",
                    f"[rank{r.randrange(8)}]: epoch: 1 step: {n}, loss is {r.random() * 4:.3f}",
                    f"{clock} INFO dataset: read shard {n} of 300 without failure",
                    f"/opt/lib/python3.10/site-packages/numpy/core/x.py:{n}: UserWarning: deprecated alias",
                )
            )
        )
    return made


def exists(name: str, known: Knowledge) -> bool:
    if name.startswith("npu-doctor "):
        return name.split()[1] in COMMANDS
    return any((known.entry(name), known.card(name), known.variable(name)))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["section"][:40])
def test_what_covers_a_section_exists(row: dict[str, Any], knowledge: Knowledge) -> None:
    missing = [name for name in row["covered"] if not exists(name, knowledge)]
    assert row["covered"]
    assert not missing
    assert set(row["documents"]) <= DOCUMENTS


def test_no_question_is_lost() -> None:
    counts = {d: sum(d in r["documents"] for r in ROWS if r["kind"] == "faq") for d in QUESTIONS}
    assert counts == QUESTIONS
    told = {p.name[5:-2] for p in (DATA / "incidents").glob("seed-*-[ab]")}
    assert told == {row["incidents"] for row in ASKED}
    assert {d for row in ROWS for d in row["documents"]} == DOCUMENTS


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


@pytest.mark.parametrize("row", ASKED, ids=lambda r: r["incidents"])
@pytest.mark.parametrize("variant", ["a", "b"])
def test_both_wordings_are_diagnosed_inside_noise(
    row: dict[str, Any], variant: str, knowledge: Knowledge, scanner: Scanner
) -> None:
    """The first finding is an entry of the row and of the label, and the noise alone gives none."""
    folder = DATA / "incidents" / f"seed-{row['incidents']}-{variant}"
    label = json.loads((folder / "label.json").read_text(encoding="utf-8"))
    lines = noise(folder.name)
    text = "\n".join([*lines[:150], (folder / "input.txt").read_text(encoding="utf-8").rstrip("\n"), *lines[150:], ""])
    found = conclude([scanner.scan(discover.given_text(text))], knowledge)
    first = found.related[0].finding.entry
    assert first.code in label["expect"]
    assert first.code in row["covered"]
    alone = conclude([scanner.scan(discover.given_text("\n".join(lines) + "\n"))], knowledge)
    assert not [r for r in alone.roots if r.finding.entry.severity in ("error", "fatal")]


def test_variants_are_not_the_entrys_own_samples(entries: list[Any]) -> None:
    """A variant that stands in an entry's samples would prove nothing."""
    samples = {line.strip() for e in entries for s in (*e.match, *e.no_match) for line in s.text.split("\n")}
    for row in ASKED:
        for variant in "ab":
            text = (DATA / "incidents" / f"seed-{row['incidents']}-{variant}" / "input.txt").read_text(encoding="utf-8")
            telling = [line.strip() for line in text.split("\n") if len(line.strip()) > 60]
            assert not telling or any(line not in samples for line in telling), row["incidents"]


def cards(knowledge: Knowledge) -> list[dict[str, Any]]:
    return [card for code in knowledge.cards() if (card := knowledge.card(code))]


def test_cards_are_whole(knowledge: Knowledge) -> None:
    assert len(cards(knowledge)) >= 30
    for card in cards(knowledge):
        assert set(card) <= {"code", "title", "text", "code_block", "keywords", "references"}, card["code"]
        assert card["code"].startswith("CARD-")
        for field in ("title", "text"):
            assert card[field]["en"].isascii(), card["code"]
            assert any("\u4e00" <= c <= "\u9fff" for c in card[field]["zh"]), card["code"]
        assert card["keywords"], card["code"]
        assert all(r["title"] and r["url"].startswith("https://") for r in card["references"]), card["code"]


def test_code_of_cards_compiles(knowledge: Knowledge) -> None:
    """Python is parsed with the grammar of the oldest Python; shell is read by bash without running it."""
    for card in cards(knowledge):
        block = card["code_block"]
        if block["lang"] == "python":
            ast.parse(block["text"], card["code"], feature_version=(3, 10))
        elif block["lang"] == "bash":
            done = subprocess.run(["bash", "-n"], input=block["text"].encode(), capture_output=True, check=False)
            assert done.returncode == 0, (card["code"], done.stderr)
        else:
            assert block["lang"] == "text"


def test_cards_never_end_processes_blindly(knowledge: Knowledge) -> None:
    for card in cards(knowledge):
        code = card["code_block"]["text"]
        assert "pkill" not in code, card["code"]
        assert "kill -9" not in code, card["code"]
        assert "rm -rf" not in code, card["code"]


def test_cards_are_found_and_explained(run) -> None:  # type: ignore[no-untyped-def]
    for words, code in (
        ("gdb core", "CARD-GDB-CORE"),
        ("参数映射 mindspore", "CARD-MS-PARAMETERS"),
        ("msaccucmp", "CARD-MSACCUCMP"),
    ):
        assert code in run("kb", "search", *words.split()).stdout.decode(), words
    shown = run("explain", "CARD-DUMP-JSON", "--lang", "en").stdout.decode()
    assert "torch.npu.finalize_dump()" in shown
