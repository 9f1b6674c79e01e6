"""What has to change on a machine before something is installed: the right Python, CANN, torch, torch_npu, driver, with commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.env.facts import Machine, plain
from doctor.env.fits import Compat, Row, sure
from doctor.env.packages import canonical
from doctor.env.releases import base, compare, holds, key, numbers
from parsers.named import NamedTuple

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*((?:(?:~=|==|!=|<=|>=|<|>)\s*[\w.*+!-]+\s*,?\s*)*)(?:[;@#\\ ].*)?$")
# A package of uv.lock, poetry.lock or pylock.toml.
_LOCKED = re.compile(r'^\[\[packages?\]\]\nname = "(?P<name>[\w.-]+)"\nversion = "(?P<version>[\w.+!-]+)"', re.MULTILINE)
MAX_FILE = 16 << 20
MAX_LINES = 50_000
# The packages of which tables are published, and the section and column in which they stand.
TABLES = {"vllm-ascend": "vllm_ascend", "torch-npu": "torch_npu", "mindspore": "mindspore", "mindie": "mindie"}
_FACTS = {
    "python": "python.version", "cann": "cann.version", "torch": "python.torch", "torch_npu": "python.torch_npu", "vllm": "python.vllm",
    "triton_ascend": "python.triton_ascend",
}  # fmt: skip
_ORDER = ("driver", "cann", "python", "torch", "torch_npu", "vllm", "triton_ascend")
_CHIPS = {"A1": "910", "A2": "910b", "A3": "A3", "310P": "310p", "310B": "310b", "950": "950"}


class Requirement(NamedTuple):
    """Something that is to be installed."""

    name: str
    spec: str
    where: str = ""

    @property
    def exact(self) -> str:
        found = re.fullmatch(r"\s*==\s*([\w.+!-]+)\s*", self.spec.rstrip(", "))
        return found[1] if found else ""


class Change(NamedTuple):
    """One thing that is another one than the table says."""

    part: str
    has: str
    wants: str
    commands: tuple[str, ...]
    where: str = ""  # the line of the file that pins it


class Plan(NamedTuple):
    """What is published about a requirement, and what has to change for it."""

    what: str
    known: bool
    changes: tuple[Change, ...]
    source: str = ""


def requirements(written: Iterable[str]) -> list[Requirement]:
    found = []
    for text in written:
        match = _REQUIREMENT.match(text)
        if match is None:
            raise UsageError(f"--for: '{text}' is no requirement", "write a name and a version: 'vllm-ascend==0.11.0'")
        found.append(Requirement(canonical(match[1]), match[2].strip()))
    return found


def read_file(name: str) -> list[Requirement]:
    """The requirements of a file; its other lines (options, links, hashes) say nothing about versions."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"--requirements: cannot read {name}: {error.strerror}", "give a requirements.txt or what pip freeze printed") from None
    if len(data) > MAX_FILE or b"\0" in data:
        raise UsageError(f"--requirements: {name} is no requirements file (too large, or binary)", "give a requirements.txt or what pip freeze printed")
    text = data.decode("utf-8", "replace")
    found = [
        Requirement(canonical(m["name"]), f"=={m['version']}", f"{name}:{text.count(chr(10), 0, m.start('version')) + 1}") for m in _LOCKED.finditer(text)
    ]
    for number, row in enumerate(text.splitlines()[:MAX_LINES] if not found else (), 1):
        match = _REQUIREMENT.match(row.lstrip(" -") if row.lstrip().startswith("- ") else row)
        if match is not None and match[2].strip():
            found.append(Requirement(canonical(match[1]), match[2].strip(), f"{name}:{number}"))
    if not found:
        raise UsageError(f"--requirements: {name} names no package with a version", "give a requirements.txt or what pip freeze printed")
    return found


def plans(wanted: Sequence[Requirement], machine: Machine, compat: Compat) -> list[Plan]:
    """One plan for each requirement of which something is published. What the file itself installs counts as installed."""
    values = plain(machine)
    pinned = {f"python.{r.name.replace('-', '_')}": r for r in wanted if r.exact}
    values.update({fact: r.exact for fact, r in pinned.items()})
    titles = {str(r["source"]): str(r.get("title", "")) for r in compat.get("sources", ())}
    found = []
    named = {r.name for r in wanted}
    for one in wanted:
        row = _row(one, named, values, compat)
        if row is not None:
            changes = tuple(sorted(_changes(row, values, pinned, compat), key=lambda c: _ORDER.index(c.part)))
            found.append(Plan(_called(one, row), True, changes, titles.get(str(row.get("source", "")), "")))
        elif not one.where or one.name in TABLES:
            found.append(Plan(f"{one.name}{one.spec}", False, ()))
    return found


def _called(one: Requirement, row: Row) -> str:
    column = TABLES.get(one.name)
    return f"{one.name} {row[column]}" if column else f"{one.name} {one.exact or one.spec}".strip()


def _row(one: Requirement, named: set[str], values: Mapping[str, str], compat: Compat) -> Row | None:
    """The row of the tables that a requirement means: the newest that its versions allow."""
    if section := TABLES.get(one.name):
        rows = [r for r in sure(compat.get(section, ())) if not one.spec or holds(one.spec, r[section])]
        return max(rows, key=lambda r: key(r[section]), default=None)
    if one.name == "vllm" and "vllm-ascend" not in named:
        rows = [r for r in sure(compat.get("vllm_ascend", ())) if any(holds(one.spec, v) for v in r["vllm"])]
        chosen = max(rows, key=lambda r: key(r["vllm_ascend"]), default=None)
        return {**chosen, "also_vllm_ascend": chosen["vllm_ascend"]} if chosen else None
    if one.name == "torch" and not named & {"torch-npu", "vllm-ascend"}:
        rows = [r for r in sure(compat.get("torch_npu", ())) if holds(one.spec, r["torch"])]
        cann = values.get("cann.version", "")
        fitting = [r for r in rows if cann and numbers(r["cann"], 2) == numbers(cann, 2)]
        return max(fitting or rows, key=lambda r: key(r["torch_npu"]), default=None)
    return None


