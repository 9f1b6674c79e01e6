"""Following logs: growth, rotation, truncation, new files, pipes; what is told and when."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tui.support import KERNEL, MTE, NOTIFY, OOM, small_knowledge, stage

from doctor.commands import watch
from doctor.read.source import Source, hints
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.tui.diagnosis.watch_screen import WatchScreen
from doctor.tui.shell.views import Rows
from doctor.watch import followed_files, growing_log
from doctor.watch.live_diagnosis import Live

Json = dict[str, object]


def live(path: Path, **more: object) -> Live:
    return Live([str(path)], small_knowledge(), clock=lambda: "2026-03-02T10:00:00", **more)  # type: ignore[arg-type]


def events(one: Live) -> list[str]:
    update = one.poll()
    return (
        [
            f"{e['event']} {e.get('id') or e.get('path') or (e['finding']['id'] if 'finding' in e else '')}".strip()
            for e in update.events
        ]
        if update
        else []
    )


def ids(one: Live) -> list[str]:
    assert one.last is not None
    return [f["id"] for f in one.last.report["findings"]]


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_tells_a_finding_when_its_line_is_complete(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("starting\n")
    one = live(tmp_path)
    assert events(one) == ["started"]
    assert events(one) == []
    append(log, OOM[:30])
    assert events(one) == []
    append(log, OOM[30:] + "\n")
    assert events(one) == ["finding MEM001"]
    assert one.last is not None
    assert one.last.report["findings"][0]["evidence"][0]["line"] == 2


def test_a_last_line_without_its_end_is_read_when_nothing_follows(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("x\n" + OOM)
    one = live(tmp_path)
    assert events(one) == ["started"]
    assert events(one) == ["finding MEM001"]


def test_new_files_are_found_and_a_cause_folds_its_symptom(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(NOTIFY + "\n")
    one = live(tmp_path)
    assert events(one) == ["started", "finding HCL001"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.log").write_text(MTE + "\n")
    assert events(one) == [f"file {tmp_path}/sub/b.log", "finding RTS001", "changed HCL001"]
    assert ids(one) == ["RTS001", "HCL001"]


def test_a_renamed_log_is_not_read_twice_and_its_successor_is(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OOM + "\n")
    one = live(tmp_path)
    one.poll()
    log.rename(tmp_path / "a.log.1")
    log.write_text(MTE + "\n")
    assert events(one) == [f"file {log}", "finding RTS001"]
    assert one.last is not None
    told = {f["id"]: (f["count"], f["evidence"][0]["path"]) for f in one.last.report["findings"]}
    assert told == {"MEM001": (1, f"{log}.1"), "RTS001": (1, str(log))}
    append(tmp_path / "a.log.1", OOM + "\n")
    assert events(one) == ["repeated MEM001"]


def test_a_log_that_is_emptied_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("long enough\n" * 20 + OOM + "\n")
    one = live(tmp_path)
    one.poll()
    log.write_text(MTE + "\n")
    assert events(one) == [f"restarted {log}", "finding RTS001"]
    assert sorted(ids(one)) == ["MEM001", "RTS001"]


def test_a_compressed_copy_that_appears_later_is_no_new_log(tmp_path: Path) -> None:
    (tmp_path / "old.log.gz").write_bytes(gzip.compress(MTE.encode()))
    one = live(tmp_path)
    assert events(one) == ["started", "finding RTS001"]
    (tmp_path / "a.log.1.gz").write_bytes(gzip.compress((OOM + "\n").encode()))
    assert events(one) == []


def test_new_only_passes_over_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OOM + "\n")
    one = live(tmp_path, new_only=True)
    assert events(one) == ["started"]
    append(log, "more\n" + MTE + "\n")
    assert events(one) == ["finding RTS001"]
    assert one.last is not None
    assert one.last.report["findings"][0]["evidence"][0]["line"] == 3


def test_a_link_out_of_the_folder_and_a_vanished_file_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.log").write_text(OOM + "\n")
    (folder / "link.log").symlink_to(tmp_path / "secret.log")
    log = folder / "a.log"
    log.write_text("x\n")
    one = live(folder)
    assert events(one) == ["started"]
    log.unlink()
    assert events(one) == []
    log.write_text(OOM + "\n")
    assert "finding MEM001" in events(one)


@pytest.mark.parametrize("what", ["pipe", "link", "folder", "nothing"])
def test_what_takes_the_place_of_a_log_is_not_read(what: str, tmp_path: Path) -> None:
    """Also under the very number that the log had, which file systems give away at once."""
    (tmp_path / "secret").write_text(OOM + "\n")
    log = tmp_path / "in" / "a.log"
    log.parent.mkdir()
    log.write_text("x\n")
    one = live(log.parent)
    one.poll()
    log.unlink()
    if what == "pipe":
        os.mkfifo(log)
    elif what == "link":
        log.symlink_to(tmp_path / "secret")
    elif what == "folder":
        log.mkdir()
    for tail in one.follower.tails:
        tail._identity = (log.lstat().st_dev, log.lstat().st_ino) if what != "nothing" else tail._identity
    assert events(one) == []


def test_a_log_that_vanishes_while_it_is_looked_at_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the question whether it is there and the reading; when it is there again it is read."""
    log = tmp_path / "a.log"
    log.write_text("x\n")
    one = live(tmp_path)
    one.poll()
    append(log, OOM + "\n")
    (tail,) = one.follower.tails
    source = tail.source
    tail.source = source._replace(open=lambda: (tmp_path / "gone").open("rb"))
    assert events(one) == []
    tail.source = source
    assert events(one) == ["finding MEM001"]


