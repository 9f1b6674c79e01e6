"""Environment variables: names that nobody knows but for a slip, values out of range, those that contradict each other."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.env.facts import Fact
from doctor.env.looking import Look
from parsers.named import NamedTuple

_OURS = re.compile(r"^(?:ASCEND|HCCL|HCCP|PYTORCH_NPU|TORCH_NPU|TORCH_HCCL|ACL|ACLNN|GE|TE|NPU|ATB|MINDIE|VLLM_ASCEND|INF_NAN|COMBINED|MS|TASK_QUEUE|LCCL|RT_|PROF|LCAL)_?[A-Z0-9_]*$")
_GENERIC = ("HOME", "TERM", "LANG", "PATH", "USER", "PYTHONUNBUFFERED")  # of every shell
_CUTOFF = 0.87  # of likeness, from which a name nobody knows is taken for a slip
_SECRET = re.compile(r"(?i)(?:token|secret|passw|credential|(?:^|_)key)")
_RELEASE = re.compile(r"/(?:ascend-toolkit/|cann-)(\d+\.\d+[\w.]*?)(?:/|:|$)")
_BOUNDS = re.compile(r"(-?\d+)\.\.(-?\d+)")


class Known(NamedTuple):
    """What the knowledge has about variables."""

    rows: Mapping[str, Mapping[str, Any]]


def read(text: str) -> dict[str, str]:
    """Variables as `env` prints them, or as the kernel keeps them with a zero between."""
    rows = text.split("\0") if "\0" in text else text.splitlines()
    found: dict[str, str] = {}
    for row in rows:
        name, sign, value = row.removeprefix("export ").removeprefix("declare -x ").partition("=")
        if sign and re.fullmatch(r"[A-Za-z_]\w*", name):
            found[name] = value.strip().strip('"') if "\0" not in text else value
    return found


def gather(look: Look, known: Known) -> Iterator[Fact]:
    """The variables that matter, and what is wrong with them."""
    if not look.variables:
        return
    where = look.variables_from

    def fact(name: str, value: str, about: str = "") -> Fact:
        return Fact(name, value, where, 1, f"{about}={look.variables[about]}" if about in look.variables else "")

    for name in sorted(look.variables):
        if name not in _GENERIC and (name in known.rows or _OURS.match(name) or name in ("LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")) and not _SECRET.search(name):
            yield fact(f"variable.{name}", look.variables[name] or "empty", name)
    slips = [(n, near) for n in sorted(look.variables) if (near := slip(n, known.rows))]
    yield fact("variables.misspelt", ", ".join(f"{n} ({near}?)" for n, near in slips) or "none", slips[0][0] if slips else "")
    odd = [(n, why) for n in sorted(look.variables) if (why := out_of_range(look.variables[n], known.rows.get(n, {})))]
    yield fact("variables.out_of_range", ", ".join(f"{n}={look.variables[n][:40]} ({why})" for n, why in odd) or "none", odd[0][0] if odd else "")
    yield from _contradictions(look, fact)


def slip(name: str, known: Mapping[str, Any]) -> str:
    """The variable that was meant; empty where the name is known or like no other."""
    if name in known or not _OURS.match(name) or len(name) < 6:
        return ""
    near = difflib.get_close_matches(name, known, n=1, cutoff=_CUTOFF)
    # One that differs by a number or by a whole word is another variable, not a slip.
    if not near or re.sub(r"\d+", "", name) == re.sub(r"\d+", "", near[0]):
        return ""
    mine, other = set(name.split("_")), set(near[0].split("_"))
    lone, its = sorted(mine - other), sorted(other - mine)
    pairs = len(lone) == len(its) and all(difflib.SequenceMatcher(None, a, b).ratio() > 0.6 for a, b in zip(lone, its, strict=True))
    glued = name.replace("_", "") == near[0].replace("_", "") or sorted(name.split("_")) == sorted(near[0].split("_"))
    return near[0] if (pairs and lone) or glued else ""


def out_of_range(value: str, row: Mapping[str, Any]) -> str:
    """What a value should have been; empty where it is one, or where nobody says."""
    if not value:
        return ""
    values = row.get("values")
    if isinstance(values, list) and str(row.get("type", "")) in ("enum", "bool") and value not in map(str, values):
        folded = {str(v).lower() for v in values}
        return "" if value.lower() in folded else " | ".join(map(str, values))
    bounds = _BOUNDS.fullmatch(str(row.get("range", "")))
    if bounds and re.fullmatch(r"-?\d{1,15}", value) and not int(bounds[1]) <= int(value) <= int(bounds[2]):
        return f"{bounds[1]}..{bounds[2]}"
    return ""


def _contradictions(look: Look, fact: Any) -> Iterator[Fact]:
    """Pairs of settings of which one undoes the other, or that point at two installations."""
    v = look.variables
    visible = v.get("ASCEND_RT_VISIBLE_DEVICES", "")
    if visible:
        wrong = _visible(visible)
        yield fact("variables.visible_devices", wrong or "fits", "ASCEND_RT_VISIBLE_DEVICES")
        numbers = [int(n) for n in visible.split(",") if n.strip().isdigit()]
        if numbers:
            yield fact("variables.highest_device", str(max(numbers)), "ASCEND_RT_VISIBLE_DEVICES")
    releases: dict[str, str] = {}
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
        for release in _RELEASE.findall(v.get(name, "")):
            releases.setdefault(release, name)
    for release in list(releases):  # `cann-8.5` in the name of a folder above `cann-8.5.0` is the same one
        if any(other != release and other.startswith(f"{release}.") for other in releases):
            del releases[release]
    if releases:
        several = ", ".join(f"{r} ({n})" for r, n in releases.items())
        yield fact("variables.cann_releases", str(len(releases)), next(iter(releases.values())))
        yield fact("variables.cann_named", several, next(iter(releases.values())))
    libraries = v.get("LD_LIBRARY_PATH", "").split(":")
    stubs = [n for n, p in enumerate(libraries) if re.search(r"/(?:stub|devlib)(?:/|$)", p)]
    drivers = [n for n, p in enumerate(libraries) if "/driver/lib64" in p]
    if drivers:  # behind the driver's they do no harm, and builds need them
        first = libraries[stubs[0]] if stubs and stubs[0] < drivers[0] else "none"
        yield fact("variables.stub_libraries", first, "LD_LIBRARY_PATH")
    if "HCCL_IF_IP" in v and "HCCL_SOCKET_IFNAME" in v:
        yield fact("variables.host_interface", "both", "HCCL_SOCKET_IFNAME")
    if v.get("ASCEND_SLOG_PRINT_TO_STDOUT") == "1" or v.get("ASCEND_LOG_PRINT_TO_STDOUT") == "1":
        name = "ASCEND_SLOG_PRINT_TO_STDOUT" if "ASCEND_SLOG_PRINT_TO_STDOUT" in v else "ASCEND_LOG_PRINT_TO_STDOUT"
        yield fact("variables.no_log_files", "yes" if "ASCEND_PROCESS_LOG_PATH" in v else "stdout", name)
    sourced = "ASCEND_HOME_PATH" in v or "ASCEND_TOOLKIT_HOME" in v or "ASCEND_OPP_PATH" in v
    yield Fact("variables.set_env", "sourced" if sourced else "not sourced", look.variables_from)


def _visible(written: str) -> str:
    """What is wrong with a list of devices; empty when nothing is."""
    parts = [p.strip() for p in written.split(",")]
    if not all(p.isdigit() for p in parts):
        return f"not a list of numbers: {written[:60]}"
    if len(set(parts)) != len(parts):
        return f"a device twice: {written[:60]}"
    return f"not ascending: {written[:60]}" if [int(p) for p in parts] != sorted(int(p) for p in parts) else ""
