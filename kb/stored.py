"""How entries, leaves and codes stand in a pack, without what follows from the rest, and back.

A wheel is told by its size, and a pack is most of it. So a leaf does not repeat its entry's code, the pattern of a code
is made of the code again, a text is not written beside itself as its anchor, and of an entry only the values are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kb import code_forms
from kb.model import (
    SITUATION,
    CodeFix,
    Command,
    Condition,
    Edge,
    Entry,
    EnvFix,
    Filter,
    Fix,
    Framework,
    Reference,
    Sample,
    Signal,
    Text,
    Variant,
    When,
)
from parsers.lazy import lazy
from parsers.named import NamedTuple

Row = Sequence[Any]
_LEAF: Row = ("", "", (), (), "", (), 0, True, (), True)
_COMMAND: Row = ("", None, None)
_VARIABLE: Row = ("", "", None, "", "process")
_FIX: Row = ("", "", None, (), (), (), None, ())
_VARIANT: Row = ((), None, (), None, "", "")
HEAD = ("domain", "severity", "role", "kind", "component", "status")
"""What is told of every entry where all are listed; there it is kept alone."""
_ENTRY: Mapping[str, Any] = dict.fromkeys(("confidence", "title", "cause", "condition"), "") | {
    "traits": (), "fixes": (), "refines": (), "variants": (), "also": (), "symptom_of": (), "no_repro": "", "repro": None, "general": False, "same": "source",
    "caused_by": (), "within_s": None, "applies_to": (), "shown": "", "slug": "", "layer": "built-in", "path": "", "match": (), "no_match": (),
}  # fmt: skip
"""What the values of a row are mostly, in the order in which they are kept: those come last that are seldom another, and need not be told then."""


class Stored(NamedTuple):
    """An entry as it stands in a pack, in the four places where what is alike stands together."""

    head: Sequence[str]
    row: Row
    leaves: Sequence[Row]
    references: Sequence[Row | str]


def _without_usual(row: Row, usual: Row) -> Row:
    """A row up to its last value that is not the usual one."""
    end = next((n for n in range(len(row), 0, -1) if row[n - 1] != usual[n - 1]), 0)
    return row[:end]


def _with_usual(row: Row, usual: Row) -> Row:
    """The inverse of `_without_usual`."""
    return [*row, *usual[len(row) :]]


def signal_row(signal: Signal) -> Row:
    """A leaf without its name. Fragments are needed of the situation alone: of other leaves they stand among what is looked for."""
    name, form, pattern, anchors, lines, filters, table, where, trusted, fragments, claims, _ = signal
    kept: Sequence[str] = anchors
    if form == "text" and anchors == (pattern,):
        kept = ()
    elif form == "code" and (code := next((c for c in anchors[:1] if code_forms.of_code(c) == (pattern, anchors)), None)) is not None:
        pattern, kept = code, ()
    return _without_usual((form, pattern, kept, filters, table, where, lines, claims, _places(anchors, fragments) if name.startswith(SITUATION) else (), trusted), _LEAF)


def signal_of(name: str, row: Row) -> Signal:
    """The inverse of `signal_row`."""
    form, pattern, anchors, filters, table, where, lines, claims, fragments, trusted = _with_usual(row, _LEAF)
    if not anchors and form == "text":
        anchors = (pattern,)
    elif not anchors and form == "code":
        pattern, anchors = code_forms.of_code(pattern)
    return Signal(
        name, form, pattern, tuple(anchors), lines,
        tuple(Filter(k, tuple(m), tuple(lv), tuple(f)) for k, m, lv, f in filters) if filters else (),
        table, tuple((k, v) for k, v in where) if where else (), trusted, _pieces(anchors, fragments), claims,
    )  # fmt: skip


_PLACE = 1000  # a piece of an anchor is told as where it begins, times this, and its length; the whole of it as zero


def _places(anchors: Sequence[str], fragments: Sequence[str]) -> Row:
    """Fragments as places in their anchors, where they are pieces of them."""
    if len(anchors) != len(fragments) or any(f not in a or len(f) >= _PLACE for a, f in zip(anchors, fragments, strict=True)):
        return fragments
    return [0 if a == f else a.index(f) * _PLACE + len(f) for a, f in zip(anchors, fragments, strict=True)]


def _pieces(anchors: Sequence[str], places: Row) -> tuple[str, ...]:
    """The inverse of `_places`."""
    if not places or isinstance(places[0], str):
        return tuple(places)
    return tuple(a[p // _PLACE : p // _PLACE + p % _PLACE] if p else a for a, p in zip(anchors, places, strict=True))


def file_of(entry: Entry) -> str:
    """The file of an entry that is built in, without its folder and ending; of others their code. A pack lists entries so."""
    name = entry.path.rpartition("/")[2].removesuffix(".yaml")
    usual = entry.path == f"{_FOLDER}{entry.domain}/{name}.yaml" and name.partition("_")[0].upper() == entry.code and " " not in name
    return name if usual else entry.code


_GITHUB = "https://github.com/"
_THREADS = {"#": "issues", "!": "pull"}
_SHORT = lazy(r"(?P<owner>[^/#!]*)/(?P<repository>[^/#!]*)(?P<sign>[#!])(?P<number>\d*)(?P<said>.*)")


def reference_row(reference: Reference) -> Row | str:
    """`owner/repository#7, what it says` for a thread that is called as most are."""
    owner, _, rest = reference.url.removeprefix(_GITHUB).partition("/")
    repository, _, thread = rest.partition("/")
    place, _, number = thread.partition("/")
    said = reference.title.removeprefix(f"{repository} #{number}")
    for sign, folder in _THREADS.items():
        short = f"{owner}/{repository}{sign}{number}{said}"
        if place == folder and _reference_of(short) == reference:
            return short
    return reference


def _reference_of(row: Row | str) -> Reference:
    """The inverse of `reference_row`."""
    if not isinstance(row, str):
        return Reference(*row)
    if (found := _SHORT.fullmatch(row)) is None:
        return Reference("other", row, "")
    repository, number = found["repository"], found["number"]
    return Reference("issue", f"{repository} #{number}{found['said']}", f"{_GITHUB}{found['owner']}/{repository}/{_THREADS[found['sign']]}/{number}")


def references_of(rows: Sequence[Row | str]) -> tuple[Reference, ...]:
    """Where more is written about an entry."""
    return tuple(map(_reference_of, rows))


def stored_entry(entry: Entry, shown: Text | None = None) -> Stored:
    """The values of an entry, but for what its file tells; `shown` is its title without slots, where that is another."""
    path = "" if file_of(entry) != entry.code else entry.path
    row = entry._replace(slug="" if entry.slug == slug_of(entry.path) else entry.slug, path=path)._asdict()
    rows = {"fixes": fixes_rows(entry.fixes), "variants": tuple(map(_variant_row, entry.variants)), "shown": shown or ""}
    values = _without_usual(list(map({**row, **rows}.__getitem__, _ENTRY)), [*_ENTRY.values()])
    return Stored(tuple(map(row.__getitem__, HEAD)), values, tuple(map(signal_row, entry.signals)), tuple(map(reference_row, entry.references)))


def entry_of(code: str, file: str, stored: Stored) -> Entry:
    """The inverse of `stored_entry`, with what `file_of` told."""
    head = dict(zip(HEAD, stored.head, strict=True))
    one = dict(zip(_ENTRY, _with_usual(stored.row, [*_ENTRY.values()]), strict=True))
    path = one["path"] or f"{_FOLDER}{head['domain']}/{file}.yaml"
    return Entry(
        **head,
        code=code,
        confidence=one["confidence"],
        slug=one["slug"] or slug_of(path),
        traits=tuple(one["traits"]),
        applies_to=tuple((k, v) for k, v in one["applies_to"]),
        title=text_of(one["title"]),
        cause=text_of(one["cause"]),
        condition=tuple(_condition(c) for c in one["condition"]),
        also=tuple(_condition(c) for c in one["also"]),
        same=one["same"],
        within_s=one["within_s"],
        signals=tuple(signal_of(f"{code}/{n}", s) for n, s in enumerate(stored.leaves)),
        symptom_of=tuple(Edge(*e) for e in one["symptom_of"]),
        refines=tuple(one["refines"]),
        general=one["general"],
        caused_by=tuple(Edge(*e) for e in one["caused_by"]),
        fixes=fixes_of(one["fixes"]),
        variants=tuple(map(_variant_of, one["variants"])),
        repro=(one["repro"][0], tuple((k, v) for k, v in one["repro"][1])) if one["repro"] else None,
        references=references_of(stored.references),
        layer=one["layer"],
        path=path,
        match=tuple(Sample(n, t, p, tuple((k, v) for k, v in e)) for n, t, p, e in one["match"]),
        no_match=tuple(Sample(n, t, p, tuple((k, v) for k, v in e)) for n, t, p, e in one["no_match"]),
        no_repro=one["no_repro"],
    )  # fmt: skip


_PLAIN, _TEXTS = ("code", "name", "ref", "confidence"), ("meaning", "action", "component")  # what nearly every row of a code has
_LANGUAGES = ("en", "zh")


def code_row(family: int, row: Mapping[str, Any]) -> Row:
    """A code with the number of the family in whose table it stands: what nearly all have by its place, texts as pairs."""
    causes = row.get("causes")
    told = isinstance(causes, list) and all(map(_in_both, causes))
    texts = {name: list(row[name].values()) for name in _TEXTS if _in_both(row.get(name))}
    rest = {name: value for name, value in row.items() if name not in (*_PLAIN, *texts) and not (told and name == "causes")}
    return [family, *map(row.get, _PLAIN), *map(texts.get, _TEXTS), [list(text.values()) for text in causes or ()] if told else [], rest]


def code_of(stored: Row, families: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The inverse of `code_row`, with what is told of the family."""
    number, *values = stored
    plain, texts, (causes, rest) = values[: len(_PLAIN)], values[len(_PLAIN) : -2], values[-2:]
    row = {name: value for name, value in zip(_PLAIN, plain, strict=True) if value is not None}
    row |= {name: dict(zip(_LANGUAGES, text, strict=True)) for name, text in zip(_TEXTS, texts, strict=True) if text is not None}
    if causes:
        row["causes"] = [dict(zip(_LANGUAGES, text, strict=True)) for text in causes]
    family = families[number]
    return {**family, **row, **rest, "family": rest.get("family") or family["family"]}


