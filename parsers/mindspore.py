"""The sections of MindSpore's exceptions: a title between rules, then what one layer has to say.

    ----------------------------------------------------
    - C++ Call Stack: (For framework developers)
    ----------------------------------------------------
    mindspore/ccsrc/plugin/device/ascend/hal/device/ascend_kernel_runtime.cc:252 Init

The text under `- Ascend Error Message:` is an error block of CANN and is read as one; the other sections are
MindSpore's own.

>>> [record.kind for record in parse(__doc__.splitlines()[2:6])]
['mindspore']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from parsers.lazy import lazy
from parsers.parsed import Line, Record
from parsers.runs import Format, begins_with, runs

KIND = "mindspore"

_TITLE = lazy(
    r"\s*- (?:Ascend (?:Error|Warning) Message|Framework (?:Error|Unexpected Exception Raised|.{0,40} Message)"
    r"|C\+\+ Call Stack"
    r"|The (?:Function|Traceback of Net Construct) .{0,40}|Sugested|Suggested|Dump .{0,40}|Kernel .{0,40}).{0,60}:"
)
_RULE = lazy(r"\s*-{8,}\s*$")
_BODY = lazy(
    r"\s*(?:mindspore/\S{1,300}:\d+ |\S{1,300}\.(?:cc|h|cpp|py)(?::|\()\d+|#?\s?(?:\d+ )?In file "
    r"|The function call stack"
    r"|\(See file |.{0,200}mindspore\.cn)"
)


def _begins(line: Line) -> bool:
    return _TITLE.match(line.text[:300]) is not None


def _continues(_: Sequence[Line], line: Line, gap: int) -> bool:
    if gap > 2 or _TITLE.match(line.text[:300]):
        return False
    return _BODY.match(line.text[:600]) is not None or (
        gap == 0 and line.kind == "text" and line.text[:1] in (" ", "\t")
    )


def _leads(line: Line) -> bool:
    return _RULE.match(line.text[:200]) is not None


FORMAT = Format(KIND, _begins, _continues, leads=_leads)


def sniff(lines: Iterable[str]) -> bool:
    """Whether the text opens with such a section."""
    return begins_with(FORMAT, lines)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """Sections as records of this kind, everything else as text."""
    return runs((FORMAT,), lines)