def test_rotation_for_weeks_costs_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are gone are forgotten, a file that begins anew again and again is one harvest; what was found is kept and counted."""
    monkeypatch.setattr(followed_files, "MAX_GONE", 4)
    monkeypatch.setattr(growing_log, "KEEP", 3)
    (tmp_path / "in").mkdir()
    one = live(tmp_path / "in")
    for number in range(12):
        (tmp_path / "in" / "a.log").write_text(f"{number}\n{OOM}\n")
        (tmp_path / "in" / "b.log").write_text(f"{number} x\n" * (number % 3 + 1) + OOM + "\n")
        one.poll()
        (tmp_path / "in" / "a.log").rename(tmp_path / f"gone-{number}")
    assert len(one.follower.tails) <= 6
    assert len(one.follower.harvests) <= 20
    assert one.last is not None
    assert one.last.report["findings"][0]["count"] == 24


def test_a_log_that_grows_for_weeks_costs_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all its errors, known and unknown ones, no more is kept than of a log that is read at once; each line is counted."""
    for name, most in (("SETTLE", 3000), ("KEEP_OPEN", 600), ("KEEP", 3), ("MAX_SHAPES", 10)):
        monkeypatch.setattr(growing_log, name, most)
    log = tmp_path / "a.log"
    log.write_text("")
    one = live(log)
    letters = "abcdefghijklmnopqrst"
    for first in letters:
        append(log, "".join(f"ERROR: {first}{second} of the house failed\n" for second in letters) + OOM + "\n" + "info\n" * 900)
        one.poll()
    (done, _) = one.follower.tails[0].harvests
    assert max(Counter(hit.signal for hit in done.hits).values()) == 3
    assert len(done.clusters) == 11
    assert one.last is not None
    assert (one.last.report["findings"][0]["count"], one.last.diagnosis.harvest.errors) == (20, 400)
    assert sum(cluster.total for cluster in one.last.diagnosis.harvest.clusters) == 400


