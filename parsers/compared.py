"""What somebody tried by turns: a setting with which it goes wrong and without which it goes well, as people note it beside a log.

    # 关闭 --enable-prefix-caching 后（其余参数相同），输出恢复正常
    with --enforce-eager the answers are correct, in graph mode they are garbled
    VLLM_ASCEND_ENABLE_FUSED_MC2=1   61.1   garbled
    VLLM_ASCEND_ENABLE_FUSED_MC2=0   86.9   fine

Only a sentence that says it goes well without the setting counts, where something is said to be wrong at all: that something goes
wrong with a setting says of most settings nothing. Who writes that it stays as it was without it clears the setting.

What the same work gives elsewhere is told as well, where the text is of an NPU: another machine, or the framework that a model came with.

>>> [(row.get("what"), row.get("value"), row.line) for row in rows(["# 关闭 --enable-prefix-caching 后输出恢复正常"], 7)]
[('--enable-prefix-caching', 'prefix-cache', 7)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.parsed import Row

ANCHORS: tuple[str, ...] = (
    "恢复正常", "输出正常", "后正常", "就正常", "就没问题", "没问题了", "无乱码", "没有乱码", "不乱码", "不再乱码", "精度正常", "结果正常", "结果正确",
    "输出正确", "garbled", "gibberish", "频正常", "像正常", "else the same", "其余相同", "其他相同", "其余参数相同",
    "卡住", "卡死", "夯住", "一直卡", "始终卡", "会卡在", "就卡在", "不动了", "没有反应", "没反应", "进程消失", "程消失", "it hangs", "just hangs", "hangs forever", "gets stuck", "got stuck", "is stuck", "hangs at", "hangs here", "hung forever",
)  # fmt: skip
"""Words one of which stands in every such note, wherever it begins; programs do not print them line after line."""

IN_NOTES: tuple[str, ...] = (
    "正常。", "均正常", "时正常", "可以正常", "正常推理", "可以跑", "能跑", "可以启动", "is correct", "are correct", "is fine", "are fine", "works fine",
    "works well", "goes away", "is normal", "are normal", "gsm8k", "GSM8K", "ccuracy", "准确率", "ceval", "gpqa", "answers are", "output is",
    "很慢", "较慢", "太慢", "慢很多", "速度慢", "性能差", "性能较差", "very slow", "too slow", "so slow", "is slow", "slower than", "slow decode", "slow inference",
    "same model", "same weights", "same script", "same request", "same query", "same prompt", "same input", "same config", "same data", "同样的", "相同的",
    " hangs", " hung", "stuck",
    "同一个", "# same ", "# The same ", "# the same ", "# on a", "# On a",
)  # fmt: skip
"""Further ones, of a line that begins as a comment or as a point of a list does: elsewhere a program may print them all day."""

_ALL = (*ANCHORS, *IN_NOTES)
LONGEST = 400
MOST = 2000  # lines that are looked at
REACH = 90  # characters between a setting and what is said of it

# A name is what a reader would look for; the second is what it belongs to, whatever it is called.
_KNOWN = (
    ("prefix-cache", r"--(?:no-)?enable-prefix-caching|enable_prefix_caching|--disable-radix-cache|[Pp]refix[- _][Cc]ach(?:e|ing)|[Aa]utomatic prefix caching|前缀缓存|[Rr]adix ?[Cc]ache"),
    ("graphs", r"--enforce[-_]eager|enforce_eager|--disable-cuda-graph|(?<![A-Za-z0-9_-])eager(?![A-Za-z0-9_])(?: mode)?|图模式|[Aa][Cc][Ll] ?[Gg]raph|[Gg]raph mode|cudagraph_mode|[Cc][Uu][Dd][Aa] ?[Gg]raphs?|FULL_DECODE_ONLY|单算子"),
    ("speculation", r"--speculative[-_](?:config|algorithm)|(?<![A-Za-z0-9_])(?:MTP|mtp|[Ee]agle3?|EAGLE3?|[Dd]spark|DSpark)(?![A-Za-z0-9_])|投机(?:解码|推理|采样)?|[Ss]peculative decoding"),
    ("async", r"--(?:no-)?async-scheduling|异步调度|[Aa]sync(?:hronous)? scheduling"),
    ("chunked", r"--(?:no-)?enable-chunked-prefill|[Cc]hunked[- ][Pp]refill"),
    ("experts", r"--enable-expert-parallel|(?<![A-Za-z0-9_])EP(?![A-Za-z0-9_])|专家并行|[Ee]xpert parallel(?:ism)?"),
    ("variable", r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,24}){1,8}(?:=[\w.-]{1,40})?"),
    ("option", r"--[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){1,6}"),
)  # fmt: skip
_SETTING = lazy("|".join(f"(?P<k{number}>{form})" for number, (_, form) in enumerate(_KNOWN)))
# Names that say by themselves that something is off.
_OPPOSITE = lazy(r"^(?:--no-|--disable-|--enforce|enforce_|eager|单算子)")
_OFF_BEFORE = lazy(r"(?:关闭|关掉|关了|去掉|去除|不开启|不开|不加|不启用|不使用|不用|禁用|取消|[Ww]ithout|[Dd]isabl(?:e|ed|ing)|[Tt]urn(?:ed|ing)? off|[Ss]witch(?:ed|ing)? off|[Rr]emov(?:e|ed|ing)|unset|[Ll]eav(?:e|ing) out)(?: the| 掉|了)?[\s:：`'\"“]{0,3}$")
_OFF_AFTER = lazy(r"^[`'\"”]?\s?(?:关闭|关掉|去掉|禁用|\(?off\b|disabled|turned off|removed|[=:]\s?(?:0|[Ff]alse|off)\b)")
_GOOD = lazy(r"恢复正常|可以跑|能跑通?|可以启动|(?<![不异])正常|正确|没问题|没有问题|(?:无|没有|不|不再|不会|未出现)乱码|结果一致|\b(?:works?|worked|working) (?:fine|well|correctly|as expected)\b|\b(?:is|are|was|were|looks?|becomes?) (?:fine|correct|normal|right|OK|ok|good|coherent|readable)\b|\bgoes away\b|\bdisappears?\b|\bno (?:more )?(?:garbled|gibberish)|\bcorrect (?:output|results?|answers?)\b|\bfine\b")
_BAD = lazy(r"乱码|不正常|异常|不正确|错误|崩坏|混乱|噪声|卡住|卡死|挂死|报错|崩溃|仍然|依然|还是|仍会|精度(?:下降|掉)|胡言|重复输出|空回复|\bgarbled\b|\bgibberish\b|\bgarbage\b|\bstill\b|\bsame (?:problem|issue|error|result)\b|\bwrong\b|\bbroken\b|\bnonsense\b|\bincoherent\b|\bnot (?:fine|correct|normal|right)\b")
_NEGATED = ("无乱码", "没有乱码", "不乱码", "不再乱码", "不会乱码", "未出现乱码", "no garbled", "no gibberish", "no more g")
_SAME = lazy(r"\b(?:[Ss]ame|[Ii]dentical)\b|同样|相同|同一")
_OTHER = lazy(r"(?<![A-Za-z0-9_./-])(?P<other>RTX ?\d{4}|[AHV]\d{2,3}|L40S?|L20|T4|[34]090|GPUs?|CUDA|CPU|NVIDIA|英伟达|transformers|diffusers|peft|sentence[-_]transformers|HuggingFace)(?![A-Za-z0-9_/-])")
_OUTCOME = lazy(r"\d\.\d|\d ?%|正常|正确|没问题|不应该|不一致|\b(?:fine|correct(?:ly)?|normal(?:ly)?|works?|good|right|different|differs?|clean|readable)\b")
_OF_NPU = lazy(r"(?i)npu|ascend|昇腾|910[bc]|310p")
_OF_OTHERS = lazy(r"(?i)rocm|\bamd\b|nvidia|platform cuda|\bmi[23]\d\dx?\b|\bmlu\b|musa|\bxpu\b")
_LOG = lazy(r"^(?:\[?\d{4}-\d\d-\d\d|\((?:APIServer|Worker|Engine)|(?:INFO|WARNING|ERROR|DEBUG)\b|[IWEF]\d{4,8} |\{|\"|data: |\s{0,8}File \")")
_SCORE = lazy(r"(?:[Aa]ccuracy|[Ss]core|精度|准确率|得分|gsm8k|GSM8K|ceval|gpqa)[^\d\n]{0,24}(?P<n>\d{1,3}(?:\.\d{1,4})?)(?![\d.])")
_SLOW = lazy(r"(?:很|较|太|非常|速度|推理|响应)慢|慢很多|性能较?差|吞吐(?:很|较)?低|(?i:\b(?:very|too|so|is|extremely) slow\b|\bslower than\b|\bslow (?:decode|inference|generation)\b)")
_HANGS = lazy(
    r"卡住|卡死|夯住|(?:一直|始终)卡|[会就]卡在|不动了|没有?反应|进程(?:就|都|也|已经?)?消失"
    r"|\b(?:it|(?:just|then) it|process(?:es)?|program|training|service|server|job|run|engine|script|command|and)\b[^.,;\n]{0,40}?\b(?:hangs?|hung|freezes|gets? stuck|got stuck|is stuck|stuck)\b|\b(?:just hangs|hangs (?:forever|at|here)|hung forever)\b"
)
_PERHAPS = lazy(r"可能|避免|防止|否则|不会|没有卡|\b(?:if|may|might|can|could|would|not|avoid|prevent|detect\w*|no longer|unless|whether)\b")
_RECOVERED = lazy(r"恢复正常|(?:无|没有|不再|不会)乱码|就正常|才正常|\b(?:goes away|disappears?|no longer|no more)\b|\bno (?:garbled|gibberish)")
_WRONG = lazy(r"乱码|崩坏|胡言|不正确|错误|不对|异常|卡住|卡死|挂死|无响应|报错|精度(?:下降|掉)|空回复|\b(?:garbled|gibberish|garbage|wrong|broken|nonsense|incoherent|hangs?|stuck|never returns?|crash(?:es|ed)?|fails?|corrupt(?:ed|s)?)\b")
_BOTH = lazy(r"均正常|都正常|均无|都没问题|\bboth\b")
_IT_OFF = lazy(r"(?:关掉|关闭|去掉|取消|不开|不加|去除)(?:它|后|之后|了)?(?:就|则|即|便)?(?:恢复)?(?:正常|没问题|可以)|\b(?:without it|with it off|(?:turning|switching) it off|disabling it|removing it)\b[^,.;]{0,40}?\b(?:fine|correct|right|works?|normal|good)\b")
_CLAUSE = lazy(r"[，。；;]|[,.] ")
_ENDS = ("，", "。", "；", ", ", ". ", "; ")  # of a clause: what was said before is of something else
_VALUE = lazy(r"=([\w.-]{1,40})$")


class _Said(NamedTuple):
    """Of one setting in one line: whether it was off, and whether that went well."""

    name: str
    kind: str
    off: bool
    good: bool
    line: int
    text: str


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """The settings that decide by what is written, as rows of the table of what was tried."""
    if elsewhere(lines):
        return ()
    said = [one for number, text in enumerate(lines[:MOST]) if _note(text) for one in _read(text.strip(), first_line + number)]
    scores = [float(found["n"]) for text in lines[:MOST] if len(text) <= LONGEST for found in _SCORE.finditer(text)]
    if len(scores) > 1:
        told = [one for number, text in enumerate(lines[:MOST]) if _note(text) for one in _scored(text.strip(), first_line + number)]
        said += [one for one, score in told if (score > 1.1 * min(scores)) == one.good]
    notes = [text for text in lines[:MOST] if len(text) <= LONGEST and _LOG.match(text) is None]
    groups: dict[str, list[_Said]] = {}
    for one in said:
        groups.setdefault(one.kind if one.kind not in ("variable", "option") else one.name.partition("=")[0], []).append(one)
    found: list[Row] = []
    for together in groups.values():
        off, on = [one for one in together if one.off], [one for one in together if not one.off]
        eager = together[0].kind == "graphs" and any(one.good for one in on) and off and not any(one.good for one in off) and all(one.good for one in on)
        if eager and any(_OPPOSITE.match(one.name) for one in off):
            worse, better = off[0], next(one for one in on if one.good)
            found.append(_row(better.line, worse.name, "eager", better.text))
            continue
        if not any(one.good for one in off) or any(not one.good for one in off) or any(one.good for one in on):
            continue  # never tried without it, or without it as bad, or with it as well
        if len(scores) < 2 and not _RECOVERED.search("\n".join(one.text for one in off)) and not any(_WRONG.search(text) for text in notes):
            continue  # nothing is said to be wrong at all
        first = next((one for one in [*on, *off] if not _OPPOSITE.match(one.name)), off[0])
        well = next(one for one in off if one.good)
        name = first.name.partition("=")[0] if first.kind == "variable" else first.name
        found.append(_row(well.line, name, first.kind, well.text))
    return (*found, *_complaint("slow", _SLOW, lines, first_line), *_complaint("hangs", _HANGS, lines, first_line, _PERHAPS), *_elsewhere(lines, first_line))


def elsewhere(lines: Sequence[str]) -> bool:
    """Is the text of another vendor's accelerator, without a word of an NPU?"""
    return any(map(_OF_OTHERS.search, lines)) and not any(map(_OF_NPU.search, lines))


