"""Which version to take: only one that is published with what the log tells, and never the one that is installed."""

from __future__ import annotations

import pytest

from doctor.findings.fits import names, pair
from kb.knowledge import Knowledge
from kb.pairings import Pairing

ROWS = (
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0rc1",), "vllm": ("0.13.0",), "torch": ("2.8.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0",), "vllm": ("0.13.0",), "torch": ("2.8.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.9.1",), "vllm": ("0.9.1",), "torch": ("2.5.1",)}),
    Pairing("torch_npu", {"torch_npu": ("2.8.0",), "torch": ("2.8.0",), "cann": ("8.3.RC1",)}),
    Pairing("torch_npu", {"torch_npu": ("2.8.0.post2",), "torch": ("2.8.0",), "cann": ("8.5.0",)}),
)
BOTH = {"importer": "vllm_ascend", "imported": "vllm"}


@pytest.mark.parametrize(
    ("known", "name", "version"),
    [
        ({"vllm": "0.13.0"}, "vllm_ascend_for_vllm", "0.13.0"),
        ({"vllm": "v0.13.0+empty", "vllm_ascend": "0.9.1"}, "vllm_ascend_for_vllm", "0.13.0"),
        ({"vllm": "0.13.0", "vllm_ascend": "0.13.0rc1"}, "vllm_ascend_for_vllm", None),
        ({"vllm": "0.14.2"}, "vllm_ascend_for_vllm", None),
        ({}, "vllm_ascend_for_vllm", None),
        ({"torch": "2.8.0+cpu", "cann": "8.5.0"}, "torch_npu_for_torch", "2.8.0.post2"),
        ({"torch": "2.8.0+cpu", "cann": "8.9.0"}, "torch_npu_for_torch", "2.8.0"),
    ],
)
def test_the_version_to_take(known: dict[str, str], name: str, version: str | None) -> None:
    """It follows from one that is known; a finished release goes first; a pair that fits needs none."""
    assert names(known, ROWS).get(name) == version


@pytest.mark.parametrize(
    ("known", "pair_of_cann"),
    [
        ({"cann": "8.5.0", "torch": "2.8.0+cpu"}, ("2.8.0", "2.8.0.post2")),
        ({"cann": "8.5.0", "torch_npu": "2.7.1"}, ("2.7.1", "2.7.1.post2")),
        ({"cann": "8.5.0", "torch": "2.1.0"}, ("2.9.0", "2.9.0")),
        ({"cann": "8.5.0"}, ("2.9.0", "2.9.0")),
        ({"cann": "7.9.0", "torch": "2.8.0"}, (None, None)),
        ({"torch": "2.8.0"}, (None, None)),
    ],
)
def test_the_pair_to_install_for_a_cann(knowledge: Knowledge, known: dict[str, str], pair_of_cann: tuple[str | None, str | None]) -> None:
    """Of the torch that is there, which torch_npu tells as well; the newest where none of it goes with this CANN."""
    told = names(known, knowledge.published())
    assert (told.get("cann_torch"), told.get("cann_torch_npu")) == pair_of_cann


def test_a_pair_is_told_with_its_versions() -> None:
    """What fits either of the two is told, each with the one that it keeps."""
    told = pair(BOTH, {"vllm": "0.13.0", "vllm_ascend": "0.9.1"}, ROWS)
    assert (told["importer_version"], told["imported_version"]) == ("0.9.1", "0.13.0")
    assert told["pairs"].split("; ")[:2] == ["vllm-ascend 0.9.1 + vllm 0.9.1", "vllm 0.13.0 + vllm-ascend 0.13.0"]


@pytest.mark.parametrize(
    ("captures", "known"),
    [(BOTH, {}), (BOTH, {"vllm": "0.13.0", "vllm_ascend": "0.13.0"}), ({"importer": "trl", "imported": "vllm"}, {"vllm": "0.13.0"}), ({}, {"vllm": "0.13.0"})],
)
def test_nothing_is_published_of_other_pairs(captures: dict[str, str], known: dict[str, str]) -> None:
    """No version is known, they fit already, or no table names both: then nothing is said."""
    assert "pairs" not in pair(captures, known, ROWS)


def test_what_is_published_is_in_the_pack(knowledge: Knowledge) -> None:
    """The rows that the built-in knowledge holds, without those that are guesses."""
    rows = knowledge.published()
    assert {"torch_npu", "vllm_ascend", "mindspore"} <= {row.table for row in rows}
    assert names({"vllm": "0.11.0"}, rows)["vllm_ascend_for_vllm"] == "0.11.0"
