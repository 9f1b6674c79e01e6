"""Simulated jobs are diagnosed by the engine that ships: whom it names, what it says, and when it must not claim anything."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests_support import fits_schema

from doctor.answer.report import report
from doctor.job.clocks import Clocks
from doctor.job.identity import Who
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.read.source import home
from doctor.scan.harvest import Harvest, from_json, merge
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from tests.simulate.jobs import FAULTS, Job, simulate

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "doctor" / "answer" / "report.schema.json").read_text())


def harvests(job: Job, bench: Bench) -> list[Harvest]:
    return [bench._scanner.scan(discover.given_text(text, name)) for name, text in job.files.items()]


def named(diagnosis: Diagnosis) -> int | None:
    assert diagnosis.job is not None
    roots = diagnosis.job.roots
    if not roots or roots[0].process is None:
        return int(roots[0].label[5:]) if roots and roots[0].label[5:].isdigit() else None
    return diagnosis.job.processes[roots[0].process].rank


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_the_root_is_found(fault: str, seed: int, bench: Bench) -> None:
    """The rank where it began and the entry that fits come first, whatever layout, skew, groups and algorithm."""
    job = simulate(seed, 16, fault)
    diagnosis = conclude(harvests(job, bench), bench.knowledge)
    first = diagnosis.roots[0].finding
    assert named(diagnosis) in job.truth.ranks
    assert first.entry.code.startswith(job.truth.codes)
    told = [r.finding.entry.code for r in diagnosis.roots]
    assert all(any(code.startswith(prefix) for code in told) for prefix in job.truth.every)
    fits_schema(report(diagnosis, bench.knowledge), SCHEMA)


@pytest.mark.parametrize(
    "fault",
    [
        "oom",
        "aicore",
        "killed",
        "stuck",
        "slow",
        "port",
        "mismatch",
        "pipeline",
        "oom-killer",
        "device-task",
        "stragglers",
    ],
)
@pytest.mark.parametrize("seed", [21, 22])
def test_nothing_is_claimed_without_evidence(fault: str, seed: int, bench: Bench) -> None:
    """Without the logs of the root no cause is named, and no other rank is accused."""
    job = simulate(seed, 16, fault, hide=True)
    diagnosis = conclude(harvests(job, bench), bench.knowledge)
    assert named(diagnosis) in (None, *job.truth.ranks)
    assert all(r.finding.entry.confidence == "low" or r.finding.entry.domain == "job" for r in diagnosis.roots[:1])
    assert diagnosis.job is not None
    assert diagnosis.job.missing == tuple(sorted(job.truth.ranks))


def test_neighbours_that_the_launcher_ended(bench: Bench) -> None:
    """The logs of the rank that failed are gone and its neighbours were stopped: what is missing is told first, not one of them."""
    job = next(
        j for s in range(900, 960) if any("SIGTERM" in t for t in (simulate(s, 16, "oom")).files.values()) and (j := simulate(s, 16, "oom", hide=True))
    )  # fmt: skip
    diagnosis = conclude(harvests(job, bench), bench.knowledge)
    assert diagnosis.job is not None
    assert {"no-logs", "stopped"} <= {r.verdict for r in diagnosis.job.roots}
    assert named(diagnosis) in job.truth.ranks
    assert diagnosis.roots[0].finding.entry.code == "JOB008"


def test_it_says_why(bench: Bench) -> None:
    job = simulate(7, 32, "aicore")
    made = report(conclude(harvests(job, bench), bench.knowledge), bench.knowledge)
    root = made["findings"][0]
    rank = next(iter(job.truth.ranks))
    assert root["scope"]["rank"] == rank
    assert root["note"]["en"].startswith(f"31 ranks waited for rank {rank}; rank {rank} hit RTS")
    assert "before the first timeout" in root["note"]["en"]
    assert "等待" in root["note"]["zh"]
    states = {(r["state"], r["about"]) for r in made["job"]["ranks"]}
    assert states == {("root", root["id"]), ("waiting", f"rank {rank}")}
    assert [f["explained_by"] is not None for f in made["findings"] if f["kind"].startswith("peer")].count(False) == 0
    fits_schema(made, SCHEMA)


def test_one_process_is_no_job(bench: Bench) -> None:
    """With the logs of a single victim nobody is accused by the analysis of the job."""
    job = simulate(5, 8, "oom")
    victim = next(r for r in range(8) if r not in job.truth.ranks)
    whole = conclude(harvests(job, bench), bench.knowledge).job
    assert whole is not None
    pid = next(p.pid for p in whole.processes if p.rank == victim)
    mine = [
        h for h in harvests(job, bench) if h.spans and h.spans[0].pid == pid and f"rank_{victim}" in h.spans[0].path
    ]
    made = conclude(mine, bench.knowledge)
    assert made.job is not None
    assert made.job.waits
    assert made.job.roots == ()
    assert [r.finding.entry.domain for r in made.roots if r.finding.entry.domain == "job"] == []


def stripped(made: dict[str, object]) -> str:
    stats = made["stats"]
    assert isinstance(stats, dict)
    stats["seconds"] = 0
    return json.dumps(made, ensure_ascii=False)


@pytest.mark.parametrize("seed", range(31, 37))
def test_order_and_grouping_do_not_matter(seed: int, bench: Bench, knowledge: Knowledge) -> None:
    """Harvests of nodes, shuffled, through JSON and merged in any grouping, give byte for byte the same report."""
    job = simulate(seed, 16)
    parts = harvests(job, bench)
    whole = stripped(report(conclude(parts, knowledge), knowledge))
    shuffle = random.Random(seed)
    shuffle.shuffle(parts)
    cut = shuffle.randrange(1, len(parts))
    groups: Iterable[Harvest] = [merge(parts[cut:]), merge([merge(parts[: cut // 2]), merge(parts[cut // 2 : cut])])]
    again = [from_json(json.loads(json.dumps(g.json()))) for g in groups]
    assert stripped(report(conclude(again, knowledge), knowledge)) == whole


def test_merge_command(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Each node by itself, then merge: what scanning everything at once says, but for the time it took."""
    job = simulate(42, 16, "oom")
    for name, text in job.files.items():
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    nodes = [Path(name).parts[: 2 if name.startswith("job/") else 1] for name in job.files]
    tops = sorted({str(Path(*parts)) for parts in nodes})
    whole = json.loads(run("scan", str(tmp_path / "logs"), "-f", "json").stdout)
    files = []
    for top in reversed(tops):
        out = tmp_path / f"{top.replace('/', '-')}.jsonl"
        assert run("scan", str(tmp_path / "logs" / top), "-f", "jsonl", "-o", str(out)).returncode in (0, 1, 3)
        files.append(str(out))
    done = run("merge", *files, "-f", "json")
    merged = json.loads(done.stdout)
    assert done.returncode == 1
    assert stripped(merged) == stripped(whole)


