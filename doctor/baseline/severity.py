"""How grave a line reads: by its level, and by words that no program prints for joy."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

_STRONG = re.compile(
    r"(?<![A-Za-z])(?:errors?|fail(?:ed|ure|ing|s)?|fatal|critical|panic|exceptions?|traceback|abort(?:ed|ing)?|crash(?:ed)?|killed|segfault|core dumped|corrupt(?:ed|ion)?"
    r"|refused|denied|unreachable|unhealthy|uncorrectable|lost|dead|died|broken|hung|hang|deadlock|stuck|stalled?|nan|inf|overflow(?:ed)?|mismatch(?:ed)?|diverged?"
    r"|time[sd] out|time-?out|out of|no space|cannot|can't|unable|invalid|illegal|unexpected(?:ly)?|violat\w+|starv\w+|exhausted|evicted|fault(?:y|s|ed)?|bad|gave up|giving up)(?![a-z])"
    r"|(?<![A-Za-z])E[A-Z0-9]\d{4}(?![0-9])|[a-z](?:Error|Exception|Failure|Fault|Timeout)\b|失败|错误|异常|超时|损坏|丢失",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?<![A-Za-z])(?:warn(?:ing)?|retry(?:ing)?|retries|slow(?:er|ly)?|degraded|dropp(?:ed|ing)|drops?|missing|missed|skipp(?:ed|ing)|delayed|late|lag(?:s|ging|ged)?|behind|throttl\w+|reset(?:ting)?"
    r"|reconnect\w*|fall(?:ing)? back|fallback|disabled|suspend\w*|paused|blocked|waiting|wait(?:ed|s)?|rejected|discard\w*|stale|rollback|rolled back|not \w+|no longer|never|without|only|beyond|exceed\w*"
    r"|above|below|too \w+|inconsistent|differs?|conflict\w*|unknown|interrupt\w*|terminat\w+|shut(?:ting)? ?down|closing|closed|leak\w*|pressure|saturat\w+|quarantin\w+|isolat\w+|lagging|drift\w*|backlog|flapp\w+|警告|重试|等待)(?![a-z])",
    re.IGNORECASE,
)
STRONG, WEAK, NONE = 2, 1, 0
_BENIGN = re.compile(
    r"(?<![A-Za-z])(?:no|0|zero|without|not an?) (?:errors?|failures?|faults?|exceptions?|problems?)|(?:errors?|failed|failures?|fail count|lost|stuck|pending|timeouts?|dropped|retries|exceptions?|nans?|infs?)\W{0,3}(?:0|#?none|empty|false)\b"
    r"|(?:code|ret|errno|error)\W{0,3}0(?:x0)?\b|\btime-?out\W{0,3}(?:[#+]|is|set)|\w*_?time-?out\w*\W{0,2}[#=]|on_error|error_?handler|exception_?handler|err(?:or)?_?(?:log|file|rate)",
    re.IGNORECASE,
)


_ROOTS = (
    "error", "fail", "fatal", "critical", "panic", "exception", "traceback", "abort", "crash", "killed", "segfault", "core dumped", "corrupt", "refused", "denied", "unreachable", "unhealthy",
    "uncorrectable", "broken", "stuck", "stall", "overflow", "mismatch", "diverge", "times out", "timed out", "timeout", "time-out", "out of",
    "no space", "cannot", "can't", "unable", "invalid", "illegal", "unexpected", "violat", "starv", "exhausted", "evicted", "fault", "gave up", "giving up", "失败", "错误", "异常", "超时", "损坏", "丢失",
)  # fmt: skip
_WORDS = frozenset({"lost", "dead", "died", "hung", "hang", "nan", "inf", "bad"})
_LETTERS = re.compile(r"[a-z]+")


@cache
def _finder() -> Callable[[str], bool]:
    """By the automaton, where it can be loaded; a call of another command need not wait for it."""
    try:
        from ahocorasick_rs import AhoCorasick
    except ImportError:
        return lambda text: any(root in text for root in _ROOTS)
    machine = AhoCorasick(list(_ROOTS))
    return lambda text: bool(machine.find_matches_as_indexes(text))


def may_be_severe(text: str) -> bool:
    """The same of lines that come by the million: the patterns are only tried where a part of such a word stands."""
    low = text.lower()
    return (_finder()(low) or not _WORDS.isdisjoint(_LETTERS.findall(low))) and severe_words(text)


def severe_words(text: str) -> bool:
    """Does a text say that something is wrong?"""
    return _STRONG.search(_BENIGN.sub(" ", text)) is not None


def severity(shape: str, level: str | None) -> int:
    """STRONG, WEAK or NONE, of a shape that was logged at a level."""
    if level in ("error", "fatal"):
        return STRONG
    bare = _BENIGN.sub(" ", shape)
    if _STRONG.search(bare):
        return STRONG
    return WEAK if level == "warning" or _WEAK.search(bare) else NONE
