"""What lies beneath a code that only wraps it, in another file that somebody put beside it."""

from __future__ import annotations

from pathlib import Path

from doctor.api import report

WRAPPED = """\
[ERROR] plugh: NPU function error: aclrtPlughInfo, error code is {code}
[ERROR] 2026-03-31-17:21:46 (PID:8104, Device:1, RankID:-1) ERR00100 PTA call acl api failed
"""
EARLIER = "EE9999[PID: 8104] 2026-03-31-17:21:46.810.555 (EE9999): rtsX execution failed, reason=driver error:internal error[FUNC:F]\n"
PLOG = """\
[ERROR] RUNTIME(16038,python3.10):2026-04-01-10:12:33.553.432 [npu_driver_mem.cc:1754]16038 X:[drv api] halPlughInfo failed: device_id=0, drvRetCode={ret}!
[ERROR] RUNTIME(16038,python3.10):2026-04-01-10:12:33.553.441 [api_c.cc:540]16038 rtsX:ErrCode=507899, desc=[driver error:internal error], InnerCode=0x7020010
"""


def put(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return str(folder)


def test_the_driver_s_own_answer_is_told_of_the_code_that_wraps_it(tmp_path: Path) -> None:
    root = report(put(tmp_path, console=WRAPPED.format(code=507899) + EARLIER, plog=PLOG.format(ret=3)))["findings"][0]
    assert root["id"] == "RTS029"
    assert root["title"]["en"] == "The driver refused halPlughInfo: drvRetCode=3, DRV_ERROR_INVALID_VALUE"
    assert [one["text"].rpartition(" ")[2] for one in root["evidence"] if one["matched"]] == ["drvRetCode=3!"]
    assert not any("not in these logs" in one["en"] for one in root["against"] or ())


def test_where_logs_disagree_nothing_is_told(tmp_path: Path) -> None:
    """Two processes got two answers: which of them the console means is open."""
    more = PLOG.format(ret=3).replace("16038", "16039")
    root = report(put(tmp_path, console=WRAPPED.format(code=507899) + EARLIER, plog=PLOG.format(ret=62), other=more))["findings"][0]
    assert "drvRetCode" not in root["title"]["en"]


def test_it_is_the_decisive_line_where_no_entry_claims_it(tmp_path: Path) -> None:
    where = put(tmp_path, console=WRAPPED.format(code=500005), plog=PLOG.format(ret=3).split("\n", maxsplit=1)[0] + "\n")
    made = report(where)
    assert made["decisive"]["evidence"]["text"].endswith("drvRetCode=3!")
    for n in range(16):  # the logs of a job: whose it is would be a guess
        (tmp_path / f"worker-{n}.log").write_text("INFO plugh\n")
    assert report(where)["decisive"] is None
