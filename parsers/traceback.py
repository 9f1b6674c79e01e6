"""Failures in a text: Python tracebacks with all that they were chained from, and the last words of C++ and of the interpreter.

    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100] Traceback (most recent call last):
    (Worker_TP1 pid=612) ERROR 08-22 12:00:00 [core.py:100] Traceback (most recent call last):
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100]   File "/usr/lib/python3/dist-packages/vllm/run.py", line 7, in step
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100]     self.model(batch)
    (Worker_TP0 pid=611) ERROR 08-22 12:00:00 [core.py:100] RuntimeError: NPU function error: x, error code is 507035

Processes that share a terminal are told apart by what their prefixes say. A traceback may lack its head, its tail or
lines in between; what is missing is left empty, nothing is guessed from other processes.

>>> first, second = failures(__doc__.splitlines())
>>> first.by.worker, first.raised.type, first.raised.message, first.lines
('Worker_TP0', 'RuntimeError', 'NPU function error: x, error code is 507035', (3, 5, 6, 7))
>>> first.raised.frames[-1].function, first.raised.frames[-1].package
('step', 'vllm')
>>> second.by.pid, second.cut
(612, True)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from parsers import traceback_forms as forms
from parsers.lazy import lazy
from parsers.line import PROMPT
from parsers.named import NamedTuple
from parsers.owners import owner
from parsers.plog import head
from parsers.prefix import peel

LogCall = tuple["str | None", "str | None"]
"""Where and when a line was logged; all lines of one call have it in common."""
ENDED: LogCall = ("", "")
ANYWHERE = 1 << 16

FRONT = 2048
"""Characters of a line that are looked at and kept."""
MESSAGE_LINES = 60
BLANKS = 2
"""Empty lines between an exception and the one that it led to."""
FRAMES = 1200
"""Of one exception; the interpreter prints no more than a thousand."""
STRANGERS = 60
"""Lines of others in a row, among the frames of one process that has no name; then its traceback ended there."""

How = Literal["raised", "ignored", "terminated", "fatal", "signal", "unloadable"]
"""By an exception of Python, by one that the interpreter drops (of a destructor), by one of C++ that nobody caught, by the
interpreter, by a signal, by the dynamic linker."""
Link = Literal["", "cause", "context", "member"]

_BEGINS = lazy(
    r'Traceback \(most recent|File "|Exception ignored |terminate called|Fatal Python error|Segmentation fault|Aborted|Bus error'
    r"|Illegal instruction|Floating point exception|Trace/breakpoint trap|stack smashing detected|核心已转储|吐核|symbol lookup error|relocation error|error while loading"
)


class Speaker(NamedTuple):
    """Who wrote a line, as far as its prefixes say. `None`: they do not."""

    worker: str | None
    pid: int | None
    rank: int | None


class Frame(NamedTuple):
    """A place of the call chain; `code` is the printed source line, "" when it was not printed."""

    at: int
    """The line of the text that tells it."""
    file: str
    line: int
    function: str
    code: str = ""

    @property
    def package(self) -> str:
        """To which package the code belongs, guessed from the path; "" for the user's own, "python" for the standard library."""
        return owner(self.file)


class Raised(NamedTuple):
    """One exception with the frames that it passed, outermost first (of a crash as printed: innermost first)."""

    type: str
    """As printed, with its modules; "" when the text ends before it, or for a crash that has none."""
    message: str
    at: int
    """The line that names it, 0 when none does."""
    frames: tuple[Frame, ...]
    link: Link = ""
    """What the part before is to this one: its cause, what was being handled, or the group of which this is a member."""
    depth: int = 0
    """In how many exception groups it stands."""


class Failure(NamedTuple):
    """What one process printed of one failure: the original exception first, the members of a group behind it."""

    by: Speaker
    how: How
    parts: tuple[Raised, ...]
    lines: tuple[int, ...]
    cut: bool
    """The text ends, or goes on with something else, before the exception is named."""

    @property
    def raised(self) -> Raised:
        """What ended the process: the last exception that stands in no group."""
        least = min(part.depth for part in self.parts)
        return next(part for part in reversed(self.parts) if part.depth == least)


