"""What the tables of codes advise, said for whoever called CANN: torch's ways are no advice for MindSpore, ATC or C++, nor vLLM's for a training.

>>> from doctor.findings.situation import Situation
>>> told = {"en": "Call torch.npu.set_device (aclrtSetDevice) in that thread; or frob it.", "zh": "在该线程调用 torch.npu.set_device（aclrtSetDevice）。"}
>>> fitted(told, Situation({"stack": ("mindspore",)}))["en"], fitted(told, Situation({"stack": ("torch",)})) == told
('Call aclrtSetDevice in that thread; or frob it', True)
>>> fitted({"en": "Start torch_npu.profiler once.", "zh": "只启动一次 torch_npu.profiler。"}, Situation({"stack": ("mindspore",)}))
{'en': '', 'zh': ''}
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.findings.situation import Situation
from parsers.lazy import lazy

_OF_VLLM = lazy(r"(?<=batch)(?:, sequence length)? or gpu_memory_utilization| or gpu_memory_utilization|gpu_memory_utilization or (?:the )?|或 gpu_memory_utilization|gpu_memory_utilization 或 ")
_BY_TORCH = lazy(r"torch\.npu\.\w+ ?[(（](?P<acl>acl\w+)[)）]")
# A further way, and what a bracket gives as an example.
_ALSO = lazy(
    r",? or set PYTORCH_NPU_ALLOC_CONF=[\w:]+|，或设置? ?PYTORCH_NPU_ALLOC_CONF=[\w:]+"
    r"|, or convert with torch_npu\.\w+|，或用 torch_npu\.\w+ 转换|with torch\.npu\.device\(i\):,? (?:or|或) "
    r"| \((?:[^()]{0,80}\W)?(?:torch|vLLM|VLLM_)[^()]{0,80}(?:\(\))?[^()]{0,80}\)|（(?:[^（）]{0,80}\W)?(?:torch|vLLM|VLLM_)[^（）]{0,80}）"
)
_CLAUSES = lazy(r"(?<=[；。])|(?<=;)(?= )|(?<=\.)(?= [A-Z])")
_TORCHS = lazy(r"\btorch\b|torch_npu|torch\.|PYTORCH_|vLLM|VLLM_|gpu_memory_utilization")
_END = ".。;； "


def fitted(text: Mapping[str, str], situation: Situation) -> Mapping[str, str]:
    """A text in both languages without what is another software's; empty where nothing else is said."""
    stacks, frameworks = situation.facts.get("stack", ()), situation.facts.get("framework", ())
    made = dict(text)
    if frameworks and not {"vllm", "sglang"} & set(frameworks):
        made = {lang: _OF_VLLM.sub(lambda found: " or sequence length" if "length" in found[0] else "", said) for lang, said in made.items()}
    if not stacks or "torch" in stacks:
        return made
    made = {lang: _without_torch(said) for lang, said in made.items()}
    return made if all(made.values()) else dict.fromkeys(made, "")


def _without_torch(said: str) -> str:
    if _TORCHS.search(said) is None:
        return said
    said = _ALSO.sub("", _BY_TORCH.sub(r"\g<acl>", said))
    return "".join(clause for clause in _CLAUSES.split(said) if not _TORCHS.search(clause)).strip(_END)
