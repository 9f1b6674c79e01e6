"""Pickles are read as plain values: what a program wrote comes back, and nothing that a pickle says is ever run."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulate.recorder_dumps import torch_pickled

from parsers.pickle_state import Bounds, PickleError, Why
from parsers.pickles import load

scalars = st.none() | st.booleans() | st.integers(-(1 << 200), 1 << 200) | st.floats(allow_nan=False) | st.text(max_size=20) | st.binary(max_size=20)
keys = st.text(max_size=12) | st.integers(-9, 1 << 40)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=6), max_leaves=60)


def lists(value: Any) -> Any:
    """What is read of a value: its tuples are lists."""
    if isinstance(value, (list, tuple)):
        return [lists(inner) for inner in value]
    if isinstance(value, dict):
        return {key: lists(inner) for key, inner in value.items()}
    return value


@given(values, st.integers(0, pickle.HIGHEST_PROTOCOL))
@settings(deadline=None, max_examples=150)
def test_what_a_program_wrote_comes_back(value: Any, protocol: int) -> None:
    """Every protocol that Python writes is read."""
    assert load(pickle.dumps(value, protocol)) == value


@given(values, st.integers(0, pickle.HIGHEST_PROTOCOL), st.data())
@settings(deadline=None, max_examples=150)
def test_a_pickle_that_was_cut_off_says_so(value: Any, protocol: int, data: st.DataObject) -> None:
    """Wherever it ends early, it is called truncated, and no value is made of it."""
    whole = pickle.dumps(value, protocol)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(PickleError) as told:
        load(whole[:cut])
    assert told.value.why is Why.TRUNCATED


@given(st.binary(max_size=200) | st.lists(st.sampled_from([bytes([op]) for op in range(256)] + [b"K\x01", b"\x94", b"](", b"}(", b"h\x00"]), max_size=60).map(b"".join))
@settings(deadline=None, max_examples=400)
def test_no_bytes_do_anything_but_be_refused_or_read(data: bytes) -> None:
    """Whatever the bytes are, there is a plain value or a `PickleError`."""
    with contextlib.suppress(PickleError):
        load(data)


torch_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 62), 1 << 62) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(torch_values)
@settings(deadline=None, max_examples=30)
def test_what_torch_writes_is_read_by_records_and_step_by_step_alike(value: Any) -> None:
    """Lists and pairs without a number in the memo, in dictionaries that are alike: read in one go they say the same."""
    entries = [{"at": number, "said": value, "sizes": [[number % 3, 7], []], "group": ("0", "tp"), "kind": "x", "none": None} for number in range(9)]
    data = torch_pickled({"entries": entries})
    assert load(data) == load(data, fold=dict) == lists({"entries": entries})


class _Runs:
    """Its pickle calls what it names."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_calls_is_named_with_what_it_asked_for(tmp_path: Path, protocol: int) -> None:
    """Nothing of it is run, in no protocol."""
    with pytest.raises(PickleError) as told:
        load(pickle.dumps({"entries": [_Runs(tmp_path / "touched")]}, protocol))
    assert told.value.why is Why.HOSTILE
    assert f"{os.system.__module__}.system" == told.value.asked
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        pytest.param(b"(S'id'\nios\nsystem\n.", None, id="class-of-a-mark"),
        pytest.param(b"(S'id'\nios\nsystem\n", None, id="cut-off-after-it"),
        pytest.param(b"(ios\nsystem\n.", "os.system", id="inst"),
        pytest.param(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.", "builtins.eval", id="by-the-stack"),
        pytest.param(b"\x80\x02\x82\x07.", "extension 7", id="extension"),
        pytest.param(b"Psomething\n.", "a persistent object", id="persistent"),
        pytest.param(b"\x80\x05\x97.", "a buffer that lies elsewhere", id="buffer"),
        pytest.param(b"}}b.", "a state to be set on an object", id="state"),
        pytest.param(b"cnumpy.core.multiarray\nscalar\n.", "numpy.core.multiarray.scalar", id="numpy"),
        pytest.param(b"ccollections\nOrderedDict\n)\x81.", "an object of a class", id="new-object-of-an-allowed-name"),
    ],
)
def test_every_way_to_an_object_is_closed(data: bytes, asked: str | None) -> None:
    """Each operation that leads to something else than a plain value is refused with its name."""
    with pytest.raises(PickleError) as told:
        load(data)
    assert told.value.why in (Why.HOSTILE, Why.FOREIGN)
    if asked:
        assert (Why.HOSTILE, asked) == (told.value.why, told.value.asked)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x80\x04Nr\xff\xff\xff\x7f.", id="memo-of-a-huge-number"),
        pytest.param(b"(" * 5000, id="marks"),
        pytest.param(b"]" * 500 + b"a" * 499 + b".", id="lists-in-lists"),
        pytest.param(b"K\x01" + b"\x85" * 5000 + b".", id="tuples-in-tuples"),
        pytest.param(b"]q\x00" + b"0]q\x01h\x00aq\x00" * 300 + b".", id="deep-by-the-memo"),
        pytest.param(b"\x8b\xff\xff\xff\x7f" + b"\xff" * 100 + b".", id="long-number"),
        pytest.param(b"}" * 2000 + b".", id="many-containers"),
        pytest.param(b"](" + b"K\x01" * 3000 + b"e.", id="many-values"),
    ],
)
def test_what_would_take_too_much_is_refused(data: bytes) -> None:
    """Memory and depth are bounded, whatever the pickle says about itself."""
    with pytest.raises(PickleError) as told:
        load(data, bounds=Bounds(objects=1500))
    assert told.value.why is Why.LARGE


