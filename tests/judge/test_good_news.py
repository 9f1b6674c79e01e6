"""That a program came up hides nothing that stands in the same line."""

from __future__ import annotations

import pytest

from doctor.api import report


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("step:1 - actor/entropy:0.3 - training/global_step:1 - actor/grad_norm:nan", "PRC950"),
        ("{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1.4e-06, 'epoch': 0.0}", "PRC950"),
        ("step:1 - actor/entropy:0.3 - training/global_step:1 - actor/grad_norm:1.2", ""),
    ],
)
def test_a_step_of_nan_is_a_fault_in_the_line_of_a_trained_step(line: str, found: str) -> None:
    made = report(f"import torch_npu\n{line}\n")
    assert [f["id"] for f in made["findings"] if f["role"] == "root"] == [found] * bool(found)
