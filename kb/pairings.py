"""Which versions are published to go together: the rows of `compat.yaml` that pair software."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.named import NamedTuple

SOFTWARE = ("torch_npu", "torch", "cann", "vllm_ascend", "vllm", "triton_ascend", "mindspore", "mindie")
MODELS = "models"  # which release of a library knows a model first
PACKAGES = "packages"  # what software imports without bringing it along
DRIVERS = "driver"  # which driver packages (HDK) a CANN goes with
TOLERATED = "adapter_tolerance"  # with which releases of CANN a release line of torch_npu is declared to run
CHIPS = "chip_support"  # on which chip a framework does not run, or since which release it does
TABLES = ("torch_npu", "vllm_ascend", "mindspore", "mindie", DRIVERS, TOLERATED, MODELS, PACKAGES, CHIPS)
UNSURE = "unverified"  # guessed from the naming of releases: nobody's set-up is changed for such a row


class Pairing(NamedTuple):
    """Versions that one row of a table pairs; of one software it may name several."""

    table: str
    versions: Mapping[str, tuple[str, ...]]


def pairings(compat: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[Pairing, ...]:
    """The rows that pair software, of all that is published."""
    return tuple(_pairing(table, row) for table in TABLES for row in compat.get(table, ()) if row.get("confidence") != UNSURE)


def _pairing(table: str, row: Mapping[str, Any]) -> Pairing:
    told = {name: row[name] for name in (*SOFTWARE, "models", "transformers", "software", "packages", "hdk", "adapter", "framework", "chip", "since") if name in row}
    return Pairing(table, {name: tuple(v) if isinstance(v, list) else (str(v),) for name, v in told.items()})


def published(rows: Sequence[Pairing], one: str, version: str, other: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """The versions of another software that are published with this one's, finished releases first.

    Where several rows fit, those count that also agree with what else is known (torch_npu has a post release for each CANN).
    """
    mine = plain(version)
    fitting = [r for r in rows if r.table in (one, other) and mine in r.versions.get(one, ()) and other in r.versions]
    for name in ("cann", "torch"):
        if name not in (one, other) and name in known:
            agreeing = [r for r in fitting if plain(known[name]) in r.versions.get(name, ())]
            fitting = agreeing or fitting
    found = dict.fromkeys(v for row in fitting for v in row.versions[other])
    return tuple(sorted(found, key=lambda v: "rc" in v.lower() or "dev" in v))


def plain(version: str) -> str:
    """A version as tables name it: without the `v` of tags and without what a builder added (`+cpu`)."""
    return version.removeprefix("v").partition("+")[0]
