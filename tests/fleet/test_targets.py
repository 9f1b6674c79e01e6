"""What a call names to targets: node sets, inventories as Ansible reads them, host files, rank tables; and the commands made of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from doctor.base.errors import UsageError
from doctor.base.notation import folded
from doctor.fleet import pods, slurm
from doctor.fleet.inventory import of_inventory
from doctor.fleet.targets import Target, of_hostfile, of_rank_table, of_words
from doctor.fleet.ways import Way, command

INI = """\
# the cluster
head ansible_host=10.0.0.1 ansible_port=2222
old:2022

[npu]
node[01:03] ansible_user=ascend
gpu-[a:b].local  # two of them

[spare]
node03

[all_nodes:children]
npu
spare

[npu:vars]
ansible_user=root
ansible_ssh_private_key_file="~/.ssh/npu"
ansible_password=secret
"""
YAML = """\
all:
  vars: {ansible_user: root, ansible_password: !vault "x"}
  hosts:
    head: {ansible_host: 10.0.0.1, ansible_port: 2222}
  children:
    npu:
      hosts:
        node[01:03]: {ansible_user: ascend}
"""


def test_an_inventory_in_ini(tmp_path: Path) -> None:
    """Ranges, ports, variables of hosts before those of groups; passwords are not read."""
    (tmp_path / "hosts").write_text(INI)
    found = {t.name: t for t in of_inventory(str(tmp_path / "hosts"), [])}
    assert list(found) == ["head", "old", "node01", "node02", "node03", "gpu-a.local", "gpu-b.local"]
    assert found["head"] == Target("head", "10.0.0.1", "", 2222)
    assert found["old"].port == 2022
    assert found["node01"] == Target("node01", "", "ascend", None, "~/.ssh/npu")
    assert found["gpu-a.local"].user == "root"
    assert "secret" not in repr(found)


def test_an_inventory_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text(YAML)
    assert of_inventory(str(tmp_path / "hosts.yaml"), ["npu"]) == tuple(Target(f"node0{n}", "", "ascend") for n in (1, 2, 3))
    assert of_inventory(str(tmp_path / "hosts.yaml"), ["head"]) == (Target("head", "10.0.0.1", "root", 2222),)


@pytest.mark.parametrize(("words", "names"), [(["npu:!spare"], "gpu-a.local,gpu-b.local,node[01-02]"), (["all_nodes:&spare"], "node03"), (["node0*"], "node[01-03]"), (["spare,head"], "head,node03")])
def test_patterns(tmp_path: Path, words: list[str], names: str) -> None:
    (tmp_path / "hosts").write_text(INI)
    assert folded(t.name for t in of_inventory(str(tmp_path / "hosts"), words)) == names


def test_a_host_file_tells_ranks(tmp_path: Path) -> None:
    """DeepSpeed's, Open MPI's and MPICH's; slots are counted through."""
    (tmp_path / "hostfile").write_text("worker-1 slots=8\nworker-2:4  # old\n\n10.0.0.3 slots=2 max_slots=4\n")
    assert [(t.name, t.ranks[:1], len(t.ranks)) for t in of_hostfile(str(tmp_path / "hostfile"))] == [("worker-1", (0,), 8), ("worker-2", (8,), 4), ("10.0.0.3", (12,), 2)]


def test_a_rank_table(tmp_path: Path) -> None:
    table = {"server_list": [{"server_id": f"10.0.0.{n}", "device": [{"device_id": str(d), "rank_id": str(2 * n + d)} for d in (0, 1)]} for n in (0, 1)]}
    (tmp_path / "hccl.json").write_text(json.dumps(table))
    assert of_rank_table(str(tmp_path / "hccl.json")) == (Target("10.0.0.0", ranks=(0, 1)), Target("10.0.0.1", ranks=(2, 3)))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("hosts", "", "there is no host"), ("hosts", "a 'b", "hosts:1 is no line of an inventory"), ("hosts", "node[9:a]", "is no range"), ("hosts", "a ansible_port=x", "no number"),
        ("hosts.yaml", "a: [", "is no YAML"), ("hosts.yaml", "&a [*a]", "there is no host"),
    ],
)  # fmt: skip
def test_inventories_that_are_none(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=told):
        of_inventory(str(tmp_path / name), [])


