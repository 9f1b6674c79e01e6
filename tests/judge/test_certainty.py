"""A root claims less while a line that nobody explains stands nearer to the origin."""

from __future__ import annotations

import pytest

from doctor.answer.grounds import against, confidence, why
from doctor.answer.report import report
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

OWN = "[ERROR] DRV(4242,python):2026-02-23-17:30:39.100.000 [plugh.cc:14][4242]plugh of the xyzzy is gone\n"
KNOWN = "[ERROR] HCCL(4242,python):2026-02-23-17:30:40.098.960 [config.cc:14][4242]Binary register failed, elf machine or arch does not match the device.\n"


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


def diagnosed(text: str, scanner: Scanner, knowledge: Knowledge) -> Diagnosis:
    return conclude([scanner.scan(discover.given_text(text, "<sample>"))], knowledge)


def test_an_unknown_line_before_it_speaks_against_a_root(scanner: Scanner, knowledge: Knowledge) -> None:
    """It is named, in words and in the report, and "sure" becomes "likely"."""
    alone, doubted = (diagnosed(text, scanner, knowledge).roots[0] for text in (KNOWN, OWN + KNOWN))
    assert alone.finding.entry.code == doubted.finding.entry.code
    assert (alone.against, confidence(alone), confidence(doubted)) == (None, 0.95, 0.75)
    said = against(doubted)
    assert said is not None
    assert "<sample>:1" in said.en
    assert "<sample>:1" in said.zh
    assert said.en in why(doubted).en
    assert report(diagnosed(OWN + KNOWN, scanner, knowledge), knowledge)["findings"][0]["against"] == said.json()


@pytest.mark.parametrize(
    "text",
    [KNOWN + OWN, OWN.replace("4242", "77") + KNOWN, OWN.replace("17:30:39", "17:20:39") + KNOWN],
    ids=["after it", "another process", "long before"],
)
def test_what_has_nothing_to_do_with_it_does_not(text: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """Only what may belong to the same failure does."""
    assert diagnosed(text, scanner, knowledge).roots[0].against is None


@pytest.mark.parametrize("drawn", ["-------------PLUGH RESULT-------------", "_________PLUGH_INFO_________", "-----------------", "|----------------|------|", "|  comm error, device[0] "])
def test_what_is_drawn_around_a_block_speaks_against_nobody(drawn: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """Headings and rulers hold no word about a failure."""
    line = OWN.replace("plugh of the xyzzy is gone", drawn)
    assert diagnosed(line + KNOWN, scanner, knowledge).roots[0].against is None


def test_what_stands_beneath_the_reason_does_not_speak_against_it(scanner: Scanner, knowledge: Knowledge) -> None:
    lines = [
        "[ERROR] AMCT(3,atc.bin):2023-06-20-09:41:52[utils_acl.cpp:133]input image size[1579014] is not equal to model input size[3158028]",
        "[ERROR] AMCT(3,atc.bin):2023-06-20-09:41:52[plugh.cpp:234]the frobnicated buffer is gone",
        "[ERROR] AMCT(3,atc.bin):2023-06-20-09:41:52[quantize_api.cpp:376]Do Calibration failed.",
    ]
    below, above = (diagnosed("\n".join(rows), scanner, knowledge).roots[0] for rows in (lines, [lines[1], lines[0], lines[2]]))
    assert (against(below), against(above) is None) == (None, False)
