"""From a line to its shape: what is said, without numbers, ids, folders, addresses and names that are a run's own.

A number stays where it decides: codes and statuses as they are, counts of what should not be as zero or not.
A shape holds no value of a run, so it may be kept in a file; a name or a secret that reads like an ordinary word stays in it
where no line of the run says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from doctor.baseline.names import Names
from parsers.line import read_line

LONGEST = 1200  # characters of a line that its shape is made of
MAX_SHAPE = 400  # characters of a shape
_EXACT = (
    r"\b(?:\w{0,20}ret|rc|err|errno|error|(?:\w{0,20}(?:ret|err(?:or)?|exit|status|result|reason)[_ ]?)?code|exit|exited|status|result|signal|level)\b"
    r"[^\w\n]{0,4}(?:(?:is|was|of|with)\b[^\w\n]{0,3})?(?:code\b[^\w\n]{0,3})?"
)
_COUNTED = r"\b(?:pending|fail(?:ed|ures?)?|errors?|lost|dropped|drops|retries|timeouts?|nans?|infs?|missing|corrupt(?:ed)?|unhealthy|stalled|stuck)\b[^\w\n]{1,4}"
_DECIDING = rf"(?i:{_EXACT})-?(0x[0-9a-fA-F]{{1,16}}|\d{{1,10}})\b(?!\.\d)|(?i:{_COUNTED})(\d{{1,10}})\b(?!\.\d)|HTTP/\d\.\d\" (\d)\d\d\b|\b(E[A-Z0-9]\d{{4}}|ERR\d{{5}})\b"
COUNTED = 2  # the group of a count
DECIDING = re.compile(_DECIDING, re.ASCII)
DECIDING_BYTES = re.compile(_DECIDING.encode())
HEX_WORD = re.compile(r"0[xX][0-9a-fA-F]+|(?<![A-Za-z0-9])(?=[a-fA-F]{0,20}[0-9])(?=[0-9]{0,20}[a-fA-F])[0-9a-fA-F]{4,}(?![A-Za-z0-9])", re.ASCII)
_DIRECTORY = re.compile(r"(?<![\w.])~?/(?:[\w.+@%=~,-]+/)+", re.ASCII)
_MIXED = re.compile(r"(?<![A-Za-z0-9])(?:(?=[A-Za-z]{0,30}[0-9])[A-Za-z0-9]{6,}|(?=[a-z0-9]{0,30}[A-Z])[A-Za-z0-9]{10,})(?![A-Za-z0-9])", re.ASCII)
_TURNS = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])", re.ASCII)
_INSIDE = re.compile(r"[A-Za-z][0-9]+[A-Za-z]", re.ASCII)
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])", re.ASCII)
_NUMBER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_NUMBERS = re.compile(r"#(?:(?:[.,:;/x*+eET%|-]|, | |ms|s|'|\"){1,3}#)+")
_BLANKS = re.compile(r"[ \t]{2,}|\t")
_BAR = re.compile(r"[█▉▊▋▌▍▎▏#=>.-]{4,}|#?[█▉▊▋▌▍▎▏]+")
_WORD = re.compile(r"\w")
_HIDE_DIGITS = {ord("0") + n: 0xE000 + n for n in range(10)}
_SHOW_DIGITS = {0xE000 + n: ord("0") + n for n in range(10)}


def decisive(number: str, counted: str) -> str:
    """What stays of a number that decides: of a count, whether it is zero."""
    if counted:
        return "0" if not counted.strip("0") else "+"
    return number


def _kept(found: re.Match[str]) -> str:
    number, counted, status, code = found.groups()
    if code:
        return found[0].translate(_HIDE_DIGITS)
    if status:
        return found[0][:-2].translate(_HIDE_DIGITS) + "##"
    stays = decisive(number or "", counted or "")
    return (found[0][: -len(number or counted)] + stays).translate(_HIDE_DIGITS)


def _one_of_many(found: re.Match[str]) -> str:
    """An identifier that somebody drew, or a word with a number in it."""
    turns = len(_TURNS.findall(found[0]))
    mixed = 3.6 if _INSIDE.search(found[0]) else 3.0
    drawn = turns >= 3 or (len(found[0]) >= 10 and mixed * (turns + len(_HUMPS.findall(found[0]))) >= len(found[0]))
    return "#" if drawn else found[0]


def masked(text: str) -> str:
    """The text without numbers, ids and folders; what decides stays."""
    text = text[:LONGEST]
    text = DECIDING.sub(_kept, text)
    text = HEX_WORD.sub("#", text)
    text = _MIXED.sub(_one_of_many, text)
    text = _DIRECTORY.sub("<dir>/", text)
    text = _NUMBER.sub("#", text)
    text = _NUMBERS.sub("#", _BAR.sub("-", text))
    shape = _BLANKS.sub(" ", text).strip()[:MAX_SHAPE].translate(_SHOW_DIGITS)
    return shape if _WORD.search(shape) else ""


class Masks:
    """Shapes of lines; `names`: what nodes are called in this run."""

    def __init__(self, names: frozenset[str] = frozenset()) -> None:
        self._nameless = Names()
        long = sorted((n for n in names if len(n) > 2), key=len, reverse=True)
        self._names = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, long))})(?![\w-])") if long else None

    def first(self, raw: str) -> str:
        """What is quick: the line peeled and masked. Lines that are equal here have one shape."""
        text = read_line(raw[:LONGEST]).text
        if self._names is not None:
            text = self._names.sub("<node>", text)
        return masked(text)

    def shape(self, raw: str) -> str:
        """The shape itself."""
        text = read_line(raw[:LONGEST]).text
        if self._names is not None:
            text = self._names.sub("<node>", text)
        plain = _DIRECTORY.sub("<dir>/", text)
        if plain != text:
            self._nameless.hidden(text)  # whose folder it is becomes known
        return masked(self.hidden(plain))

    def hidden(self, text: str) -> str:
        """The text without what identifies people and places, and without secrets."""
        return self._nameless.hidden(text)

    def told(self, keep: Callable[[], Container[str]]) -> Callable[[str], str]:
        """What takes the names that the lines so far have told, and that are no words of the program's own, out of a shape or value."""
        return self._nameless.pattern(keep, masked)
