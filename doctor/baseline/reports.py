"""Two reports of `npu-doctor scan -f json`: what is new, what is gone, what is still there and how it moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from doctor.base.errors import UsageError
from doctor.base.notation import clean, place
from doctor.base.words import named, word
from doctor.render.layout import Style, paint
from doctor.render.markdown import escape
from doctor.render.terminal import bullet
from parsers import foreign_json
from parsers.foreign_json import ForeignJsonError
from parsers.named import NamedTuple

Json = dict[str, Any]
MAX_FILE = 64 << 20
_HELP = "give reports that npu-doctor scan -f json (or -o report.json) wrote"
_GRAVE = ("fatal", "error", "warning", "info")


class Item(NamedTuple):
    """A finding, or an error that nothing explains, as a report has it."""

    id: str
    title: Mapping[str, str]
    role: str
    severity: str
    times: int
    place: str
    where: str  # node and rank


class Moved(NamedTuple):
    """What both have, and what of it is another thing now: name of the change, before, after."""

    item: Item
    changes: tuple[tuple[str, str, str], ...]


class Changes(NamedTuple):
    """The later report against the earlier one, each the gravest first."""

    verdict: tuple[str, str]
    new: tuple[Item, ...]
    gone: tuple[Item, ...]
    same: tuple[Moved, ...]

    @property
    def differs(self) -> bool:
        """Is anything another thing? How often something comes is another number in every run."""
        return bool(self.new or self.gone or self.verdict[0] != self.verdict[1] or any(name != "times" for one in self.same for name, _, _ in one.changes))


def read(path: str, data: bytes) -> Json:
    """A report, checked as far as it is asked here."""
    try:
        made = foreign_json.read(data)
    except ForeignJsonError:
        raise UsageError(f"'{path}' is no JSON, or more of it than is read", _HELP) from None
    if not isinstance(made, dict) or not isinstance(made.get("findings"), list) or not isinstance(made.get("unexplained"), list) or "verdict" not in made:
        raise UsageError(f"'{path}' is no report of a scan", _HELP)
    if made.get("schema_version") != 1:
        raise UsageError(f"'{path}' is a report of version {clean(str(made.get('schema_version')))[:20]}, this program reads version 1", "write it anew, or update npu-doctor")
    return made


def changes(before: Json, after: Json, paths: tuple[str, str]) -> Changes:
    """What differs; a UsageError where a report says nonsense."""
    old, new = _items(before, paths[0]), _items(after, paths[1])
    return Changes(
        (clean(str(before["verdict"])), clean(str(after["verdict"]))),
        _sorted(one for key, one in new.items() if key not in old),
        _sorted(one for key, one in old.items() if key not in new),
        tuple(Moved(one, _moved(old[one.id], one)) for one in _sorted(one for key, one in new.items() if key in old)),
    )


def _items(made: Json, path: str) -> dict[str, Item]:
    try:
        found = {one.id: one for one in map(_finding, made["findings"])}
        found |= {one.id: one for one in map(_unexplained, made["unexplained"])}
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError):
        raise UsageError(f"'{path}' is a damaged report: a finding in it lacks what every finding has", _HELP) from None
    return found


def _finding(one: Json) -> Item:
    scope, evidence = one["scope"], one["evidence"]
    where = " ".join(part for part in (str(scope["node"] or ""), f"rank {scope['rank']}" if scope["rank"] is not None else "") if part)
    at = place(evidence[0]["path"], int(evidence[0]["line"])) if evidence else ""
    title = {lang: clean(str(one["title"][lang])) for lang in ("en", "zh")}
    return Item(clean(str(one["id"])), title, clean(str(one["role"])), clean(str(one["severity"])), int(one["count"]), clean(at), clean(where))


def _unexplained(one: Json) -> Item:
    shape = clean(str(one["template"]))
    return Item(shape, {"en": shape, "zh": shape}, "unexplained", "error", int(one["count"]), clean(place(one["evidence"]["path"], int(one["evidence"]["line"]))), "")


def _sorted(items: Iterator[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda one: (one.role != "root", _GRAVE.index(one.severity) if one.severity in _GRAVE else len(_GRAVE), one.id)))


def _moved(old: Item, new: Item) -> tuple[tuple[str, str, str], ...]:
    rows = (("role", old.role, new.role), ("severity", old.severity, new.severity), ("times", str(old.times), str(new.times)), ("place", old.place, new.place), ("where", old.where, new.where))
    return tuple(row for row in rows if row[1] != row[2])


def as_json(found: Changes) -> Json:
    return {
        "schema_version": 1,
        "verdict": {"before": found.verdict[0], "after": found.verdict[1]},
        "new": [_plain(one) for one in found.new],
        "gone": [_plain(one) for one in found.gone],
        "same": [{**_plain(one.item), "changes": {name: {"before": a, "after": b} for name, a, b in one.changes}} for one in found.same],
    }


def _plain(one: Item) -> Json:
    return {**one._asdict(), "title": dict(one.title)}


def text(found: Changes, lang: str, style: Style, markdown: bool) -> str:
    """For people; in Markdown where that is asked for."""
    told = word("diff.reports", lang, new=len(found.new), gone=len(found.gone), same=len(found.same))
    rows = [f"# {told}" if markdown else paint(told, "bold", style)]
    if found.verdict[0] != found.verdict[1]:
        rows += _rows([f"{word('diff.report:verdict', lang)}: {found.verdict[0]} -> {found.verdict[1]}"], style, markdown)
    for name, items in (("new", found.new), ("gone", found.gone), ("same", found.same)):
        if items:
            label = named("diff.report", name, lang)
            rows += ["", f"## {label}", ""] if markdown else ["", paint(label, "label", style)]
            rows += _rows([_told(one, lang) for one in items], style, markdown)
    return "\n".join(rows) + "\n"


def _rows(told: list[str], style: Style, markdown: bool) -> list[str]:
    return [f"- {escape(row)}" for row in told] if markdown else [line for row in told for line in bullet(row, style)]


def _told(one: Item | Moved, lang: str) -> str:
    item = one.item if isinstance(one, Moved) else one
    title = item.title[lang]
    begin = f"{word(item.severity, lang) if item.severity in _GRAVE else item.severity} {title if title == item.id else f'{item.id} {title}'}"
    if isinstance(one, Moved):
        moved = [word(f"diff.change:{name}", lang, a=named("role", a, lang) if name == "role" else a or "-", b=named("role", b, lang) if name == "role" else b or "-") for name, a, b in one.changes]
        return f"{begin} ({'; '.join(moved)})" if moved else begin
    return f"{begin} ({', '.join(part for part in (item.where, item.place) if part)})" if item.place or item.where else begin
