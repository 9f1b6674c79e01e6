"""Of a limit that killed a process, what it is and what to try next."""

from __future__ import annotations

import pytest

from doctor.answer.sizes import derived


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"limit_kb": "419430400kB"}, {"limit_is": "400 GiB", "limit_more": "800g", "limit_gi": "800Gi"}),
        ({"compose_limit": "120g", "avail_gib": "1431"}, {"limit_is": "120 GiB", "limit_more": "240g", "limit_gi": "240Gi"}),
        ({"memory_limit": "64Gi", "avail_gib": "40"}, {"limit_is": "64 GiB", "limit_more": "88g", "limit_gi": "88Gi"}),  # twice as much is not there
        ({"memory_limit": "64Gi", "avail_gib": "3"}, {"limit_is": "64 GiB", "limit_more": "MEMORY", "limit_gi": "MEMORY"}),  # nothing is to be given
        ({"limit_kb": "9007199254740988kB"}, {}),  # no limit at all
        ({"memory_limit": "much"}, {}),
    ],
)
def test_a_limit_is_raised_and_never_lowered(known: dict[str, str], told: dict[str, str]) -> None:
    assert derived(known) == told
