"""A brief: the line that decides stands in it, every quotation is the log's own, and it takes no more than it may."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests_support import INCIDENTS, Diagnosed

from doctor.answer.quotes import GAP, cited, fitted, row, span
from doctor.answer.redact import of_texts
from doctor.base.tokens import tokens
from doctor.read import again, discover
from doctor.render import brief
from kb.knowledge import Knowledge

BAR = 0.98  # of the incidents; it only ever rises
_QUOTE = re.compile(r"^(?:.*: )?(?P<path>\S.*?):(?P<line>\d+)(?P<note> \([^)]*\))?\n> (?P<text>.*)$", re.MULTILINE)


def source_of(case: Path) -> Path:
    return next(case.glob("input.*"))


@cache
def raw(path: str) -> list[bytes]:
    return Path(path).read_bytes().split(b"\n")


@pytest.fixture(scope="module")
def quoted(diagnosed: Diagnosed) -> Diagnosed:
    """The report of an incident with its quotations."""

    @cache
    def made(case: Path) -> dict[str, Any]:
        return cited(diagnosed(case), discover.discover([str(source_of(case))]).sources)

    return made


def deciding(report: dict[str, Any]) -> dict[str, Any] | None:
    """The evidence that the answer rests on, told by the report alone."""
    if report["decisive"] is not None:
        return report["decisive"]["evidence"]  # type: ignore[no-any-return]
    roots = [f for f in report["findings"] if f["role"] == "root" and f["kind"] != "noise"]
    if not roots:
        return None
    evidence = roots[0]["evidence"]
    return next((e for e in evidence if e["matched"]), evidence[0])  # type: ignore[no-any-return]


def test_the_line_that_decides_stands_in_a_thousand_tokens(quoted: Diagnosed) -> None:
    """Path, number, and at least a hundred letters of the line itself, or all of it."""
    wanted, missed = 0, []
    for case in INCIDENTS:
        report = quoted(case)
        one = deciding(report)
        if one is None:
            continue
        wanted += 1
        told = brief.render(report, "en", 1000)
        here = [m for m in _QUOTE.finditer(told) if m["path"].endswith(one["path"]) and int(m["line"]) == one["line"]]
        whole = raw(one["path"])[one["line"] - 1].decode("utf-8", "replace").strip()
        if not any(len(m["text"].replace(GAP, "")) >= min(100, len(row(one["text"]).strip()), len(whole)) for m in here):
            missed.append(case.name)
    assert wanted > 300
    assert len(missed) <= (1 - BAR) * wanted, missed


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_quotations_are_the_logs_own(quoted: Diagnosed, lang: str) -> None:
    """Of every incident, every piece of every quotation, byte for byte, in the line that is named."""
    count = 0
    for case in INCIDENTS if lang == "en" else INCIDENTS[::6]:
        for found in _QUOTE.finditer(brief.render(quoted(case), lang, 20_000)):
            count += 1
            line = raw(str(source_of(case)))[int(found["line"]) - 1]
            assert found["path"].endswith(str(source_of(case))), found[0]
            assert found["note"] is None, found[0]
            at = 0
            for piece in found["text"].split(GAP):
                at = line.find(piece.encode(), at)
                assert at >= 0, found[0]
    assert count > (1000 if lang == "en" else 150)


def test_redacted_quotations_are_the_logs_own_but_for_the_pseudonyms(quoted: Diagnosed, knowledge: Knowledge) -> None:
    """What stands between pseudonyms is byte-exact and in the order of the line."""
    hidden = 0
    for case in INCIDENTS[::4]:
        using = of_texts(knowledge)
        report = using.report(quoted(case))
        names = sorted(set(using.mapping.values()), key=len, reverse=True)
        apart = re.compile("|".join(map(re.escape, (*names, GAP)))) if names else re.compile(re.escape(GAP))
        for found in _QUOTE.finditer(brief.render(report, "en", 20_000)):
            line, at = raw(str(source_of(case)))[int(found["line"]) - 1], 0
            hidden += any(name in found["text"] for name in names)
            for piece in apart.split(found["text"]):
                at = line.find(piece.encode(), at)
                assert at >= 0, (found[0], piece)
    assert hidden > 10


@pytest.mark.parametrize("budget", [300, 1000, 2500])
def test_a_brief_keeps_to_its_budget_and_is_always_the_same(quoted: Diagnosed, budget: int) -> None:
    for case in INCIDENTS[::8]:
        for lang in ("en", "zh"):
            told = brief.render(quoted(case), lang, budget)
            assert tokens(told) <= budget, case.name
            assert told == brief.render(quoted(case), lang, budget)


def test_more_room_tells_more(quoted: Diagnosed) -> None:
    """What a small brief tells first stands in the large one; one that had no room for all says so, and how much has."""
    for case in INCIDENTS[::10]:
        small, large = (brief.render(quoted(case), "en", budget) for budget in (500, 100_000))
        assert len(small) <= len(large)
        assert "verdict: " in small
        assert "Left out for the budget" not in large
        if small != large:
            needed = re.search(r"--budget (\d+)$", small, re.MULTILINE)
            assert needed is not None
            assert brief.render(quoted(case), "en", int(needed[1])) == large


def test_a_line_is_quoted_as_it_stands() -> None:
    """Tabs stay, what steers a terminal is left out and marked; a report's text is found in spite of both."""
    line = "[ERROR]\tHCCL \x1b[31mfailed\x1b[0m on\u202erank 3"
    assert span(line, "HCCL ?[31mfailed?[0m on?rank 3") == line[8:]
    assert span("head: CapEff:\t0000", "CapEff:    0000") == "CapEff:\t0000"
    assert span("{\"m\": \"a\\tb\"}", "a    b") == "{\"m\": \"a\\tb\"}"


