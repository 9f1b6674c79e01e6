"""The knowledge in a wheel is compressed: it unpacks once, and whatever happened to what is kept of it, the knowledge is whole."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb import shipped
from kb.knowledge import Knowledge
from kb.pack import ENTRIES, BrokenPackError, Writer


@pytest.fixture
def wheel(knowledge: Knowledge, tmp_path: Path) -> Path:
    path = tmp_path / "knowledge.pack"
    path.write_bytes(shipped.packed(knowledge.packs[0].data))
    return path


def test_it_unpacks_to_what_it_was_made_of(knowledge: Knowledge, wheel: Path, tmp_path: Path) -> None:
    data = knowledge.packs[0].data
    assert wheel.stat().st_size < len(data) // 2
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        assert shipped.opened(wheel, cache).data == data
    plain = tmp_path / "plain.pack"
    plain.write_bytes(data)
    assert shipped.opened(plain, None).data == data


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.lists(st.text(max_size=30), max_size=5))
def test_whatever_a_section_says_comes_back(texts: list[str], alike: list[str]) -> None:
    """Signs for which there is no letter, backslashes before what looks like an escape, and shelves on which nothing stands."""
    writer = Writer(alike * 3)
    for text in texts:
        writer.add(ENTRIES, ["entry", text])
    told = [*texts, *(f"\\u8bef{text}\\" for text in texts), "失败\x1b\x85\N{GRINNING FACE}"]
    writer.section("index", told)
    data = writer.finish("digest", "")
    with TemporaryDirectory() as folder:
        (path := Path(folder) / "knowledge.pack").write_bytes(shipped.packed(data))
        assert shipped.opened(path, None).data == data
        assert shipped.opened(path, None).section("index") == told


def test_it_unpacks_once(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shipped.opened(wheel, tmp_path)
    monkeypatch.setattr(shipped, "_unpacked", lambda data: pytest.fail("unpacked again"))
    assert shipped.opened(wheel, tmp_path).data == first.data


@pytest.mark.parametrize("left", [b"", b"no pack\n", "cut", "other"])
def test_what_is_kept_is_not_trusted(wheel: Path, tmp_path: Path, left: bytes | str) -> None:
    """Whatever stands in its place in the cache, whoever put it there."""
    data = shipped.opened(wheel, tmp_path).data
    (kept,) = tmp_path.glob("shipped-*.pack")
    kept.write_bytes({"cut": data[:-10], "other": data[:-1] + bytes([data[-1] ^ 1])}[left] if isinstance(left, str) else left)
    assert shipped.opened(wheel, tmp_path).data == data
    assert kept.read_bytes() == data


def test_a_place_that_cannot_be_written_is_no_obstacle(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert shipped.opened(wheel, tmp_path / "file" / "cache").header.digest


@pytest.mark.parametrize("cut", [0, 20, 5000, -3])
def test_a_damaged_file_is_named(wheel: Path, cut: int) -> None:
    wheel.write_bytes(wheel.read_bytes()[:cut])
    with pytest.raises(BrokenPackError):
        shipped.opened(wheel, None)


@pytest.mark.parametrize("module", ["lzma", "bz2"])
def test_a_python_without_a_codec_is_told_so(wheel: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BrokenPackError, match="built without lzma"):
        shipped.opened(wheel, None)