def test_merge_refuses_what_is_no_harvest(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"type": "harvest", "hits": 3}\n')
    done = run("merge", str(bad))
    assert done.returncode == 2
    assert b"bad.jsonl:1" in done.stderr


def test_text_shows_the_job(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    job = simulate(7, 32, "aicore")
    for name, text in job.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rank = next(iter(job.truth.ranks))
    shown = " ".join(run("scan", str(tmp_path), "--timeline", "--lang", "en").stdout.decode().split())
    assert f"rank {rank} failed first" in shown
    assert "31 ranks waited for it" in shown
    assert "Timeline" in shown
    assert "gives up waiting" in shown


@pytest.mark.parametrize("skew", [0.0, 5.0, 30.0])
def test_skew_is_measured(skew: float, bench: Bench) -> None:
    """The difference of two clocks is found within what is said about its certainty."""
    from tests.simulate.world import World

    w = World(3, 24, skew)
    w.start()
    who = Who(merge([bench._scanner.scan(discover.given_text(t, n)) for n, t in w.text().items()]))
    found = {s.node: s for s in Clocks(who).skew()}
    assert len(found) == w.nodes
    zero = found[w.server(0)]
    for node in range(w.nodes):
        one = found[w.server(node * 8)]
        truth = w.ahead[node] - w.ahead[0]
        assert abs(one.ahead - zero.ahead - truth) <= one.within + zero.within


def test_times_of_strange_clocks_are_not_compared(bench: Bench) -> None:
    """Without an event that both nodes log, no order is claimed."""
    job = simulate(11, 16, "oom")
    files = {n: "\n".join(x for x in t.split("\n") if "Key Info" not in x) for n, t in job.files.items()}
    diagnosis = conclude([bench._scanner.scan(discover.given_text(t, n)) for n, t in files.items()], bench.knowledge)
    assert diagnosis.job is not None
    assert diagnosis.job.skew == ()
    assert named(diagnosis) in job.truth.ranks


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("node-1/log/debug/plog/plog-100_2026.log", "node-1/log"),
        ("node-1/log/run/plog/plog-100_2026.log", "node-1/log"),
        ("worker-3/process_log/debug/device-11/device-1382_2025.log", "worker-3/process_log"),
        ("rank_76/plog/plog-1_2.log", "rank_76"),
        ("flat/plog-1_2.log", "flat/"),
        ("train.log", ""),
    ],
)
def test_home(path: str, folder: str) -> None:
    assert home(path) == folder


