"""Which versions of a machine belong together: by what they say of each other on the machine, then by what is published.

Each pair ends as `yes`, `no` or `not known`. A pair that nobody has published is not known, and that is no fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from doctor.env.facts import Fact
from doctor.env.releases import base, compare, holds, is_release, key, line, named, numbers, ranges, within
from parsers.named import NamedTuple

YES, NO, UNKNOWN = "yes", "no", "not known"
Row = Mapping[str, Any]
Compat = Mapping[str, tuple[Row, ...]]
# Operator packages as CANN calls the chips.
OPERATORS = {"A1": "ascend910", "A2": "ascend910b", "A3": "ascend910_93", "310P": "ascend310p", "310B": "ascend310b", "310": "ascend310", "950": "ascend950"}


class Pair(NamedTuple):
    """What came out for one pair: the answer, what would fit, and who says so."""

    answer: str
    wanted: str = ""
    source: str = ""


NOT_KNOWN = Pair(UNKNOWN)


def gather(known: Mapping[str, Fact], compat: Compat) -> Iterator[Fact]:
    """The verdict on each pair of which both versions are known."""
    values = {name: fact.value for name, fact in known.items()}
    titles = {str(r["source"]): (str(r.get("title", "")), str(r.get("url", ""))) for r in compat.get("sources", ())}
    for name, (needs, judge) in PAIRS.items():
        if all(values.get(n) for n in needs):
            pair = judge(values, compat)
            first = known[needs[0]]
            told = f"{needs[0]} {values[needs[0]]}, {needs[1]} {values[needs[1]]}"
            yield Fact(f"fits.{name}", pair.answer, first.path, first.line, told)
            if pair.wanted:
                yield Fact(f"wanted.{name}", pair.wanted, first.path, first.line, told)
            if pair.source:
                title, url = titles.get(pair.source, (pair.source, ""))
                yield Fact(f"source.{name}", title, url)


def sure(rows: tuple[Row, ...]) -> list[Row]:
    """Rows on which an accusation may rest."""
    return [row for row in rows if row.get("confidence") == "documented"]


def _release(a: str, b: str) -> bool:
    return key(a) == key(b)


def _minor(a: str, b: str) -> int:
    one, other = line(a), line(b)
    return (one > other) - (one < other)


def driver_firmware(v: Mapping[str, str], compat: Compat) -> Pair:
    """Either package may name the other: the newer one knows the older."""
    del compat
    drivers, firmwares = ranges(v.get("firmware.names_driver", "")), ranges(v.get("driver.names_firmware", ""))
    if not drivers and not firmwares:
        return NOT_KNOWN
    if within(v["driver.version"], drivers) or within(v["firmware.version"], firmwares):
        return Pair(YES)
    return Pair(NO, v.get("driver.names_firmware") or v.get("firmware.names_driver", ""))


def driver_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    """Inner versions that either names; else the published pairs."""
    wanted, source = "", ""
    for row in compat.get("driver", ()):
        if _minor(row["cann"], v["cann.version"]) == 0:
            listed = row["hdk"]
            if any(_hdk(v["driver.version"], hdk) for hdk in listed):
                return Pair(YES)
            if row.get("confidence") == "documented" and row["cann"].upper() == v["cann.version"].upper():
                wanted, source = ", ".join(listed), str(row.get("source", ""))
    mine, its = v.get("driver.inner", ""), v.get("cann.inner", "")
    drivers, canns = ranges(v.get("cann.names_driver", "")), ranges(v.get("driver.names_cann", ""))
    if mine and its and (drivers or canns):
        if mine[:11] == its[:11] or named(mine, drivers) or named(its, canns):
            return Pair(YES)
        if drivers and canns:
            return Pair(NO, wanted or "a pair of which one names the other", source)
    return NOT_KNOWN


def _hdk(version: str, hdk: str) -> bool:
    """`24.1.rc2.2` is a `24.1.RC2`; an X stands for any number."""
    parts, wanted = version.lower().split("."), hdk.lower().split(".")
    return len(parts) >= len(wanted) and all(w in ("x", p) for p, w in zip(parts, wanted, strict=False))


def kernels_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    del compat
    if _release(v["kernels.version"], v["cann.version"]):
        return Pair(YES)
    needs, inside = v.get("kernels.needs_toolkit", ""), v.get("cann.internal", "")
    if needs and inside:
        return Pair(YES) if _to_depth(needs, inside) else Pair(NO, v["cann.version"])
    return Pair(NO, v["cann.version"])


def _to_depth(needs: str, inside: str) -> bool:
    """`>=7.6, <=8.2` takes in 8.2.0.0.201: only as many numbers count as the bound has."""
    for part in needs.split(","):
        text = part.strip()
        sign = text[:2] if text[:2] in (">=", "<=", "==") else "=="
        bound = text.removeprefix(sign).strip()
        count = bound.count(".") + 1
        mine, its = numbers(inside, count), numbers(bound, count)
        if (sign == ">=" and mine < its) or (sign == "<=" and mine > its) or (sign == "==" and mine != its):
            return False
    return True


def kernels_chip(v: Mapping[str, str], compat: Compat) -> Pair:
    del compat
    wanted = OPERATORS.get(v["chips.family"], "")
    present = [c.strip() for c in v["kernels.chips"].split(",")]
    if not wanted:
        return NOT_KNOWN
    return Pair(YES) if wanted in present else Pair(NO, wanted)


def chip_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    """The first CANN that is published for a chip. Of one about which nothing is published nobody says anything."""
    names = [name.strip() for name in v["chips.name"].split(",")]
    rows = [r for r in sure(compat.get("chip_floor", ())) if all(n.startswith(r["chip"]) for n in names)]
    if not rows:
        return NOT_KNOWN
    row = max(rows, key=lambda r: len(r["chip"]))
    return Pair(YES) if _minor(v["cann.version"], row["min_cann"]) >= 0 else Pair(NO, row["min_cann"], str(row["source"]))


def nnal_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    """NNAL is released with CANN, under the same number."""
    del compat
    return Pair(YES) if _minor(v["nnal.version"], v["cann.version"]) == 0 else Pair(NO, v["cann.version"])


def torch_torch_npu(v: Mapping[str, str], compat: Compat) -> Pair:
    """torch_npu X.Y.Z.postN is built for torch X.Y.Z, and for no other."""
    del compat
    same = base(v["python.torch"]) == base(v["python.torch_npu"])
    return Pair(YES) if same else Pair(NO, base(v["python.torch_npu"]), "pytorch-readme")


def torch_npu_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    """The CANN that a torch_npu was built with, those that its release calls compatible, and any pair that a row names."""
    mine, cann = v["python.torch_npu"], v["cann.version"]
    rows = [r for r in sure(compat.get("torch_npu", ())) if _release(r["torch_npu"], mine)] or _relatives(mine, compat.get("torch_npu", ()), "torch_npu")
    pairs = [r for name in ("torch_npu", "vllm_ascend", "mindie") for r in compat.get(name, ()) if r.get("torch_npu") and _release(r["torch_npu"], mine)]
    if any(_minor(r["cann"], cann) == 0 for r in pairs if r.get("cann")):
        return Pair(YES)
    tolerated = [c for r in rows for t in compat.get("adapter_tolerance", ()) if t["adapter"] == r.get("adapter") for c in t["cann"]]
    if any(_minor(c, cann) == 0 for c in tolerated):
        return Pair(YES)
    return _older(cann, rows)


def _relatives(version: str, rows: tuple[Row, ...], column: str) -> list[Row]:
    """Rows of the same three numbers, for a release that the table does not name; a build of a day has none."""
    return [r for r in sure(rows) if base(r[column]) == base(version)] if is_release(version) else []


def _older(cann: str, rows: list[Row]) -> Pair:
    """A CANN older than all that is published lacks functions; of a newer one nobody says anything."""
    if not rows or any(_minor(cann, r["cann"]) >= 0 for r in rows):
        return NOT_KNOWN
    first = min(rows, key=lambda r: key(r["cann"]))
    return Pair(NO, str(first["cann"]), str(first.get("source", "")))


def torch_npu_python(v: Mapping[str, str], compat: Compat) -> Pair:
    """The Pythons for which a torch_npu of that torch is published."""
    rows = [r for r in sure(compat.get("python", ())) if base(r["torch"]) == base(v["python.torch_npu"])]
    if not rows:
        return NOT_KNOWN
    listed = [p for p in rows[0]["python"] if str(p)[:1].isdigit()]
    mine = ".".join(map(str, numbers(v["python.version"], 2)))
    return Pair(YES) if mine in listed else Pair(NO, ", ".join(listed), str(rows[0].get("source", "")))


def _vllm_row(v: Mapping[str, str], compat: Compat) -> Row | None:
    mine = v["python.vllm_ascend"]
    return next((r for r in sure(compat.get("vllm_ascend", ())) if _release(r["vllm_ascend"], mine)), None)


def vllm_vllm_ascend(v: Mapping[str, str], compat: Compat) -> Pair:
    row = _vllm_row(v, compat)
    if row is None or not is_release(v["python.vllm"]):
        return NOT_KNOWN
    if any(_release(w, v["python.vllm"]) for w in row["vllm"]):
        return Pair(YES)
    return Pair(NO, ", ".join(row["vllm"]), str(row.get("source", "")))


def _by_row(fact: str, column: str, same: Callable[[str, str], bool]) -> Callable[[Mapping[str, str], Compat], Pair]:
    """A package against the column of the row of the installed vllm-ascend."""

    def judge(v: Mapping[str, str], compat: Compat) -> Pair:
        row = _vllm_row(v, compat)
        if row is None or not row.get(column):
            return NOT_KNOWN
        return Pair(YES if same(v[fact], row[column]) else NO, row[column], str(row.get("source", "")))

    return judge


def vllm_ascend_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    """An older CANN than the one it was released with lacks what it calls; of newer ones nobody says anything."""
    row = _vllm_row(v, compat)
    if row is None:
        return NOT_KNOWN
    order = _minor(v["cann.version"], row["cann"])
    return Pair(YES) if order == 0 else Pair(NO, row["cann"], str(row.get("source", ""))) if order < 0 else NOT_KNOWN


def mindspore_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    rows = [r for r in sure(compat.get("mindspore", ())) if _release(r["mindspore"], v["python.mindspore"])]
    if any(_minor(r["cann"], v["cann.version"]) == 0 for r in rows):
        return Pair(YES)
    return _older(v["cann.version"], rows or _relatives(v["python.mindspore"], compat.get("mindspore", ()), "mindspore"))


def mindie_cann(v: Mapping[str, str], compat: Compat) -> Pair:
    rows = [r for r in sure(compat.get("mindie", ())) if _release(r["mindie"], v["mindie.version"])]
    if any(_minor(r["cann"], v["cann.version"]) == 0 for r in rows):
        return Pair(YES)
    return _older(v["cann.version"], rows)


def npu_smi_driver(v: Mapping[str, str], compat: Compat) -> Pair:
    """The driver that is loaded tells its version itself; the files on disk may be those of another one."""
    del compat
    return Pair(YES) if compare(v["npu_smi.version"], v["driver.version"]) == 0 else Pair(NO, v["npu_smi.version"])


def cann_arch(v: Mapping[str, str], compat: Compat) -> Pair:
    """Packages are for one processor; both ends write it in the same words."""
    del compat
    return Pair(YES) if v["cann.arch"] == v["machine.arch"] else Pair(NO, v["machine.arch"])


Judge = Callable[[Mapping[str, str], Compat], Pair]
PAIRS: Mapping[str, tuple[tuple[str, str], Judge]] = {
    "driver_firmware": (("driver.version", "firmware.version"), driver_firmware),
    "npu_smi_driver": (("npu_smi.version", "driver.version"), npu_smi_driver),
    "driver_cann": (("driver.version", "cann.version"), driver_cann),
    "cann_arch": (("cann.arch", "machine.arch"), cann_arch),
    "kernels_cann": (("kernels.version", "cann.version"), kernels_cann),
    "kernels_chip": (("kernels.chips", "chips.family"), kernels_chip),
    "chip_cann": (("cann.version", "chips.name"), chip_cann),
    "nnal_cann": (("nnal.version", "cann.version"), nnal_cann),
    "torch_torch_npu": (("python.torch", "python.torch_npu"), torch_torch_npu),
    "torch_npu_cann": (("python.torch_npu", "cann.version"), torch_npu_cann),
    "torch_npu_python": (("python.torch_npu", "python.version"), torch_npu_python),
    "vllm_vllm_ascend": (("python.vllm_ascend", "python.vllm"), vllm_vllm_ascend),
    "vllm_ascend_torch": (("python.vllm_ascend", "python.torch"), _by_row("python.torch", "torch", lambda a, b: base(a) == base(b))),
    "vllm_ascend_torch_npu": (("python.vllm_ascend", "python.torch_npu"), _by_row("python.torch_npu", "torch_npu", lambda a, b: base(a) == base(b))),
    "vllm_ascend_triton": (("python.vllm_ascend", "python.triton_ascend"), _by_row("python.triton_ascend", "triton_ascend", lambda a, b: _minor(a, b) == 0)),
    "vllm_ascend_python": (("python.vllm_ascend", "python.version"), _by_row("python.version", "python", lambda version, spec: holds(spec, version))),
    "vllm_ascend_cann": (("python.vllm_ascend", "cann.version"), vllm_ascend_cann),
    "mindspore_cann": (("python.mindspore", "cann.version"), mindspore_cann),
    "mindie_cann": (("mindie.version", "cann.version"), mindie_cann),
}  # fmt: skip
