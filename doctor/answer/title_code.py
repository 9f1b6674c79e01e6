"""The code in a title, where the lines that were found print another one, or none.

An entry is named after the code that software prints as a rule; what it is told by may stand in a log without it.
"""

from __future__ import annotations

from doctor.findings.evaluate import Finding
from kb.model import Text
from parsers.lazy import lazy

_EN, _ZH = lazy(r" \((\d{6})\)"), lazy(r"（(\d{6})）")
_PRINTED = lazy(r"(?i)\b(?:error code|errcode|ret(?:urn)?(?:[ _]?code)?)(?: is|:|=)? {0,2}(\d{6})(?!\w)")


def as_printed(told: Text, finding: Finding) -> Text:
    """A title with the code that its lines print; without one where they print none, or several."""
    named = _EN.search(told.en)
    if named is None:
        return told
    lines = [hit.place.text for hit in finding.hits]
    if any(named[1] in line for line in lines):
        return told
    others = {found[1] for line in lines for found in _PRINTED.finditer(line)}
    other = others.pop() if len(others) == 1 else ""
    return Text(_EN.sub(f" ({other})" if other else "", told.en, count=1), _ZH.sub(f"（{other}）" if other else "", told.zh, count=1))
