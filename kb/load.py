"""Reads one entry file into the model, strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from kb import anchors, code_forms, raised
from kb.invisible import WEB_PAGE
from kb.kinds import with_trait
from kb.model import (
    CONFIDENCES,
    GOALS,
    LINE_KINDS,
    NO_SCRIPT,
    NOTHING,
    RAISED,
    RISKS,
    ROLES,
    SAID,
    SAMES,
    SCOPES,
    SEVERITIES,
    SITUATION_FACTS,
    STATUSES,
    TABLES,
    TRAITS,
    CodeFix,
    Command,
    Condition,
    Edge,
    Entry,
    EnvFix,
    Filter,
    Fix,
    Kind,
    Reference,
    Sample,
    Signal,
    Text,
    Variant,
    When,
)
from kb.problems import Problem
from kb.reader import Reader
from kb.yamldoc import Document, Path, parse

ENTRY_KEYS = (
    "code", "status", "severity", "role", "kind", "component", "confidence", "applies_to", "title", "cause",
    "evidence", "symptom_of", "refines", "general", "caused_by", "fixes", "variants", "repro", "references", "samples",
)  # fmt: skip
EVIDENCE_KEYS = ("in", "same", "within_s", "all", "any", "not", "also")
LEAF_FORMS = ("text", "regex", "code", "exit", "fields", "raised")
LEAF_KEYS = (*LEAF_FORMS, "in", "lines")
GROUP_KEYS = ("all", "any", "not")
MAX_LEAVES = 400  # of one entry
MAX_LINES = 200  # that a pattern may run over
_STATUS = re.compile(r"-?[0-9]{1,9}")


def read_entry(path: str, data: bytes, kinds: Mapping[str, Kind], layer: str = "built-in") -> Entry | list[Problem]:
    """The entry, or every fault that keeps it from being one."""
    doc = parse(path, data)
    if isinstance(doc, Problem):
        return [doc]
    if not isinstance(doc.value, dict):
        return [Problem(path, 0, "the file is no mapping of keys to values", "begin with 'code: ABC001'")]
    problems: list[Problem] = []
    entry = _entry(doc, problems, kinds, layer)
    return problems or entry


def _entry(doc: Document, problems: list[Problem], kinds: Mapping[str, Kind], layer: str) -> Entry:
    top = Reader(doc, (), problems, ENTRY_KEYS, "the entry")
    code = top.string("code")
    if code and not re.fullmatch(r"[A-Z]{3}\d{3}", code):
        top.fault(("code",), f"'{code}' is no entry code", "three letters and three digits, like HCL012")
    name = PurePath(doc.path)
    slug = name.stem.partition("_")[2].replace("_", "-") or name.stem
    evidence = _Evidence(top.sub(("evidence",), EVIDENCE_KEYS, "'evidence'"), code, layer)
    samples = top.sub(("samples",), ("match", "no_match"), "'samples'") if "samples" in top.map else None
    kind = top.string("kind")
    if kind and kind not in kinds:
        top.word("kind", tuple(kinds))
    repro, no_repro = _repro(top)
    return Entry(
        code=code,
        slug=slug,
        domain=name.parent.name,
        status=top.word("status", STATUSES, "stable"),
        severity=top.word("severity", SEVERITIES),
        role=top.word("role", ROLES, "cause"),
        kind=kind,
        traits=kinds[kind].traits if kind in kinds else (),
        component=top.string("component", ""),
        confidence=top.word("confidence", CONFIDENCES, "medium"),
        applies_to=top.pairs("applies_to"),
        title=top.text("title") or NOTHING,
        cause=top.text("cause") or NOTHING,
        condition=evidence.condition,
        also=evidence.also,
        same=evidence.reader.word("same", SAMES, "source"),
        within_s=evidence.reader.number("within_s"),
        signals=tuple(evidence.signals),
        symptom_of=tuple(edge for edges in top.items("symptom_of", lambda at: _edges(top, at, kinds)) for edge in edges),
        refines=top.strings("refines"),
        general=top.word("general", ("true", "false"), "false") == "true",
        caused_by=top.items("caused_by", lambda at: _edge(top, at, kinds)),
        fixes=top.items("fixes", lambda at: read_fix(top, at)),
        variants=top.items("variants", lambda at: _variant(top, at)),
        repro=repro,
        no_repro=no_repro,
        references=top.items("references", lambda at: read_reference(top, at)),
        layer=layer,
        path=doc.path,
        match=samples.items("match", lambda at: _sample(samples, at)) if samples else (),
        no_match=samples.items("no_match", lambda at: _sample(samples, at)) if samples else (),
    )


def _edge(top: Reader, at: Path, kinds: Mapping[str, Kind], *more: str) -> Edge:
    reader = top.sub(at, ("entry", "kind", *more), f"'{at[0]}'")
    edge = Edge(reader.string("entry", ""), reader.string("kind", ""), reader.word("scope", SCOPES, "job"))
    if bool(edge.entry) == bool(edge.kind):
        reader.fault((), "an edge names either 'entry' or 'kind'")
    if edge.kind and edge.kind not in kinds:
        reader.word("kind", tuple(kinds))
    return edge


def _edges(top: Reader, at: Path, kinds: Mapping[str, Kind]) -> tuple[Edge, ...]:
    """The edge that is written, or one for each kind that has the trait it names."""
    value = top.map[at[0]][at[1]]
    if not isinstance(value, dict) or "trait" not in value:
        return (_edge(top, at, kinds, "scope"),)
    reader = top.sub(at, ("trait", "scope"), f"'{at[0]}' by trait")
    trait, scope = reader.word("trait", TRAITS), reader.word("scope", SCOPES, "job")
    return tuple(Edge("", kind, scope) for kind in with_trait(kinds, trait))


def read_fix(top: Reader, at: Path) -> Fix | None:
    """One fix of an entry or a check."""
    keys = ("goal", "risk", "when", "title", "steps", "env", "commands", "code")
    reader = top.sub(at, keys, "a fix")

    def env(under: Path) -> EnvFix:
        one = reader.sub(under, ("name", "value", "scope", "undo", "caution"), "an env fix")
        name = one.string("name")
        return EnvFix(name, one.string("value", ""), one.string("scope", "process"), one.string("undo", f"unset {name}"),
                      one.text("caution", required=False))  # fmt: skip

    def command(under: Path) -> Command:
        one = reader.sub(under, ("run", "changes", "why"), "a command")
        return Command(one.string("run"), _changes(one), one.text("why", required=False))

    code = None
    if "code" in reader.map:
        one = reader.sub(("code",), ("lang", "before", "after"), "'code'")
        code = CodeFix(one.string("lang", "python"), one.string("before", ""), one.string("after"))
    return Fix(
        goal=reader.word("goal", GOALS),
        risk=reader.word("risk", RISKS, "low"),
        title=reader.text("title") or NOTHING,
        steps=reader.items("steps", lambda under: _bilingual(reader, under)),
        env=reader.items("env", env),
        commands=reader.items("commands", command),
        code=code,
        when=_when(reader),
    )


def _variant(top: Reader, at: Path) -> Variant | None:
    reader = top.sub(at, ("when", "title", "cause", "fixes", "role", "confidence"), "a variant")
    made = Variant(
        _when(reader),
        reader.text("title", required=False),
        reader.text("cause", required=False),
        reader.items("fixes", lambda under: read_fix(reader, under)),
        reader.word("role", ("cause", "ambiguous"), "") if "role" in reader.map else "",
        reader.word("confidence", CONFIDENCES, "") if "confidence" in reader.map else "",
    )
    if not made.when:
        reader.fault((), "a variant needs 'when': the facts that choose it")
    if not (made.title or made.cause or made.fixes):
        reader.fault((), "a variant says nothing", "write a title, a cause or fixes of its own")
    return made


def _when(reader: Reader) -> When:
    """The situation that something is for: facts, each with the values that it may have."""
    if "when" not in reader.map:
        return ()
    one = reader.sub(("when",), (*SITUATION_FACTS, "said"), "'when'")
    facts = tuple((fact, one.strings(fact)) for fact in SITUATION_FACTS if fact in one.map)
    if "said" not in one.map:
        return facts
    said = one.map["said"]
    names = one.sub(("said",), said if isinstance(said, dict) else (), "'said'")
    return (*facts, *((f"{SAID}{name}", names.strings(name)) for name in names.map))


def _changes(reader: Reader) -> Text | None:
    """`nothing`, one plain phrase, or both languages."""
    value = reader.map.get("changes", "nothing")
    if isinstance(value, dict):
        return reader.text("changes")
    if not isinstance(value, str):
        reader.fault(("changes",), "'changes' must be 'nothing' or say what changes")
        return None
    return None if value.strip().rstrip(".").lower() in ("nothing", "") else Text(value, value)


def _bilingual(reader: Reader, under: Path) -> Text:
    one = reader.sub(under, ("en", "zh"), "a text")
    return Text(one.string("en").strip(), one.string("zh").strip())


def _repro(top: Reader) -> tuple[tuple[str, tuple[tuple[str, str], ...]] | None, str]:
    """The template of the entry with what its slots get, or why no script can show the fault."""
    if "repro" not in top.map:
        return None, ""
    reader = top.sub(("repro",), ("template", "with", "none"), "'repro'")
    if "none" not in reader.map:
        return (reader.string("template"), reader.pairs("with")), ""
    if len(reader.map) > 1:
        reader.fault(("none",), "'repro' names a template, or why there is none")
    return None, reader.word("none", NO_SCRIPT)


def read_reference(top: Reader, at: Path) -> Reference:
    """One reference of an entry or a check."""
    reader = top.sub(at, ("kind", "title", "url"), "a reference")
    url = reader.string("url", "")
    if url and not WEB_PAGE.fullmatch(url):
        reader.fault(("url",), "a reference leads to a web page: https://... without blanks, quotes or angle brackets")
        url = ""
    return Reference(reader.string("kind", "doc"), reader.string("title"), url)


def _sample(samples: Reader, at: Path) -> Sample:
    reader = samples.sub(at, ("name", "path", "text", "expect"), "a sample")
    return Sample(reader.string("name"), reader.string("text"), reader.string("path", ""), reader.pairs("expect"))


class _Evidence:
    """The condition tree of an entry, and its leaves in the order in which they are written."""

    def __init__(self, reader: Reader, code: str, layer: str) -> None:
        self.reader, self.code, self.layer = reader, code, layer
        self.signals: list[Signal] = []
        self.filters = self._filters(reader)
        parts: list[Condition] = list(self._members(reader, "all"))
        any_members = self._members(reader, "any")
        if any_members:
            parts.append(("any", any_members))
        if not parts:
            reader.fault((), "'evidence' needs 'all' or 'any'", "at least one leaf like {text: '...'} must decide")
        parts += [("not", (member,)) for member in self._members(reader, "not")]
        self.condition = tuple(parts)
        self.also = self._members(reader, "also")

    def _members(self, reader: Reader, key: str) -> tuple[Condition, ...]:
        begin = len(self.signals)
        members: tuple[Condition, ...] = reader.items(key, lambda at: self._member(reader, at))
        if key == "not":
            self.signals[begin:] = [s._replace(claims=False) for s in self.signals[begin:]]
        return members

    def _member(self, parent: Reader, at: Path) -> Condition | None:
        value = parent.map[at[0]][at[1]]
        if isinstance(value, dict) and any(k in value for k in GROUP_KEYS):
            group = parent.sub(at, GROUP_KEYS, "a group")
            parts: list[Condition] = []
            for key in GROUP_KEYS:
                members = self._members(group, key)
                if members:
                    parts.append((key, members))
            return parts[0] if len(parts) == 1 else ("all", tuple(parts))
        return self._leaf(parent.sub(at, LEAF_KEYS, "a leaf"))

    def _leaf(self, reader: Reader) -> int | None:
        forms = [f for f in LEAF_FORMS if f in reader.map]
        if len(forms) != 1:
            reader.fault((), f"a leaf has exactly one of {', '.join(LEAF_FORMS)}")
            return None
        form = forms[0]
        pattern, table = "", ""
        found: tuple[str, ...] = ()
        where: tuple[tuple[str, str], ...] = ()
        if form == "fields":
            fields = reader.sub(("fields",), ("table", "where"), "'fields'")
            table, where = fields.word("table", TABLES), fields.pairs("where")
            for name, wanted in where:
                if wanted.strip().startswith("~"):
                    try:
                        anchors.usable(wanted.strip()[1:].strip(), self.layer == "built-in")
                    except anchors.PatternError as error:
                        fields.fault(("where", name), f"bad regex: {error}")
        elif form == "raised":
            table, where = RAISED, raised.read(reader, self.layer == "built-in")
        else:
            pattern = reader.string(form)
            found = self._anchors(reader, form, pattern)
            if form == "code":
                pattern = code_forms.of_code(pattern)[0]
            elif form == "exit" and _STATUS.fullmatch(pattern):
                pattern = code_forms.of_exit(int(pattern))[0]
        number = len(self.signals)
        if number == MAX_LEAVES:
            reader.fault((), f"an entry has at most {MAX_LEAVES} leaves", "split it")
        lines = int(reader.number("lines", 0) or 0)
        if lines > MAX_LINES:
            reader.fault(("lines",), f"a pattern runs over at most {MAX_LINES} lines")
        self.signals.append(
            Signal(
                f"{self.code}/{number}",
                form,
                pattern,
                found,
                lines,
                () if form == "raised" else self._filters(reader) or self.filters or (code_forms.LINES if form == "code" else ()),
                table,
                where,
                self.layer == "built-in",
                options=anchors.options(pattern, lines) if form == "regex" and found else (),  # here: files are read by several processes
            )
        )
        return number

    def _anchors(self, reader: Reader, form: str, pattern: str) -> tuple[str, ...]:
        if form == "text":
            if len(pattern) < anchors.MIN_ANCHOR or "\n" in pattern:
                reader.fault((form,), f"the text must have {anchors.MIN_ANCHOR} characters or more, in one line")
            return (pattern,)
        if form == "code":
            return code_forms.of_code(pattern)[1]
        if form == "exit":
            if not _STATUS.fullmatch(pattern):
                reader.fault((form,), "'exit' is a number")
                return ()
            return code_forms.of_exit(int(pattern))[1]
        try:
            anchors.usable(pattern, self.layer == "built-in")
        except anchors.PatternError as error:
            reader.fault((form,), f"bad regex: {error}", "try it with python -c 'import re; re.compile(...)'")
            return ()
        found = anchors.of_regex(pattern, first_line=bool(reader.map.get("lines")))
        if not found or min(map(len, found)) < anchors.MIN_ANCHOR:
            reader.fault((form,), f"the regex has no fixed text of {anchors.MIN_ANCHOR} characters outside optional parts",
                         "the scanner looks for fixed text first; anchor the pattern on the stable words of the message")  # fmt: skip
        return found

    @staticmethod
    def _filters(reader: Reader) -> tuple[Filter, ...]:
        if "in" not in reader.map:
            return ()
        value = reader.map["in"]
        kinds = [value] if isinstance(value, str) else list(value)
        found = []
        for kind in kinds:
            if not isinstance(kind, str) or kind not in LINE_KINDS:
                reader.fault(("in",), f"'{kind}' is no kind of line", f"kinds: {', '.join(LINE_KINDS)}")
                continue
            one = (
                reader.sub(("in", kind), ("module", "level", "file"), "a filter")
                if isinstance(reader.map["in"], dict)
                else None
            )
            if one is None:
                found.append(Filter(kind))
            else:
                found.append(Filter(kind, one.strings("module"), one.strings("level"), one.strings("file")))
        return tuple(found)
