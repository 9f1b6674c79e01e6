"""What a short text of no known software says in plain words: that something failed, shown where nothing else would be.

A level, a code or an exception tells an error line in any log. A text that has none of them, and no line of software that
we know, is often all that somebody has of a failure: `worker 4: coordinator unreachable, giving up`. Such lines are no
findings; they are what is shown instead of nothing.
"""

from __future__ import annotations

import re

from doctor.read.encoding import decode
from doctor.scan.clusters import Clusters, template
from doctor.scan.error_lines import is_error
from doctor.scan.harvest import Cluster, Harvest
from doctor.scan.select import Select
from doctor.scan.window_lines import WindowLines
from parsers.lazy import lazy
from parsers.line import PROMPT, read_line
from parsers.traceback import failures

KNOWN = frozenset({"plog", "message", "launcher", "table", "kernel", "dump", "traceback"})
LAST = 3  # lines at the end of a text, where a program says what it ended with
MOST = 8  # lines: whoever says more than that has said it
_TAIL = 8  # lines at the end of a text in which a frame stands that is its last
_TEXTS = (".log", ".txt", ".out", ".err")
_CALL = r"(?:acl[a-z]{0,4}|rt|ge|[Hh]ccl)[A-Z]\w{2,60}"  # of ACL, the runtime, GE or HCCL
_WORDS = lazy(
    r"(?i:\b(?:fail(?:ed|s|ure)?|errors?|fatal|panic|cannot|can't|could not|couldn't|unable to|unreachable|refused|denied|not found|no such"
    r"|timed? ?out|abort(?:ed|ing)?|crash(?:ed)?|killed|unsuccessful|hangs?|hung|stuck|giving up|gave up|(?:exited|terminated|exit) with(?: exit)?(?: code| status)? -?[1-9]))\b"
    r"|\b" + _CALL + r"[^\n\d=]{0,40}\b[Rr]et(?:urn)?(?:ed| code| value)?\s?[:=]{1,2}\s?-?[1-9]\d{2,6}\b"  # `aclmdlPlugh ret = 145000`
    r"|失败|错误|异常|无法|超时|拒绝|找不到|未找到|报错|崩溃|卡住|卡死|不支持"
)
_NONE = lazy(
    r"(?i:\b(?:0|no|without(?: any)?|zero) (?:of \d{1,9} )?(?:\w{1,20} )?(?:fail(?:ed|ures?)|errors?|crash(?:es)?)\b|\b(?:fail(?:ed|ures?)|errors?)\W{1,3}(?:0|none|false|null)\b|\bignor)"
    r"|无(?:错误|异常)|没有(?:错误|异常)"
)
_SETTING = lazy(r"\s*(?:- )?[\w.\"'-]{1,60}\s{0,3}[:=]\s{0,3}[\w.\"'/-]{0,60},?\s*$")
_LETTER = lazy(rb"^[EF](?:\d{4}(?=\d{4} ))?\d{3,4} \d\d:\d\d:\d\d(?:\.\d{1,9})? {1,8}\d{1,19} [\w./<>+-]{1,160}?\.(?:cpp|cc|cxx|h|hpp):\d{1,7}\]", re.MULTILINE)
# What a program says of itself with its last words, and no model in a text that it wrote: `msquant run failed`, `FATAL: no such card`, `模型转换失败`.
_ENDED = lazy(
    r"(?!(?:I|We|You|It|This|That)\b)[A-Za-z][\w ./:'\"-]{2,120} (?:failed|FAILED|unsuccessful|aborted)[.!]{0,3}$|FATAL\b[: ].{3}"
    r"|(?:[Cc]annot|[Cc]ould not|[Uu]nable to|[Ff]ailed to) (?:open|load|find|init|create|start|connect|access|get|set|read|allocate|run|import)\w{0,8} \S[^?]{2,160}$"
    r"|" + _CALL + r"\b[^\n]{0,60}\d$"
    r"|[\u4e00-\u9fffA-Za-z_ ]{2,20}失败[！!。]?$"
)
_SENTENCE = lazy(r"[^\W\d_]{2,}[\W\d_][^\n]{0,80}?[^\W\d_]{2,}|[\u4e00-\u9fff]{4,}")  # more than a word


