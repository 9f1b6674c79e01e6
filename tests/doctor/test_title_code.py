"""A title names the code that stands in the log, not the one that its entry is called by."""

from __future__ import annotations

import pytest

from doctor.api import report

AICPU = "[ERROR] RUNTIME(16,p):2026-02-11-02:40:10.210.500 [task.cc:1]16 X:Aicpu kernel execute failed, device_id=0, stream_id=2, task_id=4, fault op_name=Plugh"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (f"{AICPU}\nRuntimeError: aclrtSynchronizeStream failed, error code is 507018\n", "507018"),
        (f"{AICPU}, retCode=507900\n", "507900"),
        (f"{AICPU}, retCode=0x2a\n", ""),
    ],
)
def test_a_title_has_the_code_of_the_log_or_none(lines: str, code: str) -> None:
    title = next(one for one in report(lines)["findings"] if one["id"] == "RTS010")["title"]
    assert title["en"].startswith(f"AI CPU operator failed on the device{f' ({code})' if code else ''}: ")
    assert title["zh"].startswith(f"AI CPU 算子在设备上执行失败{f'（{code}）' if code else ''}：")
