"""Which engine is used, and what happens when the fast one cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st

from doctor.scan import finder
from kb.sought import Whole

INCIDENTS = Path(__file__).resolve().parent.parent / "data" / "incidents"
LITERALS = (b"drvMemcpy failed", b"memcpy", b"\xe5\x86\x85", b"Error\n")
DATA = b"memcpy drvMemcpy failed \xe5\x86\x85 Error\n\x01\x02 memcpy"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "npu-doctor"


def answer(size: int = finder.LARGE, engine: str | None = None) -> finder.Finds:
    return finder.best(LITERALS, size, "digest", engine)(DATA)


def test_every_engine_answers_alike(cache: Path) -> None:
    assert answer(engine="plain") == answer(engine="ahocorasick_rs") == answer(engine="hyperscan") == answer(0)


@pytest.mark.parametrize("engine", finder.ENGINES)
def test_a_bare_code_is_found_as_a_whole_word(cache: Path, engine: str) -> None:
    """Six digits stand in a timestamp, an address, a name: the automaton that is kept does not stop there, others may."""
    texts = {b"507011": 1, b"ret=507011)": 1, b"507011\n507011": 2, "错误507011。".encode(): 1, b"1507011": 0, b"5070110": 0, b"x507011": 0, b"507011_a 507011": 1, b"50701107011": 0}
    for text, times in texts.items():
        found = finder.best((Whole(b"507011"), b"absent"), finder.LARGE, "whole", engine)(text)
        assert times <= len(found) <= (times if engine == "hyperscan" else text.count(b"507011")), text
        assert len(finder.best((b"507011", b"absent"), finder.LARGE, "whole", engine)(text)) == text.count(b"507011"), text


def test_every_engine_gives_the_same_report(run: Run) -> None:
    """Incidents read with each of them: nothing in the report differs but how long it took."""
    paths = sorted(str(p) for p in INCIDENTS.iterdir() if p.is_dir())[::9]
    told = [json.loads(run("scan", "-j1", "-f", "json", *paths, NPU_DOCTOR_ENGINE=name).stdout) for name in finder.ENGINES]
    for one in told:
        one["stats"].pop("seconds")
    assert told[0]["verdict"] == "findings"
    assert told[1] == told[0]
    assert told[2] == told[0]


def test_a_library_that_dies_is_not_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child that tries it is killed: the verdict is kept, and the next engine does the work."""
    pytest.importorskip("hyperscan")
    monkeypatch.setattr(finder, "_PROBE", "import os; os.kill(os.getpid(), 4)")
    assert answer() == answer(engine="plain")
    assert [p.read_bytes() for p in cache.iterdir()] == [b"dies\n"]
    monkeypatch.setattr(finder, "_PROBE", "")  # not asked again
    assert finder._cached_hyperscan(LITERALS, "digest") is None


def test_a_damaged_automaton_is_made_again(cache: Path) -> None:
    pytest.importorskip("hyperscan")
    right = answer()
    [place] = cache.glob("automaton-*")
    good = place.read_bytes()
    for bad in (b"", b"\n", good[: len(good) // 2], good[:-8] + b"deadbeef", b"0.0 1\n" + good):
        place.write_bytes(bad)
        assert answer() == right
        assert place.read_bytes() == good


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    assert answer() == answer(engine="plain")


@given(st.lists(st.text("ab. ", min_size=1, max_size=9), min_size=1, max_size=12, unique=True), st.text("ab. \n", max_size=80))
def test_a_small_input_is_looked_through_for_all(literals: list[str], text: str) -> None:
    """What is skipped by its pieces stands nowhere: as many finds as when each place is looked at."""
    words, data = [literal.encode() for literal in literals], text.encode()
    places = [(at + len(word), number) for number, word in enumerate(words) for at in range(len(data)) if data.startswith(word, at)]
    assert finder.plain(words)(data) == sorted(places)
