"""What belongs together as published is never accused: fifty combinations of the tables, and those that people run."""

from __future__ import annotations

from typing import Any

import pytest
from env import machines as m

from doctor.env import fits, verdict
from doctor.env.facts import Machine, from_values, table
from kb.knowledge import Knowledge, load

KNOWN = load()


def machine(values: dict[str, str]) -> Machine:
    made = from_values(values)
    return made._replace(facts={**made.facts, **table(fits.gather(made.facts, KNOWN.compat()))})


def rows() -> list[tuple[str, dict[str, str]]]:
    """Each row of a table as the versions of one machine."""
    found: list[tuple[str, dict[str, str]]] = []
    compat: dict[str, Any] = dict(KNOWN.compat())
    for row in compat["vllm_ascend"]:
        found.append((f"vllm-ascend-{row['vllm_ascend']}", {
            "python.vllm_ascend": row["vllm_ascend"], "python.vllm": f"{row['vllm'][0]}+empty", "python.torch": f"{row['torch']}+cpu",
            "python.torch_npu": row["torch_npu"], "cann.version": row["cann"], "nnal.version": row["cann"], "kernels.version": row["cann"],
            "python.version": "3.10.17", "python.numpy": "1.26.4", **({"python.triton_ascend": row["triton_ascend"]} if row.get("triton_ascend") else {}),
        }))  # fmt: skip
    for row in compat["torch_npu"]:
        if row["torch"] == row["torch_npu"][: len(row["torch"])]:  # one row of the source pairs 1.5.0 with 1.8.1: a slip of its author
            found.append((f"torch-npu-{row['torch_npu']}", {"python.torch": row["torch"], "python.torch_npu": row["torch_npu"], "cann.version": row["cann"], "python.version": "3.8.18"}))
    for row in compat["mindspore"]:
        found.append((f"mindspore-{row['mindspore']}", {"python.mindspore": row["mindspore"], "cann.version": row["cann"]}))
    for row in compat["mindie"]:
        found.append((f"mindie-{row['mindie']}-{row['torch_npu']}", {"mindie.version": row["mindie"], "cann.version": row["cann"], "python.torch_npu": row["torch_npu"]}))
    return found


# Drivers and CANN that people reported as running, with the lines of their version files.
RUNNING = [
    ("24.1.rc2.2", "8.2.RC1"), ("24.1.rc3", "8.0.0"), ("24.1.rc3", "8.1.RC1"), ("24.1.rc3", "8.2.RC1"), ("25.0.rc1.1", "8.2.RC1"), ("25.0.rc1.1", "8.3.RC1"),
    ("25.3.rc1", "8.3.RC2"), ("25.3.rc1", "8.5.0"), ("25.5.1", "8.5.0"), ("25.5.1", "9.0.0"), ("25.5.1", "9.1.0"), ("24.1.rc1", "8.5.0"), ("26.0.1", "9.0.0"),
]  # fmt: skip


def accused(made: Machine, knowledge: Knowledge) -> set[str]:
    return {r.check.code for r in verdict.results(made, knowledge.checks()) if r.fails and r.check.severity in ("fatal", "error", "warning")}


def test_there_are_fifty_combinations() -> None:
    assert len(rows()) >= 50


@pytest.mark.parametrize(("name", "values"), rows(), ids=[n for n, _ in rows()])
def test_a_published_row_is_not_accused(name: str, values: dict[str, str], knowledge: Knowledge) -> None:
    """But for a Python that the table does not list for that torch, which is told as such."""
    assert accused(machine(values), knowledge) <= {"CHK303"}


@pytest.mark.parametrize(("driver", "cann"), RUNNING)
def test_a_pair_that_runs_is_not_accused(driver: str, cann: str, knowledge: Knowledge) -> None:
    mine, its = m.DRIVERS[driver], m.CANNS[cann]
    values = {
        "driver.version": driver, "driver.inner": mine.inner, "driver.names_cann": mine.names_cann, "cann.version": cann, "cann.inner": its[0], "cann.names_driver": its[1],
    }  # fmt: skip
    assert accused(machine(values), knowledge) == set()


def test_what_nobody_has_published_is_not_known(knowledge: Knowledge) -> None:
    """Versions of tomorrow: no check speaks of them."""
    values = {
        "driver.version": "31.0.rc1", "firmware.version": "9.9.9", "cann.version": "12.0.0", "python.torch": "3.1.0", "python.torch_npu": "3.1.0",
        "python.vllm": "1.9.0", "python.vllm_ascend": "1.9.0", "python.mindspore": "4.0.0", "mindie.version": "5.0.0", "python.version": "3.16",
    }  # fmt: skip
    made = machine(values)
    assert accused(made, knowledge) == set()
    told = {n: f.value for n, f in made.facts.items() if n.startswith("fits.")}
    assert {n for n, v in told.items() if v == "no"} == set()
    assert told["fits.torch_npu_cann"] == told["fits.driver_cann"] == "not known"