def test_loud_ranks_do_not_crowd_out_quiet_ones(bench: Bench) -> None:
    """In one stream of many ranks each keeps its facts, however often another repeats itself."""
    line = "[ERROR] HCCL({},python):2026-04-02-09:00:00.000.000 [a.cc:1] [1][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[{}] timeout[120 s]\n"
    text = line.format(7, 0) * 350 + "".join(line.format(100 + r, r) for r in range(300))
    found = bench._scanner.scan(discover.given_text(text, "all.log"))
    assert {h.place.pid for h in found.facts} == {7, *range(100, 400)}


def test_missing_evidence_is_named(bench: Bench) -> None:
    """Ranks that the world has and no log shows, a log that stops, run logs that were not collected."""

    def told(job: Job, keep: str = "") -> str:
        files = {n: t for n, t in job.files.items() if keep in n}
        parts = [bench._scanner.scan(discover.given_text(t, n)) for n, t in files.items()]
        made = report(conclude(parts, bench.knowledge), bench.knowledge)
        return " ".join(m["what"]["en"] for m in made["missing_evidence"])

    hidden = simulate(21, 16, "stuck", hide=True)
    assert f"the logs of rank {next(iter(hidden.truth.ranks))} (world size 16)" in told(hidden)
    stopped = next(
        j
        for s in range(50, 90)
        if (j := simulate(s, 16, "killed")) and not any("dmesg" in n or "launcher" in n for n in j.files)
    )
    assert f"why rank {next(iter(stopped.truth.ranks))} stopped" in told(stopped)


def test_nodes_with_the_same_folders_and_pids_stay_apart(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    """Containers: every node logs below the same path with the same pids."""
    from tests.simulate.jobs import FAULTS as KNOWN
    from tests.simulate.world import World

    w = World(1, 16)
    w.layout, w.pids = "node", [400 + r % 8 for r in range(16)]
    truth = KNOWN["oom"](w, 11)
    files = []
    for node in (0, 1):
        home_of = tmp_path / f"machine{node}" / "root" / "log"
        for name, text in w.text().items():
            if name.startswith(f"node-{node}/"):
                path = home_of / name.partition("/")[2]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        done = run("scan", str(home_of), "-f", "jsonl").stdout.decode()
        files.append(tmp_path / f"n{node}.jsonl")
        elsewhere = re.sub(r'"machine":"\w*"', f'"machine":"{node}"', done.replace(str(home_of), "/root/log"))
        files[-1].write_text(elsewhere)
    made = json.loads(run("merge", *map(str, files), "-f", "json").stdout)
    assert made["job"]["processes"] == 16
    assert made["findings"][0]["id"].startswith(truth.codes)
    assert made["findings"][0]["scope"]["rank"] == 11


def test_a_stranger_in_the_log_is_no_member_of_the_job(scanner: Scanner, knowledge: Knowledge) -> None:
    """One line of a healthy process between those of a rank that waits: nothing is concluded about logs that are missing."""
    rank = (ROOT / "tests" / "data" / "incidents" / "hccl-notify-lmdeploy-hang" / "input.txt").read_text().split("\n")
    stranger = "[INFO] HCCL(4711,python3):2025-03-26-05:54:40.001.001 [op_base.cc:10] [4711]Entry-HcclAllReduce"
    for at in range(len(rank)):
        text = "\n".join([*rank[:at], stranger, *rank[at:]])
        diagnosis = conclude([scanner.scan(discover.given_text(text))], knowledge)
        assert [r.finding.entry.code for r in diagnosis.roots] == ["HCL001"], at
