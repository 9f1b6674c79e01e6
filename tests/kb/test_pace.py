"""The wordings of the pace test themselves: each matches its samples and takes out of them what they promise, and misses what it must."""

from __future__ import annotations

import pytest

from doctor.pace.reading import Reader
from doctor.pace.tracks import Lane
from doctor.pace.wordings import Wording, wording
from doctor.read.discover import given_text
from kb import effort
from kb.layers import HERE
from kb.pace import PaceFact, read_pace

FACTS, FAULTS = read_pace(HERE / "pace.yaml", "kb/pace.yaml")


def test_the_file_is_read() -> None:
    assert [str(f) for f in FAULTS] == []
    assert {fact.form.about for fact in FACTS} >= {"step", "parts", "members", "rate", "pause", "event", "setting", "result"}


def _told(made: Wording, text: str) -> dict[str, str]:
    """What the first match of a sample tells, by group or by the names of its parts."""
    found: dict[str, str] = {}
    for match in made.pattern.finditer(text.encode()):
        found |= {k: v.decode() for k, v in match.groupdict().items() if v is not None}
        if made.part is not None:
            for name, value in made.part.findall(match["parts"]):
                measure = made.names.get(name) if made.names else name.decode()
                if measure is not None:
                    found[measure] = f"{float(found.get(measure, 0)) + float(value):g}" if made.names else value.decode()
    return found


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.form.id)
def test_wording(fact: PaceFact) -> None:
    made = wording(fact.form)
    for sample in fact.samples:
        assert fact.form.near in sample.text
        assert made.pattern.search(sample.text.encode()), sample.text
        told = _told(made, sample.text)
        assert {k: told.get(k) for k, _ in sample.expect} == dict(sample.expect)
    assert [text for text in fact.misses if made.pattern.search(text.encode())] == []
    assert not effort.nested_repeat(fact.form.pattern)
    assert not fact.form.pattern.startswith((".*", ".+"))


@pytest.mark.parametrize("fact", FACTS, ids=lambda f: f.form.id)
def test_nothing_is_taken_for_another(fact: PaceFact) -> None:
    """A line of a step tells its step by one wording alone: two would be two accounts of the same."""
    others = [wording(other.form) for other in FACTS if other.form.about in ("step", "rate") and other.form.id != fact.form.id]
    if fact.form.about in ("step", "rate"):
        for sample in fact.samples:
            assert [o.form.id for o in others if o.pattern.search(sample.text.encode())] == []


@pytest.mark.parametrize("fact", [f for f in FACTS if f.form.about == "step"], ids=lambda f: f.form.id)
def test_many_lines_are_read_as_one_line(fact: PaceFact) -> None:
    """What many lines at once tell is what each line alone tells."""
    made = wording(fact.form)
    if made.bare is None:
        return
    text = fact.samples[0].text.rstrip("\n")
    at_once, alone = Reader([made]), Reader([made])
    at_once.read(given_text("\n".join([text] * 3) + "\n", "a"))
    alone._slowly(_here(), ("\n" + "\n".join([text] * 3)).encode())
    (one,), (other,) = at_once.made.tracks.values(), alone.made.tracks.values()
    assert (list(one.steps), {k: list(v) for k, v in one.columns.items()}) == (list(other.steps), {k: list(v) for k, v in other.columns.items()})
    assert [t for t in one.times if t == t] == [t for t in other.times if t == t]


def _here() -> object:
    from doctor.pace.reading import _Here

    return _Here("a", Lane("", -1, "a"))
