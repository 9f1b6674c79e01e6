"""The built-in knowledge has a version of its own: a newer edition is added, refused when it is not what was made, and taken back."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from doctor import cli
from doctor.base.errors import UsageError
from kb import build, editions, in_use, knowledge
from kb.layers import HERE, Layer
from kb.pack import FORMAT, Pack
from kb.problems import KnowledgeError


@pytest.fixture(scope="module")
def packs(knowledge: knowledge.Knowledge) -> dict[str, bytes]:
    """Small built-in knowledge of three versions."""
    made = {}
    entry = build.read_files([(HERE / "entries/hccl/hcl001_notify-wait-timeout.yaml", "built-in")])[0][0]
    for version in ("2026.9", "2026.11", "2026.12"):
        data = build.pack_of([entry])
        head, _, rest = data.partition(b"\n")
        made[version] = json.dumps({**json.loads(head), "version": version}).encode() + b"\n" + rest
    return made


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packs: dict[str, bytes]) -> Path:
    """An installation that came with 2026.11, and a home of its own."""
    shipped = tmp_path / "knowledge.pack"
    shipped.write_bytes(packs["2026.11"])
    monkeypatch.setattr(in_use, "SHIPPED", shipped)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NPU_DOCTOR_LANG", "en")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _version() -> str:
    return knowledge.load().packs[0].header.version


def test_an_edition_is_used_and_taken_back(installed: Path, packs: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    """`kb add knowledge-2026.12.pack` takes effect at once; `kb remove` goes back to what was shipped."""
    file = installed / "knowledge-2026.12.pack"
    file.write_bytes(editions.made_of(packs["2026.12"]))
    assert _version() == "2026.11"
    assert cli.main(["kb", "add", str(file)]) == 0
    assert _version() == "2026.12"
    assert cli.main(["version", "--json"]) == 0
    told = capsys.readouterr().out
    assert json.loads(told[told.index("{") :])["knowledge"]["added"] == str(installed / "data/npu-doctor/knowledge-2026.12.pack")
    assert cli.main(["kb", "remove", "2026.12"]) == 0
    assert _version() == "2026.11"
    assert "2026.11" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d[:-9], "hash"),
        (lambda d: d + b"x", "hash"),
        (lambda d: d.replace(f'"format":{FORMAT}'.encode(), b'"format":1'), "format"),
        (lambda d: d.replace(b'"version":"2026.12"', b'"version":"2027.01"'), "two ways"),
        (lambda d: d.split(b"\n", 1)[0] + b"\n" + zlib.compress(b"something else"), "hash"),
        (lambda d: b'{"npu-doctor":"knowledge", nonsense\n', "first line"),
    ],
)  # fmt: skip
def test_what_is_not_what_was_made_is_refused(change, why: str, installed: Path, packs: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """A byte more, less or other, another format, another version: refused whole, and said why."""
    file = installed / "knowledge-2026.12.pack"
    file.write_bytes(change(editions.made_of(packs["2026.12"])))
    assert cli.main(["kb", "add", str(file)]) == 4
    assert why in capsys.readouterr().err
    assert editions.kept() == ()


def test_an_older_edition_is_not_taken(installed: Path, packs: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    """2026.9 stands before 2026.11, although not in the alphabet."""
    file = installed / "old.pack"
    file.write_bytes(editions.made_of(packs["2026.9"]))
    assert cli.main(["kb", "add", str(file)]) == 4
    assert "not newer" in capsys.readouterr().err


def test_a_damaged_edition_gives_way_to_what_was_shipped(installed: Path, packs: dict[str, bytes]) -> None:
    """Whoever breaks the file in his home is not left without a diagnosis."""
    place = installed / "data" / "npu-doctor"
    place.mkdir(parents=True)
    (place / "knowledge-2026.12.pack").write_bytes(packs["2026.12"][:-5])
    assert _version() == "2026.11"


def test_damaged_shipped_knowledge_says_what_to_do(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation has no sources to build from."""
    in_use.SHIPPED.write_bytes(b"{}\n")
    monkeypatch.setattr(in_use, "HERE", installed)
    with pytest.raises(KnowledgeError, match="install npu-doctor again"):
        knowledge.load()


def test_removing_what_was_never_added_names_what_was(installed: Path) -> None:
    with pytest.raises(UsageError, match=r"no edition '2027\.01' was added"):
        cli.main(["kb", "remove", "2027.01"])


def test_entries_of_a_packed_file_are_taken_back(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same file that was added; what was changed since is not thrown away."""
    mine = installed / "mine"
    mine.mkdir()
    source = (HERE / "entries/hccl/hcl001_notify-wait-timeout.yaml").read_text(encoding="utf-8")
    (mine / "own901_x.yaml").write_text(source.replace("HCL001", "OWN901"), encoding="utf-8")
    assert cli.main(["kb", "pack", "mine"]) == 0
    assert cli.main(["kb", "add", "mine.kbz"]) == 0
    kept = installed / "config/npu-doctor/kb/own901_x.yaml"
    assert kept.is_file()
    kept.write_text("# mine now\n" + kept.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(UsageError, match="no longer what was added"):
        cli.main(["kb", "remove", "mine.kbz"])
    kept.write_bytes((mine / "own901_x.yaml").read_bytes())
    assert cli.main(["kb", "remove", "mine.kbz"]) == 0
    assert not kept.exists()


def test_the_version_of_the_checkout_can_be_packed() -> None:
    """kb/VERSION is what `kb pack kb` names the edition after."""
    assert Pack(editions.opened(editions.made_of(_small())).header and _small()).header.version == Layer("built-in", HERE).version()


def _small() -> bytes:
    head, _, rest = build.pack_of([]).partition(b"\n")
    return json.dumps({**json.loads(head), "version": Layer("built-in", HERE).version()}).encode() + b"\n" + rest
