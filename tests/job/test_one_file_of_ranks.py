"""Ranks told apart by their prefix in one file: of the node they ran on nothing is said, and nothing is made up."""

from __future__ import annotations

import re
from typing import Any

import pytest

PASTE = """\
[rank3]: Traceback (most recent call last):
[rank3]:   File "/home/u/train.py", line 210, in <module>
[rank3]:     run()
[rank3]: RuntimeError: [enforce fail at shelf.cc:595] . out of cheese
[rank0]: RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is HcclAllreduce.
[W1120 11:02:11.123] EI0002: [PID: 4411] 2026-11-20-11:32:10.222.121 The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank [3].
"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_node_is_named_where_none_is_known(lang: str, run: Any) -> None:
    out = run("scan", "-", "--lang", lang, "-v", stdin=PASTE.encode()).stdout.decode()
    assert "JOB009" in out
    assert not re.search(r"node \?|节点 ?\?|\{where\}", out)
