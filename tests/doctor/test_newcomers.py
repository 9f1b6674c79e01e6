"""Which release knows a model first: by its class, its type or its module, and never what the log shows to be installed."""

from __future__ import annotations

import pytest

from doctor.findings.newcomers import since
from kb.knowledge import load
from kb.pairings import MODELS, Pairing

ROWS = (
    Pairing(MODELS, {"models": ("plugh3", "plugh3vl"), "transformers": ("4.57.0",)}),
    Pairing(MODELS, {"models": ("plugh3vl",), "vllm": ("0.11.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.11.0rc1",), "vllm": ("0.11.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.13.0",), "vllm": ("0.13.0",)}),
    Pairing("vllm_ascend", {"vllm_ascend": ("0.9.1",), "vllm": ("0.9.1",)}),
)


@pytest.mark.parametrize(
    "captures",
    [
        {"arch": "'Plugh3VLForConditionalGeneration'"},
        {"arch": "Plugh3VLMoeForConditionalGeneration"},
        {"model": "plugh3_vl"},
        {"model": "plugh3_vl_moe"},
        {"name": "Plugh3VLProcessor"},
        {"name": "transformers.models.plugh3_vl.modeling_plugh3_vl"},
    ],
)
def test_one_name_in_many_writings(captures: dict[str, str]) -> None:
    found = since(captures, {}, ROWS)
    assert (found["transformers_since"], found["vllm_since"], found["transformers_range"]) == ("4.57.0", "0.11.0", ">=4.57.0,<5")
    assert (found["image_since"], found["image_vllm"]) == ("0.13.0", "0.13.0")


@pytest.mark.parametrize("captures", [{"name": "Plugh4ForCausalLM"}, {"name": "Plugh3Thing"}, {"model": "plugh3_ultra"}, {"name": "cached_download"}, {}])
def test_what_only_begins_so_is_another(captures: dict[str, str]) -> None:
    assert since(captures, {}, ROWS) == {}


def test_what_is_installed_is_not_too_old() -> None:
    found = since({"model": "plugh3_vl"}, {"transformers": "4.57.1", "vllm": "0.10.2"}, ROWS)
    assert "transformers_since" not in found
    assert found["vllm_since"] == "0.11.0"


def test_the_published_table_has_the_models_people_ask_for() -> None:
    rows = load().published()
    for model, transformers, vllm in (("qwen3", "4.51.0", "0.8.4"), ("qwen3_vl", "4.57.0", "0.11.0"), ("gpt_oss", "4.55.0", "0.10.1"), ("qwen3_5_moe", "5.2.0", "0.17.0")):
        found = since({"model": model}, {}, rows)
        assert (found["transformers_since"], found["vllm_since"]) == (transformers, vllm), model
