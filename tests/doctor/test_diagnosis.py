"""How findings come about and how they are ordered, on a small knowledge of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.api import diagnose
from doctor.judge.diagnosis import Diagnosis
from kb.build import build
from kb.knowledge import Knowledge
from kb.layers import Layer
from kb.pack import Pack


def entry(code: str, text: str, **more: Any) -> str:
    """A small entry; `more` replaces its parts."""
    parts: dict[str, Any] = {
        "severity": "error", "role": "cause", "kind": "environment", "confidence": "high",
        "title": "{en: " + code + ", zh: 故障}", "cause": "{en: it broke, zh: 坏了}",
        "evidence": "{any: [{text: '" + text + "'}]}",
    }  # fmt: skip
    parts.update(more)
    return f"code: {code}\n" + "".join(f"{k}: {v}\n" for k, v in parts.items())


def knowledge(folder: Path, *entries: str) -> Knowledge:
    for text in entries:
        code = text.split("\n")[0].removeprefix("code: ")
        (folder / f"{code.lower()}_x.yaml").write_text(text)
    data, problems = build(Layer("test", folder))
    assert [str(p) for p in problems] == []
    return Knowledge((Pack(data),))


def roots(diagnosis: Diagnosis) -> list[str]:
    return [r.finding.entry.code for r in diagnosis.roots]


def plog(pid: int, second: int, text: str, level: str = "ERROR") -> str:
    return f"[{level}] GE({pid},python):2026-01-01-00:00:{second:02}.000.000 [a.cc:1]{pid} F:{text}\n"


def test_a_symptom_folds_beneath_any_cause(tmp_path: Path) -> None:
    """Even when it is louder and comes first in the file."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "waited in vain", role="symptom", kind="peer-timeout"),
        entry("BBB001", "kernel broke"),
    )
    found = diagnose("waited in vain\n" * 50 + "kernel broke\n", knowledge=known)
    assert roots(found) == ["BBB001"]
    assert found.related[0].explains == ("AAA001",)
    assert found.related[1].explained_by == "BBB001"


def test_a_symptom_alone_is_a_finding_that_says_so(tmp_path: Path) -> None:
    from doctor.answer import grounds

    known = knowledge(tmp_path, entry("AAA001", "waited in vain", role="symptom", kind="peer-timeout"))
    found = diagnose("waited in vain\n", knowledge=known)
    assert (found.verdict, roots(found)) == ("findings", ["AAA001"])
    assert grounds.confidence(found.related[0]) <= 0.5
    assert "the cause is not in these logs" in grounds.why(found.related[0]).en


def test_a_wrapper_is_never_an_answer(tmp_path: Path) -> None:
    """Alone it leaves the verdict open; beside anything real it folds."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "Inner Error", role="wrapper", kind="wrapper"),
        entry("BBB001", "kernel broke", severity="warning", kind="user-code"),
    )
    assert diagnose("EZ9999: Inner Error\n", knowledge=known).verdict == "inconclusive"
    assert roots(diagnose("EZ9999: Inner Error\nkernel broke\n", knowledge=known)) == ["BBB001"]


def test_specific_beats_general(tmp_path: Path) -> None:
    known = knowledge(
        tmp_path, entry("AAA001", "out of memory"), entry("AAA002", "out of memory while capturing", refines="[AAA001]")
    )
    assert roots(diagnose("out of memory while capturing\n", knowledge=known)) == ["AAA002"]
    assert roots(diagnose("out of memory\n", knowledge=known)) == ["AAA001"]


def test_an_edge_by_kind_decides_among_causes(tmp_path: Path) -> None:
    """The edge stands at the effect; the cause needs no mention of it, and time does not matter."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "port cannot be bound", symptom_of="[{kind: link-fault}]", kind="port-conflict"),
        entry("BBB001", "network port down", kind="link-fault"),
    )
    assert roots(diagnose("port cannot be bound\nnetwork port down\n", knowledge=known)) == ["BBB001"]


