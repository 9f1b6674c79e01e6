"""`--via kubectl` and `--via docker` with stand-ins on PATH that behave as the real ones: exec, logs, logs --previous, a pod that is gone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from doctor.commands import places
from doctor.commands.fleet import arguments
from doctor.fleet import pods, ways
from tests.env import machines
from tests.fleet.conftest import fleet, merged_by_hand, path_of_nodes, report, write_tree, written
from tests.simulate.jobs import simulate

# As kubectl 1.29: `exec` runs the words in the pod and ends with their exit code, and says so on standard error; what is not there is
# `Error from server (NotFound)`. A pod is a folder, and its root is named by POD.
KUBECTL = '''\
#!{python}
import json, os, sys
pods = json.load(open({table!r}))
words = sys.argv[1:]
where = words[words.index("--namespace") + 1] if "--namespace" in words else "default"
open({calls!r}, "a").write(json.dumps(words[:6]) + "\\n")
def fail(text, code=1):
    sys.stderr.write(text + "\\n")
    sys.exit(code)
if words[0] == "get":
    rows = [p for p in pods if p["namespace"] == where]
    if "--selector" in words:
        key, _, value = words[words.index("--selector") + 1].partition("=")
        rows = [p for p in rows if p["labels"].get(key) == value]
    else:
        rows = [p for p in rows if p["name"] in words]
    items = [{{"kind": "Pod", "metadata": {{"name": p["name"]}}, "status": p["status"]}} for p in rows]
    if "--selector" not in words and len(items) == 1 and not [w for w in words if w == "--selector"]:
        print(json.dumps(items[0]))
    elif items or "--selector" in words:
        print(json.dumps({{"kind": "List", "items": items}}))
    sys.exit(0)
if words[0] == "logs":
    name = words[-1]
    pod = next((p for p in pods if p["name"] == name), None)
    if pod is None:
        fail('Error from server (NotFound): pods "%s" not found' % name)
    kept = pod.get("previous" if "--previous" in words else "printed")
    if kept is None:
        fail('Error from server (BadRequest): previous terminated container "main" in pod "%s" not found' % name)
    sys.stdout.write(open(kept).read())
    sys.exit(0)
assert words[:2] == ["exec", "-i"], words
at = words.index("--")
name = words[at - 1]
pod = next((p for p in pods if p["name"] == name and p["namespace"] == where), None)
if pod is None:
    fail('Error from server (NotFound): pods "%s" not found' % name)
os.environ["ASCEND_PROCESS_LOG_PATH"] = pod["logs"]
os.execvp(words[at + 1], words[at + 1 :])
'''

DOCKER = """\
#!/bin/sh
[ "$1 $2" = "exec -i" ] || exit 125
case "$3" in
  worker*) PATH="{trees}/$3/bin:$PATH" ASCEND_PROCESS_LOG_PATH="{trees}/$3" exec "$4" "$5" "$6" "$7" "$8" "$9" ;;
  stopped) echo "Error response from daemon: container 4f66ad9a is not running" >&2; exit 1 ;;
  *) echo "Error response from daemon: No such container: $3" >&2; exit 1 ;;
esac
"""


def runs() -> dict[str, object]:
    return {"phase": "Running", "containerStatuses": [{"state": {"running": {}}, "lastState": {}}]}


def ended(reason: str, code: int) -> dict[str, object]:
    return {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": reason, "exitCode": code}}, "lastState": {}}]}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pods of a volcano job: two that run, of which one was restarted, one that was killed."""
    job = simulate(71, 16)
    for number in (0, 1):
        own = f"node-{number}/"
        write_tree(tmp_path / "trees" / f"worker-{number}", {path.removeprefix(own): text for path, text in job.files.items() if path.startswith(own)})
    write_tree(tmp_path, {"printed.log": "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n", "before.log": "Traceback (most recent call last):\nValueError: no\n"})
    rows = [("worker-0", runs()), ("worker-1", runs()), ("worker-2", ended("OOMKilled", 137))]
    listed = [{"name": n, "namespace": "train", "labels": {"volcano.sh/job-name": "llm"}, "status": s, "logs": str(tmp_path / "trees" / n)} for n, s in rows]
    listed[1]["status"]["containerStatuses"][0]["lastState"] = {"terminated": {"reason": "Error", "exitCode": 1}}  # type: ignore[index, call-overload]
    listed[1]["previous"] = str(tmp_path / "before.log")
    listed[2]["printed"] = str(tmp_path / "printed.log")
    (tmp_path / "pods.json").write_text(json.dumps(listed))
    (tmp_path / "bin").mkdir()
    scripts = {"kubectl": KUBECTL.format(python=sys.executable, table=str(tmp_path / "pods.json"), calls=str(tmp_path / "calls")), "docker": DOCKER.format(trees=tmp_path / "trees")}
    for name, text in scripts.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{path_of_nodes()}")
    return tmp_path