def _in_both(value: Any) -> bool:
    return isinstance(value, dict) and tuple(value) == _LANGUAGES


_FOLDER = "kb/entries/"


def slug_of(path: str) -> str:
    """How an entry is called whose file is named after it, as those that are built in are."""
    return path.rpartition("/")[2].removesuffix(".yaml").partition("_")[2].replace("_", "-")


def framework_of(row: Row) -> Framework:
    """The inverse of storing a Framework as a JSON array."""
    name, title, stack, does, program, beneath, phrases = row
    return Framework(name, title, stack, does, program, beneath, tuple((slot, text_of(text)) for slot, text in phrases))


def text_of(value: Any) -> Text:
    return Text(value[0], value[1])


def _maybe_text(value: Any) -> Text | None:
    return None if value is None else text_of(value)


def _condition(value: Any) -> Condition:
    if isinstance(value, int):
        return value
    return (value[0], tuple(_condition(member) for member in value[1]))


def _when(value: Any) -> When:
    return tuple((fact, tuple(values)) for fact, values in value)


def fixes_rows(fixes: Sequence[Fix]) -> Row:
    """Fixes without what most of them lack; a command that changes nothing and needs no reason is its text alone."""
    return tuple(
        _without_usual((f.goal, f.risk, f.title, tuple(map(_command_row, f.commands)), f.steps, f.when, f.code, tuple(map(_variable_row, f.env))), _FIX)
        for f in fixes
    )  # fmt: skip


