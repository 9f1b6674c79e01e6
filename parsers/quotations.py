"""What a line only quotes: a request that a service logs, what a model answered, the subject of a commit, a hit in a document.

Users ask models about error messages, and commits mend them: none of it happened where it is printed.

>>> unquoted("Received request c-1: prompt: 'why: NPU out of memory?', params: SamplingParams(n=1)")
"Received request c-1: prompt: ', params: SamplingParams(n=1)"
>>> unquoted("Prompt: 'What is EI0006?', Generated text: ' a time-out: EI0006'")
"Prompt: ', Generated text: "
>>> unquoted("71ab001 fix: RuntimeError: NPU out of memory on 310P"), unquoted("docs/faq.md:12:error code is 507014")
('71ab001', 'docs/faq.md:12:')
>>> unquoted("71ab001 RuntimeError: NPU out of memory")
'71ab001 RuntimeError: NPU out of memory'

An answer of one letter is no quotation: it is what went wrong.

>>> unquoted("Prompt: 'a', Generated text: '!!!!!!!!!!!!!!!!!!!!!!!!'")[-10:]
"!!!!!!!!!'"
"""

from __future__ import annotations

from parsers.lazy import lazy

_MARKS = ("Received request ", "GenerateReqInput(", "Generated text: ", ".md:", ".rst:")
_REQUEST = lazy(r"(?P<before>\bReceived request [^\n]{1,120}?: prompt: )(?P<said>['\"].*)")
_AFTER = lazy(r"', (?:params|sampling_params): ")
_OBJECT = lazy(r"(?P<before>\b(?:Receive|Finish): obj=(?:Batch)?(?:Tokenized)?GenerateReqInput\()")
_ANSWER = lazy(r"(?P<before>\bPrompt: )(?P<said>['\"].*), Generated text: (?P<answer>.*)")
_DOCUMENT = lazy(r"[\w./-]{1,200}\.(?:md|rst):\d{1,6}:")
_COMMIT = lazy(r"(?=[0-9]{0,8}[a-f])(?=[a-f]{0,8}[0-9])[0-9a-f]{7,9}(?! \[?(?:ERROR|WARN|INFO|FATAL|DEBUG|Traceback|Segmentation|Killed|\w{1,60}(?:Error|Exception|Fault)\b))(?= (?:\([^)\n]{1,120}\) )?[\[A-Za-z])")
_ONE_LETTER = lazy(r"([^\s.])\1{15}")
_HEXADECIMAL = frozenset("0123456789abcdef")


def unquoted(text: str) -> str:
    """The line without what it quotes."""
    if not any(mark in text for mark in _MARKS):
        commit = _COMMIT.match(text) if text[:1] in _HEXADECIMAL else None
        return commit[0] if commit is not None else text
    if (found := _REQUEST.search(text)) is not None:
        after = _AFTER.search(found["said"])
        return text[: found.end("before")] + (found["said"][after.start() :] if after is not None else "")
    if (found := _OBJECT.search(text)) is not None:
        return text[: found.end("before")]
    if (found := _ANSWER.search(text)) is not None and _ONE_LETTER.search(found["answer"]) is None:
        return text[: found.end("before")] + "', Generated text: "
    if (found := _DOCUMENT.match(text)) is not None:
        return found[0]
    return text
