"""Error lines that no signal claims, and what makes a line one that reports an error."""

from __future__ import annotations

from doctor.read.encoding import decode
from doctor.scan.clusters import FURTHER, Clusters
from doctor.scan.floods import Unclaimed
from doctor.scan.harvest import Cluster, Place
from doctor.scan.plan import PLAIN_MARKS
from doctor.scan.select import EVERYTHING, Select
from doctor.scan.window_lines import KEEP_TEXT, WindowLines
from parsers.errno import PASSING, WORDS, number
from parsers.lazy import lazy
from parsers.line import read_line
from parsers.parsed import Line
from parsers.traceback_forms import DEATH, EXCEPTION

_TITLE = lazy(r"\s*(?:[A-Za-z]\w{0,60}\.){0,4}[A-Za-z]\w{0,60}(?:Error|Exception|Failure|Fault)\([A-Z]\w{1,12}\):")  # of CANN: Resource_Error(EE1023):
# A line of CANN's error block that says something: `E69999: [PID: 3687] 2025-... op[x], illegal format.`, `...[FUNC:f][FILE:a.cc][LINE:7]`.
_BLOCK = lazy(
    r"\s*(?:E[0-9A-Z]\d{4}: (?:Inner Error!|\[PID: ?\d{1,19}\] ?\S|[A-Za-z])"
    r"|\[PID: ?\d{1,19}\] ?[\d:.-]{8,32} [A-Za-z][\w/-]{2,80}\(E[0-9A-Z]\d{4}\): \S"
    r"|(?=[^\[\n])[^\n]{0,600}\[FUNC: ?\w[^\]]{0,200}\] ?\[FILE: ?[^\]]{1,300}\] ?\[LINE: ?\d{1,7}\])"
)
# A failure in plain words: `init device failed, error code: -8255`, `Failed to get the health, ret code: -8007`, `failed to map, error code: PLUGH_NO_ROOM`.
_SAID = lazy(
    r"(?=[^\n]{0,200}?\b[Ff]ail(?:ed|ure)?\b)[^\n]{0,240}?\b(?:error code|err ?code|ret(?:urn)?(?: ?code| ?value)?|rc|acl ?[Ee]rror)(?: is| was)?[:= ]{1,3}"
    r"(?:0x[0-9a-fA-F]*[1-9a-fA-F]|-?[1-9]\d*|(?!\w{0,60}(?:SUCCESS|_OK\b))[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,30}){1,8}\b)"
)
# One that a C++ program says in so many words, without a code: `LinearOperation CreateOperation failed!`.
_FAILED = lazy(r"(?=[A-Z])[^\n:=]{3,120} failed!\s*$")
# What a compiler or a linker says first: `a.c:62: error: ...`, `ld: warning: libx.so, needed by liby.so, not found`.
_BUILD = lazy(r"\S{1,300}:\d{1,7}(?::\d{1,5})?: (?:(?:fatal )?error: |(?:致命)?错误：)\S|[^\n]{1,300}[:：] ?对[‘'`][^\n]{1,300}[’']未定义的引用|[^\n]{0,300}\.so[\w.]{0,20}, needed by \S{1,300}, not found|[^\n]{1,300}: (?:undefined reference to [`'\"]|(?:[^\n:]{0,40}: )?(?:[Ff]ile in wrong format|文件格式错误)|Relocations in generic ELF)|[^\n]{1,300} is incompatible with (?:elf|aarch64)|\s{0,8}[A-Z]\w{1,20} \d[\d.]{0,15} or higher is required\.\s{1,3}You are running")
# What a command says that ends with an error: `error: Failed to start domain 'vm'`, `docker: Error response from daemon: ...`, `insmod: ERROR: could not ...`, a Go program's `panic: ...`.
_COMMAND = lazy(r"(?:[a-z][\w.+-]{1,40}: )?(?:error|ERROR|FATAL|panic|fatal error|(?:Error|error)(?: response)? from (?:daemon|server)(?: \([^)\n]{1,60}\))?): (?!(?i:none|null|no|nil|false|true|nan)\b)(?=[^\n]{0,30}[A-Za-z]{3,})[^\s\d=]")
# What a program logs that prints no levels (SGLang's workers), behind its time or its process: `Failed to update the parameter: start out of range`.
_REASONED = lazy(
    r"(?:Failed|Unable) to (?!import\b)[a-z][^\n:]{3,120}: (?=[^\n]{0,40}[^\W\d_]{3})"
    r"(?![^\n]{0,600}?\b(?:[Rr]etry|[Rr]etrie|[Ff]all(?:ing|s)?[ -]?back|[Ii]gnor|[Ss]kip|[Dd]efault|[Uu]sing |[Oo]ptional|[Cc]ontinu))"
)
_PANIC = lazy(r"(?:^|\s)panicked at \S{1,300}:\d{1,7}:\d{1,5}:$")  # of Rust, which says why in the line below
_BELOW = 4 << 10  # bytes
# Of a traceback or a list that a launcher logs line by line; and what CANN's blocks advise, should a page have taken their indentation.
_INSIDE = ("  ", "\t", "Solution: ", "Possible Cause: ", "Rectify the fault based on ", "TraceBack (most recent call last)")
_GO_ERROR = lazy(rb"(?<![^\s\]:])[EF]\d{4} \d\d:\d\d:\d\d\.\d{3,9} {1,8}\d{1,19} [\w./-]{1,100}\.go:\d")


