"""A text of no known software that says in plain words that something failed is shown, not passed over; it is no finding."""

from __future__ import annotations

import pytest

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read.discover import given_text
from doctor.scan.plain_words import MOST, reports
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import load


def _diagnosis(*texts: tuple[str, str]) -> Diagnosis:
    known = load()
    scanner = Scanner(Plan(known.sought()))
    return conclude([scanner.scan(given_text(text, name)) for name, text in texts], known)


@pytest.mark.parametrize(
    "line",
    [
        "worker 4: coordinator unreachable, giving up",
        "task 7 of job llm-sft terminated with exit code 1",
        "模型加载失败，请联系管理员",
        "the licence server refused the request",
        "aclmdlPlugh(id) ret: 145000",
    ],
)
def test_what_it_says_is_shown_first(line: str) -> None:
    found = _diagnosis(("job.log", f"starting the job\n{line}\ncleaning up\n"))
    assert found.verdict == "inconclusive"
    assert found.decisive is not None
    assert found.decisive.first.text == line
    assert found.decisive.first.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "12 passed, 0 failed in 3 s\n",
        "finished without errors\n",
        "on_error: continue\nretries = 3\n",
        "10 requests, errors: 0\n",
        "all good\n",
        "error 404\n",  # no word but one: a heading, a field
    ],
)
def test_what_says_nothing_of_a_failure_is_not_shown(text: str) -> None:
    assert not _diagnosis(("job.log", text)).unexplained


def test_a_setting_or_a_manifest_is_no_log() -> None:
    assert not _diagnosis(("pod.yaml", "restartPolicy: OnFailure\n# what failed before is started again\n")).unexplained


def test_where_software_is_known_only_its_own_words_count() -> None:
    """A healthy log of ours stays healthy, whatever words stand in its ordinary lines."""
    healthy = "INFO 03-25 06:14:02 [core.py:880] engine ready, 3 requests failed over\n"
    assert _diagnosis(("serve.log", healthy)).verdict == "clean"


@pytest.mark.parametrize("last", ["msquant run failed", "FATAL: no such card here", "cannot open device /dev/davinci0", "模型转换失败", "Unable to load library libplugh.so", "aclmdlPlugh ret = 145000"])
def test_a_known_log_that_ends_with_a_failure_has_one(last: str) -> None:
    found = _diagnosis(("job.log", f"2026-03-25 06:14:02 INFO: start\n{last}\n\n"))
    assert found.verdict == "inconclusive"
    assert found.decisive is not None
    assert found.decisive.first.text == last


@pytest.mark.parametrize("last", ["I cannot open a file for you, but I can explain", "Could not load it? Ask us.", "0 requests failed", "done", "aclmdlPlugh ret = 0"])
def test_what_a_model_wrote_last_is_no_failure(last: str) -> None:
    assert _diagnosis(("job.log", f"2026-03-25 06:14:02 INFO: start\n{last}\n")).verdict == "clean"


@pytest.mark.parametrize("last", ["段错误 (核心已转储)", "Trace/breakpoint trap", "*** stack smashing detected ***: terminated", "Segmentation fault"])
def test_a_crash_is_never_clean(last: str) -> None:
    assert _diagnosis(("job.log", f"2026-03-25 06:14:02 INFO: start\n{last}\n")).verdict != "clean"


def test_it_is_bounded() -> None:
    found = _diagnosis(("job.log", "".join(f"step of part {chr(97 + n % 26)} failed here\n" for n in range(1000))))
    assert sum(c.total for c in found.unexplained) == MOST


def test_long_lines_cost_their_beginning() -> None:
    assert not reports("a" * 900 + " ok")


_RAISED = 'INFO 03-25 06:14:02 [core.py:880] start\nTraceback (most recent call last):\n  File "/home/u/plugh.py", line 7, in main\n    answer = take()\n'


@pytest.mark.parametrize("last", ["plugh.PlughError_NotThere: no such library", "_queue.Empty", "plugh.exceptions.TemplateNotFound: index.html"])
@pytest.mark.parametrize("after", ["", "\n", "\n[root@node-7 work]# \n"])
def test_an_exception_of_an_odd_name_is_never_clean(last: str, after: str) -> None:
    found = _diagnosis(("job.log", f"{_RAISED}{last}{after}"))
    assert found.verdict == "inconclusive"
    assert found.decisive is not None
    assert found.decisive.first.text == last


def test_one_that_was_caught_is_none() -> None:
    assert _diagnosis(("job.log", f"{_RAISED}_queue.Empty\nINFO 03-25 06:14:03 [core.py:881] took the next one\n")).verdict == "clean"
