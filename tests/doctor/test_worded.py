"""What the reader's own sentence says is set is not advised again, and what it names as the trigger is left out."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.answer.worded import is_set, said_of
from doctor.api import report
from doctor.findings.situation import Situation

ASSERTS = """\
vLLM / vllm-ascend v0.11.0
{said}
  File "/code/vllm/vllm/v1/core/plugh.py", line 145, in frob
    assert blk.plugh_id is None
AssertionError
"""


def first(said: str, lang: str = "en") -> dict[str, Any]:
    root = report(ASSERTS.format(said=said))["findings"][0]
    assert root["id"] == "MNG072"
    return {"all": " ".join(f"{fix['title'][lang]} {[c['run'] for c in fix.get('commands', ())]}" for fix in root["fixes"]), "first": root["fixes"][root["first_fix"]]["title"][lang]}


@pytest.mark.parametrize(
    "said",
    ["When you launch the decoder with `--no_enable_prefix_caching` you see this error.", "On 910B3 v0.11 it crashes once we serve with --no-enable-prefix-caching.", "使用 --no-enable-prefix-caching 启动后就报错。"],
)
def test_the_named_trigger_is_left_out_and_not_set_again(said: str) -> None:
    assert "vllm serve MODEL --no-enable-prefix-caching" not in first(said)["all"]
    assert first(said)["first"] == "Start without --no-enable-prefix-caching, which you name as the condition yourself"
    assert first(said, "zh")["first"].startswith("启动时去掉 --no-enable-prefix-caching")


@pytest.mark.parametrize(
    "said",
    ["", "It works with `--no-enable-prefix-caching`, and fails else.", "Please try with --no-enable-prefix-caching when it fails.", "去掉 --no-enable-prefix-caching 后正常。"],
)
def test_advice_and_what_goes_well_is_no_setting(said: str) -> None:
    assert "vllm serve MODEL --no-enable-prefix-caching" in first(said)["all"]
    assert "name as the condition" not in first(said)["all"]


def test_what_makes_the_deployment_is_no_trigger() -> None:
    """The number of cards, the parser of tools: nobody leaves these out."""
    assert "name as the condition" not in first("When we serve with --tensor-parallel-size 4 it crashes.")["all"]
    assert "name as the condition" not in first("When we serve with --enable-expert-parallel it crashes.")["all"]


def test_values_count_too() -> None:
    told = Situation({"worded": ("we serve it with --max-num-seqs 16 and --enforce_eager",)})
    assert said_of(told.facts["worded"]) == {"max-num-seqs": "16", "enforce-eager": ""}
    assert is_set("vllm serve MODEL --enforce-eager", told)
    assert is_set("vllm serve MODEL --max-num-seqs 16", told)
    assert not is_set("vllm serve MODEL --max-num-seqs 8", told)
    assert not is_set("vllm serve MODEL", told)
    assert not is_set("vllm serve MODEL # without --enforce-eager", told)
