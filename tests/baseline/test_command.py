"""`npu-doctor diff`, `scan --baseline` and `report diff` as their users call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests_support import fits_schema

from doctor import cli
from doctor.base.errors import UsageError
from doctor.baseline import told
from doctor.baseline.reports import changes
from doctor.render.layout import Style
from tests.simulate.pairs import Pair

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], runs: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in the folder of the runs: exit code, standard output, standard error."""
    monkeypatch.chdir(runs)
    monkeypatch.setenv("NO_PAGER", "1")

    def called(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(list(args))
        done = capsys.readouterr()
        return code, done.out, done.err

    return called


def made_by(call: Any, *args: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(call(*args)[1])
    return made


def test_what_a_failing_run_says_is_told(call: Any, weights: Pair) -> None:
    code, out, _ = call("diff", "good1", "good2", "bad")
    assert code == 1
    assert f"suspect  {weights.node}" in out
    assert "restore plan abandoned at block" in out
    assert f"bad/{weights.node}/" in out


def test_a_run_against_itself_is_the_same(call: Any) -> None:
    code, out, _ = call("diff", "good1", "good1")
    assert (code, out.splitlines()[0]) == (0, "nothing differs that would indicate a fault")


def test_a_baseline_that_was_learnt_says_the_same(call: Any, runs: Path) -> None:
    """As the runs that it was learnt of; with scan it stands behind the diagnosis."""
    code, out, noted = call("diff", "--learn", "good1", "good2", "-o", "good.baseline")
    assert (code, out) == (0, "")
    assert "2 runs" in noted
    direct = made_by(call, "diff", "good1", "good2", "bad", "-f", "json")
    kept = made_by(call, "diff", "good.baseline", "bad", "-f", "json")
    assert [one["shape"] for one in kept["differences"]] == [one["shape"] for one in direct["differences"]]
    scanned = made_by(call, "scan", "bad", "--baseline", "good.baseline", "-f", "json")
    assert [one["shape"] for one in scanned["baseline"]["differences"]] == [one["shape"] for one in direct["differences"]]
    schema = json.loads((ROOT / "doctor" / "answer" / "report.schema.json").read_text())
    fits_schema(scanned, schema)
    code, out, _ = call("scan", "bad", "--baseline", "good.baseline")
    assert code == 3, "the diagnosis decides where it knows that something failed"
    assert "Beside the baseline" in out
    assert (runs / "good.baseline").stat().st_size < 20_000


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_form_names_the_node_and_its_line(lang: str, call: Any, weights: Pair) -> None:
    made = made_by(call, "diff", "good1", "bad", "-f", "json")
    for drawn in (told.text(made, lang, Style()), told.text(made, lang, Style(width=40), everything=True), told.markdown(made, lang), told.page(made, lang)):
        plain = " ".join(drawn.replace("\\", "").split())
        assert weights.node in plain
        assert "restore plan abandoned" in plain


def test_what_logs_say_is_no_markup(call: Any, runs: Path) -> None:
    """Neither on a page, nor in Markdown, nor on a terminal."""
    (runs / "calm.log").write_text("INFO ready\n")
    (runs / "evil.log").write_text("ERROR \x1b[2J<script>alert(1)</script> ``` [x](http://evil) broken\n" * 3)
    made = made_by(call, "diff", "calm.log", "evil.log", "-f", "json")
    assert len(made["differences"]) == 1
    assert "<script>" not in told.page(made, "en")
    assert "````" in told.markdown(made, "en")
    assert "\x1b" not in json.dumps(made, ensure_ascii=False) + told.text(made, "en", Style())


def test_nodes_of_one_run(call: Any, weights: Pair) -> None:
    assert made_by(call, "diff", "--nodes", "bad", "-f", "json")["suspects"][0]["who"] == weights.node
    assert made_by(call, "scan", "--baseline", "nodes", "bad", "-f", "json")["baseline"]["among"] == "nodes"


def test_pseudonyms_stand_for_nodes(call: Any, weights: Pair) -> None:
    out = call("diff", "good1", "bad", "-f", "json", "--redact")[1]
    assert weights.node not in out
    assert json.loads(out)["redacted"]["values"]["host"] >= 1


def test_what_the_knowledge_knows_is_named(call: Any, runs: Path) -> None:
    (runs / "known.log").write_text("INFO ready\nEI0002: [PID: 7] 2026-05-11-07:30:00.000.000 The wait execution of the Notify register times out.\n")
    known = made_by(call, "diff", "good1", "known.log", "-f", "json")["differences"][0]
    assert [code["id"][:3] for code in known["codes"]][:1] == ["HCL"]


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("diff", "good1"), 2, "compares two runs"),
        (("diff", "nowhere", "bad"), 3, "there is no file or folder"),
        (("diff", "good1", "empty"), 3, "nothing was read"),
        (("diff", "good1", "-"), 2, "from a path"),
        (("diff", "--learn", "good1"), 2, "needs a file"),
        (("diff", "--learn", "good1", "-o", "x", "-f", "json"), 2, "one format"),
        (("diff", "--nodes", "good1", "bad"), 2, "beneath one folder"),
        (("diff", "--nodes", "one.log"), 3, "no two nodes"),
        (("diff", "cut.baseline", "bad"), 2, "cut off"),
        (("diff", "cut.baseline", "good1", "bad"), 2, "stands for all"),
        (("diff", "good1", "bad", "-o", "x.csv"), 2, "no format"),
        (("scan", "bad", "--baseline", "one.log"), 2, "is no baseline"),
        (("scan", "bad", "--baseline", "nowhere"), 2, "cannot read"),
        (("scan", "bad", "--baseline", "nodes", "--with-env"), 2, "do not go together"),
        (("report", "diff", "one.log", "one.log"), 2, "is no JSON"),
        (("report", "diff", "other.json", "other.json"), 2, "is no report"),
        (("report", "diff", "damaged.json", "damaged.json"), 2, "damaged report"),
        (("report", "diff", "later.json", "later.json"), 2, "version 9"),
    ],
)
def test_bad_input_is_told(args: tuple[str, ...], code: int, why: str, call: Any, runs: Path) -> None:
    (runs / "empty").mkdir(exist_ok=True)
    (runs / "one.log").write_text("INFO ready\n")
    (runs / "cut.baseline").write_bytes(b"npu-doctor baseline 1 0000\nxx")
    (runs / "other.json").write_text('{"findings": 7}')
    (runs / "damaged.json").write_text('{"findings": [{"id": 1}], "unexplained": [], "verdict": "x", "schema_version": 1}')
    (runs / "later.json").write_text('{"findings": [], "unexplained": [], "verdict": "x", "schema_version": 9}')
    with pytest.raises(UsageError) as refused:
        call(*args)
    assert refused.value.code == code
    assert why in refused.value.what
    assert refused.value.told("zh") != refused.value.told("en")