def _row(line: int, what: str, value: str, said: str) -> Row:
    return Row("session", line, (("check", "compared"), ("program", ""), ("command", ""), ("what", what), ("value", value), ("said", said[:300])))


def _complaint(check: str, form: re.Pattern[str], lines: Sequence[str], first_line: int, perhaps: re.Pattern[str] | None = None) -> Iterator[Row]:
    """The first note that says so; `perhaps`: words before it by which programs only warn that it might be."""
    for number, text in enumerate(lines[:MOST]):
        if len(text) > LONGEST or (found := form.search(text)) is None or _LOG.match(text) is not None:
            continue
        if perhaps is None or perhaps.search(text[: found.end()]) is None:
            yield Row("session", first_line + number, (("check", check), ("program", ""), ("command", ""), ("what", found[0]), ("value", ""), ("said", text.strip(" #/")[:300])))
            return


def _scored(text: str, line: int) -> Iterator[tuple[_Said, float]]:
    """A setting and the score that its line tells: once as one that went well, once as one that did not; whoever knows all scores decides."""
    score, settings = _SCORE.search(text), list(_SETTING.finditer(text))
    if score is None or len(settings) != 1:
        return
    found = settings[0]
    for good in (True, False):
        yield _Said(found[0], _kind(found), _is_off(text, found), good, line, text), float(score["n"])