def fixes_of(rows: Any) -> tuple[Fix, ...]:
    """The inverse of `fixes_rows`."""
    return tuple(
        Fix(
            goal, risk, text_of(title), tuple(text_of(s) for s in steps),
            tuple(map(_variable_of, env)), tuple(map(_command_of, commands)),
            CodeFix(*code) if code else None, _when(when),
        )
        for goal, risk, title, commands, steps, when, code, env in (_with_usual(row, _FIX) for row in rows)
    )  # fmt: skip


def _command_row(command: Command) -> Row | str:
    return _without_usual(command, _COMMAND) if command[1:] != _COMMAND[1:] else command.run


def _command_of(row: Row | str) -> Command:
    run, changes, why = _with_usual([row] if isinstance(row, str) else row, _COMMAND)
    return Command(run, _maybe_text(changes), _maybe_text(why))


def _variable_row(variable: EnvFix) -> Row:
    name, value, scope, undo, caution = variable
    return _without_usual((name, value, caution, "" if undo == _unset(name) else undo, scope), _VARIABLE)


def _variable_of(row: Row) -> EnvFix:
    name, value, caution, undo, scope = _with_usual(row, _VARIABLE)
    return EnvFix(name, value, scope, undo or _unset(name), _maybe_text(caution))


def _unset(name: str) -> str:
    return f"unset {name}"


def _variant_row(variant: Variant) -> Row:
    return _without_usual((variant.when, variant.cause, fixes_rows(variant.fixes), variant.title, variant.role, variant.confidence), _VARIANT)


def _variant_of(row: Row) -> Variant:
    when, cause, fixes, title, role, sure = _with_usual(row, _VARIANT)
    return Variant(_when(when), _maybe_text(title), _maybe_text(cause), fixes_of(fixes), role, sure)
