"""Reads which versions go together, as published: `compat.yaml`, sections of rows, each with its source and how sure it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kb import files, yamldoc
from kb.invisible import steering
from kb.problems import Problem, did_you_mean

SECTIONS = (
    "torch_npu", "python", "adapter", "adapter_tolerance", "driver", "feature_floor", "chip_floor", "chip_support", "vllm_ascend", "mindspore", "mindie", "mindcluster",
    "models", "packages", "products", "rules",
)  # fmt: skip
SURE = ("documented", "inferred", "unverified")
_NEEDED = {
    "torch_npu": ("torch_npu", "torch", "cann"), "python": ("torch", "python"), "adapter": ("adapter", "cann"), "adapter_tolerance": ("adapter", "cann"),
    "driver": ("cann", "hdk"), "vllm_ascend": ("vllm_ascend", "vllm", "cann", "torch", "torch_npu"), "mindspore": ("mindspore", "cann"),
    "mindie": ("mindie", "cann"), "mindcluster": ("mindcluster", "cann"), "feature_floor": ("feature",), "chip_floor": ("chip", "min_cann"), "chip_support": ("framework", "software", "chip"), "models": ("models",), "packages": ("software", "packages"), "products": ("software",), "rules": ("rule",),
}  # fmt: skip
_LISTS = {"python": ("python",), "adapter_tolerance": ("cann",), "driver": ("hdk",), "vllm_ascend": ("vllm",), "packages": ("packages",), "models": ("models",)}

Rows = dict[str, list[dict[str, Any]]]


def read_compat(path: Path, shown: str) -> tuple[Rows, list[Problem]]:
    """The rows of a layer by section; those of a wrong form are left out and reported. `sources` names where rows come from."""
    if not path.is_file():
        return {}, []
    try:
        doc = yamldoc.parse(shown, files.read(path))
    except OSError as error:
        return {}, [Problem(shown, 0, f"cannot be read: {error.strerror}")]
    if isinstance(doc, Problem):
        return {}, [doc]
    if not isinstance(doc.value, dict):
        return {}, [Problem(shown, 0, "the file is no mapping of sections to rows", "torch_npu: [{torch_npu: 2.5.1, torch: 2.5.1, cann: 8.1.RC1, ...}]")]
    found: Rows = {}
    problems: list[Problem] = []
    sources = doc.value.get("sources")
    known = sources if isinstance(sources, dict) else {}
    found["sources"] = [{"source": name, **row} for name, row in known.items() if isinstance(row, dict)]
    for section, rows in doc.value.items():
        if section == "sources":
            continue
        if section not in SECTIONS or not isinstance(rows, list):
            problems.append(doc.problem((section,), f"'{section}' is no section of rows", did_you_mean(str(section), SECTIONS)))
            continue
        for number, row in enumerate(rows):
            if what := _fault(section, row):
                problems.append(doc.problem((section, number), what))
            else:
                found.setdefault(section, []).append(row)
    return found, problems


def _fault(section: str, row: Any) -> str:
    """What is wrong with a row; empty when nothing is."""
    if not isinstance(row, dict):
        return "a row must be a mapping of keys to values"
    if row.get("confidence") not in SURE:
        return f"a row says how sure it is: confidence is one of {', '.join(SURE)}"
    if not isinstance(row.get("source"), str):
        return "a row needs 'source'"
    lists = _LISTS.get(section, ())
    for name, value in row.items():
        if name in lists and not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            return f"'{name}' must be a list of versions"
        if name not in lists and isinstance(value, list) and section != "products":
            return f"'{name}' must be a single value"
    if odd := steering(row):
        return f"a row has {odd}, which steers a terminal or is invisible"
    for name in _NEEDED[section]:
        if not row.get(name):
            return f"a row of {section} needs '{name}'"
    return ""