def test_edges_respect_their_scope(tmp_path: Path) -> None:
    """A fault of device 3 explains what device 3 prints, not what device 5 prints."""
    line = "[ERROR] 2026-01-01-00:00:01 (PID:{pid}, Device:{device}, RankID:-1) ERR00100 {text}\n"
    known = knowledge(
        tmp_path,
        entry("AAA001", "kernel broke", kind="device-exception", symptom_of="[{kind: hardware-fault, scope: device}]"),
        entry("BBB001", "memory is bad", kind="hardware-fault"),
    )
    same = line.format(pid=1, device=3, text="kernel broke") + line.format(pid=2, device=3, text="memory is bad")
    other = line.format(pid=1, device=5, text="kernel broke") + line.format(pid=2, device=3, text="memory is bad")
    assert roots(diagnose(same, knowledge=known)) == ["BBB001"]
    assert sorted(roots(diagnose(other, knowledge=known))) == ["AAA001", "BBB001"]


def test_earlier_causes_come_first(tmp_path: Path) -> None:
    """Of unrelated causes the first in time leads, whatever the order of the files."""
    known = knowledge(tmp_path, entry("AAA001", "first thing broke"), entry("BBB001", "other thing broke"))
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text(plog(1, 30, "first thing broke"))
    (logs / "b.log").write_text(plog(2, 10, "other thing broke"))
    assert roots(diagnose(logs, knowledge=known)) == ["BBB001", "AAA001"]


