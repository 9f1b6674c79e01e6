"""A script that measures an engine, or a command in a log, tells which engine answers: advice is for that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.api import report

GRID = "_plugh_kernel launch failed: because value 70218 for parameter coreDim is invalid. Expected value: less than or equal to 65535.\n"


@pytest.mark.parametrize(
    ("script", "run"),
    [
        ("python3 -m sglang.bench_serving \\\n  --backend sglang \\\n  --port 9903\n", "sglang.launch_server"),
        ("vllm bench serve --backend vllm --port 9903\n", "vllm serve"),
    ],
)
def test_a_client_names_the_engine(script: str, run: str, tmp_path: Path) -> None:
    (tmp_path / "error.txt").write_text(GRID, "utf-8")
    (tmp_path / "bench.sh").write_text(script, "utf-8")
    root = report([str(tmp_path)])["findings"][0]
    assert run in root["fixes"][root["first_fix"]]["commands"][0]["run"]


def test_it_does_not_outdo_the_software_that_the_log_is_of(tmp_path: Path) -> None:
    (tmp_path / "error.txt").write_text('  File "/usr/lib/python3.11/site-packages/vllm/v1/engine/core.py", line 9, in run\n' + GRID, "utf-8")
    (tmp_path / "bench.sh").write_text("python3 -m sglang.bench_serving --backend sglang\n", "utf-8")
    assert "sglang" not in report([str(tmp_path)])["situation"]["facts"]["framework"]
