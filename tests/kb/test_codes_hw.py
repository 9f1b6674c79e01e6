"""The code tables below the API: runtime, task scheduler, driver, DCMI, AI Core bits, STARS, npu-smi, hardware.

The files are checked as data: whoever edits one is told which code and which rule, not that a look-up failed later.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

CODES = Path(__file__).parents[2] / "kb" / "codes"
FILES = ("rts", "ts-retcode", "driver", "dcmi", "aicore-bits", "stars", "npu-smi", "hardware", "switch")
LEVELS = {"ignore", "sub-health", "restart-job", "reset", "isolate", "not-listed"}
CONFIDENCE = {"documented", "name-derived", "inferred"}
KEYS = {
    "code", "family", "name", "meaning", "causes", "action", "ref", "confidence", "forms", "related",
    "component", "severity", "bit", "word", "followed_by",
}  # fmt: skip
HAN = re.compile(r"[\u4e00-\u9fff]")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strings(LOADER):  # type: ignore[misc, valid-type]
    """Reads every scalar as the string it looks like, as the knowledge loader does."""


_Strings.yaml_implicit_resolvers = {}


def number(row: dict[str, Any]) -> int:
    return int(row["code"].removeprefix("BMC "), 16)


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, Any]]:
    return {name: yaml.load((CODES / f"{name}.yaml").read_text("utf-8"), Loader=_Strings) for name in FILES}


def rows(tables: dict[str, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return list(tables[name]["codes"])


def test_every_code_says_what_it_means_and_what_to_do_in_both_languages(tables: dict[str, dict[str, Any]]) -> None:
    wrong = []
    for name in FILES:
        for row in rows(tables, name):
            for text in (row.get("meaning"), row.get("action"), *row.get("causes", [])):
                if not text or set(text) != {"en", "zh"}:
                    wrong.append((name, row["code"], "not in both languages"))
                elif HAN.search(text["en"]) or not HAN.search(text["zh"]) or not re.search("[A-Za-z]", text["en"]):
                    wrong.append((name, row["code"], "a language in the wrong place"))
                elif "{" in text["en"].replace("{en", "") or "  " in text["en"] or "  " in text["zh"]:
                    wrong.append((name, row["code"], "left-over of a template"))
    assert not wrong


def test_rows_have_known_keys_a_source_and_an_honest_confidence(tables: dict[str, dict[str, Any]]) -> None:
    for name in FILES:
        for row in rows(tables, name):
            assert set(row) <= KEYS, (name, row["code"], set(row) - KEYS)
            assert row["ref"], (name, row["code"])
            assert row["confidence"] in CONFIDENCE, (name, row["code"])


def test_codes_are_unique_in_their_family(tables: dict[str, dict[str, Any]]) -> None:
    for name in FILES:
        seen = Counter((row.get("family"), row["code"]) for row in rows(tables, name))
        assert not [code for code, times in seen.items() if times > 1], name


def test_mixed_files_name_the_family_of_each_code_and_no_other_does(tables: dict[str, dict[str, Any]]) -> None:
    for name in FILES:
        families = tables[name]["family"]
        used = {row.get("family") for row in rows(tables, name)}
        assert used == (set(families) if isinstance(families, list) else {None}), name


@pytest.mark.parametrize("name", ["rts", "ts-retcode", "hardware"])
def test_hexadecimal_codes_parse_and_are_spelled_one_way(tables: dict[str, dict[str, Any]], name: str) -> None:
    numbers = []
    for row in rows(tables, name):
        assert re.fullmatch(r"0x[0-9a-f]+|(BMC )?0x[0-9A-F]{8,9}", row["code"]), row["code"]
        numbers.append(number(row))
    assert len(set(numbers)) == len(numbers)
    assert numbers == sorted(numbers)


def test_decimal_codes_parse(tables: dict[str, dict[str, Any]]) -> None:
    assert all(int(row["code"]) >= 0 for row in rows(tables, "driver"))
    assert all(-8300 < int(row["code"]) <= -8001 for row in rows(tables, "dcmi"))


def test_ai_core_bits_are_unique_and_carry_their_mask(tables: dict[str, dict[str, Any]]) -> None:
    places = []
    for row in rows(tables, "aicore-bits"):
        if "bit" not in row:
            assert row["code"] == "word0-2.none"
            continue
        word, bit = int(row["word"]), int(row["bit"])
        places.append((word, bit))
        assert row["code"] == f"word{word}.bit{bit}"
        mask = [f"{1 << bit:#x}" if at == word else "0" for at in range(3)]
        assert f"errcode:({', '.join(mask)})" in row["forms"]
    assert len(set(places)) == len(places)
    assert {word for word, _ in places} == {0, 1, 2}
    assert sum(word < 2 for word, _ in places) == 128  # the first two words have no gap


def test_a_gm_address_error_is_not_called_a_hardware_fault(tables: dict[str, dict[str, Any]]) -> None:
    row = next(row for row in rows(tables, "aicore-bits") if (row.get("word"), row.get("bit")) == ("0", "23"))
    assert row["name"] == "MTE_BIU_RDWR_RESP"
    assert "no hardware fault" in row["action"]["en"]


def test_handling_levels_are_closed_and_every_hardware_code_has_a_component(tables: dict[str, dict[str, Any]]) -> None:
    for row in (*rows(tables, "hardware"), *rows(tables, "switch")):
        assert row["severity"] in LEVELS, row["code"]
        assert set(row["component"]) == {"en", "zh"}, row["code"]
        assert HAN.search(row["component"]["zh"]), row["code"]
    assert not [name for name in FILES if name not in ("hardware", "switch") for row in rows(tables, name) if "severity" in row]


@pytest.mark.parametrize(
    ("code", "level", "word"),
    [
        ("0x80E01801", "restart-job", "ECC"),
        ("0x80E18402", "isolate", "replace"),
        ("0x81078603", "ignore", "hccn_tool"),
        ("0x80E20207", "sub-health", "cooling"),
        ("0x80CB8009", "restart-job", "kernel_name"),
        ("0x8C084E00", "reset", "adda"),
        ("0x80DE1801", "reset", "DDR"),
        ("0x40F84E00", "reset", "lspci"),
    ],
)
def test_codes_that_users_meet(tables: dict[str, dict[str, Any]], code: str, level: str, word: str) -> None:
    row = next(row for row in rows(tables, "hardware") if row["code"] == code)
    assert row["severity"] == level
    assert word in row["meaning"]["en"] + row["action"]["en"]


def test_the_event_layout_holds_for_described_codes(tables: dict[str, dict[str, Any]]) -> None:
    """Unit and sensor digits decode to what the text says; a typing error in a code breaks this."""
    units = {0x70: "HBM", 0x64: "AI Core", 0x65: "vector core", 0x83: "network port", 0x71: "LPM", 0x6F: "DDR"}
    multi_bit = 0
    for row in rows(tables, "hardware"):
        code = number(row)
        if code >> 28 != 8 or code >> 24 == 0x8F:
            continue
        unit = units.get((code >> 17) & 0x7FF)
        assert unit is None or unit in row["component"]["en"], row["code"]
        if (code & 0x1FFFF) == 0x18008:
            multi_bit += 1
            assert "ECC" in row["meaning"]["en"], row["code"]
        if (code & 0x1FFFF) >> 9 == 0x27 and row["code"] != "0x80A84E00":
            assert "eartbeat" in row["meaning"]["en"], row["code"]
    assert multi_bit > 30


def test_server_codes_cannot_be_taken_for_return_codes(tables: dict[str, dict[str, Any]]) -> None:
    """`retCode=0x1f` must not decode to an isolated server CPU."""
    scheduler = {int(row["code"], 16) for row in rows(tables, "ts-retcode")}
    for row in rows(tables, "hardware"):
        if number(row) in scheduler:
            assert row["code"].startswith("BMC ")
            assert not row.get("forms")


def test_related_codes_exist(tables: dict[str, dict[str, Any]]) -> None:
    """Within these tables; what points at other families is checked where all tables are."""
    known = {row["code"] for name in FILES for row in rows(tables, name)}
    own = re.compile(r"0x|word|err|cqe|-8")
    missing = {
        (name, row["code"], other)
        for name in FILES
        for row in rows(tables, name)
        for other in row.get("related", [])
        if own.match(other) and other not in known
    }
    assert not missing


def test_a_code_that_raises_a_level_is_one_of_the_table(tables: dict[str, dict[str, Any]]) -> None:
    known = {row["code"]: row for name in ("hardware", "switch") for row in rows(tables, name)}
    pairs = [(row, rule) for row in known.values() for rule in row.get("followed_by", [])]
    assert pairs
    for row, rule in pairs:
        assert rule["code"] in known
        assert rule["severity"] in ("isolate", "sub-health") != row["severity"]
        assert rule["ref"]


def test_scheduler_and_runtime_code_of_one_fault_lead_to_the_same_acl_code(tables: dict[str, dict[str, Any]]) -> None:
    def acl(row: dict[str, Any]) -> list[str]:
        return [code for code in row.get("related", []) if re.fullmatch(r"\d{6}", code)]

    runtime = {row["code"]: row for row in rows(tables, "rts")}
    pairs = [
        (row, runtime[other])
        for row in rows(tables, "ts-retcode")
        for other in row.get("related", [])
        if other.startswith("0x7")
    ]
    assert len(pairs) > 100
    assert not [(a["code"], b["code"]) for a, b in pairs if acl(a) != acl(b)]