@pytest.mark.parametrize(
    ("same", "expected"), [("process", []), ("source", ["AAA001"]), ("job", ["AAA001"]), ("device", ["AAA001"])]
)
def test_signals_belong_together(same: str, expected: list[str], tmp_path: Path) -> None:
    """Two signals of different processes are one fault only where the entry allows it; no device told contradicts nothing."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "", evidence=f"{{same: {same}, all: [{{text: 'left half'}}, {{text: 'right half'}}]}}"),
    )
    assert roots(diagnose(plog(1, 1, "left half") + plog(2, 2, "right half"), knowledge=known)) == expected
    assert roots(diagnose(plog(1, 1, "left half") + plog(1, 2, "right half"), knowledge=known)) == ["AAA001"]


@pytest.mark.parametrize(("same", "expected"), [("rank", []), ("node", []), ("job", ["AAA001"])])
def test_signals_of_other_ranks_and_nodes(same: str, expected: list[str], tmp_path: Path) -> None:
    """Folders tell rank and node: half of a fault here and half there is none, unless the whole job is meant."""
    folder = tmp_path / "kb"
    folder.mkdir()
    evidence = f"{{same: {same}, all: [{{text: 'left half'}}, {{text: 'right half'}}]}}"
    known = knowledge(folder, entry("AAA001", "", evidence=evidence))
    for number, half in enumerate(("left", "right")):
        place = tmp_path / "logs" / f"node-{number}" / f"rank_{number}"
        place.mkdir(parents=True)
        (place / "train.log").write_text(f"{half} half\n")
    assert roots(diagnose(tmp_path / "logs", knowledge=known)) == expected


@pytest.mark.parametrize(
    ("accepts", "expected"),
    [
        ("plog", True), ("[text, plog]", True), ("launcher", False),
        ("{plog: {module: GE}}", True), ("{plog: {module: [HCCL, RUNTIME]}}", False),
        ("{plog: {level: error}}", True), ("{plog: {level: warning}}", False),
        ("{plog: {file: a.cc}}", True), ("{plog: {file: b.cc}}", False),
    ],
)  # fmt: skip
def test_kinds_of_lines_that_an_entry_accepts(accepts: str, expected: bool, tmp_path: Path) -> None:
    known = knowledge(tmp_path, entry("AAA001", "", evidence=f"{{in: {accepts}, any: [{{text: 'kernel broke'}}]}}"))
    assert bool(roots(diagnose(plog(1, 1, "kernel broke"), knowledge=known))) is expected


def test_the_status_of_an_entry(tmp_path: Path) -> None:
    """A draft is told with less confidence; a deprecated one of a later layer silences the one of the same code."""
    from doctor.answer import grounds

    layers = [tmp_path / name for name in ("first", "draft", "gone")]
    for folder in layers:
        folder.mkdir()
    first = knowledge(layers[0], entry("AAA001", "kernel broke"))
    draft = knowledge(layers[1], entry("AAA001", "kernel broke", status="draft"))
    (layers[2] / "layer.yaml").write_text("overrides: [AAA001]\n")
    gone = knowledge(layers[2], entry("AAA001", "kernel broke", status="deprecated"))
    sure, unsure = (diagnose("kernel broke\n", knowledge=one).related[0] for one in (first, draft))
    assert grounds.confidence(unsure) < grounds.confidence(sure)
    assert diagnose("kernel broke\n", knowledge=Knowledge((*first.packs, *gone.packs))).related == ()


def test_signals_belong_together_in_time(tmp_path: Path) -> None:
    known = knowledge(
        tmp_path, entry("AAA001", "", evidence="{within_s: 5, all: [{text: 'left half'}, {text: 'right half'}]}")
    )
    assert roots(diagnose(plog(1, 1, "left half") + plog(1, 5, "right half"), knowledge=known)) == ["AAA001"]
    assert roots(diagnose(plog(1, 1, "left half") + plog(1, 50, "right half"), knowledge=known)) == []


def test_not_and_captures(tmp_path: Path) -> None:
    evidence = "{all: [{regex: 'device (?P<device>\\d+) broke'}], not: [{text: 'only a drill'}], also: [{regex: 'kernel=(?P<kernel>\\w+)'}]}"
    known = knowledge(tmp_path, entry("AAA001", "", evidence=evidence))
    found = diagnose("device 4 broke\nx kernel=MatMul\ndevice 5 broke\n", knowledge=known)
    first = found.roots[0].finding.instances[0]
    assert dict(first.captures) == {"device": "4", "kernel": "MatMul"}
    assert first.every["device"] == ("4", "5")
    assert roots(diagnose("device 4 broke\nonly a drill\n", knowledge=known)) == []


def test_counts_and_evidence(tmp_path: Path) -> None:
    """Repetitions are folded with their number, and the evidence names file and line."""
    log = tmp_path / "a.log"
    log.write_text("fine\n" * 9 + "kernel broke\n" * 7)
    folder = tmp_path / "kb"
    folder.mkdir()
    finding = diagnose(log, knowledge=knowledge(folder, entry("AAA001", "kernel broke"))).roots[0].finding
    assert (finding.total, finding.first.path, finding.first.line) == (7, str(log), 10)


def test_unknown_errors_are_clustered(tmp_path: Path) -> None:
    """Equal shapes fold, codes are decoded, the verdict stays open."""
    known = knowledge(tmp_path, entry("AAA001", "kernel broke"))
    text = "".join(plog(7, i % 60, f"queue {i} overflowed at 0x{i:x}, error code is 507018") for i in range(40))
    found = diagnose(text, knowledge=known)
    assert found.verdict == "inconclusive"
    assert [(c.total, c.codes) for c in found.unexplained] == [(40, ("507018",))]


def test_what_diagnose_takes(tmp_path: Path) -> None:
    """A path, several paths, a text, and things that do not exist."""
    folder = tmp_path / "kb"
    folder.mkdir()
    known = knowledge(folder, entry("AAA001", "kernel broke"))
    log = tmp_path / "a.log"
    log.write_text("kernel broke\n")
    for what in (log, str(log), [log, log], "kernel broke", "one\nkernel broke\n"):
        assert roots(diagnose(what, knowledge=known)) == ["AAA001"]
    assert diagnose(tmp_path / "none", knowledge=known).skipped[0].reason == "there is no such file or folder"


def test_another_machines_faults_are_no_faults_of_an_npu(tmp_path: Path) -> None:
    """What proves that the log is of a machine without an NPU explains every fault, but no remark and no user's error."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "engine failed", kind="worker-death"),
        entry("BBB001", "runs on a gpu", kind="other-machine", severity="warning", role="ambiguous"),
        entry("CCC001", "key is missing", kind="user-code", severity="warning"),
    )
    found = diagnose("engine failed\nkey is missing\nruns on a gpu\n", knowledge=known)
    assert roots(found) == ["CCC001", "BBB001"]
    assert found.related[1].explains == ("AAA001",)


