"""An operator, or a whole piece of software, that this chip does not have.

    Get regInfo failed, The binary_info_config.json of socVersion [ascend910] does not support opType [ApplyRotaryPosEmb].
    Optype [TransData] of Ops kernel [AIcoreEngine] is unsupported. Reason: [tbe-custom]:op type TransData is not found in this op store.
    No supported Ops kernel and engine are found for [Foo_12], optype [Foo].
    NotImplementedError: Could not run 'aten::foo' with arguments from the 'PrivateUse1' backend.
    RuntimeError: nms_impl: implementation for device npu:0 not found.
    RuntimeError: Unsupported soc version: Ascend310B4

>>> from parsers.meaning.said import Said
>>> row = read(Said("Get regInfo failed, The binary_info_config.json of socVersion [ascend910] does not support opType [ApplyRotaryPosEmb]."))[0]
>>> [row.get(name) for name in ("what", "operator", "chip")]
['operator', 'ApplyRotaryPosEmb', 'ascend910']
>>> [row.get("operator") for row in read(Said("Maybe the operator can not supported on Ascend platform."))]
[]
>>> read(Said("the input dtype or format of op Plugh is not supported."))
()
>>> [read(Said("Unsupported soc version: Ascend310B4"))[0].get(name) for name in ("what", "chip")]
['chip', 'Ascend310B4']
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading

_CHIP = r"(?:Ascend|ascend)?_?(?:910|310|950)\w{0,8}|Atlas \w{1,20}(?: \w{1,12})?|A[235]\b"
_OPERATOR = (
    lazy(r"socVersion \[(?P<chip>[\w-]{1,30})\] does not support opType \[(?P<operator>\w{1,100})\]"),
    lazy(r"[Oo]p ?[Tt]ype \[(?P<operator>\w{1,100})\] of Ops kernel \[(?P<engine>[\w-]{1,60})\] is unsupported\.?(?: Reason: ?(?P<why>[^\n]{1,300}))?"),
    lazy(r"No supported Ops kernel and engine are found for \[[^\]\n]{1,160}\], ?optype \[(?P<operator>\w{1,100})\]"),
    lazy(r"Could not run '(?P<operator>[\w:.]{1,120})' with arguments from the '(?P<chip>PrivateUse1|NPU|npu)[^']{0,30}' backend"),
    lazy(r"(?P<operator>\w{1,80}): implementation for device (?P<chip>npu)(?::\d{1,3})? not found"),
    lazy(r"\b[Oo]p(?:erator)?(?: ?[Tt]ype)?[ '\"\[]{1,3}(?P<operator>(?!(?:can|may|is|was|does|that|which|it)\b)\w{1,100})['\"\]]? (?:is |was )?(?:not (?:supported|found|registered|implemented)|unsupported)(?: (?:on|in|by|for) (?P<why>[^\n.]{1,120}))?"),
    lazy(r"(?P<operator>(?:aclnn|npu_|torch_npu\.)\w{1,100})(?:\(\))? (?:is |does |do )?(?:not (?:be )?support(?:ed)?|unsupported|not implemented)(?: (?:on|in|by|for) (?P<why>[^\n.]{1,120}))?"),
    lazy(r"[Oo]perator '(?P<operator>[\w:.]{1,120})' is not (?:currently )?(?:implemented|supported)(?: for| on)? (?:the )?(?P<chip>NPU|npu|PrivateUse1)"),
)  # fmt: skip
_CHIP_ALONE = (
    lazy(r"[Uu]nsupported (?:soc|SoC|SOC|chip|device|platform)(?: ?(?:version|type|name))?[ :=]{1,3}['\"\[]?(?P<chip>[\w-]{2,40})"),
    lazy(r"(?:soc|SoC|SOC|chip)(?: ?_?(?:version|type|name))?[ :=\[('\"]{1,3}(?P<chip>[\w-]{2,40})['\"\])]{0,2} (?:is |was |does )?(?:not (?:be )?support(?:ed)?|unsupported|not (?:found|valid|recogni[sz]ed))"),
    lazy(rf"(?P<why>(?:only|Only)(?: be)? (?:support(?:s|ed)?|available|works?)(?: on| for| by| in)? (?:the )?(?:{_CHIP})[^\n.]{{0,80}})"),
    lazy(rf"(?P<why>[^\n.]{{1,120}}?(?:not support(?:ed)?|unsupported|not available)(?: on| for| by| in)? (?:the |this )?(?:{_CHIP}|(?:current |this )?(?:soc|SoC|chip|hardware platform|NPU|npu))\b[^\n.]{{0,60}})"),
)  # fmt: skip
_NAMED_CHIP = lazy(r"\b(?P<chip>(?:Ascend|ascend)(?:910|310|950)\w{0,8}|910(?:B\d?|ProB|A|_93|C)\w{0,4}|310[PB]\d?)")


def read(said: Said) -> tuple[Reading, ...]:
    """Which operator is not there, and on which chip."""
    text = said.line
    if "All supported data type" in text or "dtype or format of op" in text:  # one library refuses a type: the operator is there
        return ()
    for form in _OPERATOR:
        if (found := form.search(text)) is not None:
            return (_row("operator", found.groupdict(), text, said),)
    for form in _CHIP_ALONE:
        if (found := form.search(text)) is not None:
            return (_row("chip", found.groupdict(), text, said),)
    return ()


def _row(what: str, told: dict[str, str | None], text: str, said: Said) -> Reading:
    chip = told.get("chip") or ""
    chip = "" if chip.lower().startswith("unknow") else chip
    if not chip and (named := _NAMED_CHIP.search(text)) is not None:
        chip = named["chip"]
    if chip in ("PrivateUse1", "npu"):
        chip = "NPU"
    why = (told.get("why") or "").strip()
    return reading(
        "unsupported", what=what, operator=told.get("operator") or "", chip=chip, why=why, engine=told.get("engine") or "", who=said.raised_in, file=said.user_file,
    )  # fmt: skip
