"""The file of a baseline: what was kept comes back, nothing of the logs stands in it, and hostile or damaged ones are refused."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from doctor.base.errors import UsageError
from doctor.baseline import kept
from doctor.baseline.kept import MAGIC, VERSION, packed, unpacked
from doctor.baseline.shapes import Shapes
from doctor.baseline.usual import Usual, usual
from doctor.commands import diff
from tests.planted import groups, kept_secrets
from tests.simulate.graded import heard
from tests.simulate.pairs import Pair


def learnt(pair: Pair) -> tuple[Usual, Shapes]:
    shapes = Shapes()
    return usual([heard(files, shapes) for files in pair.good], [{"cann": ("8.0",)}, {"cann": ("8.1",)}]), shapes


def signed(body: bytes, version: object = VERSION) -> bytes:
    return f"{MAGIC} {version} {kept._digest(body)}\n".encode() + body


def sealed(made: Any) -> bytes:
    return signed(zlib.compress(json.dumps(made).encode()))


def opened(data: bytes) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(zlib.decompress(data.partition(b"\n")[2]))
    return made


def test_what_is_kept_comes_back(weights: Pair) -> None:
    made, shapes = learnt(weights)
    other = Shapes()
    back = unpacked(packed(made, shapes), "good.baseline", other)
    assert {other.texts[n] for n in back.norms} == {shapes.texts[n] for n in made.norms}
    assert (back.runs, back.settings, back.facts) == (2, made.settings, {"cann": ("8.0", "8.1")})


def test_nothing_of_the_logs_is_kept(weights: Pair) -> None:
    """Neither a name of a node, nor a folder, a number with four digits, nor an identifier that was drawn."""
    made, shapes = learnt(weights)
    text = json.dumps(opened(packed(made, shapes))["shapes"], ensure_ascii=False)
    nodes = {name.split("/")[0] for files in weights.good for name in files}
    assert not [node for node in nodes if node in text]
    assert "/mnt/" not in text
    assert len(packed(made, shapes)) < sum(len(log) for files in weights.good for log in files.values()) / 20


def test_no_planted_secret_is_kept(tmp_path: Path) -> None:
    """In the line that says what it is, bare in others, as the value or the name of a setting: a third of the corpus, `benchmarks.hostile` takes all of it."""
    assert kept_secrets(list(groups())[::3], tmp_path) == []


def test_a_bare_name_is_no_difference(tmp_path: Path) -> None:
    """Whoever a run is of stands in its lines with and without a word that says so; a word of the program's own stays."""
    texts = {}
    for user in ("zhangwei", "liuyang"):
        (tmp_path / f"{user}.log").write_text(f"user={user} has logged in\nquota of {user} is low\nuser=train has logged in\ntrain is slow\n")
        diff.main(["--learn", str(tmp_path / f"{user}.log"), "-o", str(tmp_path / user)])
        texts[user] = {row[0] for row in opened((tmp_path / user).read_bytes())["shapes"]}
    assert texts["zhangwei"] == texts["liuyang"] == {"user=<user> has logged in", "quota of <user> is low", "train is slow"}


GOOD: dict[str, Any] = {
    "made_by": "1", "runs": 1, "lines": 1, "voices": 1, "further": 0, "settings": {}, "facts": {}, "shapes": [["a", 1, 1, 1, 1, None]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is no baseline"),
        (b"\x7fELF" + b"\0" * 99, "is no baseline"),
        (b"npu-doctor baseline\n", "is no baseline"),
        (signed(b"", 2), "version 2"),
        (signed(b"xyz"), "cannot be read"),
        (sealed(GOOD)[:-3], "cut off or changed"),
        (sealed(GOOD) + b"x", "cut off or changed"),
        (signed(zlib.compress(b"{}")[:-2]), "larger than a baseline"),
        (signed(zlib.compress(b"[" * 100_000)), "cannot be read"),
        (sealed([]), "no list of shapes"),
        (sealed({**GOOD, "shapes": [["a"]]}), "a shape in it is none"),
        (sealed({**GOOD, "shapes": [["a" * 5000, 1, 1, 1, 1, None]]}), "a shape in it is none"),
        (sealed({**GOOD, "shapes": [["a", 1, -1, 1, 1, None]]}), "a number in it is none"),
        (sealed({**GOOD, "lines": float("nan")}), "a number in it is none"),
        (sealed({**GOOD, "runs": 0}), "no run"),
        (sealed({**GOOD, "settings": {"a": "b"}}), "its settings are none"),
    ],
)
def test_what_is_no_baseline_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        unpacked(data, "x.baseline", Shapes())
    assert why in refused.value.what
    assert "x.baseline" in refused.value.what
    assert any("\u4e00" <= letter <= "\u9fff" for letter in refused.value.told("zh"))


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_UNPACKED", 1000)
    with pytest.raises(UsageError, match="larger than a baseline"):
        unpacked(signed(zlib.compress(b" " * 100_000)), "x", Shapes())


def test_what_steers_a_terminal_is_no_part_of_a_shape() -> None:
    shapes = Shapes()
    unpacked(sealed({**GOOD, "shapes": [["a\x1b[2Jb", 1, 1, 1, 1, None]]}), "x", shapes)
    assert shapes.texts[-1] == "a?[2Jb"


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        kept.write(b"x", str(tmp_path / "nowhere" / "x.baseline"))
