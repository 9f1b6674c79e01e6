"""Peels what launchers put before a line: worker names, ranks, times, levels, container and grep prefixes, colours.

    (Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [multiproc_executor.py:880] EZ9999: Inner Error!
    [rank3]:[W515 09:40:12.302912713 compiler_depend.ts:57] Warning: EZ9999: Inner Error!
    2025-03-02T10:21:44.118305Z stdout F [ERROR] RUNTIME(41,python):2025-03-02-10:21:44.118.305 ...

Prefixes nest in any order, so forms are tried again and again at the front until none fits; each form is anchored and
bounded, so a line costs at most its length. The inner prefix wins: it is nearer to the process that wrote the text.

>>> peel("(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [multiproc_executor.py:880] boom").text
'boom'
>>> peel("[rank3]: Traceback (most recent call last):").rank
3
"""

from __future__ import annotations

import re

from parsers import prefix_forms as forms
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.plog import LEVELS

_LETTERS = {"D": "debug", "I": "info", "W": "warning", "E": "error", "F": "fatal", "C": "fatal"}
_REPEATED = lazy(r" ?\[repeated (\d{1,9})x across (?:cluster|all nodes)\](?: \(Ray deduplicates[^()]{0,300}\))?\s*$")
_LONGEST_SUFFIX = 420
_NAMED = 300  # characters at the front in which a logger names its level
_BAR = 2100  # characters that a progress bar takes, at most


class Peeled(NamedTuple):
    """What is left of a line, and what its prefixes said. A tuple, because one is made for every line that is read."""

    text: str
    level: str | None = None
    module: str | None = None
    time: str | None = None
    pid: int | None = None
    rank: int | None = None
    worker: str | None = None
    """How many lines it stands for: Ray leaves out copies and says so."""
    launcher: bool = False
    """A prefix carried a level: some program's logger wrote this line."""


class _Said:
    """What the prefixes have said so far."""

    __slots__ = ("level", "module", "pid", "rank", "time", "worker")

    def __init__(self) -> None:
        self.level: str | None = None
        self.module: str | None = None
        self.time: str | None = None
        self.pid: int | None = None
        self.rank: int | None = None
        self.worker: str | None = None

    def hear(self, groups: dict[str, str | None]) -> None:
        """Takes over what a form tells; what it does not tell stays as an outer prefix said it."""
        if level := groups.get("level"):
            self.level = LEVELS[level]
        elif letter := groups.get("letter"):
            self.level = _LETTERS[letter]
        self.module = next(
            (said for name in ("module", "file", "ray", "name") if (said := groups.get(name))), self.module
        )
        self.time = _time(groups) or self.time
        if pid := groups.get("pid"):
            self.pid = int(pid)
        if rank := groups.get("rank"):
            self.rank = int(rank)
        if worker := groups.get("worker"):
            self.worker = worker.strip()
        for word in (groups.get("more") or "").split():
            if word.startswith("rank=") and word[5:].isdecimal() and len(word) < 12:
                self.rank = int(word[5:])
            elif "=" not in word and self.worker:
                self.worker = f"{self.worker} {word}"


def bare(text: str) -> bool:
    """Does a plog head stand at the very front, and nothing in the text that peeling takes away?"""
    return (
        forms.PLOG_START.match(text) is not None
        and "\r" not in text
        and "x across " not in text[-_LONGEST_SUFFIX:]
        and forms.unescape(text) == text
    )


def peel(raw: str) -> Peeled:
    """Strips every known prefix; `peel(peel(x).text).text == peel(x).text`."""
    text = raw.rstrip("\r\n")
    if "[" in text or "\x1b" in text:
        text = forms.unescape(text)
    text = _unrepeated(text.rstrip("\r\n"))
    said = _Said()
    at = 0
    returns = "\r" in text
    while returns and (after := _progress(text, at)) is not None:
        at = after
    end = len(text)
    while True:
        begin = at
        while begin < end and text[begin] in " \t":
            begin += 1
        after = _one(text, begin, said)
        if after is None and returns:  # a bar may come into reach when what stood before it is gone
            after = _progress(text, at)
        if after is None:
            break
        at = after
    if said.level is None and (only := forms.LEVEL_ONLY.match(text, at)) is not None:
        said.level = LEVELS[(only["bracket"] or only["level"] or only["word"]).upper()]
    if said.level is None and text[at : at + 1] == "[" and (installer := forms.INSTALLER.match(text, at)) is not None:
        said.hear(installer.groupdict())
    if said.level is None and "level" in text[at : at + _NAMED] and (named := forms.NAMED_LEVEL.search(text, at, at + _NAMED)):
        said.level = LEVELS[named["level"].upper()]
    if said.level is None and (": " in text[at : at + _NAMED]) and (told := forms.TOLD.match(text, at)) is not None:
        at = told.end()
    if at:
        text = text[at:]
    return Peeled(
        text,
        said.level,
        said.module,
        said.time,
        said.pid,
        said.rank,
        said.worker,
        said.level is not None,
    )