def test_a_key_that_takes_for_ever_to_hash_is_refused() -> None:
    """Tuples of tuples share their parts: forty of them would be hashed in 2^40 steps."""
    twice = b"K\x01q\x00" + b"".join(b"0h%ch%c\x86q%c" % (number, number, number + 1) for number in range(40))
    with pytest.raises(PickleError) as told:
        load(b"}" + twice + b"K\x01s.")
    assert told.value.why is Why.FOREIGN


def test_the_size_is_looked_at_first() -> None:
    """A larger file is not begun."""
    with pytest.raises(PickleError) as told:
        load(pickle.dumps("x" * 100), bounds=Bounds(size=50))
    assert told.value.why is Why.LARGE


def test_what_torch_writes_for_plain_containers_is_read() -> None:
    """Typed lists and ordered dictionaries are asked for by name, and are plain all the same."""
    assert load(b"\x80\x02ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02e\x85R.") == [1, 2]
    assert load(pickle.dumps(OrderedDict(a=1))) == {"a": 1}
    assert load(pickle.dumps(b"\xff\x00", 2)) == b"\xff\x00"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("number", [1, 2, 3, 200, 999, 1000, 1001, 2500])
def test_lists_of_what_was_said_before_are_whole(protocol: int, number: int) -> None:
    """Call stacks are lists of references, written in one part or several."""
    frames = [{"name": f"f{place}", "line": place} for place in range(300)]
    value = {"all": frames, "traces": [{"frames": [frames[(place * 7 + shift) % 300] for place in range(number)]} for shift in (0, 0, 5)]}
    assert load(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_records_are_folded_as_they_come(protocol: int) -> None:
    """What `fold` makes of a dictionary stands in its place, also where it is referred to again."""
    event = {"action": "alloc", "size": 512}
    value = {"traces": [[event, {"action": "free", "size": 3}]], "again": event}
    folded = load(pickle.dumps(value, protocol), fold=lambda one: one["size"] if "action" in one else one)
    assert folded == {"traces": [[512, 3]], "again": 512}


def test_sparse_numbers_of_the_memo_are_read() -> None:
    """`pickletools.optimize` leaves out what is not referred to."""
    assert load(b"\x80\x02](X\x01\x00\x00\x00aq\x07h\x07e.") == ["a", "a"]


def test_a_large_frame_is_no_promise() -> None:
    """The length that a frame tells is not allocated."""
    assert load(b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"N.") is None


def test_tuples_become_lists() -> None:
    """Of every length."""
    for number in range(6):
        assert lists(tuple(range(number))) == load(pickle.dumps(tuple(range(number))))
