"""What the steps of a pasted session tell."""

from __future__ import annotations

import pytest

from parsers import session


def told(text: str) -> list[tuple[str | None, ...]]:
    return [(row.get("check"), row.get("what"), row.get("value"), row.get("program")) for row in session.rows(text.split("\n"), 1)]


@pytest.mark.parametrize(
    "text",
    [
        "[r@h ~]# npu-tool\nall is well\n[r@h ~]# echo $?\n0",
        "[r@h ~]# grep -c ERROR a.log\n0\n[r@h ~]# echo $?\n1",
        "[r@h ~]# npu-tool | head -3\nFine.\n[r@h ~]# echo $?\n141",
        "[r@h ~]# ls /home/x\nls: cannot access '/home/x': No such file or directory",
        "[r@h ~]# cat /root/ascend/log/a.log\nERROR: npu is lost",
        "[r@h ~]# npu-smi info | head -6\n| NPU   Name    | Health  |",
        "[r@h ~]# echo $ASCEND_OPP_PATH\n/usr/local/Ascend/opp",
        "# a comment about ascend\nError: none",
        "[r@h ~]# python run_npu.py\n[ERROR] DEVICE(384,ffff,python):2025-10-20-09:54:58.317.312 [a.cc:1] F] Get soc name failed.",
    ],
)
def test_what_is_as_it_should_be_gives_no_row(text: str) -> None:
    assert told(text) == []


def test_a_status_is_that_of_the_command_before() -> None:
    text = "u@h:~$ sudo ./npu-tool -a\nFailed to open the npu\nu@h:~$ echo $?\n3"
    assert told(text) == [("exit", "", "3", "npu-tool")]