def _progress(text: str, at: int) -> int | None:
    """Where the text goes on after a progress bar and the carriage return that was to hide it."""
    found = forms.PROGRESS.match(text, at) if "\r" in text[at : at + _BAR] else None
    return found.end() if found is not None else None


def _one(text: str, begin: int, said: _Said) -> int | None:
    """Where the text goes on after the one prefix at `begin`, or None when none stands there."""
    for form in _candidates(text, begin):
        found = form.match(text, begin)
        if found is None or found.end() == begin:
            continue
        if form is forms.COMPOSE and not _is_service(found["worker"], text, found.end()):
            continue
        said.hear(found.groupdict())
        return _fields(text, found.end(), said) if form is forms.BRACKET_TIME else found.end()
    return None


def _candidates(text: str, at: int) -> tuple[re.Pattern[str], ...]:
    """The forms that can begin with this character; the cheap test that lets dull lines pass."""
    first = text[at : at + 1]
    if first == "(":
        return forms.ROUND
    if first == "[":
        return () if forms.PLOG_START.match(text, at) else forms.SQUARE
    if first == "#":
        return (forms.BUILDKIT,)
    if first == ">":
        return (forms.QUOTE,)
    if first == "-":
        return (forms.DASHED,)
    if first == "\ufeff":
        return (forms.BOM,)
    if not first.isascii() or not (first.isalnum() or first in ("/", ".", "~")):
        return ()
    found: tuple[re.Pattern[str], ...] = ()
    head = text[at : at + 400]
    if first.isdecimal():
        found = forms.DIGIT
    elif first in forms.LEVEL_LETTERS:
        found = (forms.VLLM, forms.GLOG, forms.GLOG_YEAR, forms.TORCH_CUT)
        if ".py" in head and head.startswith(("FAILED ", "ERROR ")):
            found = (*found, forms.PYTEST)
    elif first == "r":
        found = (forms.RANK_BARE,)
    if first.isupper() and head[:3] in forms.MONTHS:
        found = (forms.SERVICE, *found)
    if ".log" in head or ".txt:" in head or ".out:" in head or ".err:" in head:
        found = (forms.GREP, *found)
    if ": " in head[:70] and first.isalpha():
        found = (*found, forms.HOST)
    if " | " in head and (first.islower() or first.isdecimal()):
        found = (*found, forms.COMPOSE)
    return found


def _is_service(name: str, text: str, at: int) -> bool:
    """A compose prefix is a service's name; the first column of some table is not, unless a log line follows."""
    if name.replace(".", "").isdecimal():
        return False
    return any(c in "-_" or c.isdecimal() for c in name) or text.startswith(("[", "(", "INFO", "ERROR", "WARN"), at)


def _fields(text: str, at: int, said: _Said) -> int:
    """The bracketed fields after a bracketed time; MindIE, ATB, DeepSpeed, hydra, torch elastic each have their order.

    They are prefix only if one of them is a level; what comes after the level must look like a number, a place or a
    rank, or it is the message.
    """
    named = forms.NAMED.match(text, at)
    position = named.end() if named is not None else at
    heard: dict[str, str | None] = {}
    for _ in range(8):
        found = forms.FIELD.match(text, position)
        if found is None:
            break
        field = found["field"].strip()
        if (level := field.upper()) in LEVELS and (field.isupper() or field.islower()):
            if "level" in heard or forms.OWN_HEAD.match(text, found.end()):
                break
            heard["level"] = level
        elif field.isdecimal() and len(field) < 20 and "thread" not in heard:
            heard["thread" if "pid" in heard else "pid"] = field
        elif (place := forms.FIELD_PLACE.match(field)) is not None:
            heard["module"] = place["module"]
        elif (rank := forms.FIELD_RANK.match(field)) is not None:
            heard["rank"] = rank["rank"]
        elif "level" in heard or forms.FIELD_NAME.match(field) is None:
            break
        position = found.end()
    if "level" not in heard:
        return at
    said.hear(heard)
    ending = forms.FIELDS_END.match(text, position)
    return ending.end() if ending is not None else position


def _unrepeated(text: str) -> str:
    """Without Ray's note that it left out copies of the line."""
    end = len(text)
    if "x across " in text[-_LONGEST_SUFFIX:]:
        while (suffix := _REPEATED.search(text, max(0, end - _LONGEST_SUFFIX), end)) is not None:
            end = suffix.start()
    return text[:end].rstrip("\r\n")


def _time(said: dict[str, str | None]) -> str | None:
    clock = said.get("clock")
    if not clock:
        return None
    date = said.get("date")
    if not date:
        if not said.get("year"):
            return None
        date = f"{said['year']}-{said['month']}-{said['day']}"
    fraction = said.get("fraction") or (said.get("milli") or "") + (said.get("micro") or "")
    return f"{date.replace('/', '-')}T{clock}.{fraction[:6]:0<6}"
