"""Whether logs that were read whole have no word of an NPU, and what failed in them fails on every machine alike."""

from __future__ import annotations

from doctor.judge.diagnosis import Diagnosis
from doctor.scan.situation import HEAD

# What also runs where there is no NPU: its messages tell nothing of the machine.
_EVERYWHERE = frozenset(
    {"any", "container registry", "DeepSpeed", "diffusers", "docker", "Docker", "framework", "host", "kubelet", "kubernetes", "LLaMA-Factory", "Megatron", "ms-swift"}
    | {"other", "pip", "python", "Python", "python package", "PyTorch", "Ray", "serving engine", "session", "SGLang", "shell", "system", "torch", "training"}
    | {"transformers", "triton", "TRL", "unknown", "verl", "vLLM"}
)
_OF_NPUS = frozenset({"machine", "chip", "cann", "driver", "firmware", "torch_npu", "vllm_ascend", "npu_ids", "visible"})  # facts
_TELLS_ITSELF = frozenset({"other-machine", "other-vendor"})  # kinds of entries whose title tells the machine
_WRITTEN_BY_CANN = frozenset({"plog", "message", "table", "dump"})  # kinds of lines


def nowhere(diagnosis: Diagnosis) -> bool:
    """Is the machine one of which these logs tell nothing?"""
    harvest, facts = diagnosis.harvest, diagnosis.situation.facts
    if diagnosis.verdict == "clean" or harvest.size > HEAD or not _OF_NPUS.isdisjoint(facts) or not _WRITTEN_BY_CANN.isdisjoint(harvest.kinds):
        return False
    roots = [related.finding.entry for related in diagnosis.roots]
    return all(entry.component in _EVERYWHERE for entry in roots) and (not roots or roots[0].kind not in _TELLS_ITSELF)