@pytest.mark.parametrize("step", [1, 7, 50, 400])
def test_however_it_is_written_the_end_is_that_of_one_scan(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settling early and often changes neither findings nor line numbers nor counts."""
    monkeypatch.setattr(growing_log, "SETTLE", 2000)
    monkeypatch.setattr(growing_log, "KEEP_OPEN", 600)
    rows = ["info"] * 40 + [MTE, KERNEL] + ["info"] * 40 + [OOM] + ["more"] * 30 + [OOM, NOTIFY] + ["x" * 300] * 9
    text = "\n".join(rows) + "\n"
    log = tmp_path / "a.log"
    scanner = Scanner(Plan(small_knowledge().sought()))
    source = Source(str(log), lambda: open(log, "rb"), None, hints(str(log)), True)
    log.write_text("")
    one = growing_log.Tail(source, str(log))
    for at in range(0, len(text), max(step, len(text) // 60 if step == 1 else step)):
        append(log, text[at : at + max(step, len(text) // 60 if step == 1 else step)])
        one.look(scanner)
    from doctor.scan.harvest import merge

    whole = scanner.scan(source)
    made = merge(one.harvests)
    assert made.hits == merge([whole]).hits
    assert (made.counts, made.lines, made.size, made.files) == (whole.counts, whole.lines, whole.size, 1)


def follow(
    one: Live, capsys: pytest.CaptureFixture[str], during: list[Callable[[], None]], *flags: str
) -> tuple[int, str]:
    """The headless command with a clock of the test's own: `during` happens between the looks."""
    args = watch.arguments().parse_args(["-", *flags])
    steps = iter(during)

    def wait() -> bool:
        step = next(steps, None)
        if step is None:
            return False
        step()
        return True

    return watch.follow(one, args, wait), capsys.readouterr().out


def test_jsonl_is_one_object_a_line_and_ends_with_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a.log"
    log.write_text("x\n")
    code, out = follow(live(tmp_path), capsys, [lambda: append(log, OOM + "\n")], "-f", "jsonl")
    told = [json.loads(line) for line in out.splitlines()]
    assert [e["event"] for e in told] == ["started", "finding", "ended"]
    assert told[1]["finding"]["title"]["zh"].startswith("分配 2.00 GiB")
    assert told[2]["verdict"] == "findings"
    assert code == 1


def test_text_names_place_and_relation_in_the_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text(
        f"{MTE}\n{NOTIFY}\n[ERROR] X(1,p):2026-03-02-09:50:00.000.001 [a.c:1]1 odd \x1b[31m\n"
    )
    code, out = follow(live(tmp_path), capsys, [], "-f", "text", "--lang", "zh")
    assert "错误 RTS001" in out
    assert "HCL001 (RTS001)" in out
    assert f"{tmp_path}/a.log:1" in out
    assert "未识别的错误" in out
    assert "\x1b" not in out
    assert code == 1


def test_an_interrupt_ends_it_and_once_found_ends_it_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text("x\n")

    def interrupt() -> None:
        raise KeyboardInterrupt

    code, out = follow(live(tmp_path), capsys, [interrupt], "-f", "jsonl")
    assert code == 130
    assert json.loads(out.splitlines()[-1])["event"] == "ended"
    log.write_text(OOM + "\n")
    code, _ = follow(live(tmp_path), capsys, [interrupt], "-f", "jsonl", "--once-found")
    assert code == 1


def test_nothing_said_is_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("")
    assert follow(live(tmp_path), capsys, [], "-f", "text")[0] == 3


def test_its_own_output_is_not_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.txt"
    out.write_text(OOM + "\n")
    state = os.stat(out)
    monkeypatch.setattr("doctor.watch.followed_files._own_output", lambda: frozenset([(state.st_dev, state.st_ino)]))
    assert events(live(tmp_path)) == ["started"]


def test_the_command_refuses_what_cannot_be(run: Callable[..., object], tmp_path: Path) -> None:
    done = run("watch", str(tmp_path / "none"), "-f", "text")
    assert done.returncode == 2  # type: ignore[attr-defined]
    assert b"there is no file or folder" in done.stderr  # type: ignore[attr-defined]


async def test_the_screen_shows_what_appears_and_says_so(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("x\n")
    screen = WatchScreen(lambda: live(tmp_path), interval=3600)
    async with stage(screen, [str(tmp_path)]) as s:
        assert "watching 1 file " in s.text
        append(log, OOM + "\n")
        screen.look()
        await s.settle()
        assert s.screen.query_one("#list", Rows).current == "finding:MEM001"
        assert "New: MEM001" in s.toasts
        await s.press("c")
        assert "npu-doctor watch" in s.text


async def test_a_pipe_is_read_to_its_end_and_leaves_nothing_behind() -> None:
    from doctor.read.piped import Pipe

    read, write = os.pipe()
    pipe = Pipe(read)
    os.write(write, (OOM + "\n").encode())
    os.close(write)
    pipe.copy()
    screen = WatchScreen(
        lambda: Live((), small_knowledge(), piped=((pipe.path, pipe.source()),)), 3600, lambda: pipe.open
    )
    async with stage(screen) as s:
        assert s.screen.query_one("#list", Rows).current == "finding:MEM001"
        assert "<stdin>" in s.text
        await s.press("v")
        assert "NPU out of memory" in s.text
    pipe.close()
    assert not os.path.exists(pipe.path)


@pytest.mark.parametrize("longer", [0, 1000])
def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path, longer: int) -> None:
    """Also when it is as large as before, or larger: by its beginning and its end it is another file."""
    log = tmp_path / "a.log"
    log.write_text(OOM + "\n" + "x" * 300 + "\n")
    one = live(tmp_path)
    assert "finding MEM001" in events(one)
    size = log.stat().st_size
    text = MTE + "\n"
    log.write_text(text + "y" * (size + longer - len(text) - 1) + "\n")
    os.utime(log, ns=(1, log.stat().st_mtime_ns + 1_000_000))
    assert events(one)[:2] == [f"restarted {log}", "finding RTS001"]


def test_a_file_that_was_only_touched_is_not_read_again(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OOM + "\n")
    one = live(tmp_path)
    one.poll()
    os.utime(log)
    assert events(one) == []
