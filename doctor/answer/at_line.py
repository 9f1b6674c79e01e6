"""Which line a fix speaks of, that asks for a change "in that line": the place in the code that the traceback tells.

The line of source itself is text of others and fills no slot of code; where it stands can be named.
"""

from __future__ import annotations

from doctor.base.notation import clean
from doctor.scan.harvest import Caller
from kb.model import Fix, Text
from parsers.lazy import lazy

_LINE = lazy(
    r"\b(?:(?:[Tt]he|[Tt]hat) failing line"
    r"|the line that (?:the traceback names(?: last)?|failed|is named|refuses them|calls it|hands it over)"
    r"|the place that the traceback names"
    r"|(?:[Ii]n|[Aa]t|[Ii]nto|[Mm]ove|[Cc]hange|[Oo]f) that line"
    r"|(?:[Ii]n|[Aa]t|[Cc]hange) this line"
    r"|(?:change|at) the line(?! (?:that|of|above|before|there))"
    r"|(?:[Tt]he|[Tt]his) line(?= is (?:a |in )))\b"
)
_ZH = lazy(r"traceback (?:所指的行|最后一行)|(?:报错|出错)行|`code` 所示的行|该行|这一行|那一行|拒绝处|调用栈所示位置")


def named(fix: Fix, made: Caller | None) -> Fix:
    """The fix with the place beside the first words that mean a line of the program; itself where none is told, or it names it already."""
    place = clean(str(made.place)) if made is not None else ""
    if not place or place in f"{fix.title.en}{fix.steps}":
        return fix
    if (title := _with(fix.title, place)) is not None:
        return fix._replace(title=title)
    for n, step in enumerate(fix.steps):
        if (told := _with(step, place)) is not None:
            return fix._replace(steps=(*fix.steps[:n], told, *fix.steps[n + 1 :]))
    for n, command in enumerate(fix.commands):
        if command.why is not None and (told := _with(command.why, place)) is not None:
            return fix._replace(commands=(*fix.commands[:n], command._replace(why=told), *fix.commands[n + 1 :]))
    return fix


def _with(text: Text, place: str) -> Text | None:
    """
    >>> _with(Text("In that line of the program cast it", "在该行转换类型"), "a/b.py:7")
    Text(en='In that line (a/b.py:7) of the program cast it', zh='在该行（a/b.py:7）转换类型')
    >>> _with(Text("Take that line out of ~/.bashrc", "从 ~/.bashrc 去掉该行"), "a/b.py:7")
    """
    if _LINE.search(text.en) is None:
        return None
    zh, many = _ZH.subn(lambda found: f"{found[0]}（{place}）", text.zh, count=1)
    return Text(_LINE.sub(lambda found: f"{found[0]} ({place})", text.en, count=1), zh if many else f"{text.zh.rstrip('。')}（{place}）")