def _elsewhere(lines: Sequence[str], first_line: int) -> Iterator[Row]:
    """The first note that says what the same work gives on another machine, or in another framework."""
    if not any(map(_OF_NPU.search, lines)):
        return
    for number, text in enumerate(lines[:MOST]):
        if len(text) > LONGEST or _LOG.match(text) or _SAME.search(text) is None:
            continue
        if (other := _OTHER.search(text)) is not None and _OUTCOME.search(text) is not None:
            cells = (("check", "elsewhere"), ("program", ""), ("command", ""), ("what", ""), ("value", ""), ("other", other["other"]), ("said", text.strip(" #/")[:300]))
            yield Row("session", first_line + number, cells)
            return


def _note(text: str) -> bool:
    return len(text) <= LONGEST and any(anchor in text for anchor in _ALL) and _LOG.match(text) is None and _BOTH.search(text) is None


def _read(text: str, line: int) -> Iterator[_Said]:
    """Each setting of a line with what is said after it, or where nothing is, before it."""
    settings = list(_SETTING.finditer(text))
    told = sorted([(m.start(), True) for m in _GOOD.finditer(text)] + [(m.start(), False) for m in _BAD.finditer(text) if not text[max(0, m.start() - 4) :].startswith(_NEGATED) and not _denied(text, m.start())])
    if settings and (without := _IT_OFF.search(text)) is not None and settings[-1].end() <= without.start():
        last = settings[-1]
        yield _Said(last[0], _kind(last), not _OPPOSITE.match(last[0]), True, line, text)
        settings = []
    for number, found in enumerate(settings):
        until = settings[number + 1].start() if number + 1 < len(settings) else len(text)
        clause = _clause(text, found.start())
        within = [good for at, good in told if at in clause]
        after = [good for at, good in told if found.end() <= at < min(len(text), found.end() + REACH)]
        near = within if len(settings) == 1 and within else [good for at, good in told if found.end() <= at < until] or after
        before = [good for at, good in told if found.start() - REACH < at < found.start() and not any(mark in text[at : found.start()] for mark in _ENDS)]
        if not near and not before:
            continue
        kind, off = _kind(found), _is_off(text, found)
        if kind == "variable" and "=" not in found[0] and not off:
            continue
        yield _Said(found[0], kind, off, all(near) if near else before[-1], line, text)


def _kind(found: re.Match[str]) -> str:
    return _KNOWN[int((found.lastgroup or "k0")[1:])][0]


def _is_off(text: str, found: re.Match[str]) -> bool:
    """Does the text speak of the time when the setting was off? Some names say so by themselves."""
    value = _VALUE.search(found[0])
    off = bool(value and value[1].lower() in ("0", "false", "off")) or bool(_OFF_BEFORE.search(text[max(0, found.start() - 24) : found.start()]) or _OFF_AFTER.match(text[found.end() : found.end() + 16]))
    return off != bool(_OPPOSITE.match(found[0]))


def _clause(text: str, at: int) -> range:
    """From where to where the clause goes that stands at a place."""
    ends = [found.start() for found in _CLAUSE.finditer(text)]
    return range(max((end for end in ends if end < at), default=0), min((end for end in ends if end > at), default=len(text)))


def _denied(text: str, at: int) -> bool:
    """Is what is bad said not to be there? `无乱码`, `no garbled text`."""
    return text[max(0, at - 8) : at].rstrip().endswith(("无", "没有", "不再", "不会", "未出现", "no", "not", "no more", "without"))
