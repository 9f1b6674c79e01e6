"""Nodes that answer badly, each in its own way, over the real command: every one is named with its reason, and costs only itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.fleet import spoken
from doctor.scan.harvest import Harvest
from tests.fleet.conftest import fleet, merged_by_hand, report, written

GOOD = {"type": "harvest", **Harvest(kinds={"plog": 3}, files=1, size=9, lines=3, machine="a").json()}
SSH = """\
#!/bin/sh
for last; do :; done
eval "host=\\${{$(($# - 1))}}"
case "$host" in
  talks) exec head -c 10737418240 /dev/zero ;;
  complains) exec head -c 10737418240 /dev/zero >&2 ;;
esac
exec sed "s/NONCE/${{last##* }}/" "{folder}/$host"
"""
REASONS = {
    "good": ("scanned", ""),
    "dies": ("failed", "it broke off in the middle"),
    "half": ("failed", "it broke off in the middle"),
    "garbage": ("failed", "its answer arrived damaged"),
    "older": ("failed", "its answer is no harvest of this version"),
    "newer": ("failed", "its answer is no harvest of this version"),
    "nested": ("failed", "its answer is no harvest of this version"),
    "silent": ("failed", "it sent no answer"),
    "talks": ("failed", "it sent more than 4.0 MiB: cut off"),
    "complains": ("failed", "it sent more than 64.0 MiB: cut off"),
}


def line(row: object) -> bytes:
    return (json.dumps(row) + "\n").encode()


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What each of the nodes says, NONCE standing for what it was told."""
    folder = tmp_path_factory.mktemp("bad")
    whole = spoken(line(GOOD))
    rows = {
        "good": whole,
        "dies": whole[: whole.index(b"end ") - 30],
        "half": whole[:-20],
        "garbage": os.urandom(30_000) + b"\n" + whole.replace(b"data ", b"data AAAA"),
        "older": spoken(line({k: v for k, v in GOOD.items() if k != "counts"})),
        "newer": spoken(line({**GOOD, "hits": [{"signal": "a", "place": {}}]})),
        "nested": spoken(b"[" * 200_000 + b"\n"),
        "silent": b"",
    }
    for name, text in rows.items():
        (folder / name).write_bytes(text)
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text(SSH.format(folder=folder))
    (folder / "bin" / "ssh").chmod(0o755)
    return folder


def test_every_bad_node_costs_only_itself(said: Path, tmp_path: Path) -> None:
    """Death in the middle, half a line, garbage, a harvest of another version, ten gigabytes: the good one counts, and the job is not called clean."""
    done = fleet("fleet", "scan", ",".join(REASONS), "--into", str(tmp_path / "run"), "-o", str(tmp_path / "r.json"), "--", "/log", PATH=f"{said / 'bin'}:{os.environ['PATH']}")
    rows = {row["name"]: row for row in map(json.loads, (tmp_path / "run" / "outcomes.jsonl").read_text().splitlines())}
    assert {name: (row["state"], row["reason"].partition(" (exit")[0]) for name, row in rows.items()} == REASONS, done.err
    made = report(tmp_path / "r.json")
    assert (done.code, made["verdict"], made["stats"]["files"]) == (3, "inconclusive", 1)
    assert {s["path"] for s in made["skipped"]} == set(REASONS) - {"good"}
    assert all(row["received"] < 80 << 20 for row in rows.values())
    assert merged_by_hand(tmp_path / "run") == written(tmp_path / "r.json")