def _changes(row: Row, values: Mapping[str, str], pinned: Mapping[str, Requirement], compat: Compat) -> Iterator[Change]:
    cann = row.get("cann")
    if cann and _cann_differs(row, values, compat):
        yield Change("cann", values.get("cann.version", ""), str(cann), tuple(_cann_commands(str(cann), values)))
    if cann and (driver := _driver(str(cann), values, compat)):
        yield driver
    for part in ("python", "torch", "torch_npu", "vllm", "triton_ascend"):
        wants, fact = row.get(part), _FACTS[part]
        if not wants or (part == "torch_npu" and "torch_npu" not in row):
            continue
        has = values.get(fact, "")
        if part == "python" and isinstance(wants, str) and (not has or holds(wants, has)):
            continue
        if has and part != "python" and _same(part, has, wants):
            continue
        told = wants[0] if isinstance(wants, list) else str(wants)
        at = pinned[fact].where if fact in pinned else ""
        yield Change(part, has, told, tuple(_pip(part, told)), at)


def _same(part: str, has: str, wants: Any) -> bool:
    if isinstance(wants, list):
        return any(key(has) == key(w) for w in wants)
    if part in ("torch", "torch_npu"):  # later posts of one release mend it
        return base(has) == base(wants) and (part == "torch" or compare(has, wants) >= 0)
    return key(has) == key(wants)


def _cann_differs(row: Row, values: Mapping[str, str], compat: Compat) -> bool:
    has = values.get("cann.version", "")
    if not has:
        return True
    if numbers(has, 2) == numbers(row["cann"], 2):
        return False
    tolerated = [c for t in compat.get("adapter_tolerance", ()) if t["adapter"] == row.get("adapter") for c in t["cann"]]
    return not any(numbers(c, 2) == numbers(has, 2) for c in tolerated)


def _cann_commands(cann: str, values: Mapping[str, str]) -> Iterator[str]:
    arch = values.get("machine.arch") or values.get("cann.arch") or "ARCH"
    chip = _CHIPS.get(values.get("chips.family") or values.get("pci.family", ""), "CHIP")
    operators = f"Ascend-cann-{chip}-ops" if numbers(cann, 2) >= (8, 5) else f"Ascend-cann-kernels-{chip}"
    yield f"bash Ascend-cann-toolkit_{cann}_linux-{arch}.run --install"
    yield f"bash {operators}_{cann}_linux-{arch}.run --install"


def _driver(cann: str, values: Mapping[str, str], compat: Compat) -> Change | None:
    """The driver when it is older than every one that is published for that CANN, and neither package says otherwise."""
    has = values.get("driver.version", "")
    listed = [h for r in sure(compat.get("driver", ())) if key(r["cann"]) == key(cann) for h in r["hdk"]]
    if not has or not listed or (values.get("fits.driver_cann") == "yes" and numbers(values.get("cann.version", ""), 2) == numbers(cann, 2)):
        return None
    oldest = min(listed, key=lambda h: key(h.lower().replace("x", "0")))
    if compare(has, oldest.lower().replace("x", "0")) >= 0:
        return None
    return Change("driver", has, " | ".join(listed[:4]), ())


def _pip(part: str, wants: str) -> Iterator[str]:
    if part == "torch":
        yield f"pip install torch=={wants} --index-url https://download.pytorch.org/whl/cpu"
    elif part == "vllm":
        yield f"VLLM_TARGET_DEVICE=empty pip install vllm=={wants}"
    elif part != "python":
        yield f"pip install {part.replace('_', '-')}=={wants}"


_TITLES = {"driver": "driver", "cann": "CANN", "python": "Python", "torch": "torch", "torch_npu": "torch_npu", "vllm": "vLLM", "triton_ascend": "triton-ascend"}


def text(found: Sequence[Plan], lang: str) -> str:
    return "\n".join(_text(found, lang)) + "\n"


def _text(found: Sequence[Plan], lang: str) -> Iterator[str]:
    for plan in found:
        if not plan.known:
            yield word("env.for-unknown", lang, what=plan.what)
        elif not plan.changes:
            yield word("env.for-fits", lang, what=plan.what)
        else:
            yield word("env.for-changes", lang, what=plan.what, count=len(plan.changes))
        for number, change in enumerate(plan.changes, 1):
            told = word("env.for-has", lang, has=change.has or word("env.for-none", lang), wants=change.wants)
            yield f"  {number}. {_TITLES[change.part]}: {told}" + (f"  ({change.where})" if change.where else "")
            yield f"     # {word(_how(change.part), lang)}"
            yield from (f"     {command}" for command in change.commands)
        if plan.source and plan.changes:
            yield f"  {word('env.for-source', lang)}: {plan.source}"
        yield ""


def _how(part: str) -> str:
    return {"driver": "env.for-driver", "cann": "env.for-cann", "python": "env.for-python"}.get(part, "env.for-pip")


def as_json(found: Sequence[Plan]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "plans": [{"what": p.what, "known": p.known, "source": p.source, "changes": [{**c._asdict(), "commands": list(c.commands)} for c in p.changes]} for p in found],
    }
