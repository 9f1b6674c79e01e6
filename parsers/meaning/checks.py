"""A check of a C++ library that was not met: it ends the program.

    Check failed: status == OK (1 vs. 0) the handle was destroyed
    Check failed: (op->GetAttr<int64_t>("padding_idx") == -1L): 0!==-1 Only support padding_idx = -1

>>> from parsers.meaning.said import Said
>>> row = read(Said("Check failed: (names.size() > 0): 0!>0 No device specified."))[0]
>>> [row.get(name) for name in ("how", "rule", "given")]
['check', 'No device specified', '0!>0']
>>> read(Said("Check failed: rows % 16 == 0 (7 vs. 0) "))[0].get("rule")
'rows % 16 == 0'
"""

from __future__ import annotations

from parsers.lazy import lazy
from parsers.meaning.said import Reading, Said, reading

_CHECK = lazy(
    r"\bCheck failed: ?(?:\((?P<in_brackets>[^\n]{1,160}?)\): |(?P<condition>[^\n]{1,160}?) ?(?=\(|$|:))"
    r"(?:(?P<sides>[^\s!=<>]{1,40}!(?:==|!=|[<>]=?)[^\s]{1,40})|\((?P<values>[^()\n]{1,80})\))?[ :]*(?P<words>[^\n]{0,200})$"
)


def read(said: Said) -> tuple[Reading, ...]:
    """What had to hold, in words where the check has some, else its condition."""
    found = _CHECK.search(said.text[:1500].strip().partition("\n")[0])
    if found is None:
        return ()
    words = found["words"].strip(" .:")
    rule = words if sum(c.isalpha() for c in words) > 3 else found["in_brackets"] or found["condition"]
    return (reading("rule", how="check", rule=rule, given=found["sides"] or found["values"] or "", where=said.raised_in, by="library"),)
