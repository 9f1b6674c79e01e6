"""What a short text of no known software says in plain words: that something failed, shown where nothing else would be.

A level, a code or an exception tells an error line in any log. A text that has none of them, and no line of software that
we know, is often all that somebody has of a failure: `worker 4: coordinator unreachable, giving up`. Such lines are no
findings; they are what is shown instead of nothing.
"""

from __future__ import annotations

from doctor.read.encoding import decode
from doctor.scan.clusters import Clusters
from doctor.scan.harvest import Cluster, Harvest
from doctor.scan.select import Select
from doctor.scan.window_lines import WindowLines
from parsers.lazy import lazy
from parsers.line import read_line

KNOWN = frozenset({"plog", "message", "launcher", "table", "kernel", "dump", "traceback"})
MOST = 8  # lines: whoever says more than that has said it
_TEXTS = (".log", ".txt", ".out", ".err")
_WORDS = lazy(
    r"(?i:\b(?:fail(?:ed|s|ure)?|errors?|fatal|panic|cannot|can't|could not|couldn't|unable to|unreachable|refused|denied|not found|no such"
    r"|timed? ?out|abort(?:ed|ing)?|crash(?:ed)?|killed|hangs?|hung|stuck|giving up|gave up|(?:exited|terminated|exit) with(?: exit)?(?: code| status)? -?[1-9]))\b"
    r"|失败|错误|异常|无法|超时|拒绝|找不到|未找到|报错|崩溃|卡住|卡死|不支持"
)
_NONE = lazy(
    r"(?i:\b(?:0|no|without(?: any)?|zero) (?:\w{1,20} )?(?:fail(?:ed|ures?)|errors?|crash(?:es)?)\b|\b(?:fail(?:ed|ures?)|errors?)\W{1,3}(?:0|none|false|null)\b|\bignor)"
    r"|无(?:错误|异常)|没有(?:错误|异常)"
)
_SETTING = lazy(r"\s*(?:- )?[\w.\"'-]{1,60}\s{0,3}[:=]\s{0,3}[\w.\"'/-]{0,60},?\s*$")
_SENTENCE = lazy(r"[^\W\d_]{2,}[\W\d_][^\n]{0,80}?[^\W\d_]{2,}|[\u4e00-\u9fff]{4,}")  # more than a word


def with_plain_words(harvest: Harvest, lines: WindowLines, select: Select) -> Harvest:
    """The harvest of a whole short text, with what it says in plain words where nothing was recognised in it."""
    name = lines.source.name.rpartition("/")[2]
    if harvest.hits or harvest.errors or KNOWN & harvest.kinds.keys() or not ("." not in name or name.endswith(_TEXTS)):
        return harvest
    found, total = _said(lines, select)
    return harvest._replace(clusters=found, errors=total) if total else harvest


def _said(lines: WindowLines, select: Select) -> tuple[tuple[Cluster, ...], int]:
    clusters = Clusters()
    start, data = 0, lines.window.data
    for raw in data.split(b"\n"):
        text = decode(raw[:1000])
        if reports(text):
            line = read_line(text)
            place = lines.place(start, line)
            if line.kind == "text" and select.wants(place):
                clusters.add(place)
                if clusters.total == MOST:
                    break
        start += len(raw) + 1
    return clusters.result(), clusters.total


def reports(text: str) -> bool:
    """Does a line say that something failed?

    >>> reports("worker 4: coordinator unreachable, giving up"), reports("12 passed, 0 failed"), reports("on_error: continue")
    (True, False, False)
    """
    return _WORDS.search(text) is not None and _SENTENCE.search(text) is not None and not _NONE.search(text) and not _SETTING.match(text)