def with_plain_words(harvest: Harvest, lines: WindowLines, select: Select) -> Harvest:
    """The harvest of a whole short text, with what it says in plain words where nothing was recognised in it."""
    harvest = _last_raised(_with_letters(harvest, lines, select), lines, select)
    name = lines.source.name.rpartition("/")[2]
    if harvest.errors or not ("." not in name or name.endswith(_TEXTS)):
        return harvest
    known = harvest.hits or KNOWN & harvest.kinds.keys()
    found, total = _said_last(harvest, lines, select) if known else _said(lines, select)
    return harvest._replace(clusters=(*harvest.clusters, *found), errors=total) if total else harvest


def _said_last(harvest: Harvest, lines: WindowLines, select: Select) -> tuple[tuple[Cluster, ...], int]:
    """What a program whose lines are known ended with, in words of its own that have no level."""
    clusters = Clusters()
    if harvest.kinds.keys() & {"plog", "dump", "table", "kernel"}:
        return clusters.result(), 0
    rows, end = lines.window.data.rstrip().split(b"\n"), len(lines.window.data.rstrip())
    for raw in reversed(rows[-LAST:]):
        start, end = end - len(raw), end - len(raw) - 1
        line = read_line(decode(raw[:1000]))
        levelled = line.kind != "text" and not (line.kind == "launcher" and line.level == "fatal")
        if levelled or not _ENDED.match(line.text.strip()) or not reports(line.text):
            continue
        place = lines.place(start, line)
        if select.wants(place):
            clusters.add(place)  # a finding that rests on the line takes it back
            break
    return clusters.result(), clusters.total


def _with_letters(harvest: Harvest, lines: WindowLines, select: Select) -> Harvest:
    """With the error lines of glog, whose level is one letter, that no mark stands in."""
    known = {h.place.line for h in harvest.hits} | {c.first.line for c in harvest.clusters}
    shapes = {c.template for c in harvest.clusters}
    more = Clusters()
    for found in _LETTER.finditer(lines.window.data):
        line = read_line(decode(lines.raw(found.start())))
        place = lines.place(found.start(), line)
        if place.line not in known and template(place.text) not in shapes and is_error(line) and select.wants(place):
            more.add(place)
    return harvest._replace(clusters=(*harvest.clusters, *more.result()), errors=harvest.errors + more.total) if more.total else harvest


def _last_raised(harvest: Harvest, lines: WindowLines, select: Select) -> Harvest:
    """With what the traceback raised in which the text ends, where no mark stands in its line: an exception whose name does
    not say that it is one (`queue.Empty`), or the last frame, where the exception was not copied along."""
    rows = lines.window.data.split(b"\n")
    if harvest.errors or b'File "' not in b"\n".join(rows[-_TAIL:]):
        return harvest
    found = failures([decode(row[:1000]) for row in rows])
    if not found or not found[-1].raised.frames or any(row.strip() and not PROMPT.match(decode(row[:1000])) for row in rows[found[-1].lines[-1] :]):
        return harvest
    last = found[-1]
    number = last.raised.frames[-1].at if last.cut else last.raised.at if last.how == "raised" else 0
    if not number or (not last.cut and any(hit.place.line in last.lines for hit in harvest.hits)):
        return harvest
    start = sum(len(row) + 1 for row in rows[: number - 1])
    place = lines.place(start, read_line(decode(lines.raw(start))))
    clusters = Clusters()
    if select.wants(place):
        clusters.add(place)
    return harvest._replace(clusters=(*harvest.clusters, *clusters.result()), errors=harvest.errors + clusters.total)


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
