"""What kind of advice a fix is: for whom it is made, what it asks somebody to change, whether anything is changed by it at all."""

from __future__ import annotations

from collections.abc import Sequence

from kb.model import UNSAID, Entry, Fix
from parsers.lazy import lazy

# Ends what runs under a name that is left open.
_ENDS = lazy(r"\b(?:docker (?:stop|kill|rm -f)|kill(?: -\w{1,4})?|kubectl delete pod) [A-Z][A-Z_]{2,}\b")
# What says little of a situation: advice for all of torch is no more made for it than advice for everybody.
_WIDE = frozenset({"stack", "program", "machine", "activity"})


def for_all(fix: Fix) -> bool:
    """Is it for everybody, or for all of a stack, whatever they run?"""
    return _WIDE.issuperset(fact for fact, values in fix.when if values != (UNSAID,))


def made_for_one(fix: Fix) -> bool:
    """Is it for the programs of one framework alone, and changes something? It speaks of that one's own settings."""
    return acts(fix) and any(fact == "framework" and len(values) == 1 for fact, values in fix.when)


def made_for_several(fix: Fix) -> bool:
    """Is it for the programs of several frameworks, whose settings have names of their own?"""
    return any(fact == "framework" and len(values) > 1 for fact, values in fix.when)


def unlikely(fix: Fix, certain: bool) -> bool:
    """What is made for this very situation comes first; where the logs leave the situation open, what is for most."""
    return for_all(fix) == certain


def is_for_the_caller(fix: Fix) -> bool:
    """Is all that a fix says how the Python code that makes the call is to be changed?"""
    return changes_code(fix) and fix.code is not None and bool(fix.code.before)


def changes_code(fix: Fix) -> bool:
    """Is it Python for a program, and nothing else?"""
    return fix.code is not None and fix.code.lang == "python" and not fix.env and not fix.commands and for_all(fix)


def acts(fix: Fix) -> bool:
    """Can it be pasted, and is something changed by it? A command that only shows a version mends nothing."""
    return bool(fix.env or fix.code) or any(command.changes is not None for command in fix.commands)


def ends_somebody(fix: Fix) -> bool:
    """Does it end what others run, and leave it open whose that is? Then what finds it comes first."""
    return any(_ENDS.search(command.run) for command in fix.commands)


def has_no_support(entry: Entry) -> bool:
    """Is it known that the package is not made for this hardware? No other release of it is advice then."""
    return (entry.kind, entry.role, entry.confidence) == ("unsupported-hardware", "cause", "high")


def only_read(entry: Entry, fixes: Sequence[Fix]) -> bool:
    """Is all that is known that an operator refused what it got, from the words of the refusal, and no release that mends it?"""
    return (entry.domain, entry.kind, entry.confidence) == ("meaning", "operator-parameter", "low") and not any("pgrade" in fix.title.en for fix in fixes)
