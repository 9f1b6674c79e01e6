"""Many files are read by several processes: what comes out is what one makes of them, whatever becomes of the others."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from kb import many
from kb.build import build
from kb.layers import Layer

ENTRY = (
    "code: {code}\nseverity: error\nkind: user-code\ntitle: {{en: Stage of {code} stalled, zh: 阶段停了}}\ncause: {{en: It waits., zh: 它在等待。}}\n"
    "evidence: {{any: [{{regex: 'Frobnicator stalled in stage \\d+'}}]}}\nfixes: [{{goal: resolve, title: {{en: Start it again, zh: 重新启动}}}}]\n"
    "samples: {{match: [{{name: plain, text: Frobnicator stalled in stage 7}}]}}\nreferences: [{{title: notes}}]\n"
)
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes can be forked here")


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Workers are made of few files already, on as many cores as three; the processes that were made."""
    made: list[int] = []
    fork = os.fork

    def noted() -> int:
        pid = fork()
        made.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", noted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # of the process that tests run in nobody knows
    return made


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_what_comes_out_stands_in_order(forked: list[int]) -> None:
    things = list(range(5 * many.FROM))
    assert list(many.each(things, lambda n: (n, "x" * (n % 7000)))) == [(n, "x" * (n % 7000)) for n in things]
    assert len(forked) == 3
    assert all(map(_gone, forked))


def test_of_more_than_fit_into_a_pipe_all_are_done(forked: list[int]) -> None:
    count = many.AT_ONCE * many._TICKETS + 1
    assert list(many.each(range(count), lambda n: -n)) == [-n for n in range(count)]
    assert len(forked) == 3


def test_what_workers_die_with_is_done_here(forked: list[int]) -> None:
    here = os.getpid()

    def deadly(n: int) -> int:
        if n % 300 == 7 and os.getpid() != here:
            os._exit(3)
        return n

    assert list(many.each(range(2000), deadly)) == list(range(2000))
    assert all(map(_gone, forked))


def test_what_a_worker_cannot_do_is_raised_here(forked: list[int]) -> None:
    def refused(n: int) -> int:
        if n == 777:
            raise LookupError(n)
        return n

    got = many.each(range(2000), refused)
    with pytest.raises(LookupError, match="777"):
        list(got)
    assert all(map(_gone, forked))


def test_who_stops_listening_leaves_no_worker(forked: list[int]) -> None:
    got = many.each(range(20_000), str)
    assert next(got) == "0"
    got.close()  # type: ignore[attr-defined]
    assert all(map(_gone, forked))


def test_without_room_for_a_process_this_one_works(monkeypatch: pytest.MonkeyPatch, forked: list[int]) -> None:
    def none_left() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", none_left)
    assert list(many.each(range(1000), str)) == list(map(str, range(1000)))


def test_beside_other_threads_nothing_is_forked(monkeypatch: pytest.MonkeyPatch, forked: list[int]) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert list(many.each(range(1000), str)) == list(map(str, range(1000)))
    assert forked == []


def test_a_large_folder_becomes_the_same_pack_with_the_same_faults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forked: list[int]) -> None:
    for n in range(many.FROM + 50):
        text = ENTRY.format(code=f"USR{n:03}")
        broken = {3: text.replace("error", "grave"), 50: "code: [", 77: text.replace("USR077", "USR076"), 99: "\ufffe", 200: text.replace("\\d+", "(")}
        (tmp_path / f"usr{n:03}_stage.yaml").write_text(broken.get(n, text), encoding="utf-8")
    (tmp_path / "usr300_stage.yaml").unlink()
    os.mkfifo(tmp_path / "usr300_stage.yaml")
    shared = build(Layer("user", tmp_path), "")
    assert forked
    monkeypatch.setattr(many, "FROM", 10_000)
    assert build(Layer("user", tmp_path), "") == shared
    assert len(shared[1]) == 6
