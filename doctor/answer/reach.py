"""How far a filled-in command reaches: into a whole folder only where the log names that folder, and to the cards that a fault leaves over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doctor.findings.situation import Situation
from parsers.lazy import lazy

OTHERS = "other_cards"
_SLOT = r"\{(?P<slot>[A-Za-z_]\w*)(?:\|[^{}]*)?\}"
# The folder that a file lies in, and what is done to all that lies beneath a folder.
_FOLDER_OF = lazy(r"\bdirname \"?(?:\$\()?" + _SLOT)
_BENEATH = lazy(r"(?:\b(?:chown|chmod|rm|cp|chgrp) (?:-\S+ )*-\w*[rR]\w* [^;|&]*?|\bfind \"?)" + _SLOT + r"|\brm [^;|&]*?" + _SLOT.replace("slot", "above") + r"/[^;|&]*\*")
_ANCHORED = lazy(r"(?:/|~/|\$\{?\w{1,60}\}?/)")
_FILE_IN, _FOLDER = 3, 2  # parts of a path: `/data/model/config.json`, `/data/model`; what is shorter is a disk or the system


def anchored(run: str, known: Mapping[str, str]) -> Mapping[str, str]:
    """What is known without the paths that a command which changes things must not be given: a bare file name lies in no folder but that in which somebody pastes it."""
    if "dirname" not in run and "-" not in run and "*" not in run:
        return known
    least = {match["slot"]: _FILE_IN for match in _FOLDER_OF.finditer(run)}
    for match in _BENEATH.finditer(run):
        least.setdefault(match["slot"] or match["above"], _FOLDER)
    unfit = {name for name, parts in least.items() if name in known and not _reaches(known[name], parts)}
    return {name: value for name, value in known.items() if name not in unfit} if unfit else known


def by_number(text: str, known: Mapping[str, str]) -> Mapping[str, str]:
    """What is known without the name of the chip, where a command asks for its number: half a row of npu-smi tells only the name.

    >>> by_number("npu-smi set -i {npu} -c {chip|CHIP_ID}", {"npu": "3", "chip": "910B3"}), by_number("-c {chip|CHIP_ID}", {"chip": "1"})
    ({'npu': '3'}, {'chip': '1'})
    """
    if "{chip|CHIP_ID}" not in text or known.get("chip", "0").isdecimal():
        return known
    return {name: value for name, value in known.items() if name != "chip"}


def _reaches(path: str, parts: int) -> bool:
    """Does a path begin at a known place, and lead far enough down?"""
    inner = [part for part in path.split("/") if part not in ("", ".")]
    return _ANCHORED.match(path) is not None and ".." not in inner and len(inner) >= parts


def other_cards(situation: Situation, one: Mapping[str, str], every: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The list of NPUs that is left without those which a fault names: of a whole table of npu-smi. Nothing is guessed without one."""
    rows = [row.split() for row in situation.facts.get("seats", ())]
    if not rows or not situation.facts.keys().isdisjoint(("visible", "visible_here")):
        return {}
    at, name = (1, "npu") if "npu" in one else (0, "device")
    out = set(every.get(name, ())) | ({one[name]} if name in one else set())
    left = [row[0] for row in rows if row[at] not in out]
    return {OTHERS: ",".join(left)} if left and len(left) < len(rows) and out <= {row[at] for row in rows} else {}
