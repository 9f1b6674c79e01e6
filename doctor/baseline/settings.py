"""Settings that a log prints: names with the value that they have in the whole run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MAX_SETTINGS = 4000  # names of a run that are kept
MAX_VALUE = 120
_ALONE = re.compile(r"\s{0,8}[-*]{0,2} ?(?P<name>[A-Za-z_][\w.-]{2,59})(?: ?\.{3,60} ?| {0,30}[=:] {0,8}| {3,40})(?P<value>\S[^\n]{0,119}?)\s*,?$")
_EXPORTED = re.compile(r"(?:^|\s)(?:export|declare -x) (?P<name>[A-Z_][A-Z0-9_]{2,59})=(?P<value>\S{1,119})")
_TOLD = re.compile(r"\b(?P<name>[A-Z][A-Z0-9]{1,20}_[A-Z0-9_]{2,50}) (?:is )?set (?:by \w{3,20} )?to \[?(?P<value>[\w./:+-]{1,100})")
_PAIR = re.compile(r"(?<![\w.])['\"]?(?P<name>[A-Za-z_][A-Za-z_]\w{1,58})['\"]?\s?[=:]\s?(?P<value>'[^']{0,118}'|\"[^\"]{0,118}\"|[\w./+-]{1,119})(?=[,)}\] ]|$)")
_PREFIX = re.compile(r"(?:\s{0,4}\[[^\]\n]{0,80}\]:?){1,3}")  # of a logger
_MANY = 5  # pairs in one line make it a list of settings
# What is another in every run, or of every process, by its nature; of variables of the environment less is.
_NATURE = re.compile(
    r"rank|pid|seed|port$|addr|host|time(?!_?out)|date|uuid|(?:^|_)id$|(?:^|_)ip$|elapsed|dir$|path|file|url|token|secret|password|key$|name$|session|device"
    r"|loss|grad|norm|throughput|tflop|speed|latency|memory|usage|step$|epoch$|iter|progress|count|total|hits?$|util",
    re.IGNORECASE,
)
_OF_VARIABLES = re.compile(r"RANK|_PID|SEED|PORT$|ADDR|HOST|UUID|_IDS?$|_IP$|URL|TOKEN|SECRET|PASSW|_KEY$|SESSION|PWD$|^(?:HOME|USER|TERM|SHLVL|OLDPWD|PS1)$")


def _is_of_the_run(name: str) -> bool:
    return (_OF_VARIABLES if name.isupper() else _NATURE).search(name) is not None


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Settings of a line. A list of many in one line, one alone in it, or a variable that is said to be set."""
    if "=" not in text and ":" not in text and "  " not in text and "..." not in text and " set " not in text:
        return ()
    found = [m for form in (_EXPORTED, _TOLD) for m in form.finditer(text)]
    if not found and (alone := _ALONE.match(text, _end(_PREFIX, text))) is not None:
        found = [alone]
    if not found and text.count("=") + text.count(":") >= _MANY:
        found = list(_PAIR.finditer(text[:60_000]))
        if len(found) < _MANY:
            found = []
    return tuple((m["name"], m["value"].strip("'\"")[:MAX_VALUE]) for m in found if not _is_of_the_run(m["name"]))


def _end(prefix: re.Pattern[str], text: str) -> int:
    """Where a text goes on after its prefix."""
    found = prefix.match(text)
    return found.end() if found is not None else 0


class Settings:
    """The settings of a run; what has several values in it is none."""

    def __init__(self) -> None:
        self._values: dict[str, str | None] = {}
        self._shapes: dict[str, int] = {}

    def hear(self, told: Iterable[tuple[str, str]], shape: int) -> None:
        """What the first line of a shape says, of one source."""
        for name, value in told:
            known = self._values.setdefault(name, value) if name in self._values or len(self._values) < MAX_SETTINGS else None
            if known != value:
                self._values[name] = None
            self._shapes[name] = shape

    def constant(self, often: Mapping[int, bool]) -> dict[str, str]:
        """Those with one value; `often`: whether a shape is said again and again, as what is measured is."""
        return {name: value for name, value in sorted(self._values.items()) if value is not None and not often.get(self._shapes.get(name, 0), False)}
