"""What a person types finds, in the first place, what they meant."""

from __future__ import annotations

import pytest

from doctor.lookup.search import Index
from kb.knowledge import Knowledge


@pytest.fixture(scope="module")
def index(knowledge: Knowledge) -> Index:
    return Index(knowledge)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("507018", "RTS010"), ("EI0006", "HCL002"), ("drvmemcpy", "RTS025"), ("libhccl", "ENV001"), ("libhccl.so", "ENV001"),
        ("MaxPoolGradWithArgmaxV1", "OPR044"), ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"), ("ascend_rt_visible_devices", "ASCEND_RT_VISIBLE_DEVICES"),
    ],
)  # fmt: skip
def test_what_was_meant_comes_first(index: Index, typed: str, first: str) -> None:
    assert index.search(typed)[0].id == first


@pytest.mark.parametrize("typed", ["hccl timeout", "libhccl", "内存不足", "notify wait"])
def test_what_failed_comes_before_the_variables_that_it_names(index: Index, typed: str) -> None:
    assert index.search(typed)[0].kind == "entry"


def test_columns_stay_apart(run) -> None:  # type: ignore[no-untyped-def]
    told = run("kb", "search", "ASCEND_RT_VISIBLE_DEVICES", "--lang", "en").stdout.decode().splitlines()
    assert all(len(line.split(None, 2)) == 3 for line in told)
    assert told[0].split()[1] == "ASCEND_RT_VISIBLE_DEVICES"
