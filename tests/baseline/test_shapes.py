"""Shapes: what is a run's own is gone from a line, what decides stays, and the quick way tells what the slow one tells."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.baseline import shapes as room
from doctor.baseline.masks import Masks
from doctor.baseline.shapes import BLANK, FIRST_SHAPES, FURTHER, LINES_A_SHAPE, Shapes
from doctor.read.encoding import decode
from tests.simulate.pairs import pair
from tests.simulate.strange import STRANGE

SAME = [
    ("loaded 12 tensors in 3.5 s", "loaded 9999 tensors in 0.02 s"),
    ("open /home/alice/run_17/part-3.bin", "open /data/jobs/4711/part-12.bin"),
    ("cache key 7f3a9c01deadbeef ready", "cache key 00aa11bb22cc ready"),
    ("[rank3]: step 5 done", "[rank12]: step 70000 done"),
    ("2026-05-11 07:31:02,123 INFO step done", "2027-01-01 00:00:00,000 INFO step done"),
    ("request 9fKq2LmX81zTpQ accepted", "request b7Zx03QweR9ty1 accepted"),
    ("shape [1, 2, 3]", "shape [4, 5, 6, 7, 8]"),
    ("login from 10.1.2.3 port 22", "login from 192.168.77.1 port 60123"),
    ("(Worker_TP2 pid=1456) ERROR 03-25 06:14:02 [a.py:880] boom", "(Worker_TP0 pid=9) ERROR 04-01 11:00:59 [a.py:880] boom"),
    ("agent on amber-1 is up", "agent on amber-2 is up"),
]
OTHER = [
    ("kernel exited with code 0", "kernel exited with code 137"),
    ("stream sync: pending=0", "stream sync: pending=3"),
    ('"GET /v1 HTTP/1.1" 200', '"GET /v1 HTTP/1.1" 503'),
    ("error code is 507018", "error code is 507011"),
    ("EI0006: socket", "EI0002: socket"),
    ("ret=1", "ret=-1"),
    ("loss: 2.31", "loss: nan"),
    ("state ready", "state dead"),
    ("status: bad", "status: dead"),
    ("health fed", "health fade"),
]


def shape(line: str) -> str:
    return Masks(frozenset({"amber-1", "amber-2"})).shape(line)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_a_runs_own_is_no_difference(one: str, other: str) -> None:
    assert shape(one) == shape(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_decides_stays(one: str, other: str) -> None:
    assert shape(one) != shape(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_decides_stays_when_one_of_them_is_known(one: str, other: str) -> None:
    """The quick way removes digits, and letters of hexadecimal words: it must not confuse what the masks keep apart."""
    shapes = Shapes()
    first = shapes.of(f"{one}\n".encode())[0]
    assert shapes.of(f"{other}\n{one}\n".encode())[:2] == [shapes.of(other.encode())[0], first]
    assert shapes.of(other.encode())[0] != first


def slowly(block: bytes) -> list[str]:
    """The shape of each line, read by itself."""
    masks = Masks()
    return [masks.shape(decode(line)) if line.strip() else "" for line in block.replace(b"\r", b"\n").split(b"\n")]


def test_blocks_say_what_lines_say() -> None:
    """Of a whole run, in an order in which each shape is met in many neighbourhoods."""
    lines = [line for text in pair(3, STRANGE).bad.values() for line in text.encode().splitlines()]
    random.Random(1).shuffle(lines)
    block = b"\n".join(lines[:3000])
    shapes = Shapes()
    assert [shapes.texts[n] for n in shapes.of(block)] == slowly(block)
    assert [shapes.texts[n] for n in shapes.of(block)] == slowly(block), "the second time all of them are known"


@given(st.lists(st.text(alphabet="abcdefgh 0123456789=:/.x[]\r\té", max_size=30), max_size=12))
def test_any_lines_say_what_they_say_alone(rows: list[str]) -> None:
    block = "\n".join(rows).encode()
    shapes = Shapes()
    shapes.of(block)
    assert [shapes.texts[n] for n in shapes.of(block)] == slowly(block)


def test_beyond_the_bound_lines_are_counted_together() -> None:
    """Letters alone are no numbers: every line has a shape of its own."""
    names = [f"{a}{b}{c}" for a in "ghijklmn" for b in "opqrstuv" for c in "wxyz"]
    shapes = Shapes(most=50)
    numbers = shapes.of("\n".join(f"visit {name} now" for name in names).encode())
    assert len(shapes.texts) == 50
    assert numbers.count(FURTHER) == len(names) - 48
    assert shapes.of(b"visit gow now")[0] == numbers[0], "those that came first are still known"


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgetting costs time, and changes no answer."""
    monkeypatch.setattr(room, "MAX_KEYS", 3)
    block = b"\n".join(b"word%c 0x12ab code=%d" % (b"ghijklmnop"[n], n) for n in range(10))
    shapes = Shapes()
    assert [shapes.texts[n] for n in shapes.of(block + b"\n" + block)] == slowly(block + b"\n" + block)
    assert max(len(shapes._plain), len(shapes._other), len(shapes._deciding), len(shapes._first)) <= 4


def test_a_shape_names_nobody() -> None:
    """It may be kept in a file: what identifies people, machines and secrets is hidden behind its kind."""
    told = shape("user bob@corp.example at 10.2.3.4 with password=hunter2secret and token sk-abcdefghijklmnopqrstuvwx12 read /home/bob/x.bin")
    assert not any(part in told for part in ("bob", "10.2", "hunter", "abcdefghijkl", "corp")), told


def test_free_text_fills_no_bound_and_hides_no_trouble() -> None:
    """Prompts that a server logs, one of which no other is like; what is wrong is told behind the same words."""
    pick = random.Random(2)
    words = ["".join(pick.choices("ghijklmnopqrstuvwxyz", k=6)) for _ in range(400)]
    prompts = [f"received request {n}: {' '.join(pick.choices(words, k=8))}" for n in range(2000)]
    shapes = Shapes()
    numbers = shapes.of("\n".join(prompts).encode())
    assert len(shapes.texts) < 400
    assert FURTHER not in numbers
    assert shapes.texts[numbers[-1]] == f"received request {room.FREE}"
    told = shapes.texts[shapes.of(b"received request 7: but its connection is broken")[0]]
    assert told == "received request #: but its connection is broken"


def test_where_no_line_is_like_another_only_grave_ones_are_told_apart() -> None:
    """A file of random words is not compared line by line; what says that something is wrong is still found in it."""
    pick = random.Random(3)
    rows = [" ".join("".join(pick.choices("bcdfgklmprstvw", k=6)) for _ in range(6)) for _ in range(9000)]
    rows[8000] = "the arena of lane seven is corrupted"
    shapes = Shapes()
    found = shapes.of("\n".join(rows).encode())
    assert found.count(FURTHER) > 9000 - FIRST_SHAPES - 9000 // LINES_A_SHAPE - 10
    assert found[8000] not in (BLANK, FURTHER)
