"""What is fuzzed, and what must hold for any bytes at all. Needs no fuzzer: the kept inputs are replayed by ordinary tests.

A target takes bytes and returns; what it raises is a broken promise.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from unittest import mock

from doctor.answer.report import report
from doctor.base.errors import UsageError
from doctor.fleet import gather
from doctor.judge.diagnosis import conclude
from doctor.read import archives, content, discover
from doctor.read.source import Source, hints
from doctor.render import annotations, html, jsonl, layout, markdown, sarif, text
from doctor.scan import (
    clusters,
    factscan,
    floods,
    loadscan,
    meaningscan,
    raised,
    repeats,
    scanner,
    window_lines,
    windows,
)
from doctor.scan.harvest import Harvest, from_json, merge
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb import anchors, effort, spelling, yamldoc
from kb.build import build, kinds
from kb.knowledge import Knowledge, load
from kb.layers import Layer
from kb.load import read_entry
from kb.model import Entry
from kb.pack import Pack
from kb.sought import gathered
from parsers import process_list, tables
from parsers.line import read_line
from parsers.parsed import seconds
from parsers.prefix import peel
from parsers.traceback import failures
from tests.fuzz import told_otherwise

Target = Callable[[bytes], None]
KINDS = {"plog", "message", "traceback", "launcher", "kernel", "shell", "text"}
READ = 4 << 20  # bytes that are read of one member of an archive


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "backslashreplace").split("\n")


def line(data: bytes) -> None:
    """One line: peeled once and for all, of a known kind, with a time that can be computed with."""
    for raw in _lines(data):
        peeled = peel(raw)
        assert peel(peeled.text).text == peeled.text
        read = read_line(raw)
        assert read.kind in KINDS
        if read.time is not None:
            assert len(read.time) == 26
            assert seconds(read.time) >= 0


def rows(data: bytes) -> None:
    """Tables of a whole text."""
    lines = _lines(data)
    for row in (*tables.rows(lines, 5), *process_list.rows(lines, 5)):
        assert 5 <= row.line < 5 + len(lines)
        assert all(isinstance(cell, str) for pair in row.cells for cell in pair)


def traceback(data: bytes) -> None:
    """Failures of a whole text: no line is in two of them."""
    lines = _lines(data)
    taken = [number for failure in failures(lines) for number in failure.lines]
    assert len(taken) == len(set(taken))
    assert set(taken) <= set(range(1, len(lines) + 1))


def archive(data: bytes) -> None:
    """An archive: every member is read or named, nothing but an OSError comes out, nothing is written."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        Path(path).write_bytes(data)
        found = discover.discover([folder])
        assert found.sources or found.skipped
        for source in found.sources:
            assert source.name.startswith(path)
            try:
                with source.open() as stream:
                    stream.read(READ)
            except OSError:
                continue
        head = data[: discover.HEAD]
        if content.archive(head):
            archives.members(path, head)
        assert os.listdir(folder) == ["a"]


def yaml(data: bytes) -> None:
    """YAML: text, lists and mappings of text, or a problem with its place."""
    got = yamldoc.parse("x.yaml", data)
    if isinstance(got, yamldoc.Document):
        assert _plain(got.value) is None
    else:
        assert got.what
        assert str(got)


def _plain(value: object, depth: int = 0) -> None:
    assert depth <= yamldoc.MAX_DEPTH
    if isinstance(value, dict):
        assert all(isinstance(k, str) for k in value)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            _plain(one, depth + 1)
    else:
        assert value is None or isinstance(value, str)


def entry(data: bytes) -> None:
    """A user's entry: understood and then usable, or refused with reasons."""
    got = read_entry("usr001_mine.yaml", data, _kinds(), "user")
    if isinstance(got, Entry):
        plan = Plan(gathered(got.signals))
        for sample in (*got.match, *got.no_match):
            Scanner(plan, engine="plain").scan(_source(sample.text.encode("utf-8", "surrogatepass")))
    else:
        assert got
        assert all(str(p) for p in got)


def layer(data: bytes) -> None:
    """A user's folder of knowledge, its files divided by NUL bytes, becomes a pack that can be used."""
    names = ("entries/usr001_a.yaml", "facts.yaml", "envvars.yaml", "codes/c.yaml", "cards/c.yaml")
    with tempfile.TemporaryDirectory() as folder:
        for name, part in zip(names, data.split(b"\0"), strict=False):
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(part)
        packed, problems = build(Layer("user", Path(folder)))
        assert all(str(p) for p in problems)
        known = Knowledge((Pack(packed),))
        Scanner(Plan(known.sought()), engine="plain").scan(_source(data))
        for code in known.codes_of_entries:
            assert known.entry(code) is not None
        for row in known.all_codes():
            known.decode(row["code"])
        known.catalog()


