"""What runs on a node, run here: it ends in time, leaves nothing behind however it ends, and fills no disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests_support import HANG_S

from doctor.fleet import talk
from doctor.fleet.outcome import Outcome
from doctor.fleet.talk import Order, Talk
from doctor.version import __version__
from tests.fleet.conftest import STUCK, begun, until

NONCE = "0011223344556677"
STAGE = "import sys; exec(sys.stdin.buffer.readline())"
HEAD = '#!/bin/sh\n[ "$1" = version ] && {{ echo "npu-doctor {version}"; exit; }}\nfor out; do :; done\n'
LATE = HEAD + "trap 'echo harvest > \"$out\"; exit 130' INT\nwhile :; do read -r x < {fifo}; done\n"
ENDLESS = HEAD + 'exec cat /dev/zero > "$out"\n'


def node(place: Path, program: str, order: Order) -> tuple[subprocess.Popen[bytes], Talk, Path]:
    """Starts it with an npu-doctor of its own; the process, the conversation, and the folder in which it makes its own."""
    (place / "bin").mkdir()
    (place / "tmp").mkdir()
    os.mkfifo(place / "fifo")
    script = place / "bin" / "npu-doctor"
    script.write_text(program.format(version=__version__, fifo=place / "fifo"))
    script.chmod(0o755)
    environ = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(place / "tmp")}
    process = subprocess.Popen([sys.executable, "-u", "-c", STAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)
    made = Talk(NONCE, lambda _: (b"no program", "another hash"), order)
    assert process.stdin is not None
    process.stdin.write(made.opening())
    process.stdin.flush()
    return process, made, place / "tmp"


def ended(process: subprocess.Popen[bytes], made: Talk) -> Outcome:
    """Hears it to its end, as the engine does."""
    assert process.stdin is not None
    assert process.stdout is not None
    while data := os.read(process.stdout.fileno(), 65536):
        if said := made.heard(data):
            process.stdin.write(said)
            process.stdin.flush()
    process.stdin.close()
    return made.outcome(process.wait(HANG_S), False, 0)


def order(seconds: float = HANG_S, copy: bool = True) -> Order:
    return Order(("scan",), ".jsonl", __version__, seconds, copy)


def test_what_was_read_in_time_counts(tmp_path: Path) -> None:
    """When its time is over the scan is told so, and concludes."""
    process, made, left = node(tmp_path, LATE, order(0.3))
    told = ended(process, made)
    assert (told.state, told.answer) == ("partial", b"harvest\n")
    assert not list(left.iterdir())


def test_a_scan_that_hangs(tmp_path: Path) -> None:
    process, made, left = node(tmp_path, STUCK, order(0.3))
    begun(tmp_path, process)
    assert ended(process, made).state == "timed out"
    assert not list(left.iterdir())


def test_no_answer_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "MAX_ANSWER", 1 << 20)
    process, made, left = node(tmp_path, ENDLESS, order())
    told = ended(process, made)
    assert told.state == "failed"
    assert made.received < 1 << 20
    assert not list(left.iterdir())


@pytest.mark.parametrize("how", ["end of input", signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays(tmp_path: Path, how: str | signal.Signals) -> None:
    """The one that waits is gone, or this itself is killed: the scan is ended and the folder removed."""
    process, _, left = node(tmp_path, STUCK, order())
    begun(tmp_path, process)
    assert len(list(left.iterdir())) == 1
    assert process.stdin is not None
    if isinstance(how, str):
        process.stdin.close()
    else:
        process.send_signal(how)
    process.wait(HANG_S)
    until(lambda: not list(left.iterdir()))


def test_the_folder_is_left_where_that_is_asked_for(tmp_path: Path) -> None:
    """With all that was put into it, for its owner alone."""
    process, made, left = node(tmp_path, LATE, order(0.3)._replace(keep=True, files=(("knowledge/0/own.yaml", "code: A1"),)))
    assert ended(process, made).state == "partial"
    (folder,) = left.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "knowledge" / "0" / "own.yaml").read_text() == "code: A1"
    assert (folder / "answer.jsonl").read_text() == "harvest\n"


def test_a_program_that_arrives_damaged_is_not_run(tmp_path: Path) -> None:
    process, made, left = node(tmp_path, "#!/bin/sh\necho npu-doctor 0.0.1\n", order()._replace(version="999"))
    told = ended(process, made)
    assert (told.state, told.reason) == ("refused", "the program arrived damaged: its hash is another one")
    assert not list(left.iterdir())


def test_nothing_is_sent_where_that_is_forbidden(tmp_path: Path) -> None:
    process, made, _ = node(tmp_path, "#!/bin/sh\necho npu-doctor 0.0.1\n", order(copy=False)._replace(version="999"))
    told = ended(process, made)
    assert told.reason == "npu-doctor 0.0.1 is here, not 999, and --no-copy forbids to send it"
    assert told.sent == 0