def test_what_breaks_after_an_interrupt_follows_from_it(tmp_path: Path) -> None:
    """What broke before stands: it may be why the user lost patience."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "context is gone"),
        entry("BBB001", "interrupted", kind="interrupted", severity="info"),
    )
    assert roots(diagnose("interrupted\ncontext is gone\n", knowledge=known)) == ["BBB001"]
    assert roots(diagnose("context is gone\ninterrupted\n", knowledge=known)) == ["AAA001", "BBB001"]


def test_what_rules_an_entry_out_explains_no_line(tmp_path: Path) -> None:
    """An error in which only a leaf beneath `not` is found is still one that nobody knows, however often it comes."""
    evidence = "{any: [{text: 'kernel broke'}], not: [{text: '[ERROR] GE('}]}"
    text = entry("AAA001", "", evidence=evidence)
    found = diagnose(plog(7, 1, "unheard of") * 700, knowledge=knowledge(tmp_path, text))
    assert found.verdict == "inconclusive"
    assert found.unexplained[0].total == 700


def test_what_half_an_entry_claims_is_still_unexplained(tmp_path: Path) -> None:
    """A leaf claims its line before the rest of its entry is known to be missing: that must not hide the error."""
    evidence = "{all: [{text: 'RuntimeError: '}, {text: 'engine is down'}]}"
    known = knowledge(tmp_path, entry("AAA001", "", evidence=evidence))
    error = "RuntimeError: plugh should be 3D\n"
    found = diagnose(error * 3, knowledge=known)
    assert (roots(found), found.verdict) == ([], "inconclusive")
    assert [(c.total, c.first.text) for c in found.unexplained] == [(3, error.strip())]
    found = diagnose(error + "engine is down\n", knowledge=known)
    assert (roots(found), found.unexplained) == (["AAA001"], ())


def test_a_guess_yields_to_whoever_knows_the_line_it_quotes(tmp_path: Path) -> None:
    """However late or mild the other one is; a line of its own it keeps."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "", evidence="{any: [{regex: '(?P<what>RuntimeError: .*)'}]}", role="ambiguous", confidence="low", kind="user-code"),
        entry("BBB001", "RuntimeError: peer left", role="symptom", severity="warning", kind="peer-lost"),
    )
    found = diagnose("RuntimeError: peer left\n", knowledge=known)
    assert [(r.finding.entry.code, r.explained_by) for r in found.related] == [("BBB001", None), ("AAA001", "BBB001")]
    assert roots(diagnose("RuntimeError: own fault\nRuntimeError: peer left\n", knowledge=known)) == ["AAA001"]


@pytest.mark.parametrize(
    "line",
    [
        'E1026 10:55:44.123456   12345 server.go:302] "command failed" err="something odd"',
        "2026-01-02T03:04:05.123Z stderr F F1026 10:55:44.123456       1 main.go:30] something odd",
        'time="2026-01-02T03:04:05Z" level=error msg="something odd"',
        'level=fatal ts=2026-01-02T03:04:05Z msg="something odd"',
        '{"level":"error","ts":"2026-01-02T03:04:05Z","msg":"something odd"}',
        "E1026 10:55:44.123456 12345 plugh_engine.cpp:302] Failed to frob: something odd",
        "F1026 10:55:44.123456 12345 plugh_engine.cc:302] Unable to frob something odd",
        "ERROR 07-29 05:04:30 [odd.py:70] something odd",
    ],
)
def test_errors_of_other_programs_are_no_all_clear(line: str) -> None:
    """Kubernetes, its plugins and container runtimes, libraries in C++: what nobody knows is shown, and what is fine is not."""
    told = diagnose(line + "\n")
    assert told.verdict == "inconclusive"
    assert "something odd" in told.unexplained[0].first.text
    fine = line.replace("E1026", "I1026").replace("F1026", "W1026").replace("E0729", "I0729").replace("ERROR", "INFO").replace("error", "info").replace("fatal", "warning")
    assert diagnose(fine + "\n").verdict == "clean"