def failures(lines: Iterable[str], first_line: int = 1) -> tuple[Failure, ...]:
    """The failures in the lines, in the order in which they begin. Takes any text, in time that grows with its length."""
    open_of: dict[Speaker, _Open] = {}
    dropped: dict[Speaker, int] = {}  # where the interpreter said that it drops the next exception
    done: list[Failure] = []
    for number, raw in enumerate(lines, first_line):
        if not open_of and _BEGINS.search(raw) is None:
            continue
        peeled = peel(raw)
        text = peeled.text[:FRONT]
        if text[:1] == "[" and head(text) is not None:
            continue  # CANN writes between the lines of whoever shares its terminal
        speaker = Speaker(peeled.worker, peeled.pid, peeled.rank)
        log_call = (peeled.module, peeled.time)
        known = open_of.get(speaker)
        if known is not None and known.take(number, text, log_call):
            continue
        begun = _begin(speaker, number, text, log_call)
        if known is not None and (begun is not None or known.over):
            done += known.closed()
            del open_of[speaker]
        if begun is not None:
            begun.ignored = number - dropped.get(speaker, -BLANKS) < BLANKS
            open_of[speaker] = begun
        elif forms.IGNORED.match(text):
            dropped[speaker] = number
    for left in open_of.values():
        done += left.closed()
    return tuple(sorted(done, key=_first_line))


def _first_line(failure: Failure) -> int:
    return failure.lines[0]


def _begin(speaker: Speaker, number: int, text: str, log_call: LogCall) -> _Open | None:
    """What a line begins: a traceback, one of which the head is missing, or a crash."""
    depth, said = _within(text)
    if forms.HEADER.match(said):
        return _Open(speaker, number, depth, True)
    if (frame := forms.FRAME.match(said)) is not None:
        begun = _Open(speaker, number, depth, False)
        begun.frame(number, frame)
        return begun
    if (death := forms.DEATH.match(text)) is not None:
        begun = _Open(speaker, number, 0, True)
        begun.die(number, death, log_call)
        return begun
    return None


