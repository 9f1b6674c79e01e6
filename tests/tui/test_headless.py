"""What needs no terminal: lines by offset, filters, the clipboard chain, editors, the job's rows, refusals, imports."""

from __future__ import annotations

import bisect
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.base.errors import UsageError
from doctor.commands import browse, interface
from doctor.read import logfile
from doctor.read.logfile import PIECE, BadPatternError, BytesReader, LogFile, Pattern, open_log
from doctor.read.source import Source, hints
from doctor.render.document import Code, Document, Evidence, Link, Section, Target
from doctor.render.layout import cells
from doctor.tui.evidence import logfilter
from doctor.tui.shell import clipboard, editor_command, keys
from doctor.tui.shell.doc import Doc
from doctor.tui.shell.line import Span, between, plain, shown, width

ROOT = Path(__file__).resolve().parent.parent.parent


def check(data: bytes) -> None:
    """Rows cover every byte once, the same in both directions and from any offset."""
    log = LogFile(BytesReader(data))
    rows = log.rows(0, 10**9)
    starts = [row.start for row in rows]
    assert b"".join(data[row.start : row.end] for row in rows) == data
    backwards, at = [], log.last if data else None
    while at is not None:
        backwards.append(at)
        at = log.before(at)
    assert backwards[::-1] == starts
    for offset in range(0, len(data), max(1, len(data) // 50)):
        assert log.start_of(offset) == starts[bisect.bisect_right(starts, offset) - 1]
        assert log.number(offset) == data.count(b"\n", 0, offset) + 1


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"\xff\r", b"z" * 400]), max_size=40).map(b"\n".join))
@settings(max_examples=60)
def test_rows_of_any_text(data: bytes) -> None:
    check(data)


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 5])
def test_rows_of_very_long_lines(size: int) -> None:
    check(b"short\n" + b"x" * size + b"\nend\n")
    check(b"x" * size)


def test_numbers_and_offsets_are_inverse_over_many_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "STRIDE", 1000)
    data = b"".join(b"line %d\n" % n for n in range(1, 3001))
    log = LogFile(BytesReader(data))
    for number in (1, 2, 99, 100, 101, 1500, 2999, 3000):
        offset = log.offset(number)
        assert offset is not None
        row = log.row(offset)
        assert row is not None
        assert row.text == f"line {number}"
        assert log.number(offset) == number
    assert log.offset(9999) == log.last
    assert log.number(len(data) // 2, lambda: True) is not None
    assert LogFile(BytesReader(data)).number(len(data) // 2, lambda: True) is None


def test_search_in_both_directions_over_borders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "STRIDE", 500)
    monkeypatch.setattr(logfile, "PIECE", 100)
    data = b"".join(b"line %d of many\n" % n for n in range(1, 301))
    log = LogFile(BytesReader(data))

    def text(at: int | None) -> str:
        row = log.row(at) if at is not None else None
        return row.text if row else ""

    assert text(log.find(Pattern("LINE 7".lower()), 0)) == "line 7 of many"
    assert text(log.find(Pattern("line 2\\d\\d"), log.size, False)) == "line 299 of many"
    assert log.find(Pattern("Line 7"), 0) is None
    assert log.find(Pattern("line 300"), 0, True, lambda: True) is None
    with pytest.raises(BadPatternError):
        Pattern("(")


def test_a_stream_gives_the_part_around_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "AROUND", 2000)
    monkeypatch.setattr(logfile, "PAGE", 100)
    import io

    data = b"".join(b"line %d\n" % n for n in range(1, 5001))
    log = open_log(Source("x.gz", lambda: io.BytesIO(data), None, hints("x")), 2500)
    assert not log.whole
    assert log.size < 7000
    offset = log.offset(2500)
    assert offset is not None
    row = log.row(offset)
    assert row is not None
    assert row.text == "line 2500"


def test_filters_are_read_and_refused() -> None:
    assert logfilter.parse("  ") is None
    made = logfilter.parse("level=error module=HCCL pid=7 rank=3 two words")
    assert made == logfilter.LineFilter("error", "HCCL", 7, 3, ("two", "words"))
    assert logfilter.parse(made.text()) == made if made else False
    for bad in ("level=loud", "pid=x", "colour=red"):
        with pytest.raises(logfilter.BadFilterError):
            logfilter.parse(bad)


