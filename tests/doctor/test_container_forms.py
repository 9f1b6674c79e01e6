"""A fix for docker is told as a part of a pod's template, or of a Compose file, where one of these starts the container."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from doctor.answer.container_forms import told
from doctor.api import report
from doctor.findings.situation import Situation
from doctor.findings.started import read
from kb.knowledge import Knowledge
from kb.model import Command, Fix, Text

POD = Situation({"kubernetes": ("pod",)})
COMPOSE = Situation({"seen": ("compose",)})


def made(run: str, situation: Situation) -> Any:
    fix = told(Fix("resolve", "low", Text("x", "x"), (), (), (Command(run, Text("x", "x"), None),), None), situation)
    return yaml.safe_load(fix.code.after) if fix.code is not None else fix.commands[0].run


@pytest.mark.parametrize(
    ("run", "pod"),
    [
        ("docker run --shm-size=64g IMAGE", {"containers": [{"volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}], "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]}),
        ("docker run --privileged --cap-add IPC_LOCK IMAGE", {"containers": [{"securityContext": {"privileged": True, "capabilities": {"add": ["IPC_LOCK"]}}}]}),
        ("docker run --network host --ipc=host IMAGE", {"hostNetwork": True, "hostIPC": True}),
        ("docker run --user 1000:1000 --group-add 1000 IMAGE", {"securityContext": {"supplementalGroups": [1000]}, "containers": [{"securityContext": {"runAsUser": 1000}}]}),
        ("docker run -it --device /dev/davinci0 --device /dev/davinci1 --device /dev/hisi_hdc -e A=1 IMAGE bash", {"containers": [{"resources": {"limits": {"huawei.com/Ascend910": "2"}}, "env": [{"name": "A", "value": "1"}]}]}),
        ("docker run -v /etc/hccn.conf:/etc/hccn.conf:ro IMAGE", {"containers": [{"volumeMounts": [{"name": "host0", "mountPath": "/etc/hccn.conf", "readOnly": True}]}], "volumes": [{"name": "host0", "hostPath": {"path": "/etc/hccn.conf"}}]}),
    ],
)
def test_a_pod_gets_what_docker_would_give(run: str, pod: object) -> None:
    assert made(run, POD) == {"spec": pod}


def test_what_a_pod_has_no_word_for_stays_as_it_is() -> None:
    """And so does advice for whoever types docker, or shows that they did."""
    locked = "docker run --ulimit memlock=-1:-1 IMAGE"
    assert made(locked, POD) == locked
    assert made(locked, COMPOSE) == {"ulimits": {"memlock": {"soft": -1, "hard": -1}}}
    typed = read("docker run -it --device /dev/davinci0 image:1 bash")
    assert typed is not None
    assert made("docker run --privileged IMAGE", POD._replace(started=(typed,))) == "docker run --privileged IMAGE"
    assert made("docker run --privileged IMAGE", Situation()) == "docker run --privileged IMAGE"


def test_every_docker_command_of_the_knowledge_becomes_yaml_or_stays(knowledge: Knowledge) -> None:
    """Whatever values stand in it; most can be told as a pod, nearly all as a service."""
    runs = [c.run for code in knowledge.codes_of_entries if (entry := knowledge.entry(code)) is not None for fix in entry.fixes for c in fix.commands if c.run.startswith("docker run ")]
    for situation, least in ((POD, 0.6), (COMPOSE, 0.8)):
        became = [isinstance(made(run, situation), dict) for run in runs]
        assert sum(became) >= least * len(runs)


def test_a_killed_pod_is_not_told_to_type_docker() -> None:
    root = report("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/kubepods/burstable/pod3f1c,task_memcg=/kubepods/burstable/pod3f1c,task=python3,pid=7278,uid=0\n")["findings"][0]
    fix = root["fixes"][root["first_fix"]]
    assert yaml.safe_load(fix["code"]["after"])["spec"]["containers"][0]["resources"] == {"limits": {"memory": "512Gi"}}


def test_docker_is_no_advice_for_a_pod_where_something_else_is_known(tmp_path: Path) -> None:
    log = "RuntimeError: Unable to pin host memory with error code: -1\n"
    (tmp_path / "pod.log").write_text("$ kubectl -n llm exec a-0 -- cat log\n" + log)
    (tmp_path / "other.log").write_text(log)
    shown, other = (str(report(tmp_path / name)["findings"][0]["fixes"]) for name in ("pod.log", "other.log"))
    assert "LimitMEMLOCK=infinity" in shown
    assert "docker run" not in shown
    assert "docker run" in other


def test_of_advice_for_docker_and_for_pods_a_pod_gets_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("DataLoader worker (pid 312) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n")
    before = str(report(tmp_path)["findings"][0]["fixes"])
    (tmp_path / "job.yaml").write_text("spec:\n  containers:\n  - name: m\n    resources:\n      limits:\n        huawei.com/Ascend910: 4\n")
    after = str(report(tmp_path)["findings"][0]["fixes"])
    assert "docker run" in before
    assert "docker run" not in after
    assert "emptyDir" in after


FULL = "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"


def test_a_compose_file_beside_the_log_tells_who_starts_the_container(tmp_path: Path) -> None:
    """Nobody typed `docker compose`: the file alone shows it, and a pod's template in the advice is none for it."""
    (tmp_path / "train.log").write_text(FULL)
    (tmp_path / "compose.yaml").write_text("services:\n  plugh:\n    image: registry.local/plugh:1.0\n    command: python train.py\n")
    root = report(tmp_path)["findings"][0]
    fix = root["fixes"][root["first_fix"]]
    assert yaml.safe_load(fix["code"]["after"]) == {"shm_size": "64g"}
    assert not fix["commands"]
