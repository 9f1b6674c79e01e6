"""Grades any tool on the labelled incidents: `python -m benchmarks.grade --tool 'CMD {path}'`, or `--baseline exit|grep|exception`.

CMD is called once for each log and prints its answer as text, or as JSON that holds `class`, and optionally `text` (what it claims),
`lines` (what of the log it shows) and `fault` (false: nothing is wrong). The classes are the kinds of `kb/kinds.yaml`, and `none`.
Without a tool or a baseline it is npu-doctor that is graded. `--readme` writes the table into benchmarks/incidents/GRADES.md.

The scale, by words of the label, so that a machine can apply it to every tool alike (what people said stands in incidents/README.md):

A  names the cause and a cure            B  names the cause, no cure
C  claims nothing, shows the log         D  claims something else          E  says nothing, or that nothing is wrong

Lines that are quoted from the log are no claim: a tool that repeats its input names nothing. A decoy is right when no fault is claimed.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import table, write_between

ROOT = Path(__file__).resolve().parent.parent
INCIDENTS = ROOT / "benchmarks" / "incidents"
CLASSES = INCIDENTS / "classes.tsv"
GRADES = INCIDENTS / "GRADES.md"
MAX_NOTHING = 300  # characters: a longer answer says more than that nothing is wrong
MAX_TEXT = 6000  # characters of an answer: who prints everything has not answered
_NOTHING = re.compile(r"\bno (?:fault|error|issue|problem)s? (?:found|detected)|nothing (?:is )?wrong|\bhealthy\b|未发现", re.IGNORECASE)


class Case(NamedTuple):
    """An incident: its log, what is known of it, its class, and whether the class was read from the cause or taken from an answer."""

    name: str
    log: Path
    label: dict[str, Any]
    kind: str
    by: str

    @property
    def decoy(self) -> bool:
        return self.label["kind"] == "decoy"


class Answer(NamedTuple):
    """What a tool said of a log."""

    text: str
    kind: str = ""
    fault: bool = True


Tool = Callable[[Case], Answer]


def cases() -> tuple[Case, ...]:
    """All labelled incidents, in the order of their names."""
    with CLASSES.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return tuple(
        Case(row["case"], next((ROOT / row["case"]).glob("input.*")), json.loads((ROOT / row["case"] / "label.json").read_text(encoding="utf-8")), row["class"], row["by"])
        for row in rows
    )


def names(text: str, word: str) -> bool:
    """The word stands in the text at the beginning of a word."""
    return re.search(r"(?<![a-z0-9_])" + re.escape(word.lower()), text) is not None


def grade(case: Case, answer: Answer) -> str:
    """A to E; of a decoy `right` or `wrong`."""
    quoted = {line.strip() for line in case.log.read_text(encoding="utf-8", errors="replace").splitlines()}
    claims = [line for line in answer.text[:MAX_TEXT].splitlines() if line.strip() and line.strip() not in quoted]
    told = "\n".join(claims).lower()
    nothing = not answer.fault or not answer.text.strip() or (len(told) <= MAX_NOTHING and bool(_NOTHING.search(told)))
    if case.decoy:
        return "right" if nothing or answer.kind == "none" or (not claims and answer.kind == "") else "wrong"
    if nothing:
        return "E"
    words = case.label["root_cause_keywords"]
    found = sum(names(told, word) for word in words) >= (2 if len(words) >= 3 else 1)
    if found:
        return "A" if not case.label.get("fix_keywords") or any(names(told, word) for word in case.label["fix_keywords"]) else "B"
    return "D" if claims else "C"


def command(line: str) -> Tool:
    """A tool as a command line; `{path}` is the log, which else comes through standard input."""

    def call(case: Case) -> Answer:
        words = [word.replace("{path}", str(case.log)) for word in shlex.split(line)]
        stdin = None if "{path}" in line else case.log.read_bytes()
        try:
            done = subprocess.run(words, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, timeout=600, check=False)
        except OSError as error:
            raise SystemExit(f"grade: cannot run {words[0]!r}: {error.strerror}\n = help: --tool 'CMD {{path}}' names a program that is there") from error
        except subprocess.TimeoutExpired:
            return Answer("")
        return read(done.stdout.decode("utf-8", "replace"))

    return call


def read(printed: str) -> Answer:
    """An answer as it was printed: JSON with a class, or text."""
    try:
        told = json.loads(printed)
    except ValueError:
        return Answer(printed)
    if not isinstance(told, dict) or not any(key in told for key in ("class", "text", "fault")):
        return Answer(printed)
    lines = told.get("lines") or ()
    return Answer("\n".join([str(told.get("text") or ""), *map(str, lines)]), str(told.get("class") or ""), told.get("fault") is not False)


def npu_doctor() -> Tool:
    """This program: the first root, its cause and fixes; a warning about something that is no fault of the NPU is no alarm."""
    from doctor.answer.report import report
    from doctor.judge.diagnosis import conclude
    from doctor.read import discover
    from doctor.scan.plan import Plan
    from doctor.scan.scanner import Scanner
    from kb.knowledge import load

    known = load()
    scanner = Scanner(Plan(known.sought()))

    def call(case: Case) -> Answer:
        found = report(conclude([scanner.scan(source) for source in discover.discover([str(case.log)]).sources], known), known)
        roots = [f for f in found["findings"] if f["role"] == "root"]
        loud = [f for f in roots if f["severity"] in ("error", "fatal")]
        if not roots:
            clean = found["verdict"] == "clean"
            shown = [str(one["evidence"]["text"]) for one in (found["decisive"], *found["unexplained"]) if one]
            return Answer("\n".join(shown), "none" if clean else "", not clean)
        told = " ".join(_flat([f[k] for k in ("id", "slug", "title", "cause", "why", "fixes", "kind")]) for f in roots[:3])
        kind = roots[0]["kind"] if loud or not case.decoy else "none"
        return Answer(told, "none" if kind in ("not-npu", "noise", "wrapper") and not loud else kind, True)

    return call


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return _flat(value.get("en", "")) if set(value) <= {"en", "zh"} else " ".join(map(_flat, value.values()))
    return " ".join(map(_flat, value)) if isinstance(value, list) else "" if value is None else str(value)


_EXIT = re.compile(r"exit(?: ?code|ed with(?: code| exit code)?|code)?\s*[:=]?\s*\(?(-?\d{1,3})\b|Signal (\d+)|return code (-?\d+)", re.IGNORECASE)
_ERROR = re.compile(r"^.*(?:\[ERROR\]|\bERROR\b|\berror:).*$", re.MULTILINE)
_CODE = re.compile(r"\b(?:E[A-Z][0-9A-Z]{4}|ERR\d{5}|[1-9]\d{5}|0x[0-9a-fA-F]{4,8}|HCCL|RUNTIME|GE|TBE|DRV|ASCENDCL)\b")
_EXCEPTION = re.compile(r"^(?:\S*: |\[rank\d+\]: ?|\(.*?\) ?(?:ERROR .*? )?)?((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt)\b)", re.MULTILINE)


def _last_exit(text: str) -> tuple[str, str]:
    found = [next(filter(None, m.groups())) for m in _EXIT.finditer(text)]
    return (f"exit {found[-1]}" if found else "exit ?"), ""


def _first_error(text: str) -> tuple[str, str]:
    line = m[0] if (m := _ERROR.search(text)) else ""
    code = m[0] if (m := _CODE.search(line)) else ""
    return code or ("error" if line else ""), line


def _last_exception(text: str) -> tuple[str, str]:
    found = list(_EXCEPTION.finditer(text))
    if not found:
        return "", ""
    end = text.find("\n", found[-1].start())
    return found[-1][1].rpartition(".")[2], text[found[-1].start() : end if end >= 0 else None]


BASELINES: dict[str, tuple[str, Callable[[str], tuple[str, str]]]] = {
    "exit": ("exit code only", _last_exit),
    "grep": ("grep for ERROR", _first_error),
    "exception": ("last exception", _last_exception),
}


def baseline(name: str, all_cases: Sequence[Case]) -> Tool:
    """Shows a line of the log, and takes for its class what most other incidents with the same mark have."""
    marks = {case.name: BASELINES[name][1](case.log.read_text(encoding="utf-8", errors="replace")) for case in all_cases}
    by_mark: dict[str, Counter[str]] = defaultdict(Counter)
    every: Counter[str] = Counter(case.kind for case in all_cases)
    for case in all_cases:
        by_mark[marks[case.name][0]][case.kind] += 1

    def call(case: Case) -> Answer:
        mark, line = marks[case.name]
        others = by_mark[mark] - Counter([case.kind])
        left = others or every - Counter([case.kind])
        kind = min(left, key=lambda k: (-left[k], k))
        return Answer(line, kind, bool(line) or (name == "exit" and mark not in ("exit ?", "exit 0")))

    return call


class Score(NamedTuple):
    """What a tool came to."""

    grades: Counter[str]
    decoys: int
    right: int
    by_cause: tuple[int, int]  # of the classes that were read from the cause: right, all
    accuracy: float
    macro_f1: float


def score(all_cases: Sequence[Case], answers: Sequence[Answer]) -> Score:
    graded = [grade(case, answer) for case, answer in zip(all_cases, answers, strict=True)]
    pairs = [(case.kind, answer.kind) for case, answer in zip(all_cases, answers, strict=True)]
    cause = [case.kind == answer.kind for case, answer in zip(all_cases, answers, strict=True) if case.by == "cause"]
    return Score(
        Counter(g for g in graded if g in "ABCDE"),
        sum(case.decoy for case in all_cases),
        graded.count("right"),
        (sum(cause), len(cause)),
        sum(a == b for a, b in pairs) / len(pairs),
        macro_f1(pairs),
    )


def macro_f1(pairs: Iterable[tuple[str, str]]) -> float:
    """The mean over the classes of what stands in the labels: a class of three counts as much as one of fifty."""
    rows = list(pairs)
    scores = []
    for kind in sorted({wanted for wanted, _ in rows}):
        hit = sum(wanted == given == kind for wanted, given in rows)
        said, there = sum(given == kind for _, given in rows), sum(wanted == kind for wanted, _ in rows)
        scores.append(2 * hit / (said + there) if said + there else 0.0)
    return sum(scores) / len(scores)


def row(name: str, one: Score) -> tuple[str, ...]:
    faults = sum(one.grades.values())
    shares = [f"{one.grades[g]} ({one.grades[g] / faults:.0%})" for g in "ABCDE"]
    return (name, *shares, f"{one.right}/{one.decoys}", f"{one.accuracy:.2f}", f"{one.macro_f1:.2f}", f"{one.by_cause[0]}/{one.by_cause[1]}")


HEAD = ("tool", "A", "B", "C", "D", "E", "decoys right", "class right", "macro-F1", "class right, read from the cause")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", metavar="'CMD {path}'", help="the tool to grade")
    parser.add_argument("--baseline", choices=BASELINES)
    parser.add_argument("--all", action="store_true", help="npu-doctor and every baseline")
    parser.add_argument("--readme", action="store_true", help="all of them, written into GRADES.md")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = tuple(case for case in cases() if options.only in case.name)
    if not chosen:
        raise SystemExit(f"grade: no case is called {options.only!r}")
    tools: list[tuple[str, Tool]] = []
    if options.tool:
        tools.append((options.tool, command(options.tool)))
    if options.baseline or options.all or options.readme:
        tools += [(BASELINES[name][0], baseline(name, chosen)) for name in ([options.baseline] if options.baseline else BASELINES)]
    if not tools or options.all or options.readme:
        tools.append(("npu-doctor", npu_doctor()))
    rows = []
    for name, tool in tools:
        with ThreadPoolExecutor(options.jobs if options.tool else 1) as pool:
            answers = list(pool.map(tool, chosen))
        rows.append(row(name, score(chosen, answers)))
        for case, answer in zip(chosen, answers, strict=True) if options.verbose else ():
            print(f"{grade(case, answer):6}{'=' if case.kind == answer.kind else ' '} {case.name}  {case.kind} / {answer.kind}")
    text = f"{len(chosen)} incidents, {sum(c.decoy for c in chosen)} of them decoys, {len({c.kind for c in chosen})} classes\n\n{table(HEAD, rows)}"
    print(text)
    if options.readme and not write_between(GRADES, "benchmarks.grade", text):
        sys.exit(f"{GRADES} has no place for the table")


if __name__ == "__main__":
    main()
