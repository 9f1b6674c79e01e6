"""Trees of machines for tests: the files that installers and kernels write, put together from a few words.

Version files have the lines that packages of these releases write; names and addresses are invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

BASE = "/usr/local/Ascend"


class Driver(NamedTuple):
    inner: str
    names_cann: str
    names_firmware: str


def lines(*numbers: int) -> str:
    return ",".join(f"[V100R001C{n:02}]" for n in numbers)


DRIVERS = {
    "23.0.3": Driver("", "", ""),
    "24.1.rc1": Driver("V100R001C15SPC006B220", lines(30, 13, 15, 17), "[7.0.0,7.2.99]"),
    "24.1.rc2.2": Driver("V100R001C18SPC001B233", lines(30, 13, 15, 17, 18), "[7.0.0,7.2.99]"),
    "24.1.rc3": Driver("V100R001C19SPC001B124", lines(13, 15, 17, 18, 19), "[7.0.0,7.5.99]"),
    "25.0.rc1.1": Driver("V100R001C21SPC002B220", lines(17, 18, 19, 20, 21), "[6.4.0,6.4.99],[7.0.0,7.7.99]"),
    "25.2.1": Driver("V100R001C22SPC003B220", lines(18, 19, 20, 21, 22), "[7.5.0,7.8.99]"),
    "25.3.rc1": Driver("V100R001C23SPC002B212", lines(19, 20, 21, 22, 23), "[7.0.0,8.9.9]"),
    "25.5.1": Driver("V100R001C23SPC006B220", lines(19, 20, 21, 22, 23), "[7.0.0,8.9.9]"),
    "22.0.4": Driver("V100R001C29SPC003B220", lines(29, 30), "[1.0.0,1.99.99]"),
    "26.0.1": Driver("V100R001C10SPC009B220", lines(21, 22, 23, 25, 10), "[7.0.0,9.9.9]"),
}
FIRMWARES = {
    "7.1.0.5.220": "[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.]",
    "7.1.0.11.220": "[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.]",
    "7.5.0.1.129": "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]",
    "7.7.0.1.231": "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.],[25.0,25.0.]",
    "7.8.0.6.201": "[24.1,24.1.],[25.0,25.0.],[25.2,25.2.],[25.3,25.3.],[25.5,25.5.]",
}
# CANN: its inner version, the inner versions of drivers that it names.
CANNS = {
    "5.0.4": ("V100R001C79B110", ""),
    "7.0.RC1": ("V100R001C13SPC005B246", lines(29, 30, 13)),
    "7.0.0": ("V100R001C15SPC002B230", lines(29, 30, 13, 15)),
    "8.0.RC1": ("V100R001C17SPC001B220", lines(30, 13, 15, 17)),
    "8.0.RC2": ("V100R001C18SPC001B220", lines(30, 13, 15, 17, 18)),
    "8.0.RC3": ("V100R001C19SPC001B220", lines(13, 15, 17, 18, 19)),
    "8.0.0": ("V100R001C20SPC001B251", lines(15, 17, 18, 19, 20)),
    "8.1.RC1": ("V100R001C21SPC001B238", lines(15, 18, 19, 20, 21)),
    "8.2.RC1": ("V100R001C22SPC001B231", lines(15, 18, 19, 20, 21, 23)),
    "8.3.RC1": ("V100R001C23SPC001B235", lines(15, 18, 19, 20, 21, 23)),
    "8.3.RC2": ("V100R001C23SPC002B210", lines(15, 18, 19, 20, 21, 23)),
    "8.5.0": ("V100R001C25SPC001B212", lines(15, 18, 19, 20, 21, 23)),
    "9.0.0": ("V100R001C10SPC001B250", lines(21, 22, 23, 25, 10)),
    "9.1.0": ("V100R001C11B063", ""),
}
OPERATORS = {"A1": "ascend910", "A2": "ascend910b", "A3": "ascend910_93", "310P": "ascend310p", "310B": "ascend310b", "950": "ascend950"}
NAMES = {"A1": "910ProB", "A2": "910B3", "A3": "Ascend910", "310P": "310P3", "310B": "310B4", "950": "Ascend950PR"}
ENVIRONMENT = "/usr/local/python3.11"

Files = dict[str, str]


def driver(version: str, firmware: str = "") -> Files:
    one = DRIVERS[version]
    rows = [f"Version={version}", "ascendhal_version=7.35.23", "aicpu_version=1.0"]
    rows += [f"Innerversion={one.inner}", f"compatible_version={one.names_cann}", f"compatible_version_fw={one.names_firmware}"] if one.inner else []
    files = {
        f"{BASE}/driver/version.info": "\n".join([*rows, f"package_version={version}"]) + "\n",
        f"{BASE}/driver/lib64/driver/libascend_hal.so": "elf",
        "/etc/ascend_install.info": "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Type=full\nDriver_Install_Path_Param=/usr/local/Ascend\n"
        "Driver_Install_For_All=yes\nFirmware_Install_Type=full\nFirmware_Install_Path_Param=/usr/local/Ascend\n",
    }
    if firmware:
        files[f"{BASE}/firmware/version.info"] = f"Version={firmware}\nfirmware_version=1.0\npackage_version={version}\ncompatible_version_drv={FIRMWARES[firmware]}\n"
    return files


def cann(version: str, chip: str = "A2", arch: str = "aarch64", base: str = BASE, kernels: str | None = None, chips: Iterable[str] | None = None) -> Files:
    """A CANN in the layout of its time: below ascend-toolkit with links in latest, from 8.5 on beside a link cann."""
    new = tuple(int(n) for n in version.split(".")[:2]) >= (8, 5)
    home = f"{base}/cann-{version}" if new else f"{base}/ascend-toolkit/{version}"
    inner, named = CANNS[version]
    info = f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion={inner}\n" + (f"compatible_version={named}\n" if named else "")
    files = {f"{home}/{arch}-linux/ascend_toolkit_install.info": f"{info}arch={arch}\nos=linux\npath={home}/{arch}-linux\n"}
    inside = ".".join(version.split(".")[:2])
    component = f"Version={inside}.0.0.201\nversion_dir={version}\ntimestamp=20250724_194044950\nrequired_package_opp_version=\"{inside}\"\n"
    for part in ("runtime", "compiler", "toolkit", "opp"):
        files[f"{home}/{'share/info/' if new else ''}{part}/version.info"] = component
    kernels = version if kernels is None else kernels
    if kernels:
        if new:
            files[f"{home}/{arch}-linux/ascend_ops_install.info"] = f"package_name=Ascend-cann-910b-ops\nversion={kernels}\n"
        else:
            needs = ".".join(kernels.split(".")[:2])
            files[f"{home}/opp_kernel/version.info"] = f"Version={needs}.0.0.201\nversion_dir={kernels}\nrequired_package_toolkit_version=\">={needs}, <={needs}\"\n"
    for one in [OPERATORS[chip]] if chips is None else chips:
        files[f"{home}/opp/built-in/op_impl/ai_core/tbe/kernel/{one}/add.json"] = "{}"
    files[f"{home}/set_env.sh"] = "export ASCEND_HOME_PATH\n"
    if new:
        files[f"{base}/cann"] = f"-> cann-{version}"
        files[f"{base}/ascend-toolkit/latest"] = f"-> ../cann-{version}"
    else:
        for part in ("runtime", "compiler", "toolkit", "opp"):
            files[f"{base}/ascend-toolkit/latest/{part}"] = f"-> ../{version}/{part}"
        files[f"{base}/ascend-toolkit/latest/{arch}-linux"] = f"-> ../{version}/{arch}-linux"
    return files


def nnal(version: str, base: str = BASE) -> Files:
    return {
        f"{base}/nnal/atb/latest": f"-> {version}",
        f"{base}/nnal/atb/{version}/version.info": f"    Ascend-cann-atb : {version}\n    Ascend-cann-atb Version : {version}.B150\n    Platform : aarch64\n",
        f"{base}/nnal/atb/{version}/atb/cxx_abi_1/lib/libatb.so": "elf",
    }


COMPILER = {"attrs": "25.1.0", "decorator": "5.1.1", "numpy": "1.26.4", "psutil": "7.0.0", "scipy": "1.13.1"}


def packages(named: Mapping[str, str], prefix: str = ENVIRONMENT, python: str = "3.11", needs: Mapping[str, Iterable[str]] | None = None) -> Files:
    """An environment with the metadata that pip writes."""
    site = f"{prefix}/lib/python{python}/site-packages"
    files = {f"{prefix}/bin/python{python}": "elf", f"{prefix}/bin/python3": f"-> python{python}"}
    for name, version in {**COMPILER, **named}.items():
        if not version:
            continue
        folder = name.replace("-", "_")
        asked = "".join(f"Requires-Dist: {n}\n" for n in (needs or {}).get(name, ()))
        files[f"{site}/{folder}-{version}.dist-info/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asked}\n"
        files[f"{site}/{folder}/__init__.py"] = "raise SystemExit('nothing here is ever imported')\n"
    return files


def smi(chip: str, count: int = 8, driver_version: str = "24.1.rc3", health: Mapping[int, str] | None = None, missing: Iterable[int] = ()) -> str:
    """What `npu-smi info` prints for these chips."""
    name = NAMES[chip]
    rule, rows = "+" + "=" * 27 + "+" + "=" * 15 + "+" + "=" * 52 + "+", []
    second = {"A3": "| Chip  Phy-ID              | Bus-Id", "310P": "| Chip    Device            | Bus-Id", "310B": "| Chip    Device            | Bus-Id"}.get(chip, "| Chip                      | Bus-Id")
    memory = "Memory-Usage(MB)" if chip in ("310P", "310B") else "Memory-Usage(MB)  HBM-Usage(MB)"
    if chip == "950":
        rows += ["| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |", "|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |", rule]
    else:
        rows += ["| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|", f"{second}        | AICore(%)   {memory}        |", rule]
    for number in range(count):
        if number in missing:
            continue
        state = (health or {}).get(number, "OK")
        usage = "1839 / 21525" if chip in ("310P", "310B") else "0    / 0          3143 / 65536"
        if chip == "950":
            rows += [f"| {number:<6} | {name:<16} | {state:<13} | 96.8        47                0    / 0             |", f"|        |                  | 0000:0{number}:00.0  | 0           {usage}         |", rule]
            continue
        npu, die = (number // 2, number % 2) if chip == "A3" else (number, 0)
        ids = f"{die:<5} {number:<19}" if chip in ("A3", "310P", "310B") else f"{die:<25}"
        rows += [f"| {npu:<5} {name:<19} | {state:<13} | 96.8        47                0    / 0             |", f"| {ids} | 0000:{0x81 + number:02X}:00.0  | 0           {usage}         |", rule]
    foot = ["+---------------------------+---------------+----------------------------------------------------+", "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |", rule]
    foot += [f"| No running processes found in NPU {n}                                                             |" for n in range(count // 2 if chip == "A3" else count) if n not in missing]
    head = ["+" + "-" * 96 + "+", f"| npu-smi {driver_version:<24} Version: {driver_version:<51} |", "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"]
    return "\n".join([*head, *rows, *foot, rule]) + "\n"


def host(arch: str = "aarch64", name: str = "node-1") -> Files:
    """What every machine has."""
    return {
        "/etc/hostname": f"{name}\n",
        "/etc/os-release": 'NAME="openEuler"\nPRETTY_NAME="openEuler 22.03 LTS"\n',
        "/proc/sys/kernel/osrelease": f"5.10.0-136.{arch}\n",
        "/proc/1/cgroup": "0::/init.scope\n",
        "/proc/meminfo": "MemTotal:       1583012345 kB\nHugePages_Total:       0\n",
        "/proc/sys/vm/overcommit_memory": "0\n",
        "/proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units\nMax open files            65535                65535                files\nMax locked memory         unlimited            unlimited            bytes\n",
        "/proc/self/mountinfo": "22 1 253:0 / / rw - ext4 /dev/sda1 rw\n30 22 0:25 / /dev/shm rw - tmpfs tmpfs rw,size=791506172k\n",
        "/commands/uname_-a.txt": f"Linux {name} 5.10.0-136.{arch} #1 SMP {arch} GNU/Linux\n",
        "/commands/id.txt": "uid=0(root) gid=0(root) groups=0(root)\n",
    }


def nodes(count: int, managers: Iterable[str] = ("davinci_manager", "devmm_svm", "hisi_hdc")) -> Files:
    return {f"/dev/{name}": "" for name in (*managers, *(f"davinci{n}" for n in range(count)))}


def container(kind: str = "docker", shm: str = "16777216k", mounts: bool = True) -> Files:
    rows = ["700 1 0:60 / / rw - overlay overlay rw", f"705 700 0:63 / /dev/shm rw - tmpfs shm rw,size={shm}"]
    rows += [f"710 700 8:2 /usr/local/Ascend/driver/lib64 {BASE}/driver/lib64 ro - ext4 /dev/sda2 rw"] if mounts else []
    groups = {"docker": "0::/docker/4f1c\n", "pod": "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope\n", "podman": "0::/libpod-1\n"}[kind]
    made = {"/proc/1/cgroup": groups, "/proc/self/mountinfo": "\n".join(rows) + "\n", "/proc/self/status": "CapEff:\t00000000a80425fb\n"}
    return {**made, **({"/.dockerenv": ""} if kind == "docker" else {})}


def bus(count: int, device: str = "d802") -> Files:
    files = {}
    for n in range(count):
        files[f"/sys/bus/pci/devices/0000:{0x81 + n:02x}:00.0/vendor"] = "0x19e5\n"
        files[f"/sys/bus/pci/devices/0000:{0x81 + n:02x}:00.0/device"] = f"0x{device}\n"
    files["/sys/bus/pci/devices/0000:00:00.0/vendor"] = "0x8086\n"
    return files


def addresses(count: int, first: int = 11) -> Files:
    rows = [f"address_{n}=192.168.1.{first + n}\nnetmask_{n}=255.255.255.0" for n in range(count)]
    return {"/etc/hccn.conf": "\n".join(rows) + "\n"}


def variables(version: str = "", extra: str = "", base: str = BASE) -> Files:
    """The variables of a shell that sourced set_env.sh."""
    new = version and tuple(int(n) for n in version.split(".")[:2]) >= (8, 5)
    home = f"{base}/cann-{version}" if new else f"{base}/ascend-toolkit/latest"
    rows = [f"ASCEND_HOME_PATH={home}", f"ASCEND_OPP_PATH={home}/opp", f"LD_LIBRARY_PATH={base}/driver/lib64/driver:{home}/lib64"] if version else []
    return {"/commands/env.txt": "\n".join(["SHELL=/bin/bash", f"PATH={ENVIRONMENT}/bin:/usr/bin", *rows, extra]) + "\n"}


def machine(
    chip: str = "A2", cann_version: str = "8.2.RC1", driver_version: str = "25.0.rc1.1", firmware: str = "7.7.0.1.231", count: int = 8,
    named: Mapping[str, str] | None = None, inside: str = "", python: str = "3.11", arch: str = "aarch64",
) -> Files:  # fmt: skip
    """A whole machine that has no fault; tests take something away or put something else in its place."""
    files = {**host(arch), **driver(driver_version, firmware), **cann(cann_version, chip, arch), **nodes(count), **variables(cann_version)}
    files["/commands/npu-smi_info.txt"] = smi(chip, count, driver_version)
    if chip in ("A1", "A2", "A3"):
        files.update(addresses(count))
    if named is not None:
        files.update(packages(named, python=python))
    if inside:
        files.update(container(inside))
        for path in [p for p in files if p.startswith(f"{BASE}/firmware")]:
            del files[path]
    return files


def write(files: Mapping[str, str], root: Path) -> Path:
    """The files below a folder; `-> target` makes a link."""
    for path, text in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            place.symlink_to(text[3:])
        else:
            place.write_text(text)
    return root
