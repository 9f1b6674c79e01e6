"""Harvests of many nodes as one: told apart by their nodes, honest about those that are missing, mergeable again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor import cli
from doctor.answer.missing import missing_nodes
from doctor.fleet import gather
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.scan.harvest import Absent, Harvest, Span, from_json, merge
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from doctor.tui.shell.session import Session
from kb.knowledge import Knowledge
from tests.simulate.jobs import simulate

GONE = Absent("node7", "timed out", "no answer within the time limit")


def well(machine: str = "m", path: str = "/log/plog-7_1.log") -> Harvest:
    return Harvest(kinds={"plog": 3}, files=1, size=9, lines=3, spans=(Span(path, "2026-04-02T08:00:00.000000", None, 7),), machine=machine)


def file(place: Path, name: str, *harvests: Harvest) -> str:
    (place / f"{name}.jsonl").write_text("".join(json.dumps({"type": "harvest", **one.json()}) + "\n" for one in harvests))
    return str(place / f"{name}.jsonl")


def paths(*files: str) -> list[str]:
    return [s.path for one in gather.apart([(kept.name, h) for kept in map(gather.read, files) for h in kept.harvests]) for s in one.spans]


def test_no_job_is_clean_while_a_node_is_missing(knowledge: Knowledge) -> None:
    """It stands under what was not read, the first thing to get are its logs."""
    assert conclude([well()], knowledge).verdict == "clean"
    lacking = conclude([well(), from_json(json.loads(gather.nothing_of(GONE)))], knowledge)
    assert lacking.verdict == "inconclusive"
    assert lacking.skipped[0] == ("node7", "timed out: no answer within the time limit")
    told = missing_nodes(lacking)
    assert told is not None
    assert "timed out node7" in told.what.en
    assert "超时 node7" in told.what.zh
    assert missing_nodes(conclude([well()], knowledge)) is None


def test_a_part_is_marked_as_one() -> None:
    text = json.dumps({"type": "report"}) + "\n" + json.dumps({"type": "harvest", **well().json()}) + "\n"
    (one,) = gather.parsed(gather.with_absent(text, GONE), "it").harvests
    assert one == well()._replace(absent=(GONE,))


def test_several_machines_are_told_apart(tmp_path: Path) -> None:
    """Every path with its node as soon as there are two machines; calls on one machine stay one."""
    one, two = file(tmp_path, "n1", well("a")), file(tmp_path, "n2", well("b", "/other.log"))
    assert paths(one, two) == ["n1/log/plog-7_1.log", "n2/other.log"]
    assert paths(one, file(tmp_path, "n3", well("a", "/third.log"))) == ["/log/plog-7_1.log", "/third.log"]


def test_merging_in_a_tree(tmp_path: Path) -> None:
    """What was merged keeps its names, whoever else is merged with it, and those that are missing."""
    parts = []
    for rack in "ab":
        names = [file(tmp_path, f"{rack}{n}", well(f"{rack}{n}")) for n in (1, 2)]
        harvests = gather.apart([(kept.name, h) for kept in map(gather.read, names) for h in kept.harvests])
        parts.append(file(tmp_path, f"rack-{rack}", merge([*harvests, Harvest(absent=(GONE._replace(node=f"{rack}3"),))])))
    assert sorted(paths(*parts)) == [f"{n}/log/plog-7_1.log" for n in ("a1", "a2", "b1", "b2")]
    assert [a.node for a in merge(h for p in parts for h in gather.read(p).harvests).absent] == ["a3", "b3"]


def test_the_interface_is_given_what_was_merged(knowledge: Knowledge) -> None:
    """The same report as in every format; looking again asks for it anew."""
    asked: list[int] = []
    session = Session(["n1.jsonl"], known=knowledge, harvests=lambda: [asked.append(1) or well()])  # type: ignore[func-returns-value]
    assert session.look().report["verdict"] == "clean"
    assert session.look().diagnosis.harvest.files == 1
    assert len(asked) == 2


def test_a_shared_folder_is_noticed(tmp_path: Path) -> None:
    """Two machines that read the same files, not two that only call them the same."""
    same = [gather.read(file(tmp_path, name, well(name))) for name in ("n1", "n2")]
    assert gather.sharing(same) == (("n1", "n2"),)
    assert gather.sharing([same[0], gather.read(file(tmp_path, "n3", well("c")._replace(lines=4)))]) == ()


def test_harvests_of_harvests(tmp_path: Path, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever groups nodes are merged in, and groups of groups: byte for byte the report of all of them at once. Nodes call their logs the same, some are missing."""
    monkeypatch.chdir(tmp_path)
    scanner = Scanner(Plan(knowledge.signals()))
    nodes: dict[str, list[Harvest]] = {}
    for path, text in simulate(71, 56).files.items():
        node, _, name = path.partition("/")
        nodes.setdefault(node, []).append(scanner.scan(discover.given_text(text, f"/log/{name}")))
    names = [file(tmp_path, node, merge(parts)._replace(machine=node)) for node, parts in sorted(nodes.items())]
    names += [file(tmp_path, gone, Harvest(absent=(GONE._replace(node=gone),))) for gone in ("node-8", "node-9")]
    assert len(names) == 9

    def merged(out: str, *parts: str) -> str:
        cli.main(["merge", *parts, "-o", str(tmp_path / out)])
        return str(tmp_path / out)

    def said(path: str) -> str:
        made = json.loads(Path(path).read_text())
        made["stats"]["seconds"] = 0
        return json.dumps(made)

    flat = said(merged("flat.json", *names))
    racks = [merged(f"rack{n}.jsonl", *part) for n, part in enumerate((names[:2], names[2:4], names[4:9:2], names[5:9:2]))]
    assert said(merged("tree.json", *racks)) == flat
    rows = [merged("row0.jsonl", *racks[:2]), merged("row1.jsonl", racks[3], racks[2])]
    assert said(merged("deep.json", *rows)) == flat
    made = json.loads(flat)
    assert made["job"]["processes"] == 56
    assert {s["path"] for s in made["skipped"]} == {"node-8", "node-9"}
