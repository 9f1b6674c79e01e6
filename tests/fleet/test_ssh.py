"""`fleet scan` over real sshd: the same report as `merge` of what is scanned by hand, and an honest word on every node that fails."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests_support import HANG_S

from tests.fleet.conftest import (
    ADDRESS,
    FIRST,
    ROOT,
    Nodes,
    begun,
    fleet,
    interrupted,
    kill_node,
    report,
    split_job,
    start,
    stuck,
    until,
    write_tree,
)

pytestmark = pytest.mark.slow

GOOD, ALSO, HANGING, DYING, WRONG, BARE, DOWN = (ADDRESS.format(FIRST + n) for n in range(7))

OWN = """\
code: LOM001
severity: error
kind: user-code
confidence: high
title: {en: The shuttle is stuck, zh: 梭子卡住}
cause: {en: A thread stands across., zh: 有一根线横着。}
evidence: {any: [{regex: 'loomctl: shuttle (?P<shuttle>\\d+) is stuck'}]}
fixes: [{goal: resolve, title: {en: Cut it, zh: 剪断}}]
references: [{title: the loom's book}]
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two nodes of a job; two on which scans hang, of which one is killed; one with another key, one without Python, one that is down."""
    folder = tmp_path_factory.mktemp("fleet")
    folder.chmod(0o755)
    (folder / f"wrong-{WRONG}").touch()
    stuck(folder, HANGING, DYING)
    own = Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".bashrc"  # a shell that ssh starts reads it, and may find a Python of one's own there
    (folder / f"setup-{BARE}.sh").write_text(f"for p in /usr/bin/python3* /usr/local/bin/python3* /opt/*/bin/python3 {own}; do [ ! -e $p ] || mount --bind /dev/null $p; done\n")
    split_job(folder, (GOOD, ALSO))
    for made in start(folder, 6):
        config = made.config.read_text().replace("Host ", f"Host {DOWN} ", 1)
        made.config.write_text(config)
        yield made


def test_the_same_as_by_hand(nodes: Nodes, tmp_path: Path) -> None:
    """Two nodes that call their logs the same: byte for byte what `merge` makes of the harvests that each of them wrote itself."""
    done = fleet("fleet", "scan", f"{GOOD},{ALSO}", *nodes.options, "--into", str(tmp_path / "run"), "-o", str(tmp_path / "fleet.json"), "--", str(nodes.logs))
    assert done.code == 1, done.err
    assert "scanned 2" in done.err
    hand = []
    for name in (GOOD, ALSO):
        hand.append(f"{tmp_path}/hand/{name}.jsonl")
        Path(hand[-1]).parent.mkdir(exist_ok=True)
        call = f"cd {ROOT} && {sys.executable} -m doctor scan {nodes.logs} -f jsonl -o {hand[-1]}"
        subprocess.run(["ssh", "-F", str(nodes.config), name, call], timeout=HANG_S, check=False, stdin=subprocess.DEVNULL)
    fleet("merge", *hand, "-o", str(tmp_path / "hand.json"))
    assert json.dumps(report(tmp_path / "fleet.json")) == json.dumps(report(tmp_path / "hand.json"))
    fleet("merge", *map(str, sorted((tmp_path / "run" / "nodes").glob("*.jsonl"))), "-o", str(tmp_path / "again.json"))
    assert json.dumps(report(tmp_path / "again.json")) == json.dumps(report(tmp_path / "hand.json"))
    assert {e["path"].partition("/")[0] for f in report(tmp_path / "fleet.json")["findings"] for e in f["evidence"]} == {GOOD, ALSO}
    assert not nodes.left(GOOD, ALSO)


def running(nodes: Nodes, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "doctor", "fleet", "scan", *args, *nodes.options, "--", str(nodes.logs)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_on_a_node(nodes: Nodes, how: signal.Signals) -> None:
    """However the command ends, the private folder and the scan on the node are gone soon after."""
    folder = interrupted(nodes.folder / f"stuck-{HANGING}", how, HANGING, *nodes.options, "--", str(nodes.logs))
    until(lambda: not folder.exists())


def test_every_node_ends_with_a_word(nodes: Nodes, tmp_path: Path) -> None:
    """One dies in the middle, one has another key, one no Python, one is down: each is named with why, and only they are asked again."""
    call = running(nodes, f"{GOOD},{DYING},{WRONG},{BARE},{DOWN}", "--into", str(tmp_path / "run"), "-o", str(tmp_path / "r.json"))
    folder = begun(nodes.folder / f"stuck-{DYING}", call)
    kill_node(nodes.servers[DYING])
    _, err = call.communicate(timeout=HANG_S)
    told = err.decode()
    rows = {row["name"]: row for row in map(json.loads, (tmp_path / "run" / "outcomes.jsonl").read_text().splitlines())}
    assert {name: row["state"] for name, row in rows.items()} == {
        GOOD: "scanned", DYING: "failed", WRONG: "refused", BARE: "failed", DOWN: "unreachable"
    }, told  # fmt: skip
    assert "broke off" in rows[DYING]["reason"]
    assert "Permission denied" in rows[WRONG]["reason"]
    assert "Python 3.10" in rows[BARE]["reason"]
    assert "--python" in rows[BARE]["reason"]
    assert "Connection refused" in rows[DOWN]["reason"]
    made = report(tmp_path / "r.json")
    assert {s["path"] for s in made["skipped"]} == {DYING, WRONG, BARE, DOWN}
    missing = made["missing_evidence"][0]["what"]["en"]
    assert all(name in missing for name in (DYING, WRONG, BARE, DOWN))
    assert "rank 8-15" in missing  # the job tells of them
    theirs = (nodes.folder / "other.pub").read_bytes()
    (nodes.folder / "other.pub").write_bytes((nodes.folder / "user.pub").read_bytes())
    again = fleet("fleet", "scan", "--resume", str(tmp_path / "run"), *nodes.options)
    (nodes.folder / "other.pub").write_bytes(theirs)
    assert "asking 4 nodes" in again.err
    assert "scanned 2" in again.err
    until(lambda: not folder.exists() or shutil.rmtree(folder) is None)


def test_nodes_know_what_is_known_here(nodes: Nodes, tmp_path: Path) -> None:
    """An entry of the user's own, which no node has: found on the node and judged at home, as by a scan of the same file here."""
    write_tree(tmp_path, {"kb/loom.yaml": OWN, "there/train.log": "loomctl: shuttle 7 is stuck at pick 1200\n"})
    write_tree(nodes.tree(GOOD), {"own/train.log": (tmp_path / "there" / "train.log").read_text()})
    done = fleet("fleet", "scan", GOOD, *nodes.options, "--kb", str(tmp_path / "kb"), "-o", str(tmp_path / "r.json"), "--", str(nodes.logs / "own"))
    here = fleet("scan", str(tmp_path / "there"), "--kb", str(tmp_path / "kb"), "-o", str(tmp_path / "h.json"))
    assert "other knowledge" not in done.err
    assert [f["id"] for f in report(tmp_path / "r.json")["findings"]] == ["LOM001"], done.err + here.err
    assert [f["id"] for f in report(tmp_path / "h.json")["findings"]] == ["LOM001"]
    assert not nodes.left(GOOD)
    shutil.rmtree(nodes.tree(GOOD) / "own")


def test_options_reach_the_scan_as_they_are(nodes: Nodes, tmp_path: Path) -> None:
    """Blanks, quotes and $(...) in paths are no words of any shell; a target that looks like a command is none."""
    name = "a b'c\"$(touch /tmp/pwned-by-fleet)"
    write_tree(nodes.tree(GOOD), {f"{name}/train.log": "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n"})
    done = fleet("fleet", "scan", GOOD, "$(touch /tmp/pwned-by-fleet)", *nodes.options, "-o", str(tmp_path / "r.json"), "--", str(nodes.logs / name))
    made = report(tmp_path / "r.json")
    assert made["stats"]["files"] == 1, done.err
    assert made["findings"][0]["evidence"][0]["path"].endswith(f"{name}/train.log")
    assert not Path("/tmp/pwned-by-fleet").exists()
    shutil.rmtree(nodes.tree(GOOD) / name)


def test_redacted_on_the_node(nodes: Nodes, tmp_path: Path) -> None:
    """What leaves a node is redacted there; the report names no node either, and the same thing is called the same."""
    done = fleet("fleet", "scan", f"{GOOD},{ALSO},{DOWN}", "--redact", *nodes.options, "--into", str(tmp_path / "run"), "-o", str(tmp_path / "r.json"), "--", str(nodes.logs))
    kept = [path.read_text() for path in (tmp_path / "run" / "nodes").iterdir()] + [(tmp_path / "r.json").read_text()]
    assert len(kept) == 4, done.err
    assert not [name for text in kept for name in (GOOD, ALSO, DOWN, "10.1.0") if name in text]
    assert not [path for path in (tmp_path / "run" / "nodes").iterdir() if "127" in path.name]
    assert report(tmp_path / "r.json")["job"]["processes"]