def test_what_stands_only_in_harmless_lines_is_harmless(tmp_path: Path) -> None:
    """A wide pattern may hit the very line another entry knows as harmless; a second line elsewhere proves it again."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "undefined symbol", role="ambiguous"),
        entry("BBB001", "optional part not loaded", role="noise", severity="info", kind="noise"),
        entry("CCC001", "worker died", role="symptom", kind="worker-death"),
    )
    notice = "optional part not loaded: undefined symbol\n"
    assert roots(diagnose(notice + "worker died\n", knowledge=known)) == ["CCC001"]  # not hidden beneath the notice
    assert roots(diagnose(notice + "a.so: undefined symbol\n", knowledge=known)) == ["AAA001"]
    answered = "{'object': 'error', 'message': 'a.so: undefined symbol\\n  optional part not loaded', 'code': 50002}\n"  # lines in one line
    assert roots(diagnose(answered, knowledge=known)) == ["AAA001"]


def test_an_attempt_that_was_started_again_failed_on_its_own(tmp_path: Path) -> None:
    """Its fault comes first, no later one explains it, and no entry holds by half of each attempt."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "started again", role="noise", severity="info", kind="restart"),
        entry("BBB001", "kernel broke", role="ambiguous", kind="device-exception"),
        entry("CCC001", "memory is gone", kind="out-of-memory"),
        entry("DDD001", "", evidence="{all: [{text: 'kernel broke'}, {text: 'memory is gone'}]}", refines="[BBB001, CCC001]"),
    )
    assert roots(diagnose("kernel broke\nstarted again\nmemory is gone\n", knowledge=known)) == ["BBB001", "CCC001"]
    assert roots(diagnose("kernel broke\nmemory is gone\nstarted again\n", knowledge=known)) == ["DDD001"]
    both = diagnose("memory is gone\nkernel broke\nstarted again\nkernel broke\n", knowledge=known)
    assert roots(both) == ["DDD001"]


def test_an_edge_by_kind_tells_which_symptom_is_nearer_to_the_origin(tmp_path: Path) -> None:
    """Neither is the cause; with one, both are its symptoms."""
    known = knowledge(
        tmp_path,
        entry("AAA001", "waited in vain", role="symptom", kind="device-timeout", symptom_of="[{kind: peer-lost, scope: job}]"),
        entry("BBB001", "peer is gone", role="symptom", kind="peer-lost"),
        entry("CCC001", "memory is gone", kind="out-of-memory"),
        entry("DDD001", "wait seen", role="symptom", kind="peer-lost", symptom_of="[{entry: AAA001, scope: job}]"),
    )
    assert roots(diagnose("wait seen\nwaited in vain\n", knowledge=known)) == ["AAA001"]
    two = diagnose("waited in vain\npeer is gone\n", knowledge=known)
    assert (roots(two), two.related[0].explains) == (["BBB001"], ("AAA001",))
    three = diagnose("waited in vain\npeer is gone\nmemory is gone\n", knowledge=known)
    assert roots(three) == ["CCC001"]


def test_the_same_run_once_more_is_no_second_process(tmp_path: Path) -> None:
    """A file that calls itself a re-run tells of another job: no process of the first one failed beside it."""
    (tmp_path / "a.log").write_text(
        "(WorkerDict pid=501) [ERROR] 2026-04-19-11:20:07 (PID:501, Device:0, RankID:0) ERR00100 PTA call acl api failed\n"
        "(WorkerDict pid=501) RuntimeError: call aclnnAdd failed, error code is 507035\n"
    )
    again = "(WorkerDict pid=777) [ERROR] 2026-04-19-11:40:07 (PID:777, Device:0, RankID:0) ERR00100 PTA call acl api failed\n(WorkerDict pid=777) ValueError: bad shape\n"
    (tmp_path / "b.log").write_text("# the second process\n" + again)
    apart = diagnose(tmp_path).job
    (tmp_path / "b.log").write_text("# same command, re-run with ASCEND_LAUNCH_BLOCKING=1\n" + again)
    once = diagnose(tmp_path).job
    assert apart is not None
    assert {p.pid for p in apart.processes} == {501, 777}
    assert once is None or {p.pid for p in once.processes} == {501}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("u@h:~$ npu-smi info -l\nTotal Count : 8\n# 为什么第二张卡一直空闲？\n", "inconclusive"),
        ("u@h:~$ npu-smi info -l\nTotal Count : 8\n# which cards there are\n", "clean"),
        ("u@h:~$ ocr --device cpu\n{'texts': ['a']}\nu@h:~$ ocr --device npu\n{'texts': []}\nNPU type: Ascend910B3\n", "inconclusive"),
        ('I0703 11:20:41.118204 1 device.go:391] "card not enough slots" pod="a/b" device="Ascend910B3-2" used=8 count=8\n# 为什么放不下？\n', "findings"),
    ],
    ids=["asked", "told", "differs", "refused"],
)
def test_what_somebody_finds_odd_is_not_called_clean(text: str, verdict: str, tmp_path: Path) -> None:
    """Without a line that is an error, a question or another result keeps the answer open."""
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert diagnose(tmp_path).verdict == verdict
