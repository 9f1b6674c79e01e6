"""What works as it is installed and must not be written over: a compiler that shares its folder with the package that a fix installs.

FlagTree brings a module `triton` of its own, with the back end for the NPU in it. A `triton` or `triton-ascend` that pip puts there, or
takes away, ends that, whatever was wrong before: such a fix is no fix where the logs show FlagTree.
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.findings.situation import Situation
from kb.model import Fix
from kb.placeholders import fill
from parsers.lazy import lazy

_OF_TRITON = lazy(r"\bpip3? (?:un)?install\b[^;&|]{0,200}?(?<![\w/.-])['\"]?triton(?:[-_]ascend)?(?![\w-])")
_NOT_OVER = lazy(r"(?i)\bflagtree\b")


def writes_over(fix: Fix, situation: Situation, captures: Mapping[str, str] | None) -> bool:
    """Does it exchange the triton of FlagTree for another one?

    >>> from kb.model import Command, Text
    >>> fix = Fix("resolve", "medium", Text("t", "t"), (), (), (Command("python3 -m pip install --no-deps '{package}==VERSION'", Text("x", "x"), None),), None)
    >>> [writes_over(fix, Situation({"seen": seen}), {"package": "triton"}) for seen in (("flagtree",), ())]
    [True, False]
    """
    if "flagtree" not in situation.facts.get("seen", ()) or fix.goal == "locate" or _NOT_OVER.search(fix.title.en):
        return False
    return any(_OF_TRITON.search(fill(command.run, captures or {}, {})) for command in fix.commands if command.changes is not None)
