"""What hangs prints no error: a driver that is older than its CANN is said, where nothing says that the program came up."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.api import report
from doctor.render.compose import answer

SMI = (
    "+----------------------------------------------------------------------+\n"
    "| npu-smi {driver}                   Version: {driver}                  |\n"
    "+---------------------------+---------------+--------------------------+\n"
)
START = "2025-06-21T20:23:02+08:00 - gpustack.worker.backends.ascend_mindie - INFO - Starting Ascend MindIE\n[INFO] RUNTIME(7,mindie):2025-06-21-20:23:10.210.331 [runtime.cc:5204] 7 Init:Init runtime success.\n"
CANN = "Name: Ascend-cann-toolkit\nCANN version: 8.1.RC1\n"
READY = "INFO:     Application startup complete.\nINFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)\n"


def _told(tmp_path: Path, driver: str, log: str) -> tuple[str, str, str]:
    (tmp_path / "npu-smi.txt").write_text(SMI.format(driver=driver))
    (tmp_path / "cann.txt").write_text(CANN)
    (tmp_path / "run.log").write_text(log)
    made = report([tmp_path])
    return made["verdict"], answer(made, "en").hint, answer(made, "zh").hint


def test_an_old_driver_is_said_of_a_start_that_hangs(tmp_path: Path) -> None:
    verdict, en, zh = _told(tmp_path, "24.1.0.1", START)
    assert verdict == "inconclusive"
    assert "24.1.0.1" in en
    assert "24.1.0.1" in zh


@pytest.mark.parametrize(("driver", "log"), [("25.0.rc1.1", START), ("24.1.0.1", START + READY)])
def test_not_of_one_that_fits_and_not_where_it_came_up(tmp_path: Path, driver: str, log: str) -> None:
    assert _told(tmp_path, driver, log) == ("clean", "", "")
