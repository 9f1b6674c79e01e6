"""Machines of every generation, layout and place: the healthy ones are not accused, the broken ones are named right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from env import machines as m

Accused = Callable[..., set[str]]
TORCH = {"torch": "2.5.1", "torch-npu": "2.5.1.post1"}

HEALTHY: dict[str, m.Files] = {
    "a2-host-8.2": m.machine(named=TORCH),
    "a2-docker-8.3": m.machine(cann_version="8.3.RC1", named={"torch": "2.7.1", "torch-npu": "2.7.1"}, inside="docker"),
    "a2-pod-8.5": m.machine(cann_version="8.5.0", driver_version="25.3.rc1", firmware="7.8.0.6.201", named={"torch": "2.8.0", "torch-npu": "2.8.0.post2"}, inside="pod"),
    "a2-host-9.0": m.machine(cann_version="9.0.0", driver_version="26.0.1", firmware="7.8.0.6.201", named={"torch": "2.9.0", "torch-npu": "2.9.0.post2"}),
    "a2-host-9.1-without-a-list": m.machine(cann_version="9.1.0", driver_version="25.5.1", firmware="7.8.0.6.201"),
    "a2-two-cards-podman": m.machine(count=2, inside="podman"),
    "a3-host-8.3": m.machine("A3", "8.3.RC2", "25.3.rc1", "7.8.0.6.201", 16),
    "a3-docker-8.5": m.machine("A3", "8.5.0", "25.5.1", "7.8.0.6.201", 16, named={"torch": "2.9.0", "torch-npu": "2.9.0"}, inside="docker"),
    "310p-host-8.0.rc3": m.machine("310P", "8.0.RC3", "24.1.rc3", "7.5.0.1.129", 2),
    "310p-x86-docker": m.machine("310P", "8.1.RC1", "24.1.rc3", "7.5.0.1.129", 1, inside="docker", arch="x86_64"),
    "200i-board-7.0": {**m.machine("310B", "7.0.RC1", "23.0.3", "", 1), "/dev/svm0": "", "/dev/ts_aisle": ""},
    "910a-host-7.0": m.machine("A1", "7.0.0", "24.1.rc1", "7.1.0.11.220", 8),
    "950-host-9.0": {**m.machine("950", "9.0.0", "26.0.1", "", 8), "/etc/hccl_rootinfo.json": '{"version": "2.0", "rank_list": []}\n'},
    "950dt-host-9.1": {**m.machine("950", "9.1.0", "26.0.1", ""), "/commands/npu-smi_info.txt": m.smi("950", 8, "26.0.1").replace("950PR", "950DT")},
    "a3-of-which-nobody-says-the-first-cann": m.machine("A3", "8.0.0", "25.0.rc1.1", "7.7.0.1.231", 16),
    "home-install": {**m.host(), **m.driver("24.1.rc3", "7.5.0.1.129"), **m.cann("8.0.0", base="/home/ma-user/Ascend"), **m.nodes(1)},
    "nothing-of-python": m.machine(),
    "release-in-the-name-of-a-folder": {**m.machine(), **m.cann("8.5.0", base="/mnt/conda/cann-8.5/Ascend"), "/commands/env.txt": "ASCEND_HOME_PATH=/mnt/conda/cann-8.5/Ascend/cann-8.5.0\nPATH=/usr/bin\n"},
    "image-at-rest": {**m.cann("8.2.RC1"), **m.packages(TORCH), "/etc/os-release": 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n'},
    "no-npu-at-all": m.host("x86_64"),
}  # fmt: skip


def without(files: m.Files, *beginnings: str) -> m.Files:
    return {path: text for path, text in files.items() if not path.startswith(beginnings)}

HEALTHY["operators-in-a-place-of-tomorrow"] = {
    **without(m.machine(cann_version="9.0.0", driver_version="26.0.1", firmware=""), f"{m.BASE}/cann-9.0.0/opp/built-in"), f"{m.BASE}/cann-9.0.0/opp/ops/add.json": "{}",
}  # fmt: skip


BROKEN: dict[str, tuple[m.Files, set[str]]] = {
    "firmware-stayed-old": (m.machine(driver_version="25.2.1", firmware="7.1.0.5.220"), {"CHK101"}),
    "driver-too-old": (m.machine(driver_version="22.0.4", firmware=""), {"CHK102"}),
    "driver-not-rebooted": ({**m.machine(), "/commands/npu-smi_info.txt": m.smi("A2", 8, "24.1.rc2")}, {"CHK103"}),
    "cards-without-driver": ({**m.host(), **m.bus(8)}, {"CHK104"}),
    "driver-half-there": ({**m.host(), **m.bus(8), f"{m.BASE}/driver/lib64/common/libc_sec.so": "elf"}, {"CHK104", "CHK105", "CHK106"}),
    "driver-version-binary": ({**m.machine(), f"{m.BASE}/driver/version.info": "Version=\0\1\2"}, {"CHK107"}),
    "driver-version-10-mb": ({**m.machine(), f"{m.BASE}/driver/version.info": "Version=24.1.rc3\n" * 600_000}, {"CHK107"}),
    "latest-leads-nowhere": ({**m.host(), **m.driver("24.1.rc3"), f"{m.BASE}/ascend-toolkit/latest": "-> 8.2.RC1"}, {"CHK201"}),
    "half-a-cann": ({**m.machine(), f"{m.BASE}/ascend-toolkit/8.0.RC2/atc/readme": "left"}, {"CHK202"}),
    "kernels-of-another-release": ({**m.machine(), **m.cann("8.2.RC1", kernels="8.0.RC2")}, {"CHK203"}),
    "ops-of-8.5-under-9.0": (m.machine(cann_version="9.0.0", driver_version="26.0.1", firmware="") | m.cann("9.0.0", kernels="8.5.0"), {"CHK203"}),
    "a2-image-on-310p": (without(m.machine("310P", driver_version="25.0.rc1.1", count=1), f"{m.BASE}/ascend-toolkit") | m.cann("8.2.RC1", "A2"), {"CHK204"}),
    "nnal-left-behind": ({**m.machine(cann_version="8.3.RC1"), **m.nnal("8.2.RC1")}, {"CHK205"}),
    "home-variable-of-a-removed-cann": ({**m.machine(), "/commands/env.txt": "ASCEND_HOME_PATH=/usr/local/Ascend/ascend-toolkit/8.0.RC3\nPATH=/usr/bin\n"}, {"CHK209"}),
    "cann-of-x86-on-arm": ({**m.host("aarch64"), **m.cann("8.2.RC1", arch="x86_64")}, {"CHK212"}),
    "cann-older-than-the-chip": (m.machine("950", "8.5.0", "26.0.1", ""), {"CHK213"}),
    "cann-older-than-this-kind-of-the-chip": ({**m.machine("950", "9.0.0", "26.0.1", ""), "/commands/npu-smi_info.txt": m.smi("950", 8, "26.0.1").replace("950PR", "950DT")}, {"CHK213"}),
    "torch-replaced": (m.machine(named={"torch": "2.8.0", "torch-npu": "2.7.1.post1"}), {"CHK301"}),
    "numpy-2": (m.machine(named={**TORCH, "numpy": "2.2.6"}), {"CHK312"}),
    "metadata-twice": ({**m.machine(named=TORCH), f"{m.ENVIRONMENT}/lib/python3.11/site-packages/torch_npu-2.1.0.dist-info/METADATA": "Name: torch-npu\n"}, {"CHK313"}),
    "package-without-its-folder": (without(m.machine(named=TORCH), f"{m.ENVIRONMENT}/lib/python3.11/site-packages/torch_npu/"), {"CHK314"}),
    "cuda-torch": (m.machine(named={"torch": "2.5.1+cu124", "torch-npu": "2.5.1"}), {"CHK315"}),
    "npu-smi-hangs": ({**m.machine(), "/commands/npu-smi_info.txt": ""}, {"CHK401"}),
    "npu-smi-prints-garbage": ({**m.machine(), "/commands/npu-smi_info.txt": "\x7fELF garbage |||\n"}, {"CHK402"}),
    "dcmi-8005": ({**m.machine(inside="docker"), "/commands/npu-smi_info.txt": "dcmi module initialize failed. ret is -8005\n"}, {"CHK402"}),
    "npu-smi-without-libraries": ({**m.machine(inside="docker"), "/commands/npu-smi_info.txt": "npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file: No such file or directory\n"}, {"CHK402"}),
    "chip-in-alarm": ({**m.machine(), "/commands/npu-smi_info.txt": m.smi("A2", 8, "25.0.rc1.1", {3: "Alarm"})}, {"CHK404"}),
    "chip-warns": ({**m.machine(), "/commands/npu-smi_info.txt": m.smi("A2", 8, "25.0.rc1.1", {5: "Warning"})}, {"CHK405"}),
    "card-lost": ({**without(m.machine(), "/dev/davinci5"), **m.bus(8), "/commands/npu-smi_info.txt": m.smi("A2", 8, "25.0.rc1.1", missing=[5])}, {"CHK406", "CHK407"}),
    "container-without-nodes": ({**without(m.machine(inside="docker"), "/dev/", "/commands/npu"), "/dev/null": ""}, {"CHK501"}),
    "container-without-driver": (without(m.machine(inside="docker"), f"{m.BASE}/driver", "/etc/ascend_install"), {"CHK502"}),
    "pod-without-resource": ({**without(m.machine(inside="pod"), "/dev/", "/commands/npu"), "/dev/null": ""}, {"CHK506"}),
    "small-shared-memory": ({**m.machine(inside="docker"), **m.container("docker", "65536k")}, {"CHK505"}),
    "user-outside-of-the-group": ({**m.machine(), "/commands/id.txt": "uid=1001(dev) gid=1001(dev) groups=1001(dev)\n", "/commands/ls_-l_dev.txt": "".join(f"crw-rw---- 1 HwHiAiUser HwHiAiUser 236, {n} Jan  1 00:00 davinci{n}\n" for n in range(8)) + "crw-rw---- 1 HwHiAiUser HwHiAiUser 237, 0 Jan  1 00:00 davinci_manager\n"}, {"CHK503"}),
    "few-files": ({**m.machine(), "/proc/self/limits": "Max open files            1024                 4096                 files\n"}, {"CHK601"}),
    "address-twice": ({**m.machine(), "/etc/hccn.conf": m.addresses(8)["/etc/hccn.conf"].replace("192.168.1.12", "192.168.1.11")}, {"CHK701"}),
    "link-down": ({**m.machine(), "/commands/hccn_tool_-i_3_-link_-g.txt": "link status: DOWN\n"}, {"CHK702"}),
    "tls-mixed": ({**m.machine(), "/commands/hccn_tool_-i_0_-tls_-g.txt": "dev_id:0, tls switch[0](0:disable, 1:enable)\n", "/commands/hccn_tool_-i_1_-tls_-g.txt": "dev_id:1, tls switch[1](0:disable, 1:enable)\n"}, {"CHK704"}),
    "rank-table-of-an-a2-on-950": ({**m.machine("950", "9.0.0", "26.0.1", ""), "/etc/hccl_rootinfo.json": '{"version": "1.0"}\n'}, {"CHK707"}),
    "variable-misspelt": ({**m.machine(), **m.variables("8.2.RC1", "HCCL_CONECT_TIMEOUT=600")}, {"CHK801"}),
    "visible-range": ({**m.machine(), **m.variables("8.2.RC1", "ASCEND_RT_VISIBLE_DEVICES=0-3")}, {"CHK803"}),
    "visible-host-number": ({**m.machine(count=1, inside="docker"), **m.variables("8.2.RC1", "ASCEND_RT_VISIBLE_DEVICES=7")}, {"CHK804"}),
    "two-cann-sourced": ({**m.machine(), **m.cann("8.0.RC3"), **m.variables("8.2.RC1"), "/commands/env.txt": f"ASCEND_HOME_PATH={m.BASE}/ascend-toolkit/8.2.RC1\nLD_LIBRARY_PATH={m.BASE}/ascend-toolkit/8.0.RC3/lib64\n"}, {"CHK805"}),
    "set-env-not-sourced": ({**m.machine(named=TORCH), "/commands/env.txt": f"PATH={m.ENVIRONMENT}/bin:/usr/bin\nSHELL=/bin/bash\n"}, {"CHK809"}),
}  # fmt: skip


def test_there_are_enough_machines() -> None:
    assert len(HEALTHY) + len(BROKEN) >= 25


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_machine_is_not_accused(name: str, accused: Accused) -> None:
    assert accused(HEALTHY[name]) == set()


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_machine_is_named_right(name: str, accused: Accused) -> None:
    """With what is wrong, and with nothing that is not."""
    files, expected = BROKEN[name]
    assert accused(files) == expected
