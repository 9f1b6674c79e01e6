"""Environments that people reported, each as a tree: what was wrong with it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from env import machines as m

GITHUB = "https://github.com"
# Thread, what stood there, the check that names it. What a thread does not tell is that of a healthy machine.
VERSIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (f"{GITHUB}/sgl-project/sglang/issues/28628", {"cann_version": "8.5.0", "driver_version": "25.3.rc1", "named": {"torch": "2.12.0", "torch-npu": "2.8.0.post2"}}, "CHK301"),
    (f"{GITHUB}/Ascend/pytorch/issues/35", {"cann_version": "8.0.RC1", "driver_version": "24.1.rc1", "named": {"torch": "2.1.0", "torch-npu": "2.2.0"}}, "CHK301"),
    (f"{GITHUB}/Ascend/pytorch/issues/99", {"cann_version": "8.3.RC1", "named": {"torch": "2.7.1", "torch-npu": "2.7.1"}, "more": m.nnal("8.2.RC1")}, "CHK205"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/4081", {"named": {"torch": "2.8.0+cpu", "torch-npu": "2.7.1.dev20250724", "torchvision": "0.22.1"}}, "CHK301"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/4081 (torchvision)", {"named": {"torch": "2.8.0+cpu", "torchvision": "0.22.1"}, "needs": {"torchvision": ["torch==2.7.1"]}}, "CHK311"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/7587", {"cann_version": "8.3.RC1", "named": {"torch": "2.8.0", "torch-npu": "2.8.0", "vllm": "0.11.0", "vllm-ascend": "0.11.0rc1"}}, "CHK305"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/5914", {"cann_version": "8.3.RC2", "named": {"torch": "2.8.0", "torch-npu": "2.8.0", "vllm": "0.13.0", "vllm-ascend": "0.13.0"}}, "CHK306"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/855", {"cann_version": "8.1.RC1", "named": {"torch": "2.6.0", "torch-npu": "2.5.1", "vllm": "0.8.5.post1", "vllm-ascend": "0.8.5rc1"}}, "CHK301"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/754", {"cann_version": "8.1.RC1", "named": {"torch": "2.6.0", "torch-npu": "2.5.1", "vllm": "0.8.5.post1", "vllm-ascend": "0.8.5rc1"}}, "CHK305"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/3793", {"named": {"torch": "2.8.0", "torch-npu": "2.8.0rc1", "vllm": "0.11.0", "vllm-ascend": "0.11.0rc0"}}, "CHK305"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/707", {"named": {"vllm": "0.8.4"}, "more": {f"{m.ENVIRONMENT}/lib/python3.11/site-packages/vllm-0.7.3.dist-info/METADATA": "Name: vllm\n"}}, "CHK313"),
    (f"{GITHUB}/modelscope/ms-swift/issues/2098", {"cann_version": "8.0.RC1", "driver_version": "24.1.rc1", "named": {"torch": "2.4.0", "torch-npu": "2.4.0rc1"}}, "CHK302"),
    (f"{GITHUB}/modelscope/ms-swift/issues/1243", {"cann_version": "7.0.0", "driver_version": "24.1.rc1", "named": {"torch": "2.2.0", "torch-npu": "2.2.0"}}, "CHK302"),
    (f"{GITHUB}/modelscope/ms-swift/issues/3279", {"named": {"torch": "2.5.1", "torch-npu": "2.5.1", "triton": "3.2.0", "triton-ascend": "3.2.0"}}, "CHK309"),
    (f"{GITHUB}/hiyouga/LlamaFactory/issues/4610", {"cann_version": "8.0.RC2", "driver_version": "24.1.rc2.2", "firmware": "7.1.0.5.220", "chips": ()}, "CHK204"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/6676", {"chip": "310P", "cann_version": "8.5.0", "driver_version": "25.3.rc1", "count": 1, "chips": ("ascend910b",)}, "CHK204"),
    (f"{GITHUB}/mindspore-ai/mindspore/issues/236", {"cann_version": "5.0.4", "driver_version": "23.0.3", "firmware": "", "named": {"mindspore": "2.0.0"}, "arch": "x86_64"}, "CHK310"),
    (f"{GITHUB}/zai-org/GLM-OCR/issues/116", {"named": {"torch": "2.8.0", "torch-npu": "2.8.0.post2", "vllm": "0.13.0", "vllm-ascend": "0.13.0"}}, "CHK306"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/2210", {"named": {"torch": "2.5.1", "torch-npu": "2.5.1", "numpy": "2.2.6"}}, "CHK312"),
    (f"{GITHUB}/Ascend/cann-container-image/issues/70", {"chip": "310P", "cann_version": "8.5.0", "driver_version": "25.3.rc1", "count": 1, "inside": "docker", "named": {"decorator": "", "pyyaml": "6.0"}}, "CHK316"),
    (f"{GITHUB}/gpustack/runtime/pull/27", {"chip": "950", "cann_version": "9.0.0", "driver_version": "26.0.1", "firmware": "", "inside": "docker", "more": {"/etc/hccl_rootinfo.json": '{\n  "version": "1.0"\n}\n'}}, "CHK707"),
    ("https://support.huaweicloud.com/trouble-modelarts/modelarts_13_0325.md", {"driver_version": "25.2.1", "firmware": "7.1.0.5.220"}, "CHK101"),
)  # fmt: skip
OTHERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/1440", {"inside": "docker", "without": (f"{m.BASE}/driver", "/etc/ascend_install.info")}, "CHK502"),
    (f"{GITHUB}/Ascend/pytorch/issues/29", {"named": {"torch": "2.1.0", "torch-npu": "2.1.0"}, "cann_version": "7.0.0", "driver_version": "24.1.rc1", "more": {"/commands/env.txt": f"PATH={m.ENVIRONMENT}/bin\n"}}, "CHK809"),
    (f"{GITHUB}/vllm-project/vllm-ascend/issues/2533", {"count": 1, "inside": "docker", "more": m.variables("8.2.RC1", "ASCEND_RT_VISIBLE_DEVICES=4")}, "CHK804"),
)  # fmt: skip


def tree(**told: Any) -> m.Files:
    """A machine as a thread tells it: with more files, without some, with an environment of its own."""
    more, left, needs, chips = told.pop("more", {}), told.pop("without", ()), told.pop("needs", None), told.pop("chips", None)
    files = m.machine(**told)
    if needs:
        files.update(m.packages(told["named"], needs=needs))
    if chips is not None:
        files = {path: text for path, text in files.items() if "/op_impl/" not in path}
        files.update(m.cann(told["cann_version"], told.get("chip", "A2"), chips=chips))
    return {**{path: text for path, text in files.items() if not (left and path.startswith(left))}, **more}


def test_there_are_twenty_threads_of_versions() -> None:
    assert len({url for url, _, _ in VERSIONS}) >= 20


@pytest.mark.parametrize(("url", "told", "code"), [*VERSIONS, *OTHERS], ids=[u.rpartition("com/")[2] for u, _, _ in (*VERSIONS, *OTHERS)])
def test_what_was_wrong_is_named(url: str, told: dict[str, Any], code: str, accused: Callable[..., set[str]]) -> None:
    assert code in accused(tree(**dict(told)))
