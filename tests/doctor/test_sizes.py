"""Of a limit that killed a process, what it is and what to try next."""

from __future__ import annotations

import pytest

from doctor.answer.sizes import derived


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"limit_kb": "419430400kB"}, {"limit_is": "400 GiB", "limit_more": "800g", "limit_gi": "800Gi"}),
        ({"compose_limit": "120g"}, {"limit_is": "120 GiB", "limit_more": "240g", "limit_gi": "240Gi"}),
        ({"limit_kb": "67108864kB", "memory_limit": "128Gi"}, {"limit_is": "64 GiB", "limit_more": "128g", "limit_gi": "128Gi"}),  # what the kernel killed by
        ({"memory_limit": "1536Mi"}, {"limit_is": "1.5 GiB", "limit_more": "3g", "limit_gi": "3Gi"}),
        ({"limit_kb": "9007199254740988kB"}, {}),  # no limit at all
        ({"memory_limit": "much"}, {}),
    ],
)
def test_a_limit_is_raised_and_never_lowered(known: dict[str, str], told: dict[str, str]) -> None:
    assert derived(known) == told
