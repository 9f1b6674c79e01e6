"""What is looked for: every literal, and what to try where it stands. Made once per run from the knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any

from doctor.scan.engine import DIGITS
from doctor.scan.escapes import ESCAPE, without_escapes
from kb.code_forms import BARE, CODE_WORD, LETTERED_END
from kb.model import FACT_PREFIX, Signal
from kb.sought import Made, Sought
from parsers import compared, tables
from parsers.lazy import lazy
from parsers.named import NamedTuple
from parsers.patterns import compiled

# Literals that stand in lines which report an error, whoever wrote them. They find what no signal knows.
ERROR_MARKS = (
    "[ERROR]", "[CRITICAL]", "[FATAL]", "[error]", " ERROR ", " CRITICAL ", " FATAL ", "ERROR:", "Error:", "Error\n",
    "Exception:", "Exception\n", "terminate called", "Segmentation fault", "core dumped", "核心已转储", "Trace/breakpoint trap", "stack smashing detected", "Fatal Python error",
    "[ERROR][", "ERROR |", "| ERROR", "Interrupt\n", "CANN error", "symbol lookup error",
    ": Inner Error!", "[PID: ", ": In op[", "][FILE:", "] [FILE:", "error code: -", "Traceback (most recent call", "TraceBack (most recent call", ": error: ", ": fatal error: ", "错误：", "未定义的引用", ", needed by ", "undefined reference to", "or higher is required", "in wrong format", "文件格式错误", "is incompatible with elf", "is incompatible with aarch64", "Relocations in generic ELF", "errno", "strerror",
    "ERROR 0", "ERROR 1", "] Failed ", "] Error ",  # of a line that begins with its level: `ERROR 07-29 05:04:30 [a.py:7]`, `E0729 05:04:30.52 14093 a.cpp:7]`
    "level=error", "level=fatal", '"level":"error"', '"level": "error"', '"level":"fatal"',
    " failed!\n", "Check failed: ", "Failed to ", "failed to ", "Unable to ", " cannot be initialized", "\nerror: ", "Error response from daemon: ", "Error from server", ": ERROR: ", ": FATAL: ", " FATAL: ", "\npanic: ", "\nfatal error: ",  # of C++ programs, whose level is a letter: `E1204 14:46:07.912003 60570 file.cpp:201]`
)  # fmt: skip
# Of these a line without any level reports a failure as well.
PLAIN_MARKS = (
    "failed, error code", "failed, ret", "failed. ret is -", "failed with result", "failed with error code", "exception code [", "ExceptionReason[",
    "Invalid device ID", "does not support opType [", "' panicked at ", ") panicked at ",  # of Rust: `thread 'main' panicked at src/main.rs:7:5:`
)  # fmt: skip
# In every line of a Go program's log, whose first letter tells. With the line's number: four letters alone slow an automaton down by a tenth.
GO_MARKS = frozenset(f".go:{digit}".encode() for digit in "123456789")
LOAD = f"{FACT_PREFIX}load-"  # what the forms of lines with a service's statistics are called
REGEX_TIMEOUT_S = 0.25
PLAIN = 2000  # characters of a text in which every pattern of the built-in knowledge is quick: it is measured
UNCHECKED = 6  # lines with the anchor that are read without asking the pattern first
REFUSALS = 16  # after so many lines that did not match, a pattern's other fixed text is asked for first
MAX_NEEDS = 16
SHORT_BLOCK = 8  # lines: what stands in longer ones is not looked for first
_ALTERED = lazy(rb"[\x00&^\x80-\xff]")  # in lines that read otherwise than they are written, besides escapes
_ALTERING = (b"\0", b"&", b"^")  # the same, but for what is no ASCII
VAIN = 1000  # lines of a window that were asked for nothing: from then on it is asked first whether a window holds what a match needs
MOST_VAIN = 32  # signals of which that is asked
MISSED = 25_000  # so many lines that lack a pattern's other fixed text cost as much as another automaton
MIN_RARE = 6  # characters of a text by which a signal is looked for instead: shorter ones slow an automaton down
STRIKES = 3  # a user's pattern that exceeds its time so often is dropped for the rest of the run


class Literal(NamedTuple):
    """Anchors up to where their fragment ends, each with the signals that it announces.

    An automaton finds a literal by its last bytes, which are the rare ones, and compares the rest itself.
    """

    fragment: bytes
    pairs: tuple[tuple[bytes, int], ...]
    mark: bool
    table: bool


IN_COMMENTS = frozenset(anchor.encode() for anchor in (*tables.ASKED, *compared.IN_NOTES))
_IN_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_BESIDE = 120  # bytes before a number in which the word stands that makes it a code


@lru_cache(maxsize=1)
def _code_word() -> re.Pattern[bytes]:
    return compiled(CODE_WORD.encode())


class Refusal(IntEnum):
    """Of which lines a signal that may not match one may not match either."""

    OF_ITS_FORM = 0  # of those that have other digits in the same places, the codes in them excepted
    OF_ITS_TEXT = 1  # of the same bytes
    OF_IT_ALONE = 2  # what follows decides


def within_word(data: bytes, at: int, after: int) -> bool:
    """Has what stands there a letter or a digit beside it?"""
    return (at > 0 and data[at - 1] in _IN_WORD) or (after < len(data) and data[after] in _IN_WORD)


class Code(NamedTuple):
    """A code stands alone, a bare number with a word like `error` before it: most finds of its digits are told apart here."""

    text: bytes
    bare: bool  # a bare number

    def may_stand(self, data: bytes, start: int, end: int) -> bool:
        at = data.find(self.text, start, end)
        while at >= 0:
            after = at + len(self.text)
            if not within_word(data, at, after):
                before = max(start, at - _BESIDE)
                if not self.bare or data.startswith(b"][", after):  # "[507011][Error code unknown]" needs no word
                    return True
                if _code_word().search(data, before, at) or not data[before:at].isascii():
                    return True
            at = data.find(self.text, at + 1, end)
        return False


class _Check:
    """How a line is asked whether it may match a signal."""

    __slots__ = ("blind", "block", "missed", "need", "needs", "pattern", "refused", "texts", "vain")

    def __init__(self) -> None:
        self.pattern: Any = None
        self.need: bytes | None = None  # stands in every match, besides the anchor
        self.needs: Any = None  # what finds one of several of which one does
        self.blind: bool | None = None  # is the pattern blind to which digits stand in a line?
        self.block: Any = None  # what finds a text that a pattern over several lines needs in one of them
        self.refused = 0
        self.texts: tuple[bytes, ...] = ()  # one of which stands in every match
        self.missed = 0  # lines that were asked for nothing
        self.vain = 0  # lines of this window that do not hold one of those texts; once it is much, it stays


def _further_needs(signal: Signal) -> tuple[bytes, ...]:
    """The best fixed text that a pattern demands besides its anchors: looking for it is cheaper than trying the pattern."""
    from kb import anchors

    known = set(signal.anchors)
    options = [o for o in anchors.candidates(signal.pattern) if len(o) <= MAX_NEEDS and not known & set(o)]
    best = max(options, key=anchors.weight, default=())
    return tuple(text.encode() for text in best)


def _needs_of_block(signal: Signal) -> tuple[bytes, ...]:
    """The same for a pattern that runs over lines: a text that stands within one of them."""
    from kb import anchors

    known = set(signal.anchors)
    options = [o for o in anchors.candidates(signal.pattern) if len(o) <= MAX_NEEDS and not known & set(o)]
    whole = [o for o in options if all(text and "\n" not in text and text.isascii() for text in o)]
    return tuple(text.encode() for text in max(whole, key=anchors.weight, default=()))


def _end_of_block(data: bytes, eol: int, more: int) -> int:
    """Where so many lines behind one that ends at `eol` end."""
    for _ in range(more):
        eol = data.find(b"\n", eol + 1)
        if eol < 0:
            return len(data)
    return eol


def _rarer(signal: Signal, data: bytes) -> tuple[bytes, ...]:
    """Texts one of which a match needs that stand in a sample less often by far than the anchors of a signal; nothing when there are none."""
    from kb import anchors

    options = [tuple(text.encode() for text in o) for o in anchors.candidates(signal.pattern) if o and len(o) <= MAX_NEEDS and min(map(len, o)) >= MIN_RARE]
    counted = {texts: sum(map(data.count, texts)) for texts in options}
    best = min(counted, key=counted.__getitem__, default=())
    return best if best and counted[best] * 8 < sum(data.count(anchor.encode()) for anchor in signal.anchors) else ()


def _code(signal: Signal) -> Code | None:
    """How a code is told from other finds of its text; nothing for hexadecimal ones, which may have zeros before them."""
    bare = signal.pattern.startswith(BARE)
    if signal.form != "code" or not (bare or signal.pattern.endswith(LETTERED_END)):
        return None
    return Code(signal.anchors[0].encode(), bare)


class Plan:
    """The literals of all signals, of error marks and of tables; signals are decoded and patterns compiled when first tried."""

    def __init__(self, sought: Sought) -> None:
        self.signals, self.names, self.facts, self.count = sought.signals, sought.names, sought.facts, sought.count
        self.loads = frozenset(n for n in self.facts if self.names[n][0].startswith(LOAD))  # statistics of services
        self.rows, self.asked_tables, self.situation = sought.rows, sought.tables, sought.situation
        # What is only looked for to rule something out claims no line: an error there is still an error.
        self.silent = sought.silent
        marks = [m.encode() for m in (*ERROR_MARKS, *PLAIN_MARKS)]
        table_marks = [m.encode() for m in tables.ANCHORS] if self.asked_tables else []
        names = dict.fromkeys((*sought.literals, *sorted((*marks, *GO_MARKS)), *sorted(table_marks)))
        fragments = tuple(names)
        known, marked, tabled = len(sought.literals), GO_MARKS.union(marks), frozenset(table_marks)

        def literal(number: int) -> Literal:
            name = fragments[number]
            return Literal(name, sought.pairs[number] if number < known else (), name in marked, name in tabled)

        self.fragments, self.literals = fragments, Made(literal)
        self._literals_of: dict[int, list[int]] = {}
        self._announcing: Callable[[int], list[int]] = sought.announcing  # and perhaps some that do not
        self.narrowed: set[int] = set()  # signals that are looked for by another text than their anchors
        self.unneeded: frozenset[int] = frozenset()  # literals that announce nothing any more
        self.patterns: dict[int, bytes] = {}  # literals that only count where a pattern matches, if the engine can find it
        self._settled: set[int] = set()  # signals that are looked for by their pattern, or cannot be

        def at_start(number: int) -> bool:
            signal = self.signals[number]
            return signal.form == "regex" and ("^" in signal.pattern or r"\A" in signal.pattern)

        def exact(number: int) -> bool:
            signal = self.signals[number]
            return signal.form == "text" and not signal.filters and not signal.lines

        # A pattern that looks at the beginning of the line can only be tried on the peeled line.
        self.at_start = Made(at_start)
        # Occurrences of these can be counted without reading the line.
        self.exact = Made(exact)
        self._codes: Made[int, Code | None] = Made(lambda number: _code(self.signals[number]))
        self._compiled: dict[int, Any] = {}
        self._tried: dict[int, int] = {}
        self._checks: dict[int, _Check] = {}
        self._missing: tuple[bytes | None, Mapping[int, bool]] = None, {}  # a window, and which signals need what it does not hold
        self.slow: dict[str, int] = {}

    def literals_of(self, number: int) -> list[int]:
        """The literals that announce a signal."""
        found = self._literals_of.get(number)
        if found is None:
            near = self._announcing(number)
            found = self._literals_of[number] = [n for n in near if any(signal == number for _, signal in self.literals[n].pairs)]
        return found

    def may_match(self, number: int, data: bytes, start: int, end: int) -> bool:
        """Could the signal match this line? A pattern is tried on the bytes: saying no is all that most lines need."""
        code = self._codes[number]
        if code is not None:
            return code.may_stand(data, start, end)
        check = self._checks.get(number)
        if check is None:
            tried = self._tried[number] = self._tried.get(number, 0) + 1
            if tried <= UNCHECKED:  # compiling a pattern costs as much as reading a few lines for nothing
                return True
            check = self._check(number)
        if check.pattern is None:
            if check.block is None:
                return True
            block = data[start : _end_of_block(data, end, self.signals[number].lines)]
            if ESCAPE in block:
                block = without_escapes(block)
            if check.block.search(block) is not None or _ALTERED.search(block) is not None:
                return True
            check.vain += 1
            return False
        if check.need is not None:
            if data.find(check.need, start, end) < 0:
                check.missed += 1
                check.vain += 1
                return False
        elif check.needs is not None and check.needs.search(data, start, end) is None:
            check.missed += 1
            check.vain += 1
            return False
        if check.pattern.search(data, start, end) is not None:
            return True
        check.missed += 1
        check.refused += 1
        if check.refused == REFUSALS:
            needs = check.texts = _further_needs(self.signals[number])
            check.need = needs[0] if len(needs) == 1 else None
            check.needs = compiled(b"|".join(map(re.escape, needs))) if len(needs) > 1 else None
        return not data[start:end].isascii()  # classes like \w differ between text and bytes

    def refusal(self, number: int, data: bytes, start: int, end: int) -> Refusal:
        """Of which other lines does it hold that a signal may not match this one?"""
        check = self._checks.get(number)
        if check is None:  # it is a code
            return Refusal.OF_ITS_FORM
        if check.block is not None:
            return Refusal.OF_IT_ALONE
        if check.texts and all(DIGITS.isdisjoint(text) and data.find(text, start, end) < 0 for text in check.texts):
            return Refusal.OF_ITS_FORM
        if check.blind is None:
            from kb import anchors

            check.blind = anchors.blind_to_digits(self.signals[number].pattern)
        return Refusal.OF_ITS_FORM if check.blind else Refusal.OF_ITS_TEXT

    def absent(self, data: bytes) -> frozenset[int]:
        """Signals that many lines of a window were asked for in vain, and that cannot match in this one: it does not hold what each match needs."""
        asked: list[int] = []
        for number, check in self._checks.items():
            if check.vain < VAIN:
                check.vain = 0
            elif len(asked) < MOST_VAIN:
                asked.append(number)
        if not asked:
            return frozenset()
        if self._missing[0] is not data:
            altered = not data.isascii() or any(sign in data for sign in _ALTERING)
            shown = (data, without_escapes(data)) if ESCAPE in data else (data,)

            def missing(number: int) -> bool:
                check = self._checks[number]
                return not (altered and check.block is not None) and not any(text in each for text in check.texts for each in shown)

            self._missing = data, Made(missing)
        return frozenset(n for n in asked if self._missing[1][n])

    def narrow(self, data: bytes, understood: Callable[[bytes, bytes], bool]) -> bool:
        """Signals whose anchors turn out to be common are looked for by other texts that their matches need, if these are rare, else by their pattern.

        `data` is a sample of what is scanned; `understood`: can the engine find where an anchor stands in a match of a
        pattern? True: there are other literals than before.
        """
        missed = {n: c for n, c in self._checks.items() if c.missed >= MISSED // 16 and n not in self._settled}
        if sum(c.missed for c in missed.values()) < MISSED:
            return False
        rarer: dict[int, tuple[bytes, ...]] = {}
        patterns: dict[int, bytes] = {}
        for number, check in missed.items():
            signal = self.signals[number]
            texts = () if number in self.narrowed else _rarer(signal, data)
            if texts:
                rarer[number], check.missed = texts, 0
                self.narrowed.add(number)
                continue
            self._settled.add(number)
            if len(signal.anchors) == 1 and check.pattern is not None and understood(signal.anchors[0].encode(), check.pattern.pattern):
                patterns[number] = check.pattern.pattern
        if rarer or patterns:
            self._look_for(rarer, patterns)
        return bool(rarer or patterns)

    def _look_for(self, rarer: Mapping[int, tuple[bytes, ...]], patterns: Mapping[int, bytes]) -> None:
        """Looks for signals by these texts, or their pattern, and not by their anchors any more."""
        touched = {n for signal in (*rarer, *patterns) for n in self._announcing(signal)}
        literals = {n: self.literals[n]._replace(pairs=tuple(p for p in self.literals[n].pairs if p[1] not in rarer and p[1] not in patterns)) for n in touched}
        fragments = list(self.fragments)
        numbers = {fragment: n for n, fragment in enumerate(fragments) if n not in self.patterns}
        for signal, texts in rarer.items():
            for text in texts:
                number = numbers.setdefault(text, len(fragments))
                new = number == len(fragments)
                fragments[number : number + 1] = [text]  # one that only counted as a whole word may be a part of one now
                if new:
                    literals[number] = Literal(text, (), False, False)
                known = literals.get(number) or self.literals[number]
                literals[number] = known._replace(fragment=text, pairs=(*known.pairs, (text, signal)))
        for signal, pattern in patterns.items():
            anchor = self.signals[signal].anchors[0].encode()
            self.patterns[len(fragments)] = pattern
            literals[len(fragments)] = Literal(b"", ((anchor, signal),), False, False)  # a match may run over lines: the anchor is asked for
            fragments.append(anchor)
        added, announcing = range(len(self.fragments), len(fragments)), self._announcing
        self._announcing = lambda signal: [*announcing(signal), *added]
        self.fragments, self._literals_of = tuple(fragments), {}
        self.literals.update(literals)
        self.unneeded = (self.unneeded - literals.keys()) | {n for n, x in literals.items() if not (x.pairs or x.mark or x.table)}

    def _check(self, number: int) -> _Check:
        signal = self.signals[number]
        made = self._checks[number] = _Check()
        if signal.lines and signal.form == "regex" and signal.trusted and signal.lines <= SHORT_BLOCK and (texts := _needs_of_block(signal)):
            made.texts = texts
            made.block = compiled(b"|".join(map(re.escape, texts)))
        if signal.form == "text" or not signal.trusted or signal.lines or not signal.pattern.isascii():
            return made
        pattern = signal.pattern.removeprefix("^")  # the line's beginning is only known when it is peeled
        if "^" in pattern.replace("[^", "") or "$" in pattern or r"\A" in pattern:
            return made
        made.pattern = compiled(pattern.encode())
        return made

    def search(self, number: int, text: str) -> dict[str, str] | None:
        """The captures of a signal in a text; None when it is not there."""
        signal = self.signals[number]
        if signal.form == "text":
            return {} if signal.pattern in text else None
        if signal.trusted and len(text) <= PLAIN:
            pattern = self._compiled.get(number)
            if pattern is None:
                pattern = self._compiled[number] = compiled(signal.pattern)
            found = pattern.search(text)
        else:
            found = self._bounded(signal, text)
        if found is None:
            return None
        return {k: v for k, v in found.groupdict().items() if v is not None}

    def _bounded(self, signal: Signal, text: str) -> Any:
        """A user's pattern, and any in a very long text, runs under a time limit; one that exceeds it is dropped there and named."""
        if self.slow.get(signal.id, 0) >= STRIKES:
            return None
        from kb.limited import search

        try:
            return search(signal.pattern, text, REGEX_TIMEOUT_S)
        except TimeoutError:
            self.strike(signal)
            return None

    def strike(self, signal: Signal) -> None:
        """A pattern took too long."""
        self.slow[signal.id] = self.slow.get(signal.id, 0) + 1
