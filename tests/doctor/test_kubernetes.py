"""Events and states of pods: what was asked for, what the nodes have, who ended a container; commands name the pod."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor import diagnose, report
from doctor.answer.known_words import filled
from parsers import kube

POD = """\
Name:             {name}
Namespace:        infer
Node:             npu-node-1/10.8.1.11
Status:           Pending
Containers:
  main:
    Image:          quay.io/ascend/vllm-ascend:v0.11.0
    State:          Waiting
      Reason:       {reason}
{last}    Restart Count:  {restarts}
    Limits:
      huawei.com/Ascend910:  16
      memory:                128Gi
    Requests:
      huawei.com/Ascend910:  16
"""
ENDED = "    Last State:     Terminated\n      Reason:       {}\n      Exit Code:    {}\n"
EVENTS = """\
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
"""
SHORT = EVENTS + "  Warning  FailedScheduling  3m (x8 over 40m)   default-scheduler  0/3 nodes are available: 2 Insufficient huawei.com/Ascend910.\n"
NODE = "Name:               npu-node-1\nRoles:              worker\nAllocatable:\n  cpu:                   192\n  huawei.com/Ascend910:  {}\n  memory:                1583821636Ki\n"
LISTED = "LAST SEEN   TYPE      REASON   OBJECT      MESSAGE\n5m12s       {}   {}   pod/work-3  {}\n"


def first(folder: Path, *texts: str) -> dict[str, Any]:
    """The first finding about some texts, each in a file of its own."""
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)
    found: dict[str, Any] = report(folder)["findings"][0]
    return found


def pod(reason: str, last: str = "", restarts: int = 0) -> str:
    return POD.format(name="qwen-0", reason=reason, last=last, restarts=restarts)


def quote(value: str, _: str) -> str:
    return value


@pytest.mark.parametrize(("has", "title"), [("8", "The pod asks for 16 NPUs, and a node has 8: it can never be scheduled"), ("0", "The node reports no huawei.com/Ascend910: the Ascend device plugin offers no card there")])
def test_what_a_pod_asks_for_is_compared_with_what_nodes_have(tmp_path: Path, has: str, title: str) -> None:
    assert first(tmp_path, pod("ContainerCreating") + SHORT, NODE.format(has))["title"]["en"] == title


def test_code_of_a_fix_holds_their_numbers(tmp_path: Path) -> None:
    code = first(tmp_path, pod("ContainerCreating") + SHORT, NODE.format("8"))["fixes"][0]["code"]
    assert (code["before"].split()[-2:], code["after"].split()[-2:]) == (["huawei.com/Ascend910:", "16"], ["huawei.com/Ascend910:", "8"])


def test_nodes_that_are_not_shown_decide_nothing(tmp_path: Path) -> None:
    assert "no free huawei.com/Ascend910" in first(tmp_path, pod("ContainerCreating") + SHORT)["title"]["en"]


def test_a_refused_pod_is_told_with_both_numbers(tmp_path: Path) -> None:
    said = "Allocate failed due to requested number of devices unavailable for huawei.com/Ascend910. Requested: 4, Available: 2, which is unexpected"
    assert first(tmp_path, LISTED.format("Warning", "UnexpectedAdmissionError", said))["title"]["en"] == "The pod asks for 4 NPUs, and its node has 2 left (huawei.com/Ascend910)"


def test_a_container_that_was_killed_for_its_memory_names_its_limit(tmp_path: Path) -> None:
    """No docker flags for a pod."""
    found = first(tmp_path, pod("CrashLoopBackOff", ENDED.format("OOMKilled", 137), 5))
    assert found["title"]["en"] == "The container was killed for its host memory (OOMKilled): its limit is 128Gi"
    assert all("docker" not in str(fix) for fix in found["fixes"])


def test_a_container_that_ends_again_and_again_points_at_its_own_log(tmp_path: Path) -> None:
    found = first(tmp_path, pod("CrashLoopBackOff", ENDED.format("Error", 1), 7))
    assert found["title"]["en"] == "The container ends again and again with exit code 1 (CrashLoopBackOff): the cause is in its own log"
    assert found["fixes"][0]["commands"][0]["run"] == "kubectl -n infer logs qwen-0 --previous --tail=200 > previous.log; npu-doctor scan previous.log"


def test_its_own_log_beside_it_is_the_answer(tmp_path: Path) -> None:
    """What Kubernetes says of the end is a symptom of what the program says."""
    found = first(tmp_path, pod("CrashLoopBackOff", ENDED.format("Error", 1), 7), "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n")
    assert found["id"] == "CTR001"


@pytest.mark.parametrize("reason", ["FailedMount", "FailedScheduling", "FailedCreatePodSandBox"])
def test_any_event_that_keeps_a_pod_from_starting_is_told(tmp_path: Path, reason: str) -> None:
    found = first(tmp_path, LISTED.format("Warning", reason, "something that nobody has heard of"))
    assert (found["id"], found["title"]["en"]) == ("CTR982", f"Kubernetes keeps the pod work-3 from starting ({reason}): something that nobody has heard of")


def test_events_in_json_are_read_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "events.json").write_text(
        '{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Event", "count": 4, "type": "Normal", "reason": "Killing", "message": '
        '"Container vllm failed liveness probe, will be restarted", "involvedObject": {"kind": "Pod", "name": "qwen-0", "namespace": "infer"}}]}\n'
    )
    found = report(tmp_path)["findings"][0]
    assert found["id"] == "CTR980"
    assert found["fixes"][0]["commands"][0]["run"].startswith("kubectl -n infer logs qwen-0 --previous")


@pytest.mark.parametrize("healthy", ["Normal   Started", "Warning  Unhealthy"])
def test_a_pod_that_runs_is_no_fault(tmp_path: Path, healthy: str) -> None:
    state = pod("x").replace("    State:          Waiting\n      Reason:       x\n", "    State:          Running\n").replace("16", "2")
    (tmp_path / "pod.txt").write_text(state + EVENTS + f"  {healthy}   9m    kubelet  Startup probe failed: connection refused\n")
    assert report(tmp_path)["verdict"] == "clean"


def test_what_a_list_of_pods_does_not_tell_stays_to_be_filled_in(tmp_path: Path) -> None:
    """Without a column of namespaces no empty word stands in a command."""
    found = first(tmp_path, "NAME       READY   STATUS                       RESTARTS   AGE\nmindie-0   0/1     CreateContainerConfigError   0          2m\n")
    assert found["fixes"][0]["commands"][0]["run"] == "kubectl describe pod mindie-0 | tail -20; kubectl get configmap,secret -n NAMESPACE"


def test_the_namespace_is_that_of_the_readers_own_commands(tmp_path: Path) -> None:
    """A reader who calls the pod by its name alone needs no namespace; one who gives it needs it again."""
    failed = "dcmi module initialize failed. ret is -8005\n"
    runs = {"plain": "$ kubectl exec -it npu-3 -- bash\n", "given": "$ kubectl exec -it npu-3 -n infer -- bash\n", "two": "$ kubectl get pod -n a\n$ kubectl logs npu-3 -n b\n"}
    told = {}
    for name, typed in runs.items():
        folder = tmp_path / name
        folder.mkdir()
        told[name] = str([command["run"] for fix in first(folder, typed + failed)["fixes"] for command in fix["commands"]])
    assert "kubectl exec npu-3 -- sh" in told["plain"]
    assert "kubectl exec npu-3 -n infer -- sh" in told["given"]
    assert " -n NAMESPACE -- sh" in told["two"]


def test_words_are_filled_where_they_mean_the_pod() -> None:
    known = {"pod": "qwen-0", "namespace": "infer", "kube_node": "npu-1", "model": "/m/a", "image": "a:1"}
    assert filled("kubectl describe pod POD | tail", known, quote) == "kubectl -n infer describe pod qwen-0 | tail"
    assert filled("kubectl get pod -A -o wide --field-selector spec.nodeName=NODE", known, quote) == "kubectl get pod -A -o wide --field-selector spec.nodeName=npu-1"
    assert filled("ls MODEL_PATH/config.json; grep NODE_RANK a; echo $MODEL", known, quote) == "ls /m/a/config.json; grep NODE_RANK a; echo $MODEL"
    assert filled("docker pull IMAGE:TAG", known, quote) == "docker pull IMAGE:TAG"


def test_commands_name_the_folder_beneath_which_cann_lies() -> None:
    """Where logs show one folder alone; the driver always lies in the usual one."""
    run = "source /usr/local/Ascend/nnal/atb/set_env.sh && ls /usr/local/Ascend/driver /data/usr/local/Ascend/nnal/x"
    told = diagnose("OSError: /data/Ascend/nnal/atb/latest/lib/libatb.so: undefined symbol: x\nnpu:0\n").situation.words()
    both = diagnose("/data/Ascend/nnal/atb/latest/a.so /usr/local/Ascend/nnal/atb/latest/a.so: undefined symbol: x\nnpu:0\n").situation.words()
    assert filled(run, told, quote) == run.replace("source /usr/local", "source /data")
    assert filled(run, both, quote) == run


def test_wide_events_keep_their_message_apart() -> None:
    text = "LAST SEEN   TYPE      REASON   OBJECT       SOURCE    MESSAGE        FIRST SEEN   COUNT   NAME\n41s         Warning   Failed   pod/qwen-0   kubelet   Error: x y z   2m           4       qwen-0.17f"
    assert [row.get("message") for row in kube.rows(text.split("\n"), 1)] == ["Error: x y z"]


def test_the_journal_of_kubelet_names_the_pod(tmp_path: Path) -> None:
    line = 'Nov 10 03:19:41 npu-1 kubelet[2213]: I1110 03:19:41.113456    2213 kubelet.go:1630] "Container failed liveness probe, will be restarted" pod="infer/qwen-0" containerName="vllm"\n'
    found = first(tmp_path, line)
    assert found["title"]["en"] == "Killed by its liveness probe: container vllm, mostly while the model still loads"
    assert found["fixes"][0]["commands"][0]["run"].startswith("kubectl -n infer logs qwen-0 --previous")
