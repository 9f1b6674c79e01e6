"""What is installed of Ascend's own software: driver, firmware, CANN, operator packages, NNAL, MindIE, mxVision.

Layouts: `/usr/local/Ascend/ascend-toolkit/8.2.RC1` beside a link `latest`; from 8.5 on `/usr/local/Ascend/cann-8.5.0` beside a
link `cann`; both also below a home, in `nnae` and `nnrt`, or where ASCEND_HOME_PATH points. Driver and firmware stand where
`/etc/ascend_install.info` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.env.facts import Fact
from doctor.env.looking import Look, fields, told
from doctor.env.tree import FOLDER, NOTHING, Tree
from parsers.named import NamedTuple

BASE = "/usr/local/Ascend"
INSTALL_INFO = "/etc/ascend_install.info"
_ARCHES = ("aarch64-linux", "x86_64-linux", "arm64-linux")
_POINTERS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")
_RELEASE = re.compile(r"(?:cann-)?(\d+\.\d+[\w.]*)$")
_DRIVER = {
    "Version": "driver.version", "Innerversion": "driver.inner", "compatible_version": "driver.names_cann",
    "compatible_version_fw": "driver.names_firmware", "ascendhal_version": "driver.hal",
}  # fmt: skip
_FIRMWARE = {"Version": "firmware.version", "compatible_version_drv": "firmware.names_driver", "package_version": "firmware.package"}
_TOOLKIT = {"version": "cann.version", "innerversion": "cann.inner", "compatible_version": "cann.names_driver", "arch": "cann.arch"}
_ATB = re.compile(r"^\s*Ascend-cann-atb\s*:\s*(\S+)", re.MULTILINE)
_MINDIE = re.compile(r"^\s*(?:Ascend-mindie|mindie)\s*:\s*(?:MindIE\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)
_MXVISION = re.compile(r"(\d+\.\d+[\w.]*)")


def gather(look: Look) -> Iterator[Fact]:
    yield from _driver(look)
    homes = _installed(look)
    chosen, how = _chosen(look, homes)
    yield Fact("cann.installed", ", ".join(sorted({h.release for h in homes})) or "none", ", ".join(h.path for h in homes[:3]))
    if chosen:
        yield from _toolkit(look, chosen, how)
        yield from _kernels(look, chosen)
    yield from _broken(look, homes)
    yield from _beside(look)


def _driver(look: Look) -> Iterator[Fact]:
    tree = look.tree
    text = tree.text(INSTALL_INFO)
    info = fields(text) if text is not None else {}
    for part, wanted in (("Driver", _DRIVER), ("Firmware", _FIRMWARE)):
        base = info.get(f"{part}_Install_Path_Param", ("", 0, ""))[0] or BASE
        path = f"{base.rstrip('/')}/{part.lower()}/version.info"
        found = list(told(tree, path, wanted))
        yield from found
        if not any(f.name == f"{part.lower()}.version" for f in found):
            yield Fact(f"{part.lower()}.state", _why_not(tree, path), path)
        else:
            yield Fact(f"{part.lower()}.state", "installed", path)
    base = info.get("Driver_Install_Path_Param", (BASE, 0, ""))[0]
    libs = f"{base}/driver/lib64"
    if tree.kind(libs) == FOLDER:
        found_lib = next((f"{libs}/{sub}libascend_hal.so" for sub in ("driver/", "") if tree.kind(f"{libs}/{sub}libascend_hal.so")), "")
        yield Fact("driver.library", found_lib or "absent", found_lib or libs)
    if "Driver_Install_For_All" in info:
        yield Fact("driver.for_all", info["Driver_Install_For_All"][0], INSTALL_INFO, *info["Driver_Install_For_All"][1:])
    if "UserGroup" in info:
        yield Fact("driver.group", info["UserGroup"][0], INSTALL_INFO, *info["UserGroup"][1:])


def _why_not(tree: Tree, path: str) -> str:
    """Why a version file told nothing."""
    if any(s.path == path for s in tree.skipped):
        return "not readable"
    if tree.text(path) is not None:
        return "without a version"
    folder = path.rpartition("/")[0]
    return "half" if tree.kind(folder) == FOLDER and tree.names(folder) else "absent"


class _Home(NamedTuple):
    """A CANN that is installed: where, and which."""

    path: str
    release: str
    whole: bool


def _bases(look: Look) -> tuple[str, ...]:
    found = [BASE, *(f"{home}/Ascend" for home in look.homes), "/opt/Ascend", "/home/developer/Ascend"]
    return tuple(dict.fromkeys(b for b in found if look.tree.kind(b) == FOLDER))


def _installed(look: Look) -> list[_Home]:
    """Every CANN that stands in the usual places, and the one that a variable names."""
    tree, found = look.tree, {}
    places: list[str] = []
    for base in _bases(look):
        places += [f"{base}/{name}" for name in tree.names(base) if name.startswith("cann-") or name == "cann"]
        for product in ("ascend-toolkit", "nnae", "nnrt"):
            places += [f"{base}/{product}/{name}" for name in tree.names(f"{base}/{product}") if name == "latest" or name[:1].isdigit()]
    places += [v for v in (look.variables.get("ASCEND_HOME_PATH", ""), look.variables.get("ASCEND_TOOLKIT_HOME", "")) if v.startswith("/")]
    for place in places:
        real = _whole_place(tree, place)
        if real and real not in found and (home := _home(tree, real)) is not None:
            found[real] = home
    return list(found.values())


def _whole_place(tree: Tree, path: str) -> str:
    """Where a CANN really stands: `latest` is a folder of links into it."""
    real = tree.resolve(path)
    if not real or tree.kind(real) != FOLDER:
        return ""
    if real.endswith("/latest"):
        for part in ("runtime", "compiler", "toolkit", "opp"):
            inside = tree.resolve(f"{real}/{part}")
            if inside and not inside.startswith(real + "/"):
                return inside.rpartition("/")[0]
    return real.rpartition("/")[0] if real.rpartition("/")[2] in _ARCHES else real


def _home(tree: Tree, path: str) -> _Home | None:
    for arch in _ARCHES:
        for kind in ("toolkit", "nnae", "nnrt"):
            text = tree.text(f"{path}/{arch}/ascend_{kind}_install.info")
            if text is not None and (version := fields(text).get("version", ("",))[0]):
                return _Home(path, version, True)
    for part in ("compiler", "runtime", "toolkit", "opp", "share/info/runtime", "share/info/compiler"):
        text = tree.text(f"{path}/{part}/version.info")
        if text is not None:
            known = fields(text)
            version = known.get("version_dir", known.get("Version", ("",)))[0]
            if version:
                return _Home(path, version, part in ("compiler", "toolkit", "runtime", "share/info/runtime"))
    named = _RELEASE.search(path.rpartition("/")[2])
    return _Home(path, named[1], False) if named and tree.names(path) else None


def _chosen(look: Look, homes: list[_Home]) -> tuple[str, str]:
    """The CANN in use, and what says so: a variable, a link, or that there is no other."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        value = look.variables.get(name, "")
        if value.startswith("/") and (real := _whole_place(look.tree, value)):
            return real, name
    for base in _bases(look):
        for link in (f"{base}/cann", f"{base}/ascend-toolkit/latest", f"{base}/nnae/latest", f"{base}/nnrt/latest"):
            if real := _whole_place(look.tree, link):
                if real == link and _home(look.tree, real) is None:
                    continue
                return real, link
    whole = [h for h in homes if h.whole] or homes
    return (whole[0].path, "the only one" if len(whole) == 1 else "the first of several") if whole else ("", "")


