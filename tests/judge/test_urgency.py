"""Roots are read in the order in which to act: what is fatal first, but after what led to it in its own process."""

from __future__ import annotations

from unittest import mock

from tests_support import built_in_entries

from doctor.findings.attempts import Attempts
from doctor.findings.evaluate import Finding, Instance, Scope
from doctor.job.job import NO_STORY, Story
from doctor.judge import relate
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.judge.reading_order import likeliest_first, most_urgent_first
from doctor.read import discover
from doctor.scan.harvest import Hit, Place
from kb.model import Entry


def _entry(code: str, severity: str) -> Entry:
    made = next(e for e in built_in_entries()[0] if e.role == "cause" and e.confidence == "high")
    return made._replace(code=code, severity=severity)


def _finding(code: str, severity: str, pid: int | None, line: int = 1) -> Finding:
    place = Place(f"{pid}.log", line, line, None, "error", None, "plog", None, pid, None, None, None, "x")
    hit = Hit(f"{code}/0", place, ())
    return Finding(_entry(code, severity), (Instance(Scope(None, None, None, None), (hit,), {}, {}, frozenset({place.path}), frozenset()),), 1, True)


def _codes(found: list[Finding]) -> list[str]:
    return [f.entry.code for f in found]


def test_what_is_fatal_comes_before_errors_of_other_processes() -> None:
    roots = [_finding("AAA001", "error", 1), _finding("AAA002", "error", 2), _finding("AAA003", "fatal", 3), _finding("AAA004", "warning", 4)]
    assert _codes(most_urgent_first(roots, NO_STORY)) == ["AAA003", "AAA001", "AAA002", "AAA004"]


def test_what_led_to_it_in_its_own_process_stays_before_it() -> None:
    roots = [_finding("AAA001", "error", 1), _finding("AAA002", "error", 3), _finding("AAA003", "fatal", 3)]
    assert _codes(most_urgent_first(roots, NO_STORY)) == ["AAA002", "AAA003", "AAA001"]


def test_the_story_of_a_job_is_not_turned_round() -> None:
    """Where ranks waited for one of them, that one is where it began."""
    roots = [_finding("AAA001", "error", 1), _finding("AAA003", "fatal", 3)]
    assert _codes(most_urgent_first(roots, Story({"AAA001": 0}, {}, True))) == ["AAA001", "AAA003"]


def test_broken_memory_is_read_before_five_errors(bench: Bench) -> None:
    """The real thing: five processes with errors of their own, and a kernel log that tells of a multi-bit ECC error later."""
    entries = {e.code: e for e in built_in_entries()[0]}
    said = (
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory",
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.5 GiB already allocated; 318.20 MiB free)",
        "ValueError: host not found: Name or service not known",
        "devNum[3] devNum must be divisible by 8, or equal to 1, 2 or 4",
        "HcclCommInitRootInfo failed with error 2, no device memory left",
    )
    logs = {f"{n}/plog-{n}_20260220164100000.log": f"[ERROR] HCCL({n},python):2026-02-20-16:41:0{n}.000.000 [x.cc:1]{text}\n" for n, text in enumerate(said, 1)}
    logs["z/dmesg.txt"] = entries["DRV002"].match[0].text
    parts = [bench._scanner.scan(discover.given_text(text, name)) for name, text in logs.items()]
    roots = [r.finding.entry.code for r in conclude(parts, bench.knowledge).roots]
    assert roots[0] == "DRV002"
    assert len(roots) > 3


def test_thousands_of_findings_on_one_line_are_not_each_compared_with_each() -> None:
    """Ten thousand entries of somebody's that say the same: the likeliest are compared as ever, the work stays bounded."""
    many = [_finding(f"U{n // 1000}X{n % 1000:03}", "error", 1) for n in range(3000)]
    with mock.patch.object(relate, "decide", wraps=relate.decide) as decided:
        told = relate.relate(many)
    assert len(told) == 3000
    assert decided.call_count <= relate.MOST_COMPARED**2 + 3000 * relate.LEADERS


def test_a_notice_that_python_warned_of_is_read_after_the_error_that_ended_the_program() -> None:
    """It stands first in the log, and the program went on after it."""
    notice, error = _finding("AAA001", "error", 1), _finding("AAA002", "error", 1, 9)

    def told(finding: Finding, text: str) -> Finding:
        (instance,) = finding.instances
        hits = tuple(hit._replace(place=hit.place._replace(text=text)) for hit in instance.hits)
        return finding._replace(instances=(instance._replace(hits=hits),))

    warned = told(notice, "/usr/lib/python3/dist-packages/torch_npu/a.py:18: UserWarning: not compiled with it")
    assert _codes(likeliest_first([warned, error], NO_STORY, Attempts(()))) == ["AAA002", "AAA001"]
    assert _codes(likeliest_first([told(notice, "it failed"), error], NO_STORY, Attempts(()))) == ["AAA001", "AAA002"]
