"""The public Python interface: `from doctor import diagnose, explain, brief, env`. Names and fields stay; new ones may come.

What cannot be answered raises nothing: a path that is not there is told in what was not read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.pace.unasked import heard
from doctor.read import discover
from doctor.read.source import Skipped, Source
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.scan.select import EVERYTHING, Select
from kb.knowledge import Knowledge, load
from parsers.named import NamedTuple

What = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
DEATH = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"  # of the examples


def diagnose(what: What, *, knowledge: Knowledge | None = None, select: Select = EVERYTHING) -> Diagnosis:
    """The diagnosis of a path, of several, or of a text (a string with a line break, or one that is no existing path).

    >>> found = diagnose(DEATH)
    >>> found.verdict, found.roots[0].finding.entry.code
    ('findings', 'ENV001')
    """
    sources, skipped = _sources(what)
    return _diagnosed(sources, skipped, knowledge or load(), select)


def report(what: What, *, knowledge: Knowledge | None = None) -> dict[str, Any]:
    """The same as the JSON report, whose schema has a version: `npu-doctor schema` prints it.

    >>> report(DEATH)["schema_version"]
    1
    """
    from doctor.answer.report import report as made

    known = knowledge or load()
    return made(diagnose(what, knowledge=known), known)


def brief(what: What, *, budget: int = 2000, lang: str = "en", redact: bool = True, knowledge: Knowledge | None = None) -> str:
    """The diagnosis in at most so many tokens, for an assistant: cited, and redacted unless told otherwise.

    >>> "> ImportError: libhccl.so: cannot open" in brief(DEATH, budget=500)
    True
    """
    from doctor.answer.quotes import cited
    from doctor.answer.redact import redactor
    from doctor.answer.report import report as made
    from doctor.render import brief as short

    if not short.SMALLEST <= budget <= short.LARGEST:
        raise ValueError(f"budget {budget} is not from {short.SMALLEST} to {short.LARGEST}")
    known = knowledge or load()
    sources, skipped = _sources(what)
    diagnosis = _diagnosed(sources, skipped, known, EVERYTHING)
    told = cited(made(diagnosis, known), sources)
    if redact:
        using = redactor(diagnosis, known)
        told = using.report(told)
        told["redacted"] = using.told
    return short.render(told, lang, budget)


class Explained(NamedTuple):
    """What the knowledge says of a spelling: as text, and as `npu-doctor explain -f json` prints it."""

    known: bool
    text: str
    data: dict[str, Any]


def explain(written: str, *, lang: str = "en", knowledge: Knowledge | None = None) -> Explained:
    """An error code in any spelling, an entry, an environment variable or a card.

    >>> explain("507018").text.split("\\n")[0]
    '507018  ACL_ERROR_RT_AICPU_EXCEPTION'
    >>> explain("qqxzzy").known
    False
    """
    from doctor.explanation import named, text
    from doctor.render.layout import Style

    known = knowledge or load()
    found = named(written, known)
    return Explained(any(found.values()), text(found, known, lang, Style(width=100)), found)


class Environment(NamedTuple):
    """A machine: `findings`, `clean`, or `inconclusive` where nothing of Ascend is; its facts; the checks that it fails."""

    verdict: str
    line: str
    facts: Mapping[str, str]
    failing: tuple[tuple[str, str], ...]  # number of the check, title
    report: dict[str, Any]


def env(root: str = "/", *, commands: bool = True, lang: str = "en", knowledge: Knowledge | None = None) -> Environment:
    """Is a machine fit? `root`: its tree, a folder or an archive; `commands`: may npu-smi and the like be asked?

    >>> env(commands=False).facts["machine.arch"] != ""
    True
    """
    from doctor.env import report as reports
    from doctor.env import verdict
    from doctor.env.look_at import Asked, machine

    known = knowledge or load()
    looked = machine(Asked(root=root, commands=commands), known)
    made = reports.report(looked, known, verdict.results(looked, known.checks()))
    failing = tuple((f["id"], f["title"][lang]) for f in made["findings"])
    return Environment(made["verdict"], made["situation"]["line"][lang], made["environment"]["facts"], failing, made)


def _sources(what: What) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    items = [what] if isinstance(what, (str, os.PathLike)) else list(what)
    paths, texts = [], []
    for item in items:
        text = os.fspath(item)
        if "\n" in text or (isinstance(item, str) and not _exists(text)):
            texts.append(text)
        else:
            paths.append(str(Path(text).expanduser()))
    found = discover.discover(paths)
    given = (discover.given_text(t, f"<text {i + 1}>" if len(texts) > 1 else "<text>") for i, t in enumerate(texts))
    return (*found.sources, *given), found.skipped


def _diagnosed(sources: Sequence[Source], skipped: tuple[Skipped, ...], known: Knowledge, select: Select) -> Diagnosis:
    begin = time.perf_counter()
    scanner = Scanner(Plan(known.sought()), select)
    harvests = [scanner.scan(source) for source in sources]
    return heard(conclude(harvests, known, time.perf_counter() - begin, skipped), sources, known)


def _exists(text: str) -> bool:
    try:
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False
