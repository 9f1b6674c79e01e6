"""What the issue forms of trackers ask for, by their headings, and which sections of a draft answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doctor.base.words import word
from doctor.render import brief
from doctor.render.markdown import fence

Json = dict[str, Any]
Form = tuple[tuple[str, tuple[str, ...]], ...]
BRIEF = 1000  # tokens
_ASCEND: Form = (
    ("一、问题现象（附报错日志上下文）", ("symptoms", "cause", "evidence", "unexplained")),
    ("二、软件版本", ("environment", "machine")),
    ("三、测试步骤", ("repro", "tried")),
    ("四、日志信息", ("missing", "brief")),
)
FORMS: dict[str, Form] = {
    "vllm-ascend": (
        ("Your current environment", ("environment", "machine")),
        ("🐛 Describe the bug", ("symptoms", "cause", "evidence", "unexplained", "tried", "repro", "missing", "brief")),
    ),
    "verl": (
        ("System Info", ("environment", "machine")),
        ("Information", ("to-tick",)),
        ("Tasks", ("to-tick",)),
        ("Reproduction", ("repro", "symptoms", "cause", "evidence", "unexplained", "tried", "missing", "brief")),
        ("Expected behavior", ("expected",)),
    ),
    "torch_npu": _ASCEND,
    "mindspeed": _ASCEND,
}


def filled(name: str, sections: Mapping[str, Sequence[str]], report: Json, lang: str) -> Iterator[str]:
    """The form with our sections beneath its headings, and what only forms ask for."""
    told = {**sections, **_of_forms(report, lang)}
    for heading, names in FORMS[name]:
        yield from ("", f"### {heading}")
        for section in names:
            yield from _lowered(told[section])


def _of_forms(report: Json, lang: str) -> dict[str, list[str]]:
    short = brief.render(report, lang, BRIEF)
    return {
        "brief": ["", f"## {word('draft.brief', lang)}", "", *fence(short.rstrip())],
        "to-tick": ["", word("draft.to-tick", lang)],
        "expected": ["", word("draft.expected", lang)],
    }


def _lowered(rows: Sequence[str]) -> Iterator[str]:
    """Headings go beneath those of the form; what stands in a fence is no heading."""
    fenced = ""
    for row in rows:
        bar = row.strip()
        if fenced:
            fenced = "" if bar == fenced else fenced
        elif bar.startswith("```"):
            fenced = bar[: len(bar) - len(bar.lstrip("`"))]
        elif row.startswith("##"):
            row = f"#### {row.lstrip('# ')}"
        yield row