def copied(env: dict[str, str], works: Sequence[str]) -> tuple[clipboard.Copied, list[str], list[str]]:
    tried: list[str] = []
    sent: list[str] = []

    def runner(argv: Sequence[str], data: bytes) -> bool:
        tried.append(" ".join(argv))
        assert data == "é\udc80".encode("utf-8", "backslashreplace")
        return any(w in tried[-1] for w in works)

    return clipboard.copy("é\udc80", sent.append, env, runner), tried, sent


def test_the_clipboard_chain(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "TERM": "xterm"}
    done, tried, sent = copied({**home, "TMUX": "x"}, ["load-buffer -w"])
    assert (done.ways, tried, sent) == (("tmux",), ["tmux load-buffer -w -"], [])
    done, tried, _ = copied({**home, "TMUX": "x"}, ["load-buffer -"])
    assert done.ways == ("tmux",)
    done, tried, sent = copied(home, [])
    assert (done.ways, tried, sent) == (("OSC 52",), [], ["é\\udc80"])
    done, _, _ = copied({**home, "DISPLAY": ":0"}, ["xsel"])
    assert done.ways == ("OSC 52", "xsel")
    done, _, sent = copied({**home, "TERM": "dumb"}, [])
    assert (done.ways, sent) == ((), [])
    assert Path(done.path).read_bytes() == "é\\udc80".encode()
    assert Path(done.path).stat().st_mode & 0o777 == 0o600
    (tmp_path / "file").write_text("")
    assert copied({"HOME": str(tmp_path / "file"), "TERM": "dumb"}, [])[0] == clipboard.Copied((), "")


def test_a_long_text_is_not_sent_where_terminals_drop_it(tmp_path: Path) -> None:
    sent: list[str] = []
    done = clipboard.copy(
        "x" * (clipboard.OSC52_LIMIT + 1), sent.append, {"HOME": str(tmp_path), "TERM": "xterm"}, lambda *_: False
    )
    assert (done.ways, sent) == ((), [])
    assert done.path


@pytest.mark.parametrize(
    ("env", "argv"),
    [
        ({"EDITOR": "vim"}, ["vim", "-R", "--cmd", "set nomodeline", "+7", "--", "/a b"]),
        ({"VISUAL": "code -w", "EDITOR": "vi"}, ["code", "-w", "--goto", "/a b:7"]),
        ({"PAGER": "less"}, ["less", "-N", "+7g", "--", "/a b"]),
        ({"EDITOR": "'broken"}, ["less", "-N", "+7g", "--", "/a b"]),
        ({"EDITOR": "mine"}, ["mine", "/a b"]),
        ({}, ["less", "-N", "+7g", "--", "/a b"]),
    ],
)
def test_editors_open_at_the_line(env: dict[str, str], argv: list[str]) -> None:
    assert editor_command.command("/a b", 7, env, lambda name: name) == argv


def test_shown_text_is_one_harmless_line() -> None:
    assert shown("a\x1b[31m\n\u202eb\udc80\t") == "a?[31m ?b\\udc80    "
    assert len(shown("x" * 20_000)) == 10_000


@given(st.text(max_size=40), st.text(max_size=10), st.integers(12, 60))
@settings(max_examples=100)
def test_two_parts_of_a_row_fill_it_exactly(left: str, right: str, room: int) -> None:
    left, right = shown(left), shown(right)
    line = between((Span(left),), (Span(right),), room)
    if cells(right) < room - 2:
        assert width(line) == room


def test_a_card_wraps_words_and_never_commands() -> None:
    link = Link(Target("entry", "XYZ002"), "where it leads")
    section = Section("", "", (Code("command --with " + "a" * 100, "sh"), link, Evidence("a.log", 1, "``` fence\n[b]", "")))
    doc = Doc("x", "en", [Document("ABC001", "中文标题" * 20, (), (section,))])
    lines = [plain(line) for line in doc.layout(40)]
    assert all(cells(line) <= 40 for line in lines if "command" not in line)
    assert "  command --with " + "a" * 100 in [line.rstrip() for line in lines]
    assert any(line.startswith("[1] XYZ002") for line in lines)
    assert "````" in doc.markdown()


