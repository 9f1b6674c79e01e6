"""The text of a program is no log: the messages that stand in it have not been printed."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from doctor import report
from doctor.read.discover import discover

SCRIPT = """\
import torch
import torch_npu

def allocate(size):
    try:
        return torch.empty(size, device="npu:0")
    except RuntimeError as error:
        if "NPU out of memory" in str(error):
            print("NPU out of memory. Tried to allocate")
        raise

if __name__ == "__main__":
    allocate(1 << 40)
"""
KERNEL = """\
#include "acl/acl.h"

// Multi-bit ECC error of the HBM: the process has to end.
static const int ACL_ERROR_RT_LOST_HEARTBEAT = 507010;

int Check(int ret)
{
    if (ret == ACL_ERROR_RT_LOST_HEARTBEAT) {
        LOG_ERROR("heartbeat lost, error code is 507010");
        return -1;
    }
    return 0;
}
"""
FAILED = (
    'Traceback (most recent call last):\n  File "train.py", line 6, in allocate\nRuntimeError: NPU out of memory.\n'
)


@pytest.mark.parametrize("name", ["train.py", "kernel.cpp", "paste.txt", "input"])
@pytest.mark.parametrize("text", [SCRIPT, KERNEL], ids=["python", "c"])
def test_source_code_is_named_and_not_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = discover([str(tmp_path)])
    assert not found.sources
    assert [(s.path, "source code" in s.reason) for s in found.skipped] == [(str(path), True)]
    assert [s.name for s in discover([str(path)]).sources] == [str(path)]  # whoever names a file wants it read
    assert [s.name for s in discover([str(tmp_path)], everything=True).sources] == [str(path)]


@pytest.mark.parametrize("name", ["paste.txt", "train.py"])
def test_a_script_followed_by_what_it_printed_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SCRIPT + FAILED)
    assert len(discover([str(tmp_path)]).sources) == 1


def test_long_code_with_output_at_its_end_is_read(tmp_path: Path) -> None:
    """What only the beginning of a text looks like decides nothing."""
    (tmp_path / "paste.txt").write_text(SCRIPT * 20 + FAILED)
    (tmp_path / "code.txt").write_text(SCRIPT * 20)
    assert [s.name for s in discover([str(tmp_path)]).sources if not s.dump] == [str(tmp_path / "paste.txt")]


def test_enormous_text_without_a_telling_name_is_read(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(SCRIPT * 400)
    assert len(discover([str(tmp_path)]).sources) == 1


@pytest.mark.parametrize(
    "text",
    [
        "#15 0.312 Collecting torch_npu\n" * 12,
        "npu-smi info\n" + "| 0     910B3 | OK |\n" * 12,
        "".join(f"{i} 507015 is a number\n" for i in range(20)),
        "x = 1\n",
    ],
    ids=["docker-build", "table", "prose", "one-line"],
)
def test_other_texts_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "paste.txt").write_text(text)
    assert len(discover([str(tmp_path)]).sources) == 1


def test_source_code_in_archives_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("job/train.py", SCRIPT)
        archive.writestr("job/train.log", FAILED)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("job/kernel.cpp")
        info.size = len(KERNEL)
        tar.addfile(info, io.BytesIO(KERNEL.encode()))
    found = discover([str(tmp_path)])
    assert [s.name.rpartition("!")[2] for s in found.sources if not s.dump] == ["job/train.log"]
    assert sorted(s.path.rpartition("!")[2] for s in found.skipped) == ["job/kernel.cpp", "job/train.py"]


def test_documentation_is_read_when_it_is_named_or_nothing_else_is_there(tmp_path: Path) -> None:
    """A README of a project quotes messages; a report that somebody hands over holds them, as does what lies in a folder alone."""
    report = tmp_path / "report.md"
    report.write_text(FAILED)
    assert [s.name for s in discover([str(report)]).sources] == [str(report)]
    assert [s.name for s in discover([str(tmp_path)]).sources] == [str(report)]
    (tmp_path / "train.log").write_text(FAILED)
    found = discover([str(tmp_path)])
    assert [s.name for s in found.sources] == [str(tmp_path / "train.log")]
    assert "documentation" in found.skipped[0].reason


def test_what_this_program_keeps_for_itself_is_no_log(tmp_path: Path) -> None:
    """The one-file program unpacks itself into the cache: a scan of a home folder would find its knowledge full of errors."""
    kept = tmp_path / ".cache" / "npu-doctor" / "pyz-1"
    kept.mkdir(parents=True)
    (kept / "sample.log").write_text("RuntimeError: NPU out of memory.\n")
    (tmp_path / "npu-doctor").mkdir()
    (tmp_path / "npu-doctor" / "train.log").write_text("RuntimeError: NPU out of memory.\n")
    found = discover([str(tmp_path)])
    assert [Path(source.name).name for source in found.sources] == ["train.log"]
    assert [row.path for row in found.skipped] == [str(kept.parent)]


def test_the_release_file_of_a_driver_is_read(tmp_path: Path) -> None:
    (tmp_path / "version.info").write_text("Version=24.1.rc3\nascendhal_version=7.35.19\n" + "".join(f"{n}_version=1.0\n" for n in ("aicpu", "tdt", "log", "prof", "tsfw", "dvpp", "a", "b")), encoding="utf-8")
    (tmp_path / "a.log").write_text("CANN 8.3.RC2\nrtStreamSynchronize execute failed, reason=[aicore timeout]\n", encoding="utf-8")
    assert "24.1.rc3" in str(report(tmp_path)["situation"])
