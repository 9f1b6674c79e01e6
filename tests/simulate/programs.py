"""Wordings of real programs: what the log calls of installed Python packages say, for noise and for faults that nobody worded for a test.

    made = Wordings.of(Path(torch.__file__).parent)
    pair(7, made.faults(seed=7), noise=made.noise(seed=7))

A fault is one to three calls that stand below each other in one file, one of them a warning or an error; noise is drawn from other files.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.simulate.pairs import DAEMON, PHASES, RARE, Noise
from tests.simulate.strange import Strange

LEVELS = {"debug": "INFO", "info": "INFO", "warning": "WARNING", "error": "ERROR", "exception": "ERROR", "critical": "ERROR", "fatal": "ERROR"}
_SLOT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([sdifrx])|\{\}")
_NUMBERS = {"d": "{n}", "i": "{n}", "f": "{f}", "x": "{hex}"}
_VALUES = ("{n}", "{d}", "{hex}", "{name}", "{f}", "{id}", "{host}")
_BRACE = re.compile(r"[{}]")


class Call(NamedTuple):
    level: str
    text: str


class Wordings(NamedTuple):
    """By file of the program: its calls from above to below."""

    files: tuple[tuple[Call, ...], ...]

    @classmethod
    def of(cls, folder: Path) -> Wordings:
        return cls(tuple(calls for path in sorted(folder.rglob("*.py")) if "test" not in str(path.relative_to(folder)) and (calls := tuple(_calls(path)))))

    def faults(self, seed: int) -> tuple[Strange, ...]:
        """One fault of this seed."""
        pick = random.Random(f"fault-{seed}")
        where = pick.choice(("rank", "rank", "node"))
        while True:
            number = pick.randrange(len(self.files))
            calls = self.files[number]
            begin = pick.randrange(len(calls))
            says = calls[begin : begin + pick.randrange(1, 4)]
            if any(call.level != "INFO" for call in says):
                break
        others = tuple(call for call in pick.choice(self.files) if call.level != "INFO")[:1] if pick.random() < 0.5 else ()
        return (Strange(says[0].text[:40], where, (1, pick.choice((3, 10, 30))), tuple(says), others),)

    def noise(self, seed: int) -> Noise:
        """The usual noise in the shares that it has, in words of this program; errors are no noise."""
        pick = random.Random(f"noise-{seed}")
        calm = {level: sorted({call.text for calls in self.files for call in calls if call.level == level}) for level in ("INFO", "WARNING")}
        for texts in calm.values():
            pick.shuffle(texts)

        def word(level: str, was: str = "") -> str:
            return was if "{prose}" in was else calm[level].pop()

        phases = {name: tuple((share, level, word(level, was)) for share, level, was in rows) for name, rows in PHASES.items()}
        rare, daemon = (tuple(f"{level} {word(level)}" for level in (row.partition(" ")[0] for row in rows)) for rows in (RARE, DAEMON))
        return Noise(phases, rare, daemon)


def _calls(path: Path) -> Iterator[Call]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS and node.args]
    for node in sorted(found, key=lambda node: node.lineno):
        assert isinstance(node.func, ast.Attribute)
        name = node.func.value
        if "log" in (getattr(name, "id", "") or getattr(name, "attr", "")).lower() and (text := _text(node.args[0])) and len(text.split()) >= 3:
            yield Call(LEVELS[node.func.attr], text)


def _text(node: ast.expr) -> str:
    """What the call says, with slots where it fills something in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        slots = iter(range(1000))
        return " ".join(_SLOT.sub(lambda m: _NUMBERS.get(m[1] or "", _VALUES[next(slots) % len(_VALUES)]), _plain(node.value)).split())
    if isinstance(node, ast.JoinedStr):
        parts = (_plain(str(part.value)) if isinstance(part, ast.Constant) else _VALUES[at % len(_VALUES)] for at, part in enumerate(node.values))
        return " ".join("".join(parts).split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{_text(node.left)}{_text(node.right)}"
    return ""


def _plain(text: str) -> str:
    return _BRACE.sub("", text.replace("{}", "%s"))
