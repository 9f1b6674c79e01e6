"""No advice for another situation: every entry's fixes, shown in every situation that its fault may stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests_support import built_in_entries, families

from doctor.answer.advice import chosen
from doctor.findings.situation import Situation, situation
from doctor.scan.harvest import Harvest
from doctor.scan.situation import said
from kb import knowledge
from kb.model import SAID, Entry, Fix

FAMILIES = families(entry for entry in built_in_entries()[0] if entry.role != "noise")
KNOWN = knowledge.load()
FRAMEWORKS = KNOWN.frameworks()
FORMS = KNOWN.situation()


def at(**facts: str) -> Situation:
    return Situation({"machine": ("npu",), **{fact: tuple(value.split()) for fact, value in facts.items()}}, FRAMEWORKS)


SITUATIONS = {
    "mindspore": at(framework="mindspore", stack="mindspore", activity="training", program="python"),
    "mindie": at(framework="mindie", stack="mindie", activity="serving", program="python"),
    "atc": at(framework="atc", stack="atc", activity="conversion", program="tool"),
    "c++": at(stack="native", program="native"),
    "llama.cpp": at(framework="llama.cpp", stack="native", activity="serving", program="native"),
    "xllm": at(framework="xllm", stack="native", activity="serving", program="native"),
    "paddle": at(framework="paddle", stack="paddle", program="native"),
    "onnxruntime": at(framework="onnxruntime", stack="onnxruntime", activity="serving", program="python"),
    "training": at(framework="llamafactory torch_npu", stack="torch", activity="training", program="python"),
    "vllm": at(framework="vllm torch_npu", stack="torch", activity="serving", program="python"),
    "sglang": at(framework="sglang torch_npu", stack="torch", activity="serving", program="python"),
    "verl": at(framework="verl vllm torch_npu", stack="torch", activity="training", program="python"),
}
TORCH = frozenset({"training", "vllm", "sglang", "verl"})
# Who prints a line says where it can stand.
PRINTED_BY = {
    "torch": ("torch", "transformers", "accelerate", "deepspeed", "megatron", "mindspeed", "diffusers", "peft", "trl", "verl", "swift", "lightning", "mmcv",
              "llama-factory", "llamafactory", "bitsandbytes", "triton", "comfyui", "mineru", "ray", "flash", "xformers", "apex", "datasets", "wandb", "nnal"),
    "mindspore": ("mindspore",),
    "mindie": ("mindie", "atb-models"),
    "paddle": ("paddle",),
    "onnxruntime": ("onnxruntime",),
}  # fmt: skip
FRAMEWORK_OF = {"vllm": "vllm", "sglang": "sglang", "dlinfer": "lmdeploy"}


class Word(NamedTuple):
    """What only stands in advice for some situations."""

    pattern: re.Pattern[str]
    where: frozenset[str]


WORDS = (
    Word(re.compile(r"\bvllm serve\b|--enforce-eager|--gpu-memory-utilization|--max-model-len|--max-num-seqs|--compilation-config|\bVLLM_(?!TORCH_PROFILER)[A-Z]"), frozenset({"vllm", "verl"})),
    Word(re.compile(r"sglang\.launch_server|--disable-cuda-graph|--mem-fraction-static|SGLANG_"), frozenset({"sglang"})),
    Word(re.compile(r"\bimport torch\b|torch\.npu\b|\btorch_npu\.|\btorch\.(?!onnx)\w|torch-npu==|transfer_to_npu|init_process_group"), TORCH),
    Word(re.compile(r"PYTORCH_NPU_"), TORCH | {"mindie"}),
    Word(re.compile(r"pip3? list[^|]*\| grep -i\S* (?!\S*mind)\S*torch"), TORCH),
    Word(re.compile(r"python3? train\.py|TrainingArguments|per_device_train|optimizer state|\bZeRO-\d"), frozenset({"training", "verl", "mindspore"})),
    Word(re.compile(r"import mindspore|mindspore\.(?:set|ops|nn)|ms\.set_|mindspore\.set_context"), frozenset({"mindspore"})),
    Word(re.compile(r"aclrtSet\w+\(|aclError |#include <acl"), frozenset({"c++", "llama.cpp", "xllm", "paddle"})),
)


def _samples_tell(entry: Entry, fact: str) -> set[str]:
    """What the entry's own samples tell of a fact: its fault stands nowhere else, when all of them tell it."""
    told: set[str] = set()
    for sample in entry.match:
        found = situation(Harvest(situation=said(sample.text.encode(), "", FORMS)), FORMS, FRAMEWORKS).facts.get(fact)
        if not found:
            return set()
        told.update(found)
    return told


def _stands_in(entry: Entry) -> Iterator[tuple[str, Situation]]:
    only = {fact: told for fact in ("stack", "framework", "activity") if (told := _samples_tell(entry, fact))}
    by = {stack for stack, words in PRINTED_BY.items() if any(word in entry.component.lower() for word in words)}
    if by:
        only["stack"] = by
    engines = {framework for word, framework in FRAMEWORK_OF.items() if word in entry.component.lower()}
    if engines or entry.domain in ("vllm", "mindspore", "mindie"):
        only["framework"] = engines or {entry.domain}
    if "deepspeed" in entry.component.lower():
        only["activity"] = {"training"}
    for name, situation_ in SITUATIONS.items():
        if all(told & set(situation_.facts.get(fact, told if fact == "activity" else ())) for fact, told in only.items()):
            yield name, situation_


def _shown(fix: Fix) -> str:
    parts = [fix.title.en, *(s.en for s in fix.steps), *(e.name for e in fix.env), *(c.run for c in fix.commands)]
    return "\n".join([*parts, *((fix.code.before, fix.code.after) if fix.code else ())])


def _contradictions(entry: Entry) -> Iterator[str]:
    for name, situation_ in _stands_in(entry):
        met = (v.fixes for v in entry.variants if v.fixes and situation_.fits(tuple(one for one in v.when if not one[0].startswith(SAID))) is not False)
        for fixes in (entry.fixes, *met):
            fitting = chosen(fixes, situation_)
            if fixes and not fitting:
                yield f"{name}: no fix is left"
            for fix in fitting:
                yield from (f"{name}: {found[0]!r} in '{fix.title.en}'" for word in WORDS if name not in word.where and (found := word.pattern.search(_shown(fix))))


@pytest.mark.parametrize("family", FAMILIES)
def test_no_step_contradicts_the_situation(family: str) -> None:
    wrong = {entry.code: found for entry in FAMILIES[family] if (found := list(_contradictions(entry)))}
    assert wrong == {}, "write `when:` on the fix, or say it without the name of one framework"