def _within(text: str) -> tuple[int, str]:
    """In how many exception groups a line stands, and the line without their margin."""
    found = forms.MARGIN.match(text)
    if found is None:
        return 0, text
    return max(1, (len(found["indent"]) + 1) // 2), text[found.end() :]


class _Open:
    """A failure of which more lines may come: frames until an exception is named, then its message, then what follows from it."""

    def __init__(self, speaker: Speaker, number: int, depth: int, headed: bool) -> None:
        self.over = self.ignored = False
        self._by, self._headed = speaker, headed
        self._how: How = "raised"
        self._lines = [number]
        self._parts: list[Raised] = []
        self._strangers = 0
        self._log_call: LogCall = (None, None)
        self._part("", depth)

    def _part(self, link: Link, depth: int) -> None:
        """What follows is another exception."""
        self._link: Link = link
        self._depth = depth
        self._frames: list[Frame] = []
        self._indent = ANYWHERE  # of the last frame
        self._type, self._at = "", 0
        self._message: list[str] = []
        self._linked = bool(link)  # its head is still to come

    def _end_part(self) -> None:
        if self._frames or self._at:
            message = "\n".join(self._message).rstrip()
            self._parts.append(Raised(self._type, message, self._at, tuple(self._frames), self._link, self._depth))

    def closed(self) -> tuple[Failure, ...]:
        """The failure; nothing when it was a few frames that belong to none."""
        if not self._headed and not self._at and not self._parts:
            return ()
        self._end_part()
        parts = tuple(self._parts) or (Raised("", "", 0, (), self._link, self._depth),)
        return (Failure(self._by, "ignored" if self.ignored else self._how, parts, tuple(self._lines), not self._at),)

    def take(self, number: int, text: str, log_call: LogCall) -> bool:
        """Adds a line, or says that it is not part of this failure."""
        if self.over:
            return False
        depth, said = _within(text)
        if self._between(text, said, depth):
            taken = True
        elif not self._at:
            taken = self._body(number, said, log_call)
        else:
            taken = self._dump(number, said) or self._message_goes_on(text, said, depth, log_call)
        if taken:
            self._lines.append(number)
            self._strangers = 0
        else:
            self._strangers += 1
            if self._strangers > (BLANKS if self._at else STRANGERS):
                self.over = True
        return taken

    def _between(self, text: str, said: str, depth: int) -> bool:
        """Lines between two exceptions."""
        if self._how != "raised":
            return False
        link: Link = "cause" if forms.CAUSE.match(said) else "context" if forms.CONTEXT.match(said) else ""
        if link:
            self._end_part()
            self._part(link, depth)
        elif (member := forms.MEMBER.match(text)) is not None:
            self._end_part()
            self._part("member", (len(member["indent"]) + 1) // 2 + (member["first"] is not None))
        elif self._linked and not self._frames and forms.HEADER.match(said):
            self._linked = False
        else:
            return bool(self._depth) and forms.GROUP_END.match(text) is not None
        return True

    def _body(self, number: int, said: str, log_call: LogCall) -> bool:
        """Frames, their source lines, and the exception below them."""
        if (frame := forms.FRAME.match(said) or forms.BUILT_FRAME.match(said)) is not None:
            self.frame(number, frame)
            return True
        if not said.strip() or forms.DEATH.match(said):
            return False
        indent = len(said) - len(said.lstrip(" \t"))
        last = self._frames[-1] if self._frames else None
        bare = last is not None and not last.code and self._lines[-1] == last.at  # its source line may come
        named = forms.EXCEPTION.match(said) if indent <= self._indent else None
        if named is None and last is not None and not self._strangers and indent <= self._indent - bare:
            named = forms.UNNAMED.match(said)
        if named is not None:
            self._type, self._message, self._at = named["type"], [named["message"] or ""], number
            self._log_call = log_call
        elif last is not None and bare and not forms.REPEATED.match(said):
            if not forms.CARETS.match(said):
                self._frames[-1] = last._replace(code=said.strip())
        else:
            return last is not None and (indent > self._indent or forms.CARETS.match(said) is not None)
        return True

    def frame(self, number: int, found: re.Match[str]) -> None:
        """A place in a Python source."""
        self._indent = len(found["indent"])
        if len(self._frames) < FRAMES:
            self._frames.append(Frame(number, found["file"], int(found["line"]), (found["function"] or "").strip()))

    def die(self, number: int, found: re.Match[str], log_call: LogCall) -> None:
        """The process dies without an exception of Python."""
        self._at, self._log_call = number, log_call
        self._type = found["type"] or ""
        if found["terminate"]:
            self._how = "terminated"
            return
        self._how = "fatal" if found["fatal"] else "signal" if found["signal"] else "unloadable"
        self._message = [found["why"] or found["signal"] or found["missing"] or ""]
        self.over = self._how != "fatal"

    def _dump(self, number: int, said: str) -> bool:
        """What a dying process prints of itself, and C++ below an exception that it hands to Python."""
        if self._how == "terminated" and not self._message and (what := forms.WHAT.match(said)) is not None:
            self._message = [what["message"]]
        elif (native := forms.NATIVE_FRAME.match(said)) is not None:
            if self._how != "raised" and len(self._frames) < FRAMES:
                self._frames.append(Frame(number, native["file"] or "", 0, native["function"]))
        elif self._how == "fatal" and (frame := forms.FRAME.match(said)) is not None:
            self.frame(number, frame)
        else:
            return forms.DUMP.match(said) is not None
        return True

    def _message_goes_on(self, text: str, said: str, depth: int, log_call: LogCall) -> bool:
        """Is this a further line of the message? One log call wrote all of them; nothing tells where text without a head ends."""
        if not said.strip():
            self._log_call = ENDED
            return False
        begins = forms.HEADER.match(said) or forms.FRAME.match(said) or forms.DEATH.match(text) or forms.IGNORED.match(said)
        typed = PROMPT.match(said) is not None and ">>>" not in said[:12]  # the reader's next command, in a pasted session
        bare = self._message == [""] and forms.OF_TORCH_NPU.match(said) is not None
        if begins or typed or bare or log_call != self._log_call or self._how == "fatal" or (depth and depth != self._depth):
            self.over = True
            return False
        if len(self._message) < MESSAGE_LINES:
            self._message.append(said)
        return len(self._message) < MESSAGE_LINES