def _toolkit(look: Look, path: str, how: str) -> Iterator[Fact]:
    tree = look.tree
    yield Fact("cann.path", path, path)
    yield Fact("cann.chosen_by", how, path)
    home = _home(tree, path)
    for arch in _ARCHES:
        for kind in ("toolkit", "nnae", "nnrt"):
            info = f"{path}/{arch}/ascend_{kind}_install.info"
            if tree.text(info) is not None:
                yield from told(tree, info, _TOOLKIT)
                yield Fact("cann.kind", kind, info)
    if home is not None:
        yield Fact("cann.version", home.release, path)
    for part in ("toolkit", "compiler", "runtime", "share/info/compiler", "share/info/runtime"):
        yield from told(tree, f"{path}/{part}/version.info", {"Version": "cann.internal"})
    state = "whole" if home is not None and home.whole else "half"
    yield Fact("cann.state", state, path)


def _kernels(look: Look, path: str) -> Iterator[Fact]:
    """The operator binaries: of which release, for which chips."""
    tree = look.tree
    for info, wanted in (
        (f"{path}/opp_kernel/version.info", {"version_dir": "kernels.version", "required_package_toolkit_version": "kernels.needs_toolkit"}),
        *((f"{path}/{arch}/ascend_{name}_install.info", {"version": "kernels.version", "package_name": "kernels.package"})
          for arch in _ARCHES for name in ("ops", "kernels", "opp_kernel")),
    ):  # fmt: skip
        yield from told(tree, info, wanted)
    tbe = f"{path}/opp/built-in/op_impl/ai_core/tbe"
    chips = {n for sub in ("kernel", "kernel/config") for n in tree.names(f"{tbe}/{sub}") if n.startswith("ascend")}
    if chips:
        yield Fact("kernels.chips", ", ".join(sorted(chips)), f"{tbe}/kernel")
    elif tree.kind(f"{path}/opp/built-in") == FOLDER or not _has_operators(tree, path):
        yield Fact("kernels.chips", "none", f"{tbe}/kernel")


