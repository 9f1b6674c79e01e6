"""The version matrix: rows that parse, name their source and do not contradict each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).parents[2] / "kb" / "compat.yaml"
KEYS = {
    "torch_npu": {"torch_npu", "torch", "cann", "adapter", "branch", "maintained"},
    "python": {"torch", "python"},
    "adapter": {"adapter", "cann"},
    "adapter_tolerance": {"adapter", "cann"},
    "driver": {"cann", "hdk"},
    "feature_floor": {"feature", "min_hdk"},
    "chip_floor": {"chip", "min_cann"},
    "vllm_ascend": {"vllm_ascend", "vllm", "cann", "torch", "torch_npu", "python"},
    "mindspore": {"mindspore", "cann"},
    "mindie": {"mindie", "cann", "torch_npu", "adapter", "cxx_abi"},
    "mindcluster": {"mindcluster", "cann"},
    "chip_support": {"framework", "software", "chip"},
    "models": {"models"},
    "packages": {"software", "packages"},
    "products": {"software", "products"},
    "rules": {"rule"},
}
MAY = {"note", "transformers", "vllm", "for", "min_cann", "triton_ascend", "mooncake", "since"}
VERSION = re.compile(r"\d+\.\d+(\.(\d+|RC\d+|X)){0,2}(\.(alpha|beta)\d+)?", re.IGNORECASE)
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def matrix() -> dict[str, Any]:
    loaded = yaml.safe_load(FILE.read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_sections_and_rows_have_the_expected_keys(matrix: dict[str, Any]) -> None:
    assert set(matrix) == {"sources", *KEYS}
    for section, keys in KEYS.items():
        assert matrix[section], section
        for row in matrix[section]:
            assert keys <= set(row) <= keys | MAY | {"source", "confidence"}, (section, row)


def test_every_row_names_a_known_source_and_how_sure_it_is(matrix: dict[str, Any]) -> None:
    used = set()
    for section in KEYS:
        for row in matrix[section]:
            assert row["source"] in matrix["sources"], row
            assert row["confidence"] in {"documented", "inferred", "unverified"}, row
            used.add(row["source"])
    assert used == set(matrix["sources"])


def test_versions_are_strings_that_parse(matrix: dict[str, Any]) -> None:
    """An unquoted 8.10 would become the number 8.1."""
    for section in KEYS:
        for row in matrix[section]:
            for key in ("cann", "hdk", "min_hdk", "min_cann"):
                value = row.get(key, [])
                for version in value if isinstance(value, list) else [value]:
                    assert isinstance(version, str), row
                    assert VERSION.fullmatch(version), (section, version)


def test_texts_stand_in_both_languages(matrix: dict[str, Any]) -> None:
    texts = [row[key] for s in KEYS for row in matrix[s] for key in ("note", "for", "feature", "rule") if key in row]
    assert len(texts) > 8
    for text in texts:
        assert set(text) == {"en", "zh"}
        assert HAN.search(text["zh"])
        assert not HAN.search(text["en"])


def test_torch_npu_carries_the_version_of_its_torch(matrix: dict[str, Any]) -> None:
    odd = [r for r in matrix["torch_npu"] if not re.match(re.escape(r["torch"]) + r"(\.|$)", r["torch_npu"])]
    assert [r["torch_npu"] for r in odd] == ["1.5.0.post3"]
    assert "note" in odd[0]
    for row in matrix["vllm_ascend"]:
        assert row["torch_npu"].startswith(row["torch"]), row


def test_one_torch_npu_version_has_one_row(matrix: dict[str, Any]) -> None:
    names = [row["torch_npu"] for row in matrix["torch_npu"]]
    assert len(set(names)) == len(names)
    tags = [row["vllm_ascend"] for row in matrix["vllm_ascend"]]
    assert len(set(tags)) == len(tags)


def test_adapter_releases_agree_between_the_tables(matrix: dict[str, Any]) -> None:
    cann = {row["adapter"]: row["cann"] for row in matrix["adapter"]}
    joined = [row for row in matrix["torch_npu"] if row["adapter"] in cann]
    assert len(joined) > 40
    assert not [row for row in joined if cann[row["adapter"]] != row["cann"]]