def harvest(data: bytes) -> None:
    """What `scan -f jsonl` is said to have written: understood, or refused; then merged and told in every form."""
    _knowledge()  # made before anything is measured, though nothing empty is told
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                read = list(gather.read(file.name).harvests)
        except UsageError:
            return
        _tell(gather.apart([(file.name, one) for one in read]))


def scan(data: bytes) -> None:
    """Bytes to a report in every form, and back through JSON lines."""
    found = _scanner().scan(_source(data))
    back = json.loads(json.dumps(found.json()))
    again = merge([from_json(back)])
    assert again == merge([found])
    _tell([found])


def tight(data: bytes) -> None:
    """The same with windows, look-backs and quotas so small that short texts reach them: it ends, reads everything, and counts what it does not keep."""
    whole = _scanner().scan(_source(data))
    with contextlib.ExitStack() as stack:
        for module, bounds in TIGHT.items():
            stack.enter_context(mock.patch.multiple(module, **bounds))
        stack.enter_context(mock.patch.object(scanner, "windows", partial(windows.windows, size=400)))
        found = _scanner().scan(_source(data))
    assert (found.lines, found.size) == (whole.lines, whole.size)
    assert found.errors == sum(cluster.total for cluster in found.clusters)


def codes(data: bytes) -> None:
    """Codes as people type them."""
    written = data.decode("utf-8", "backslashreplace")
    key = spelling.key(written)
    assert spelling.key(key) == key
    assert spelling.candidates(written)
    spelling.in_text(written)
    _knowledge().decode(written)


def regex(data: bytes) -> None:
    """A user's pattern: what it is looked for by stands in everything that it matches."""
    import re

    pattern, _, body = data.decode("utf-8", "backslashreplace").partition("\n")
    if len(pattern) > 200:
        return
    try:
        re.compile(pattern)
        found = anchors.of_regex(pattern)
        effort.nested_repeat(pattern)
    except (re.error, OverflowError, RecursionError, ValueError):
        return
    if found and (matched := _matched(pattern, body)) is not None:
        assert any(one in matched for one in found)


def paths(data: bytes) -> None:
    """Names of files: what they hint at is never more than they say."""
    told = hints(data.decode("utf-8", "surrogateescape"))
    assert all(isinstance(n, int) and n >= 0 for n in told[1:] if n is not None)
    discover.not_text(data)


def _matched(pattern: str, body: str) -> str | None:
    import regex as timed

    try:
        found = timed.search(pattern, body[:400], timeout=0.2)
    except (timed.error, TimeoutError):
        return None
    return found[0] if found is not None else None


def _tell(harvests: list[Harvest]) -> None:
    known = _knowledge()
    diagnosis = conclude(harvests, known)
    made = report(diagnosis, known)
    for language in ("en", "zh"):
        text.render(made, language, layout.Style(), True, True)
        for render in (markdown.render, html.render, sarif.render, annotations.junit, annotations.github):
            render(made, language).encode("utf-8", "backslashreplace")
    jsonl.render(made, diagnosis.harvest.json()).encode("utf-8", "backslashreplace")
    json.dumps(made, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _source(data: bytes) -> Source:
    return Source("a.log", lambda: io.BytesIO(data), len(data), hints("a.log"))


@lru_cache(maxsize=1)
def _knowledge() -> Knowledge:
    return load()


@lru_cache(maxsize=1)
def _scanner() -> Scanner:
    return Scanner(Plan(_knowledge().sought()), engine="ahocorasick_rs")


@lru_cache(maxsize=1)
def _kinds() -> tuple[str, ...]:
    return kinds()


# Where a scan takes a shortcut, or stops looking, moved to where a short text reaches it.
TIGHT: dict[ModuleType, dict[str, object]] = {
    windows: {"LOOK_BACK": 200, "LOOK_AHEAD": 200},
    window_lines: {"LOOK_BACK": 120, "OWNER_LINES": 5},
    floods: {"KEEP": 3, "KEEP_OF_PROCESS": 2, "KEEP_OF_STATEMENT": 2, "MAX_FORMS": 4, "NEW_IN_A_ROW": 4, "MAX_DECIDING": 2},
    clusters: {"MAX_SHAPES": 4},
    factscan: {"KEEP_OF_OWNER": 2, "FUTILE": 3},
    repeats: {"SMALLEST": 100, "DENSE": 4000, "PARTS": (60, 120, 120), "MAX_KNOWN": 6},
    meaningscan: {"MAX_SHAPES": 3},
    raised: {"MAX_SHAPES": 3},
    loadscan: {"READ": 2, "STRIDE": 3, "END": 2},
}


TARGETS: dict[str, Target] = {
    "line": line,
    "rows": rows,
    "traceback": traceback,
    "archive": archive,
    "yaml": yaml,
    "entry": entry,
    "layer": layer,
    "harvest": harvest,
    "scan": scan,
    "tight": tight,
    "codes": codes,
    "regex": regex,
    "paths": paths,
    **told_otherwise.TARGETS,
}
