"""What redaction must not do: touch words that identify nobody, change a diagnosis, take long."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests_support import Concluded, Diagnosed

from doctor.answer.redact import redactor
from doctor.answer.report import report
from doctor.judge.diagnosis import conclude
from doctor.judge.proof import Bench
from doctor.read import discover
from doctor.scan.harvest import from_json
from kb.knowledge import Knowledge
from tests.simulate.jobs import simulate

DATA = Path(__file__).resolve().parent.parent / "data"
# What the logs below really hold of machines and people: looked through by hand. Addresses are told by their form.
IDENTIFYING = frozenset(
    """
    n1 edge-7 ocr-7f infer-36 npu-host-2 aa6890a14c34 k8s-910b embed-0 hami-scheduler-7c9b6d8f4d-9k2vb registry.local base-model-intention bogon infer-0 laptop
    data.local atlas-node07 npu-worker-2 infer-04 a2-12 srv8 train-07 k8s-master sasa-resnet1-acc-default-test-0 prefill-2 npu-exporter-x7k2p llama-worker-1
    dev-910b new-910b-2 new-910b-1 npu-worker-07 infer-7 a3-node-04 npu-08 gpu-a2-3 n3 worker-zero nb-2 gz-910b-3 quick-start npu-9
    train dev lx ci ops ma lq build jenkins b yt zq 8k2qzt.4x0d7m1v9s6b2c5e
    """.split()  # noqa: SIM905 - a list of words
)
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+|[0-9a-f:]*:[0-9a-f:]+")


def ordinary() -> Iterator[str]:
    """About five megabytes: healthy logs, incidents, and whole jobs of several faults."""
    for path in (*sorted((DATA / "healthy").rglob("*")), *sorted((DATA / "incidents").glob("*/input.*"))):
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace")
    for seed, fault in enumerate(("oom", "link", "stuck", "killed", "slow", "port", "aicore", "mismatch")):
        yield from simulate(40 + seed, 128, fault).files.values()


@pytest.mark.slow
def test_ordinary_words_are_not_touched(knowledge: Knowledge) -> None:
    """Of 300 000 words at most one in a thousand changes that identifies nobody."""
    words, size, touched = 0, 0, Counter[str]()
    for text in ordinary():
        rows = text.splitlines()
        using = redactor(conclude([], knowledge), knowledge)
        told = using.report(rows)
        size += len(text)
        known = {v for v in using.mapping if v.lower() in IDENTIFYING or ADDRESS.fullmatch(v)}
        for row, new in zip(rows, told, strict=True):
            words += len(row.split())
            if new != row:
                left = Counter(row.split()) - Counter(new.split())
                touched.update({w: n for w, n in left.items() if not any(v in w for v in known)})
    assert size > 4_500_000
    assert sum(touched.values()) < words * 0.001, touched.most_common(20)


@pytest.mark.parametrize(
    "text",
    [
        "node=GatherV2_123 and node_name: Add_12, node = partitioned_call_0, node: MatMul_7/transpose",
        "process pass InferShapePass on node:Add_204 failed, node name Conv2D_1",
        "Linux version 5.10.0-60.18.0.50.oe2203.aarch64, kernel 5.10.0-60.18.0.50.oe2203, 6.6.0-144.0.0.130.oe2403sp3",
        "gcc 7.3.0.1 and GCC version: 10.3.0.1, glibc 10.2.0.1, python 10.1.0.2",
        "owner=AICPU owner=AICORE user=HCCL owner: RUNTIME",
        "tried to allocate 17179869184 bytes of 15032385536, 13421772800 free",
        "job20260101123456 v20240101 build 20231231 at 1700000000000",
        "pass: ConstantFolding, fusion pass=true, pass_name=FooPass, OPTIMIZE_PASS=ConvBnFusionPass",
        "key=layers.0.self_attn.q_proj.weight, hash key: te_matmul_v2, auth=none, code=507018, session=0",
        "password is required; the password was wrong; password is not set; 密码错误",
        "2026-01-02-03:04:05.006.007 and 2026-01-02 03-04-05",
        "/data/models/qwen/config.json /mnt/nfs/datasets /workspace/vllm/worker/worker.py /data/ckpt/step_100",
        "Qwen2-72B-Instruct-2 llama-2-70b deepseek-r1-0528 zero-stage-3 ascend-910b1 atlas-800-9000 cann-8-0 layer-12 device-0 rank-7 cn-north-4",
        "logger.info and torch.nn.io and self.net, model.safetensors.index.json, worker_1.py:123, utils.py:45",
        "libhccl.so:/usr/lib PATH:/usr/bin LD_LIBRARY_PATH=/usr/local/Ascend:/lib",
        "ForkPoolWorker-3 ThreadPoolExecutor-0_0 MainThread Thread-12",
        "request 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 failed, commit 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d",
        "负责人未填写，主机不可达，节点异常，用户空间不足",
        "namespace std and namespace torch::autograd, name space exhausted",
        "fingerprint of the graph: 0a1b2c3d4e5f, container 0a1b2c3d4e5f, addr=0x12c0c1800",
        "-rw-r--r-- 1 root root 1024 Jan  2 03:04 a.log",
        "root         1  0.0  0.0   1234   567 ?        Ss   03:04   0:01 /sbin/init",
    ],
)
def test_what_a_diagnosis_needs_stays(text: str, knowledge: Knowledge) -> None:
    """Nodes of graphs, versions, components, sizes, options, models, files, ids of requests."""
    assert redactor(conclude([], knowledge), knowledge).text(text) == text


def _codes(texts: list[tuple[str, str]], bench: Bench) -> list[str]:
    return [r.finding.entry.code for r in conclude([bench._scanner.scan(discover.given_text(t, n)) for t, n in texts], bench.knowledge).roots]


CASES = sorted((DATA / "incidents").iterdir())
# What these logs prove, they prove by addresses.
BY_ADDRESS = {"blind-mindie-cannot-listen", "hccl-hccn-conf-stale-one-npu", "hccl-init-virbr-on-third-node"}


def test_incidents_are_told_alike(bench: Bench, concluded: Concluded, diagnosed: Diagnosed) -> None:
    """Each incident, redacted and read back, has the same roots; and so has its very log when every line of it was redacted."""
    for case in CASES:
        source = discover.discover([str(next(case.glob("input.*")))]).sources[0]
        text = source.open().read().decode("utf-8", "replace")
        plain, told = concluded(case), diagnosed(case)
        using = redactor(plain, bench.knowledge)
        made, harvest, rows = using.report([told, plain.harvest.json(), text.splitlines()])
        roots = [r.finding.entry.code for r in plain.roots]
        again = conclude([from_json(json.loads(json.dumps(harvest)))], bench.knowledge)
        assert [r.finding.entry.code for r in again.roots] == roots, case.name
        assert [f["id"] for f in made["findings"]] == [f["id"] for f in told["findings"]], case.name
        if case.name not in BY_ADDRESS:
            assert _codes([("\n".join(rows) + "\n", source.name)], bench) == roots, case.name


def test_a_large_job_is_quick(bench: Bench) -> None:
    """What a job of 256 ranks tells is redacted in seconds."""
    job = simulate(31, 256, "oom")
    plain = conclude([bench._scanner.scan(discover.given_text(t, n)) for n, t in job.files.items()], bench.knowledge)
    told = [report(plain, bench.knowledge), plain.harvest.json()]
    begin = time.process_time()
    redactor(plain, bench.knowledge).report(told)
    assert time.process_time() - begin < 6