def go_error(data: bytes, start: int, eol: int) -> bool:
    """Is a line of a Go program one that reports an error? `E1204 14:46:07.912003 60570 file.go:201]`, behind any prefix."""
    return _GO_ERROR.search(data, start, min(eol, start + 400)) is not None


class ErrorLines:
    """The unclaimed error lines of one range of a source."""

    def __init__(self, select: Select, unclaimed: Unclaimed) -> None:
        self._select, self._unclaimed = select, unclaimed
        self._selects_all = select == EVERYTHING
        self._clusters = Clusters()

    def add(
        self, lines: WindowLines, start: int, eol: int, line: Line | None = None, place: Place | None = None, meant: bool = True
    ) -> Place | None:
        """A line with an error mark; its place when it was read and reports an error. `meant`: is it asked what such a line means?"""
        if self._unclaimed.only_counts(lines.window.data, start, eol, self._clusters.full, line is not None):
            return None
        line = line or read_line(decode(lines.window.data[start:eol]))
        if not is_error(line):
            self._unclaimed.harmless(_numbers_decide(line))
            return None
        if place is None and self._selects_all and not meant and self._clusters.further(line.text[:KEEP_TEXT]) and not EXCEPTION.match(line.text):
            self._clusters.count(FURTHER, 1)  # whose it is would be read out of the lines above, for nobody
            self._unclaimed.shaped(FURTHER, False, _numbers_decide(line))
            return None
        place = place or lines.place(start, line)
        if place.text.endswith(":") and _PANIC.search(place.text):
            place = place._replace(text=f"{place.text} {_next(lines, eol)}"[:KEEP_TEXT])
        if not self._select.wants(place):
            return None
        shape = self._clusters.add(place)
        self._unclaimed.shaped(shape, shape != FURTHER, _numbers_decide(line))
        return place

    def result(self) -> tuple[tuple[Cluster, ...], int]:
        """The shapes, and how many lines there were in all."""
        for shape, lines in self._unclaimed.unread():
            self._clusters.count(shape, lines)
        self._clusters.count(FURTHER, self._unclaimed.further)
        return self._clusters.result(), self._clusters.total


def is_error(line: Line | Place) -> bool:
    """Does this line by itself report an error? Frames, summaries and INFO lines that mention the word do not."""
    if line.kind == "plog":
        return line.level in ("error", "fatal")
    if line.kind in ("traceback", "message", "text", "launcher", "kernel"):
        if EXCEPTION.match(line.text) or DEATH.match(line.text) or _TITLE.match(line.text):
            return line.level not in ("info", "debug", "warning")
        if line.kind == "traceback":
            return False
        if line.level is None and line.kind != "kernel":
            return _in_plain_words(line.text) or (bool(line.worker or line.pid or line.time) and _REASONED.match(line.text) is not None)
        return line.level in ("error", "fatal") and bool(line.text.strip()) and not line.text.startswith(_INSIDE)
    return False


def _next(lines: WindowLines, eol: int) -> str:
    """The words of the line below."""
    return read_line(decode(lines.window.data[eol + 1 : eol + 1 + _BELOW].split(b"\n", 1)[0])).text.strip()


def _numbers_decide(line: Line) -> bool:
    """Might the same line with other numbers report an error where this one does not, or the other way round?"""
    if line.kind in ("plog", "kernel", "traceback") or line.level is not None or "err" not in line.text:  # errno, error code
        return False
    return not (EXCEPTION.match(line.text) or DEATH.match(line.text) or _TITLE.match(line.text))


def _in_plain_words(text: str) -> bool:
    """Does a line without a level report a failure?"""
    if any(words in text for words in PLAIN_MARKS) or _SAID.match(text) or _BLOCK.match(text) or _BUILD.match(text) or _FAILED.match(text) or _COMMAND.match(text):
        return True
    return "err" in text and (number(text) or 0) in WORDS and number(text) not in PASSING