def process(rank: int | None, node: str | None, state: str, about: str | None, last: str | None, pid: int = 0) -> dict[str, object]:
    first = "2026-03-02T09:00:00.000000" if last else None
    return {
        "rank": rank, "device": rank, "node": node, "pid": pid, "state": state, "about": about, "first_seen": first, "last_seen": last,
        "ahead": None,
    }  # fmt: skip


JOB = {
    "world_size": 5,
    "processes": 4,
    "roots": [
        {"verdict": "fault", "who": "rank 3", "codes": ["RTS001"], "waiters": 2, "peers": [], "seconds_before_first_timeout": 1800.0, "unordered": None}
    ],
    "ranks": [
        process(0, "n1", "waiting", "rank 3", "2026-03-02T09:44:44.000000"),
        process(1, "n1", "waiting", "rank 3", "2026-03-02T09:44:50.000000"),
        process(3, "n2", "root", "RTS001", "2026-03-02T09:15:00.000000"),
        process(None, None, "silent", None, None, 77),
    ],
    "timeline": [
        {"time": "2026-03-02T09:14:44.121000", "node": "n2", "who": "rank 3", "what": "RTS001", "text": {"en": "invalid address", "zh": "非法地址"}, "ahead": None},
        {"time": "2026-03-02T09:44:44.000000", "node": "n1", "who": "rank 0", "what": "notify", "text": {"en": "rank 0 gives up waiting for rank 3", "zh": "rank 0 等待 rank 3 超时"}, "ahead": None},
    ],
    "missing_ranks": [2],
    "skew": [{"node": "n2", "seconds_ahead": 1.5, "within": 0.1}],
}  # fmt: skip


def test_every_key_is_named_in_both_languages_and_none_needs_control_or_alt() -> None:
    for name, key in keys.KEYS.items():
        assert all(key.short), name
        assert all(key.tip), name
        assert any(not k.startswith(("ctrl+", "alt+")) for k in key.keys.split(",")), name


def test_the_keymap_tells_what_it_cannot_read() -> None:
    chosen, faults = keys.read_keymap("# mine\nquit = x, ctrl+q\nserch = f\nlanguage\n")
    assert chosen == {"quit": "x,ctrl+q"}
    assert faults == ["line 3: there is no action 'serch', did you mean 'search'?", "line 4: write  action = key, key"]


def test_the_mouse_stays_with_the_terminal_over_ssh() -> None:
    args = browse.arguments().parse_args([])
    assert interface.mouse_wanted(args, {})
    assert not interface.mouse_wanted(args, {"SSH_CONNECTION": "x"})
    assert interface.mouse_wanted(browse.arguments().parse_args(["--mouse"]), {"SSH_TTY": "x"})
    assert not interface.mouse_wanted(browse.arguments().parse_args(["--no-mouse"]), {})


def test_a_dumb_terminal_is_refused_with_the_same_command_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    with pytest.raises(UsageError) as told:
        interface.check_terminal(["scan", "a b.log"], {"TERM": "dumb"})
    assert "npu-doctor scan 'a b.log'" in told.value.help


def test_a_mistyped_path_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("x")
    interface.check_paths(("-", str(tmp_path / "train.log")))
    with pytest.raises(UsageError) as told:
        interface.check_paths((str(tmp_path / "trian.log"),))
    assert told.value.help == f"did you mean '{tmp_path}/train.log'?"


def test_no_terminal_is_refused_with_exit_code_2(run: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    for args in (("browse",), ("browse", "x.log"), ("scan", "--tui", "x.log")):
        done = run(*args)
        assert done.returncode == 2
        assert b"as text: npu-doctor" in done.stderr


@pytest.mark.parametrize(
    "module", ["doctor.cli", "doctor.api", "doctor.tui.shell.clipboard", "doctor.read.logfile", "doctor.watch.live_diagnosis", "doctor.watch.announce", "doctor.commands.watch", "doctor.commands.browse",
               "doctor.tui.shell.session", "doctor.tui.diagnosis.outline", "doctor.tui.knowledge.shelf", "doctor.tui.job.timeline_rows", "doctor.tui.evidence.logfilter", "doctor.tui.shell.keys"],
)  # fmt: skip
def test_the_core_runs_without_textual_and_rich(module: str) -> None:
    code = f"import sys, {module}; print([m for m in ('textual', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