@pytest.mark.parametrize(
    ("quote", "matched", "width", "told"),
    [
        ("short", "", 10, "short"),
        ("a long line of a log", "", 6, f"a long{GAP}"),
        ("0123 567 90123456789 the match", "match", 12, f"{GAP}match"),
        ("user <host-1> left", "", 10, f"user {GAP}"),
    ],
)
def test_a_long_line_is_cut_around_what_matched(quote: str, matched: str, width: int, told: str) -> None:
    """No pseudonym is cut in two: half of one would look like a word of the log."""
    assert fitted(quote, matched, width) == told


def test_lines_are_found_again_wherever_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their numbers, across the pieces in which a log is read, of a line without end its beginning."""
    monkeypatch.setattr(again, "PIECE", 7)
    monkeypatch.setattr(again, "MAX_ROW", 20)
    log = tmp_path / "a.log"
    log.write_bytes(b"one\r\ntwo\n" + b"x" * 100 + b"\nf\xc3\xbcnf\n\xd6\xd0\nlast")
    (source,) = discover.discover([str(log)]).sources
    found = again.rows([source], [(source.name, n) for n in (1, 2, 3, 4, 5, 6, 7)])
    assert [found.get((source.name, n)) for n in range(1, 8)] == ["one", "two", "x" * 20, "fünf", "中", "last", None]
    log.unlink()
    assert again.rows([source], [(source.name, 1)]) == {}


def test_what_cannot_be_read_again_is_said_to_be_so(diagnosed: Diagnosed) -> None:
    """A log that has gone meanwhile, or that another machine has, is quoted out of the report."""
    told = brief.render(cited(diagnosed(INCIDENTS[0]), []), "en", 1000)
    assert "(not compared with the log)\n> " in told


def test_the_command(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A folder, a pipe, a file to write into, both languages; a log without text is no answer."""
    done = run("brief", "kb/demo", "--budget", "1000", "--lang", "en")
    told = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "verdict: ERROR RTS001" in told
    assert "plog-41233_20260302090118103.log:3\n> [ERROR] RUNTIME(41233" in told
    assert "192.168" not in told
    assert tokens(told) <= 1000
    piped = run("brief", "-", "--lang", "zh", "-o", str(tmp_path / "b.md"), stdin=b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
    assert piped.returncode == 0
    assert piped.stdout == b""
    assert "<stdin>:1\n> ImportError: libhccl.so: cannot open" in (tmp_path / "b.md").read_text(encoding="utf-8")
    assert run("brief", str(tmp_path / "none.log")).returncode == 3
    assert run("brief", "-", "--no-redact", "--redact-map", "x").returncode == 2


@pytest.mark.parametrize("budget", ["0", "299", "-5", "200001", "many"])
def test_a_budget_that_is_none_is_refused(budget: str, run) -> None:  # type: ignore[no-untyped-def]
    done = run("brief", "kb/demo", "--budget", budget, "--lang", "en")
    assert done.returncode == 2
    assert b"budget" in done.stderr
