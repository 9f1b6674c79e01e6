"""Does every dependency have a wheel for every machine that matters, and does installing us leave other packages alone?

    python -m benchmarks.supply                            # wheels: x86_64 and aarch64, Python 3.10 to 3.13, all extras but torch
    python -m benchmarks.supply --extra test --glibc 2.34
    python -m benchmarks.supply --beside 'transformers==4.46.3' 'pyyaml==6.0.1' ...

The first asks pip, for every target, which wheel it would take for each dependency and for the dependencies of those, and
prints a table; the exit code is 1 when one is missing. The second resolves the given packages, holds every one of them at the
version found, and asks pip for ours on top: it fails when one would have to move. Both need a package index, and install nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
PATIENCE_S = 90
LEFT_OUT = ("torch",)  # only tests of repro scripts use it; its wheels are gigabytes
Report = list[dict[str, Any]]


class Target(NamedTuple):
    """A Python on a machine."""

    python: str
    machine: str

    def options(self, glibc: int) -> list[str]:
        """What pip must be told to choose for this target instead of for the machine that it runs on."""
        tags = [f"manylinux_2_{n}_{self.machine}" for n in range(glibc, 4, -1)]
        tags += [f"manylinux2014_{self.machine}", f"manylinux2010_{self.machine}", f"manylinux1_{self.machine}"]
        return ["--python-version", self.python, "--implementation", "cp", *(f"--platform={t}" for t in tags)]

    def environment(self) -> dict[str, str]:
        """The values of the markers that requirements carry."""
        told = {k: str(v) for k, v in default_environment().items()}
        return told | {
            "python_version": self.python, "python_full_version": f"{self.python}.0", "platform_machine": self.machine, "sys_platform": "linux",
            "platform_system": "Linux", "os_name": "posix", "implementation_name": "cpython", "platform_python_implementation": "CPython",
        }  # fmt: skip


def declared(extras: Iterable[str] | None = None) -> tuple[Requirement, ...]:
    """What pyproject.toml names: the dependencies, and those of the extras (None: of all that are looked at)."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    optional = re.search(r"^\[project\.optional-dependencies\]\n(.*?)(?=^\[)", text, re.MULTILINE | re.DOTALL)
    groups = dict(re.findall(r"^(\w+) = \[(.*?)\][ \t]*(?:#[^\n]*)?$", optional[1] if optional else "", re.MULTILINE | re.DOTALL))
    chosen = [name for name in groups if name not in LEFT_OUT] if extras is None else list(extras)
    base = re.search(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    if base is None or not {*chosen, *LEFT_OUT} <= groups.keys():
        raise SystemExit(f"pyproject.toml has no such group: {sorted({*chosen, *LEFT_OUT} - groups.keys())}")
    rows = [base[1], *(groups[name] for name in chosen)]
    return tuple(Requirement(written) for row in rows for written in re.findall(r'^\s*"([^"\n]+)"', row.replace(", \"", ',\n"').replace("[\"", '\n"'), re.MULTILINE))


def pip(*args: str) -> Report | None:
    """What pip would install; None when nothing fits. Any other failure, such as a network that is down, ends the program."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-", *args]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:  # it goes back and forth between versions of many; of one it cannot
        return None
    if done.returncode:
        if re.search(r"No matching distribution|ResolutionImpossible|conflicting dependencies|require a different Python", done.stderr):
            return None
        raise SystemExit(f"pip failed: {done.stderr.strip()[-2000:]}")
    found: Report = json.loads(done.stdout)["install"]
    return found


def wheels(wanted: Sequence[Requirement], target: Target, glibc: int, ask: Any = pip) -> dict[str, tuple[str, str]]:
    """Package to version and the glibc that its wheel needs ("any": none; "": there is no wheel), dependencies included."""
    found: dict[str, tuple[str, str]] = {}
    environment = target.environment()
    queue = [r for r in wanted if r.marker is None or r.marker.evaluate(environment | {"extra": ""})]
    while queue:
        batch = {canonicalize_name(r.name): r for r in queue if canonicalize_name(r.name) not in found}
        queue = []
        for row in _chosen(list(batch.values()), target, glibc, ask, found):
            name = canonicalize_name(row["metadata"]["name"])
            found[name] = (row["metadata"]["version"], needs(row["download_info"]["url"]))
            extras = batch[name].extras if name in batch else set()
            for written in row["metadata"].get("requires_dist", ()):
                further = Requirement(written)
                if further.marker is None or any(further.marker.evaluate(environment | {"extra": e}) for e in ("", *extras)):
                    queue.append(further)
    return found


def _chosen(batch: list[Requirement], target: Target, glibc: int, ask: Any, found: dict[str, tuple[str, str]]) -> Report:
    """pip's choice for each requirement. It names no culprit when it fails: then they are asked for one by one."""
    options = ["--no-deps", "--only-binary=:all:", "--target", tempfile.gettempdir(), *target.options(glibc)]
    if not batch:
        return []
    rows = ask(*options, *(_plain(r) for r in batch))
    if rows is not None:
        answer: Report = rows
        return answer
    rows = []
    for one in batch:
        alone = ask(*options, _plain(one))
        if alone is None:  # pip compares a package's own range with the Python that it runs on: compared here instead
            alone = ask(*options, "--ignore-requires-python", _plain(one))
            if alone is not None and not all(SpecifierSet(r["metadata"].get("requires_python", "")).contains(f"{target.python}.9") for r in alone):
                alone = None
        if alone is None:
            found[canonicalize_name(one.name)] = (str(one.specifier), "")
        rows += alone or []
    return rows


def _plain(requirement: Requirement) -> str:
    """Without its marker: it was evaluated for the target, pip would do it for this machine."""
    return f"{requirement.name}{requirement.specifier}"


def needs(url: str) -> str:
    """The oldest glibc that a wheel's name speaks of; `any` for pure Python."""
    tags = url.rpartition("/")[2].removesuffix(".whl").rpartition("-")[2].split(".")
    old = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
    minors = [int(m[1]) for t in tags if (m := re.match(r"manylinux_2_(\d+)_", t))] + [old[t.partition("_")[0]] for t in tags if t.partition("_")[0] in old]
    return f"2.{min(minors)}" if minors else "any"


def table(found: Mapping[Target, Mapping[str, tuple[str, str]]]) -> tuple[list[str], list[str]]:
    """The rows to print, and what is missing."""
    names = sorted({name for one in found.values() for name in one})
    rows = [f"{'package':24}" + "".join(f"{t.machine + ' ' + t.python:>15}" for t in found)]
    missing = []
    for name in names:
        cells = []
        for target, one in found.items():
            version, glibc = one.get(name, ("", "-"))
            cells.append("MISSING" if not glibc else glibc if glibc in ("any", "-") else f"glibc {glibc}")
            if not glibc:
                missing.append(f"{name}{version} on {target.machine} with Python {target.python}")
        rows.append(f"{name:24}" + "".join(f"{c:>15}" for c in cells))
    return rows, missing


def beside(given: Sequence[str], ours: Sequence[Requirement], ask: Any = pip) -> tuple[dict[str, str], dict[str, str] | None]:
    """What the given packages are made of, and what ours add to it; None when one of theirs would have to move."""
    theirs = ask(*given)
    if theirs is None:
        raise SystemExit(f"pip cannot resolve {' '.join(given)}")
    held = {canonicalize_name(r["metadata"]["name"]): r["metadata"]["version"] for r in theirs}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{name}=={version}\n" for name, version in held.items()))
        file.flush()
        both = ask("-c", file.name, *(str(r) for r in ours))
    if both is None:
        return held, None
    added = {canonicalize_name(r["metadata"]["name"]): r["metadata"]["version"] for r in both}
    return held, {name: version for name, version in added.items() if held.get(name) != version}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append", help="only these extras (default: all but torch)")
    parser.add_argument("--python", action="append", choices=PYTHONS)
    parser.add_argument("--machine", action="append", choices=MACHINES)
    parser.add_argument("--glibc", default="2.28", help="the glibc of the oldest machine (default: 2.28)")
    parser.add_argument("--beside", nargs="+", metavar="REQUIREMENT", help="packages that must not move when ours are added")
    args = parser.parse_args()
    if args.beside:
        held, added = beside(args.beside, declared(args.extra or ()))
        print(f"{len(held)} packages of {' '.join(args.beside)} held at their versions")
        if added is None:
            print("ours cannot be added: one of them would have to move")
            return 1
        print(f"added: {', '.join(f'{n} {v}' for n, v in sorted(added.items())) or 'nothing'}; changed: none")
        return 0
    targets = [Target(p, m) for m in args.machine or MACHINES for p in args.python or PYTHONS]
    glibc = int(args.glibc.partition(".")[2])
    rows, missing = table({t: wheels(declared(args.extra), t, glibc) for t in targets})
    print("\n".join(rows))
    print("\n".join(f"missing: {m}" for m in missing) or f"every dependency has a wheel for glibc {args.glibc}, or an older one, on all {len(targets)} targets")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