def test_the_pods_of_a_job(cluster: Path) -> None:
    """Where a pod runs it is scanned in it; of one that ended, and of a container before this one, what it printed is read."""
    done = fleet("fleet", "scan", "--via", "kubectl", "--job", "llm", "-n", "train", "--into", str(cluster / "run"), "-o", str(cluster / "r.json"))
    assert "scanned 3: worker-1--previous,worker-[0-1]" in done.err, done.err
    assert "it does not run any more (OOMKilled, exit code 137): only what it printed could be read" in done.err
    made = report(cluster / "r.json")
    assert [s["path"] for s in made["skipped"]] == ["worker-2"]
    assert any(e["path"] == "worker-2/printed.log" for f in made["findings"] for e in f["evidence"])
    assert merged_by_hand(cluster / "run") == written(cluster / "r.json")


@pytest.mark.parametrize("label", pods.OF_JOB)
def test_a_job_of_any_operator(cluster: Path, label: str) -> None:
    """Volcano's, a PyTorchJob, an MPIJob, a plain job: by its name, in its namespace alone; of a pod that crashes again and again the run before is read."""
    rows = json.loads((cluster / "pods.json").read_text())
    for row in rows:
        row["labels"] = {label: "llm"}
    crashing = {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}}], "phase": "Running"}
    rows += [{**rows[0], "name": "worker-3", "status": crashing}, {**rows[0], "name": "else", "namespace": "other"}]
    (cluster / "pods.json").write_text(json.dumps(rows))
    found = places.targets_of(arguments().parse_args(["--via", "kubectl", "--job", "llm", "-n", "train"]))
    assert [t.name for t in found.targets] == ["worker-0", "worker-1", "worker-1--previous", "worker-2", "worker-3"]
    assert found.gone["worker-3"] == ("CrashLoopBackOff", True)
    assert ways.printed(ways.Way("kubectl", namespace="train"), found.targets[-1], True) == ["kubectl", "logs", "--previous", "--namespace", "train", "worker-3"]


def test_a_pod_that_is_gone(cluster: Path) -> None:
    """Named, and not there: the others are asked all the same."""
    done = fleet("fleet", "scan", "worker-0", "worker-9", "--via", "kubectl", "-n", "train")
    assert "unreachable 1: worker-9" in done.err
    assert 'pods "worker-9" not found' in done.err
    assert "scanned 1: worker-0" in done.err


def test_containers(cluster: Path) -> None:
    """docker exec into each; what docker says of the others is told."""
    done = fleet("fleet", "scan", "worker-0", "worker-1", "stopped", "no such", "--via", "docker", "--into", str(cluster / "run"), "-o", str(cluster / "r.json"))
    assert "scanned 2: worker-[0-1]" in done.err, done.err
    assert merged_by_hand(cluster / "run") == written(cluster / "r.json")
    assert "unreachable 2" in done.err
    assert "is not running" in done.err
    assert "No such container: no such" in done.err


@pytest.fixture
def cards(cluster: Path) -> Path:
    """Three containers with cards of their own: one with a card that is not well, one that misses a card and has another driver."""
    said = {
        "worker-0": machines.smi("A2"),
        "worker-1": machines.smi("A2", health={5: "Alarm"}),
        "worker-2": machines.smi("A2", 7, driver_version="24.1.rc2"),
    }
    for name, text in said.items():
        write_tree(cluster / "trees" / name, {"said": text, "bin/npu-smi": f'#!/bin/sh\n[ "$1" = info ] && [ $# = 1 ] && exec cat {cluster}/trees/{name}/said\nexit 1\n'})
        (cluster / "trees" / name / "bin" / "npu-smi").chmod(0o755)
    return cluster


def test_all_cards_outliers_first(cards: Path) -> None:
    """The card that is not well and the node with fewer cards stand before all that are fine; who did not answer stands there, too."""
    done = fleet("fleet", "smi", "worker-0", "worker-1", "worker-2", "stopped", "--via", "docker", "--into", str(cards / "run"))
    rows = done.out.splitlines()
    assert done.code == 1, done.err
    assert rows[0] == "23 cards on 3 nodes, 1 stand out"
    assert any(row.startswith("stopped") and "unreachable" in row for row in rows)
    assert any(row.startswith("worker-2") and "npu-smi misses NPU 7" in row for row in rows), done.out
    odd = next(row for row in rows if row.startswith("worker-1"))
    assert "health Alarm" in odd
    assert odd.split()[1] == "5"
    assert "22 cards are fine (worker-[0-2])" in rows[-1]
    again = fleet("fleet", "smi", "--resume", str(cards / "run"), "-f", "json")
    assert "asking 1 nodes" in again.err
    assert [c["device"] for c in json.loads(again.out)["cards"] if c["why"]] == [5]


def test_where_nodes_differ(cards: Path) -> None:
    """What `env diff` says of the same files; who is missing is told beside it."""
    done = fleet("fleet", "env", "worker-0", "worker-1", "worker-2", "stopped", "--via", "docker", "--into", str(cards / "run"))
    assert done.code == 1
    assert "unreachable 1: stopped" in done.err
    assert "chips.count\n  7  worker-2\n  8  worker-0, worker-1\n" in done.out
    assert "npu-doctor-" not in done.out  # nothing of what brings the answer is a difference
    hand = fleet("env", "diff", *map(str, sorted((cards / "run" / "nodes").glob("*.json"))))
    assert hand.out == done.out
