"""What a reader's note says would be printed if all were well: nothing of it happened.

>>> without_hoped("A working atc should print:\\n\\n    E10007: [--framework] is required.\\n\\nbut it prints:\\n\\n    E40021: failed\\n".encode()).decode()
'A working atc should print:\\n\\n\\n\\nbut it prints:\\n\\n    E40021: failed\\n'
>>> without_hoped("环境正确时应该返回：\\n```\\nE10007: [--framework] is required.\\n```\\n实际为\\n```\\nE40021: failed\\n```".encode()).decode()
'环境正确时应该返回：\\n\\n\\n\\n实际为\\n```\\nE40021: failed\\n```'
"""

from __future__ import annotations

from parsers.lazy import lazy

_MAYBE = lazy("|".join(("应该", "应当", "应返回", "应输出", "should ", "xpected ")).encode())
_HOPED = lazy(
    r"(?:应该|应当|应)(?:会)?(?:返回|输出|显示|打印|看到)|\bshould (?:print|return|show|output|look like|give)|[Ee]xpected (?:output|result|behaviou?r)"
)
_ENDS = ":：`*"


def without_hoped(data: bytes) -> bytes:
    """The text without blocks that a sentence announces as what should be seen; its lines keep their numbers."""
    if not _MAYBE.search(data):
        return data
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    at = 0
    while at < len(rows):
        row = rows[at].rstrip()
        at += 1
        if row and _HOPED.search(row) and row[-1] in _ENDS and not _is_block(row):
            at = _blanked(rows, at)
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def _blanked(rows: list[str], at: int) -> int:
    """Blanks the block that begins here or behind blank lines; where it ends."""
    start = at
    while start < len(rows) and not rows[start].strip():
        start += 1
    if start == len(rows):
        return start
    fenced = rows[start].lstrip().startswith("```")
    end = start + 1
    while end < len(rows) and (not rows[end].lstrip().startswith("```") if fenced else _is_block(rows[end]) or not rows[end].strip()):
        end += 1
    end = min(len(rows), end + fenced)
    if fenced or _is_block(rows[start]):  # a sentence that goes on says itself what it tells
        while not fenced and not rows[end - 1].strip():
            end -= 1
        rows[start:end] = [""] * (end - start)
    return end


def _is_block(row: str) -> bool:
    return row.startswith(("    ", "\t", "> "))