def test_other_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a slots=many\n")
    with pytest.raises(UsageError, match="is no line of a host file"):
        of_hostfile(str(tmp_path / "f"))
    with pytest.raises(UsageError, match="is no rank table"):
        of_rank_table(str(tmp_path / "f"))
    with pytest.raises(UsageError, match="cannot read"):
        of_rank_table(str(tmp_path / "none"))
    (tmp_path / "hosts").write_text("a\n")
    with pytest.raises(UsageError, match="'nobody' is no host"):
        of_inventory(str(tmp_path / "hosts"), ["nobody"])


def test_node_sets() -> None:
    assert [t.name for t in of_words(["node[08-10]", "head"])] == ["head", "node08", "node09", "node10"]
    with pytest.raises(UsageError, match="names no nodes"):
        of_words(["node[1-"])
    with pytest.raises(UsageError, match="names no nodes"):
        of_words(["@nosuchgroup"])


@pytest.mark.parametrize(
    ("names", "short"),
    [(["node1", "node2", "node10"], "node[1-2,10]"), (["n08", "n09", "n10"], "n[08-10]"), (["10.0.0.1", "10.0.0.2"], "10.0.0.1,10.0.0.2"), (["a", "b7"], "a,b7"), (["w-0.svc", "w-1.svc"], "w-[0-1].svc"), ([], "")],
)  # fmt: skip
def test_names_in_short(names: list[str], short: str) -> None:
    assert folded(names) == short


def test_commands() -> None:
    """What the user's own tools are called with; the shell of a node gets one word of ours."""
    one = Target("n1", "10.0.0.1", "root", 2222, "/k e y")
    words = command(Way(options=("-J", "gate")), one, "ff")
    assert words[0] == "ssh"
    assert words[-10:-1] == ["-J", "gate", "-p", "2222", "-l", "root", "-i", "/k e y", "--", "10.0.0.1"][1:]
    assert shlex.split(words[-1])[:2] == ["sh", "-c"]
    assert shlex.split(command(Way(python="/a b/$(x)'y"), one, "ff")[-1])[-2:] == ["/a b/$(x)'y", "ff"]
    assert "-oBatchMode=yes" in words
    assert "--overlap" in command(Way("srun", job="7"), one, "ff")
    assert any(word.startswith("--immediate") for word in command(Way("srun"), one, "ff"))
    assert command(Way("kubectl", namespace="a", container="b"), Target("p"), "ff")[:9] == ["kubectl", "exec", "-i", "--namespace", "a", "--container", "b", "p", "--"]
    assert command(Way("docker"), Target("a b"), "ff")[:5] == ["docker", "exec", "-i", "a b", "sh"]


def test_what_slurm_says_of_jobs() -> None:
    said = "JobId=8 JobName=wrap JobState={} ReqNodeList=(null) ExcNodeList=(null) NodeList=n[1-2] BatchHost=n1"
    assert slurm.shown(said.format("RUNNING")) == slurm.Allocation("n[1-2]", "8")
    assert slurm.shown(said.format("FAILED")) == slurm.Allocation("n[1-2]", "")
    assert slurm.accounted("FAILED|n[3-4]\nCANCELLED by 0|None assigned\n") == slurm.Allocation("n[3-4]", "")
    with pytest.raises(UsageError, match="is no number of a job"):
        slurm.of_job("8; rm -rf /", lambda words: (0, "", ""))
    with pytest.raises(UsageError, match="Invalid job id"):
        slurm.of_job("9", lambda words: (1, "", "Invalid job id specified"))
    assert slurm.of_environment({"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "n[1-4]"}) == slurm.Allocation("n[1-4]", "5")


def test_pods_of_any_kind() -> None:
    """Waiting for an image, in a loop of crashes, evicted."""
    rows = [
        {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
        {"phase": "Running", "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}}]},
        {"phase": "Failed", "reason": "Evicted"},
    ]
    listed = json.dumps({"items": [{"metadata": {"name": str(n)}, "status": status} for n, status in enumerate(rows)]})
    assert [(p.runs, p.restarted, p.why) for p in pods.pods(listed)] == [(False, False, "ImagePullBackOff"), (False, True, "CrashLoopBackOff"), (False, False, "Evicted")]
    with pytest.raises(UsageError, match="kubectl did not list"):
        pods.pods("[]")
