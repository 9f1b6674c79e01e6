"""Harvests of many nodes as one: told apart by their nodes, honest about those that are missing, mergeable again."""

from __future__ import annotations

import json
from pathlib import Path

from doctor.answer.missing import missing_nodes
from doctor.fleet import gather
from doctor.judge.diagnosis import conclude
from doctor.scan.harvest import Absent, Harvest, Span, from_json, merge
from kb.knowledge import Knowledge

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


def test_a_shared_folder_is_noticed(tmp_path: Path) -> None:
    """Two machines that read the same files, not two that only call them the same."""
    same = [gather.read(file(tmp_path, name, well(name))) for name in ("n1", "n2")]
    assert gather.sharing(same) == (("n1", "n2"),)
    assert gather.sharing([same[0], gather.read(file(tmp_path, "n3", well("c")._replace(lines=4)))]) == ()