def test_logs_that_have_no_line_in_common_are_not_compared(call: Any, tmp_path: Path) -> None:
    """Neither is a dump of a process read as a log; both are said, in both languages."""
    for name, line in (("good", "worker is idle"), ("bad", "shard was opened")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.log").write_text(f"2026-03-02 09:00:01 INFO {line}\n" * 9)
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    (dumps / "hccl_trace_rank_0").write_bytes(b"\x80\x02}q\x00.")
    code, told = call("diff", str(tmp_path / "good"), str(tmp_path / "bad"), "--lang", "zh")[:2]
    assert (code, "无法比较" in told) == (3, True)
    with pytest.raises(UsageError, match="a dump of a process, and no log"):
        call("diff", str(tmp_path / "good"), str(dumps))


def test_nothing_that_is_read_is_written_over(call: Any, runs: Path) -> None:
    (runs / "keep.log").write_text("INFO ready\n")
    with pytest.raises(UsageError, match="overwritten"):
        call("diff", "good1", "keep.log", "-o", "keep.log", "-f", "json")


def finding(code: str, role: str = "root", severity: str = "error", line: int = 3) -> dict[str, Any]:
    return {
        "id": code, "role": role, "severity": severity, "count": 2, "title": {"en": f"title of {code}", "zh": f"{code} 的标题"},
        "scope": {"node": "n1", "rank": 2}, "evidence": [{"path": "a.log", "line": line}],
    }  # fmt: skip


def report(*findings: dict[str, Any], unexplained: str = "") -> dict[str, Any]:
    clusters = [{"template": unexplained, "count": 1, "evidence": {"path": "a.log", "line": 9}}] if unexplained else []
    return {"schema_version": 1, "verdict": "findings", "findings": list(findings), "unexplained": clusters}


@pytest.mark.parametrize("odd", ["abc", float("inf"), float("nan"), None, [], "9" * 5000], ids=repr)
@pytest.mark.parametrize("field", ["count", "line"])
def test_numbers_that_are_none_are_told(field: str, odd: object, call: Any, runs: Path) -> None:
    """A report that somebody else wrote, with anything for a number: refused, never an error of this program."""
    one = finding("RTS001")
    (one if field == "count" else one["evidence"][0])[field] = odd
    (runs / "odd.json").write_text(json.dumps(report(one)))
    (runs / "plain.json").write_text(json.dumps(report(finding("RTS001"))))
    with pytest.raises(UsageError, match="damaged report"):
        call("report", "diff", "odd.json", "plain.json")


def test_two_reports_are_compared(call: Any, runs: Path) -> None:
    (runs / "before.json").write_text(json.dumps(report(finding("RTS001"), finding("HCL001"), finding("MEM001"), unexplained="boom <n>")))
    (runs / "after.json").write_text(json.dumps(report(finding("RTS001"), finding("HCL001", "symptom", line=8), finding("DRV002"))))
    code, out, _ = call("report", "diff", "before.json", "after.json")
    assert code == 1
    assert "1 new, 2 gone, 2 still there" in out
    assert "DRV002 title of DRV002 (n1 rank 2, a.log:3)" in out
    made = made_by(call, "report", "diff", "before.json", "after.json", "-f", "json")
    assert [one["id"] for one in made["gone"]] == ["MEM001", "boom <n>"]
    assert made["same"][1]["changes"] == {"role": {"before": "root", "after": "symptom"}, "place": {"before": "a.log:3", "after": "a.log:8"}}


def test_equal_reports_differ_in_nothing(call: Any) -> None:
    made = made_by(call, "scan", "bad", "-f", "json")
    assert not changes(made, made, ("a", "b")).differs
    Path("same.json").write_text(json.dumps(made))
    assert call("report", "diff", "same.json", "same.json", "--lang", "zh")[0] == 0