def _has_operators(tree: Tree, path: str) -> bool:
    """Does an operator package say that it is installed, wherever its release keeps the operators?"""
    return any(tree.text(f"{path}/{arch}/ascend_ops_install.info") is not None for arch in _ARCHES)


def _broken(look: Look, homes: list[_Home]) -> Iterator[Fact]:
    """Links that lead nowhere, and variables that point at what is not there."""
    tree = look.tree
    links = [f"{base}/{name}" for base in _bases(look) for name in ("cann", "ascend-toolkit/latest", "nnae/latest", "nnrt/latest", "driver", "nnal/atb/latest")]
    dead = [path for path in links if tree.is_link(path) and not tree.resolve(path)]
    if homes or dead:
        yield Fact("cann.dead_links", ", ".join(dead) or "none", dead[0] if dead else "", 1, f"{dead[0]} -> {tree.target(dead[0])}" if dead else "")
    half = [h.path for h in homes if not h.whole]
    if homes:
        yield Fact("cann.half_installed", ", ".join(half) or "none", half[0] if half else "")
    for name in _POINTERS:
        value = look.variables.get(name, "")
        if value.startswith("/") and tree.kind(value) == NOTHING:
            yield Fact("cann.dead_variable", name, look.variables_from, 1, f"{name}={value}")
    if any(name in look.variables for name in _POINTERS):
        yield Fact("cann.dead_variable", "none")


def _beside(look: Look) -> Iterator[Fact]:
    """NNAL, MindIE, mxVision."""
    tree = look.tree
    atb = look.variables.get("ATB_HOME_PATH", "")
    places = [atb.partition("/atb/cxx_abi")[0]] if "/atb/cxx_abi" in atb else []
    for base in _bases(look):
        places.append(f"{base}/nnal/atb/latest")
        yield from _matched(tree, "mindie.version", f"{base}/mindie/latest/version.info", _MINDIE)
        for name in tree.names(base):
            if name.lower().startswith(("mxvision", "mindx")):
                yield from _matched(tree, "mxvision.version", f"{base}/{name}/version.info", _MXVISION)
    for place in places:
        yield from _matched(tree, "nnal.version", f"{place}/version.info", _ATB)
        abis = [n for n in tree.names(f"{place}/atb") if n.startswith("cxx_abi_")]
        if abis:
            yield Fact("nnal.abis", ", ".join(n[-1] for n in abis), f"{place}/atb")


def _matched(tree: Tree, name: str, path: str, pattern: re.Pattern[str]) -> Iterator[Fact]:
    text = tree.text(path)
    found = pattern.search(text) if text is not None else None
    if text is not None and found is not None:
        line = text.count("\n", 0, found.start(1)) + 1
        yield Fact(name, re.sub(r"\.B\d+$", "", found[1]), path, line, text.splitlines()[line - 1].strip())
