"""The conversation with a node that may say anything: each costs only itself, and none is believed without its hash."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import zlib

import pytest

from doctor.fleet import talk
from doctor.fleet.outcome import STATES, Outcome
from doctor.fleet.talk import MARK, Order, Printed, Talk, silent

NONCE = "0011223344556677"
ORDER = Order(("scan",), ".jsonl", "0.1", 5.0)


def line(verb: str, value: object, nonce: str = NONCE) -> bytes:
    return MARK + f"{nonce} {verb} {value if isinstance(value, str) else json.dumps(value)}\n".encode()


def answer(text: bytes, code: int = 0, late: bool = False, **more: object) -> bytes:
    """All that a node says when it is well."""
    data = base64.b64encode(zlib.compress(text)).decode()
    end = {"code": code, "late": late, "size": len(text), "sha256": hashlib.sha256(text).hexdigest(), "said": "", "seconds": 1, **more}
    return line("here", {}) + line("data", data) + line("end", end)


def heard(*pieces: bytes, code: int | None = 0, timed_out: bool = False) -> Outcome:
    made = Talk(NONCE, lambda _: (b"program", "hash"), ORDER)
    for piece in pieces:
        made.heard(piece)
    return made.outcome(code, timed_out, 1.0)


def test_a_node_that_is_well() -> None:
    assert heard(answer(b"harvest")) == Outcome("scanned", "", b"harvest", 1.0, len(answer(b"harvest")), 0)


def test_pieces_of_any_size_and_words_of_others_between() -> None:
    """A greeting before it, other programs between the lines, carriage returns: none of it matters."""
    said = b"Welcome to node 7!\nno end of a line here " + answer(b"harvest").replace(b"\n", b"\r\n").replace(b"end", b"end", 1) + b"\nbye\n"
    assert heard(*(said[n : n + 1] for n in range(len(said)))).answer == b"harvest"


def test_the_program_is_sent_when_it_is_asked_for() -> None:
    made = Talk(NONCE, lambda machine: (machine.encode(), "its hash"), ORDER)
    assert made.heard(line("need", {"machine": "aarch64"})) == b'{"size": 7, "sha256": "its hash"}\naarch64'


@pytest.mark.parametrize(
    ("said", "state", "reason"),
    [
        (b"", "failed", "it sent no answer"),
        (answer(b"harvest")[:-40], "failed", "it broke off in the middle"),
        (answer(b"harvest").replace(b"data ", b"data AAAA"), "failed", "its answer arrived damaged"),
        (line("here", {}) + line("end", {"code": 0, "sha256": 7}), "failed", "its answer arrived damaged"),
        (answer(b"harvest", nonce=1).replace(NONCE.encode(), b"another's"), "failed", "it sent no answer"),
        (answer(b"", 2, said="npu-doctor: there are no logs in the usual places\n = help: name a path"), "failed", "npu-doctor: there are no logs in the usual places"),
        (answer(b"", -11), "failed", "the scan was ended by signal 11"),
        (answer(b"harvest", 130, late=True), "partial", "the time was over: what follows was not read"),
        (answer(b"", -9, late=True), "timed out", "the scan did not end within the time limit"),
        (line("refused", {"reason": "npu-doctor is not installed here, and --no-copy forbids to send it"}), "refused", "npu-doctor is not installed here"),
        (line("no-python", ""), "failed", "no Python 3.10 or newer"),
        (line("end", "[" * 5000), "failed", "it broke off"),
    ],
)
def test_every_end_has_a_word(said: bytes, state: str, reason: str) -> None:
    made = heard(said)
    assert (made.state, made.answer if state == "failed" else b"") == (state, b"")
    assert made.reason.startswith(reason)


def test_a_bomb_and_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte in a packed line, a line without an end, gigabytes of lines: bounded in memory and cut off."""
    monkeypatch.setattr(talk, "MAX_ANSWER", 1 << 20)
    monkeypatch.setattr(talk, "MAX_RECEIVED", 4 << 20)
    assert heard(answer(bytes(8 << 20))).reason == "its answer arrived damaged"
    endless = Talk(NONCE, lambda _: (b"", ""), ORDER)
    for _ in range(40):
        endless.heard(b"x" * (1 << 16))
    assert len(endless._line) <= talk.MAX_LINE
    assert endless.heard(b"\n" + answer(b"harvest")) == b""
    assert endless.outcome(0, False, 0).answer == b"harvest"
    for _ in range(40):
        endless.heard(line("data", "A" * (1 << 16)))
    assert endless.overflow
    assert not endless._packed
    assert not heard(b"x" * 100, line("here", {})).reason.startswith("it sent more")
    assert "it sent more than 4.0 MiB" in endless.outcome(None, False, 0).reason


def test_anything_ends_in_one_of_six_ways() -> None:
    """Pieces of real conversations, cut and mixed."""
    shuffle = random.Random(7)
    whole = answer(b"harvest") + line("refused", {"reason": "no"}) + line("need", {"machine": 1}) + b"\xff\x00garbage\n"
    for _ in range(400):
        pieces = [whole[(a := shuffle.randrange(len(whole))) : a + shuffle.randrange(90)] for _ in range(12)]
        made = heard(*pieces, code=shuffle.choice((0, 1, 255, None)), timed_out=shuffle.random() < 0.3)
        assert made.state in STATES
        assert made.answer in (b"", b"harvest")
        assert made.reason or made.state == "scanned"


@pytest.mark.parametrize(
    ("why", "state"),
    [
        ("root@10.0.0.1: Permission denied (publickey).", "refused"),
        ("Host key verification failed.", "refused"),
        ("ssh: connect to host n1 port 22: Connection refused", "unreachable"),
        ("ssh: Could not resolve hostname n9: Name or service not known", "unreachable"),
        ("srun: error: Unable to allocate resources: Requested nodes are busy", "refused"),
        ("srun: error: Unable to create step for job 7: Requested node configuration is not available", "refused"),
        ('Error from server (NotFound): pods "worker-9" not found', "unreachable"),
        ('Error from server (Forbidden): pods "w" is forbidden: User "u" cannot create resource "pods/exec"', "refused"),
        ("Error response from daemon: No such container: w", "unreachable"),
    ],
)
def test_what_tools_say_when_they_cannot(why: str, state: str) -> None:
    assert silent(255 if "ssh" in why else 1, why).state == state


def test_what_a_pod_printed_is_kept_from_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gigabytes of it cost no more memory than the end that is read."""
    monkeypatch.setattr(talk, "MAX_RECEIVED", 1 << 20)
    made = Printed("OOMKilled")
    for n in range(64):
        made.heard(f"{n:06}".encode() * 10000)
    told = made.outcome(0, False, 1.0)
    assert (told.state, told.answer[-6:]) == ("partial", b"000063")
    assert len(told.answer) < (1 << 20) + 70000
    assert "the last 1.0 MiB" in told.reason


def test_no_shell_of_a_node_changes_the_script() -> None:
    """Login shells may be sh, bash, csh or fish: nothing in it means anything to one of them within single quotes."""
    assert not set("'\\!\n") & set(talk.SCRIPT)
