"""Software that names the accelerators it was written for, and the NPU is not among them.

    NotImplementedError: Unsloth currently only works on NVIDIA, AMD and Intel GPUs.
    RuntimeError: No GPU or XPU found. A GPU or XPU is needed for FP8 quantization.
    RuntimeError: Expected x.is_cuda() to be true, but got false.
    SystemError: No CUDA/mps device found

>>> from parsers.meaning.said import Said
>>> [read(Said("Unsloth currently only works on NVIDIA, AMD and Intel GPUs."))[0].get(name) for name in ("what", "chip", "who")]
['elsewhere', 'NVIDIA, AMD and Intel GPUs', 'Unsloth']
>>> read(Said("Plugh can only be used on CUDA or NPU devices"))
()
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, distribution, reading

_OTHERS = r"(?:NVIDIA|Nvidia|CUDA|cuda|GPUs?|AMD|ROCm|XPUs?|HPUs?)\b"
_ELSEWHERE = (
    lazy(rf"\b[Oo]nly (?:be )?(?:works?|runs?|support(?:s|ed)?|available|implemented|used)(?: (?:on|for|with|in))?(?: (?:the|an?))? (?P<chip>(?:[A-Z]\w{{1,20}},? (?:and |or )?){{0,4}}{_OTHERS}[^.;:()\n]{{0,60}})"),
    lazy(rf"\b(?:[Aa]n? )?(?P<chip>{_OTHERS}(?: or (?:an? )?[A-Z]\w{{1,20}})?) (?:is|are) (?:needed|required|necessary)\b"),
    lazy(r"\b(?:requires?|needs?) (?:an? )?(?P<chip>(?:[A-Z]\w{1,20}[ -])?(?:capable |enabled )?(?:GPUs?|CUDA (?:devices?|GPUs?|tensors?))|CUDA(?= to |[.!]?$))"),
    lazy(r"\b[Ee]xpected \w{1,40}\.(?P<chip>is_cuda)\(\) to be true"),
    lazy(r"\b[Nn]o (?P<chip>(?:CUDA|cuda|GPU|XPU)/(?:(?:mps|MPS|xpu|XPU|hpu|HPU|rocm|ROCm|GPU)/?){1,3}(?: devices?| accelerators?)?) (?:was |were )?(?:found|detected)\b"),
    lazy(r"\b(?:must|should) be (?:an? |on (?:an? |the )?)?(?P<chip>(?:CUDA|cuda) (?:tensors?|devices?))\b"),
)  # fmt: skip
# A generation of GPUs is asked for: whoever says so saw one. A backend is chosen. The others know more devices.
_OTHERWISE = lazy(r"ompute capability|\b(?:Volta|Turing|Ampere|Ada|Hopper|Blackwell|sm_?\d\d)|or (?:newer|later|higher)\b|NCCL|not 'cpu'|(?i:\b(?:npus?|ascend|mlu|privateuse1)\b)")
_SPEAKS = lazy(r"^(?:\w{1,60}(?:Error|Exception): )?(?P<who>[A-Z][A-Za-z]{2,30})(?= (?:currently|only|requires|needs|cannot)\b|: )")


def read(said: Said) -> tuple[Reading, ...]:
    """Which accelerators are wanted, and by whom."""
    text = said.line
    if _OTHERWISE.search(text) is not None:
        return ()
    for form in _ELSEWHERE:
        if (found := form.search(text)) is not None:
            speaks = _SPEAKS.match(text)
            by = said.raised_in if said.raised_in != "torch" else said.caller.replace("user", "")  # torch itself only refuses the call
            who = by or (speaks["who"] if speaks is not None else "")
            chip = "CUDA" if found["chip"] == "is_cuda" else found["chip"]
            return (reading("unsupported", what="elsewhere", chip=chip, why=text, who=who, who_pip=distribution(who).lower(), file=said.user_file),)
    return ()
