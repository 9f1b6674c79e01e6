"""Which Python a line of source needs, where the one that ran refused it."""

from __future__ import annotations

import pytest

from doctor.api import report
from doctor.findings.language import since

PLAIN = "invalid syntax"


@pytest.mark.parametrize(
    ("line", "what", "first"),
    [
        ("match plugh:", PLAIN, "3.10"),
        ("match plugh.kind, xyzzy:  # which", PLAIN, "3.10"),
        ("case Plugh(x=1) | None:", PLAIN, "3.10"),
        ("with (open(a) as f, open(b) as g):", f"{PLAIN} (plugh.py, line 3)", "3.10"),
        ("if (n := len(plugh)) > 10:", PLAIN, "3.8"),
        ("def plugh(a, b, /, c):", PLAIN, "3.8"),
        ('print(f"{plugh=}")', PLAIN, "3.8"),
        ('print(f"{plugh=}")', "f-string: invalid syntax", "3.8"),
        ('print(f"{plugh["a"]}")', "f-string: unmatched '['", "3.12"),
        ("except* ValueError:", PLAIN, "3.11"),
        ("type Plugh = list[int]", PLAIN, "3.12"),
        ("def plugh[T](x: T) -> T:", PLAIN, "3.12"),
        ("from __future__ import annotations", "future feature annotations is not defined", "3.7"),
        ("def plugh(x: str | None = None):", "unsupported operand type(s) for |: 'type' and 'NoneType'", "3.10"),
        ("def plugh(x: list[int]):", "'type' object is not subscriptable", "3.9"),
    ],
)
def test_a_form_names_its_release(line: str, what: str, first: str) -> None:
    older, newer = f"3.{int(first.split('.')[1]) - 1}.9", f"{first}.0"
    assert since({"line": line, "what": what}, {"python": older}) == {"python_since": first, "python_here": older}
    assert since({"line": line, "what": what}, {})["python_since"] == first
    assert since({"line": line, "what": what}, {"python": newer}) == {}, "that one knows it: something else is wrong with the line"


@pytest.mark.parametrize(("line", "what"), [("match = plugh(", PLAIN), ("x = plugh(", PLAIN), ("matches plugh", PLAIN), ("return kinds[0]", "'type' object is not subscriptable"), ("match plugh:", "expected ':'"), ("match plugh:", "")])
def test_a_plain_mistake_names_none(line: str, what: str) -> None:
    assert since({"line": line, "what": what}, {"python": "3.7"}) == {}


@pytest.mark.parametrize(("python", "line", "told"), [("3.9", "match plugh:", "needs Python 3.10"), ("3.11", "match plugh:", "cannot be compiled"), ("3.8", "x = y.cuda(async=True)", "older than this Python")])
def test_the_answer_tells_which_python_is_needed(python: str, line: str, told: str) -> None:
    text = f'Traceback (most recent call last):\n  File "/opt/env/lib/python{python}/site-packages/plugh/a.py", line 72\n    {line}\n       ^\nSyntaxError: invalid syntax\n'
    assert told in report(text)["findings"][0]["title"]["en"]
