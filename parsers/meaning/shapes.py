"""Has a captured slot the shape of what it is to name? What has not stays out: texts say the general form instead.

    CANN toolkit info file does not exist: /usr/local/Ascend/x.info       a file called "does"
    convert_frame.py:1009] AssertionError: Device npu not supported       a thing called "py:1009] AssertionError: Device npu"
    Some operations have failed or timed out.                             a wait for "Some operations have failed or"

Patterns take what stands at a place of a sentence, in the words of programs that nobody has seen; here it is asked whether that
can be a name at all.

>>> file("does"), file("config.json"), file("/data/x.pt."), file("tiny-model", quoted=True)
('', 'config.json', '/data/x.pt', 'tiny-model')
>>> thing("py:1009] AssertionError: Device npu"), thing("0 active drivers ([]). There"), thing("the tensor [x")
('Device npu', '', 'the tensor')
"""

from __future__ import annotations

import re

from parsers.lazy import lazy

_PATH = lazy(r"(?:[./~]|[A-Za-z]:\\|[A-Za-z][\w+-]{0,20}:/)|\S{0,200}?/|[\w+-][\w.+-]{0,120}\.[A-Za-z]\w{0,11}$")
_IDENTIFIER = lazy(r"(?=\S{0,200}?[\d_-])[\w.+-]{3,200}$")
# What a program prints before its message, up to its end: a place in a source, a code, a clock, an exception's name.
_HEAD = lazy(r"(?:[\w/]:\d{1,7}\]|\bE[A-Z\d]\d{4}\)?:?|\bERR\d{5}|\bpid[=:] ?\d{1,12}[\])]|\[(?:ERROR|WARNING|WARN|INFO)\]|(?:\b|[A-Za-z])(?:Error|Exception|Warning)(?::|\(['\"])|\d\d:\d\d:\d\d[.,\d]{0,8}\]?)(?=[\s'\":]|\w)")
_SENTENCE = lazy(r"(?:[.!?]\s{1,3}(?=[A-Z\d\"'`(])|;\s{1,3})")
_CODE = lazy(r"(?:raise|assert|return|if|elif|def|print|except|import|from|with|while|log\w{0,8}\.\w{1,12}|f?['\"])\b ?[\w(.{'\"]|.{0,200}[{]\w{1,60}[}]")
_ADVICE = lazy(r"(?i)(?:\d[.)] ?)?(?:please|check|make sure|ensure|try|set|increase|see|possible cause|solution|note|hint|tip)\b")
_ENDING = lazy(r"(?:\s{1,3}(?:the|a|an|of|to|in|on|or|and|with|for|by|at|from|that|which|is|are|was|has|have|not|may|can|will|be|it|when|while|if))+$")
_WORD = lazy(r"[^\W_]+")
_NOT_A_NAME = frozenset((
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "both", "but", "by", "can", "could", "did",
    "do", "does", "each", "for", "from", "had", "has", "have", "he", "here", "how", "i", "if", "in", "is", "it", "its",
    "may", "more", "most", "no", "none", "not", "of", "on", "once", "one", "only", "or", "other", "our", "out", "please",
    "shall", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "two", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
    "would", "you", "your", "file", "path", "directory", "folder", "error", "exception", "warning", "value", "argument",
    "parameter", "option",
))  # fmt: skip
_EDGES = " :,.=\t"
_CLOSES = {")": "(", "]": "[", "}": "{"}


def file(name: str, *, quoted: bool = False) -> str:
    """A name of a file, "" where it is none: a bare word of a sentence names no file unless it stood in quotes."""
    name = name.strip().rstrip(".:,;")
    if _PATH.match(name) is not None:
        return name
    words = [w.lower() for w in _WORD.findall(name)]
    named = bool(words) and not all(w in _NOT_A_NAME for w in words)
    return name if named and (quoted or _IDENTIFIER.match(name) is not None) else ""


def thing(phrase: str) -> str:
    """What a sentence speaks of, without what stood before the sentence; "" where that is no thing but a cut piece."""
    phrase = _after_last(_SENTENCE, _closed(_after_last(_HEAD, phrase)).rstrip())
    phrase = _ENDING.sub("", phrase.strip(_EDGES)).strip(_EDGES)
    if _CODE.match(phrase) is not None or _ADVICE.match(phrase) is not None:
        return ""
    words = [w.lower() for w in _WORD.findall(phrase)]
    return "" if not words or all(w in _NOT_A_NAME for w in words) else phrase


def whole_words(text: str, start: int, end: int) -> bool:
    """Does a piece of a text begin and end where words do?"""
    begins = start == 0 or not (text[start - 1].isalnum() and text[start : start + 1].isalnum())
    return begins and (end >= len(text) or not (text[end - 1 : end].isalnum() and text[end].isalnum()))


def _after_last(form: re.Pattern[str], phrase: str) -> str:
    end = 0
    for found in form.finditer(phrase):
        end = found.end()
    return phrase[end:]


def _closed(phrase: str) -> str:
    """What stands before the bracket that is not closed; nothing of a piece that was cut out of brackets or quotes."""
    opened: list[tuple[str, int]] = []
    for at, c in enumerate(phrase):
        if c in "([{":
            opened.append((c, at))
        elif c in _CLOSES and (not opened or opened.pop()[0] != _CLOSES[c]):
            return ""
    phrase = phrase[: opened[0][1]] if opened else phrase
    return "" if phrase.count('"') % 2 or phrase.count("`") % 2 else phrase
