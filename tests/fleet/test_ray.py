"""`fleet scan --via ray` on a real cluster of several nodes, started by the Ray of an environment of its own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests_support import HANG_S

from doctor.version import __version__
from tests.fleet.conftest import (
    ROOT,
    STUCK,
    begun,
    demanded,
    end,
    interrupted,
    merged_by_hand,
    report,
    until,
    write_tree,
    written,
)
from tests.simulate.jobs import simulate

pytestmark = pytest.mark.slow

# Each line that comes kills a node, without a word to the others.
CLUSTER = """
import json, os, sys
from ray.cluster_utils import Cluster
made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
nodes = [made.add_node(num_cpus=1) for _ in range(2)]
nodes.append(made.add_node(num_cpus=1, env_vars={"PATH": sys.argv[1] + ":" + os.environ["PATH"]}))
print(json.dumps({"address": made.address, "ids": [n.node_id for n in nodes], "session": made.head_node.get_session_dir_path()}), flush=True)
for _ in sys.stdin:
    made.remove_node(nodes.pop(), allow_graceful=False)
made.shutdown()
"""


class Ray(NamedTuple):
    folder: Path
    address: str
    ids: list[str]
    process: subprocess.Popen[bytes]
    environ: dict[str, str]
    session: Path  # of Ray: what it keeps for those who use it

    def kept(self) -> list[str]:
        """What lies on the nodes because of us: in their folder for temporary files, and in what Ray unpacks for its tasks."""
        unpacked = (path for path in (self.session / "runtime_resources").rglob("*") if path.is_file())
        return sorted(map(str, (*(self.folder / "tmp").glob("npu-doctor*"), *unpacked)))


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ray]:
    """A head and three nodes; on the last one scans hang."""
    found = shutil.which("ray", path=f"{os.environ.get('NPU_DOCTOR_RAY_BIN', '')}:{os.environ.get('PATH', '')}")
    demanded("ray", "" if found else "no ray here: python3 -m venv RAY && RAY/bin/pip install ray, then NPU_DOCTOR_RAY_BIN=RAY/bin")
    assert found is not None
    folder = tmp_path_factory.mktemp("ray")
    for name in ("bin", "tmp"):
        (folder / name).mkdir()
    stuck = folder / "bin" / "npu-doctor"
    stuck.write_text(STUCK.format(version=__version__, fifo=folder / "fifo"))
    stuck.chmod(0o755)
    os.mkfifo(folder / "fifo")
    write_tree(folder / "logs", simulate(71, 16).files)
    environ = {**os.environ, "PATH": f"{Path(found).parent}:{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0", "TMPDIR": str(folder / "tmp"), "RAY_TMPDIR": "/tmp"}
    process = subprocess.Popen(
        [str(Path(found).parent / "python3"), "-c", CLUSTER, str(folder / "bin")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environ, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = json.loads(next(line for line in process.stdout if line.startswith(b"{")))
        yield Ray(folder, told["address"], told["ids"], process, environ, Path(told["session"]))
        process.stdin.close()
        process.wait(HANG_S)
    finally:
        end(process)


def test_every_living_node(ray: Ray, tmp_path: Path) -> None:
    """One dies while it scans, and is named; of the others the report is what `merge` makes of their files, and nothing stays, also after kill."""
    stopped = interrupted(ray.folder, signal.SIGKILL, "--via", "ray", "--address", ray.address, "--", str(ray.folder / "logs"), **ray.environ)
    until(lambda: not stopped.exists())
    call = subprocess.Popen(
        [sys.executable, "-m", "doctor", "fleet", "scan", "--via", "ray", "--address", ray.address, "--into", str(tmp_path / "run"), "-o", str(tmp_path / "r.json"), "--", str(ray.folder / "logs")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=ray.environ,
    )  # fmt: skip
    left = begun(ray.folder, call)
    assert str(left) in ray.kept()
    assert ray.process.stdin is not None
    ray.process.stdin.write(b"\n")
    ray.process.stdin.flush()
    _, told = call.communicate(timeout=HANG_S)
    rows = {row["name"]: row for row in map(json.loads, (tmp_path / "run" / "outcomes.jsonl").read_text().splitlines())}
    dead = next(name for name in rows if name.endswith(ray.ids[2][:8]))
    assert sorted(row["state"] for row in rows.values()) == ["scanned", "scanned", "scanned", "unreachable"], told.decode()
    assert rows[dead]["state"] == "unreachable"
    made = report(tmp_path / "r.json")
    assert [s["path"] for s in made["skipped"]] == [dead]
    assert merged_by_hand(tmp_path / "run") == written(tmp_path / "r.json")
    until(lambda: not ray.kept())  # Ray's runtime_env would leave the program in its cache
    the_command_of_the_page(ray)


def the_command_of_the_page(ray: Ray) -> None:
    """Word for word, on the nodes that are left; the running cluster is found by RAY_ADDRESS."""
    (line,) = [line.strip() for line in (ROOT / "docs" / "fleet.md").read_text().splitlines() if line.startswith("    npu-doctor") and "--via ray" in line]
    words = shlex.split(line)
    words[words.index("/root/ascend/log")] = str(ray.folder / "logs")
    done = subprocess.run([sys.executable, "-m", "doctor", *words[1:]], cwd=ROOT, check=False, capture_output=True, timeout=HANG_S, env={**ray.environ, "RAY_ADDRESS": ray.address})
    assert "scanned 3" in done.stderr.decode(), done.stderr.decode()
