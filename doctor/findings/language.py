"""Which Python is the first to understand a line of source, where the one that ran refused it.

A line that Python cannot parse names the release by its form; a use that fails while it runs, by what it says.
"""

from __future__ import annotations

from collections.abc import Mapping

from doctor.findings.release import release
from parsers.lazy import lazy

_PLAIN = "invalid syntax"
# What is said of the line, its form, and the first Python that takes it.
_FORMS = tuple(
    (said, lazy(form), first)
    for said, form, first in (
        (_PLAIN, r"^except\s*\*", "3.11"),
        (_PLAIN, r"^(?:type\s+\w+(?:\[.{1,80}\])?\s*=|(?:async\s+)?(?:def|class)\s+\w+\[)", "3.12"),
        (_PLAIN, r"^(?:match\s*[\w(\[{'\"*-].{0,160}|case\s+.{1,160}):\s*(?:#.*)?$", "3.10"),
        (_PLAIN, r"^(?:async\s+)?with\s*\(.{0,160}\bas\s+\w+\s*(?:,|\)\s*:|$)", "3.10"),
        (_PLAIN, r":=", "3.8"),
        (_PLAIN, r"^(?:async\s+)?def\s+\w+\(.{0,160}?(?:[(,]\s*)/\s*[,)]", "3.8"),
        (_PLAIN, r"""(?<![\w"'])[rR]?[fF][rR]?["'].{0,160}=(?:![rsa]|:[^}]{1,20})?\}""", "3.8"),
        (_PLAIN, r"""(?<![\w"'])[rR]?[fF][rR]?["']""", "3.6"),
        ("f-string: invalid syntax", r"=(?:![rsa]|:[^}]{1,20})?\}", "3.8"),
        ("f-string: ", r"(?:\[|\()\s*(?P<q>[\"']).{0,80}(?P=q)", "3.12"),
        ("f-string expression part cannot include a backslash", r"", "3.12"),
        ("future feature annotations is not defined", r"", "3.7"),
        ("unsupported operand type(s) for |", r"", "3.10"),
        ("'type' object is not subscriptable", r"\b(?:list|dict|tuple|set|frozenset|type)\[", "3.9"),
        ("'ABCMeta' object is not subscriptable", r"", "3.9"),
    )
)


def since(captures: Mapping[str, str], versions: Mapping[str, str]) -> dict[str, str]:
    """The first Python that takes the captured source {line}, of which {what} was said; nothing where one that runs is as new.

    >>> since({"line": "match data:", "what": "invalid syntax"}, {"python": "3.9"})
    {'python_since': '3.10', 'python_here': '3.9'}
    >>> since({"line": "match data:", "what": "invalid syntax"}, {"python": "3.11.4"})
    {}
    """
    line, what = captures.get("line", "").strip(), captures.get("what", "")
    first = next((first for said, form, first in _FORMS if what.startswith(said) and form.search(line) is not None), None) if what else None
    here = versions.get("python")
    if first is None or (here is not None and release(here) >= release(first)):
        return {}
    return {"python_since": first} | ({"python_here": here} if here is not None else {})
