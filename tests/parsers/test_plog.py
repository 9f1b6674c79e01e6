"""Heads of log lines, over all releases."""

from __future__ import annotations

import pytest

from parsers.plog import head

TIME = "2026-03-02-10:21:44.118.305"


@pytest.mark.parametrize(
    ("rest", "rank"),
    [
        ("[a.cc:7]41388 F:x", None), ("[a.cc:7] 41388 F: x", None), ("[a.cc:7] [5688][Wait]x", None), ("[a.cc:7]f(641) : x", None),
        ("[a.cc:7][hccl-5-0-1-world][3][17][Wait]x", 3), ("[a.cc:7] [hccl-5-0-1-world][-1][17][Wait]x", None),
    ],
)  # fmt: skip
def test_rank(rest: str, rank: int | None) -> None:
    """HCCL names its group and the rank in it; other numbers behind the source are threads."""
    for owner in ("5,python", "5,fffe06ffd1e0,python"):
        found = head(f"[ERROR] HCCL({owner}):{TIME} {rest}")
        assert found is not None
        assert (found.pid, found.source, found.rank) == (5, "a.cc:7", rank)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"[ERROR]HCCL(60570,):{TIME}[a.cc:7][60570]x", ("error", "HCCL", 60570, "a.cc:7")),
        (f"[WARNING] 61(7,VLLM::Worker_DP1):{TIME} [a.cc:7]7 F:x", ("warning", "61", 7, "a.cc:7")),
        (f"[NULL] GE(7,None):{TIME} [a/b/c.cc:7]7 F:x", (None, "GE", 7, "c.cc:7")),
        (f"[17] GE(7,python):{TIME} [a.cc:7]7 F:x", (None, "GE", 7, "a.cc:7")),
        (f"[TRACE] GE(7,python):{TIME} [status:INIT] [a.cc:7]7 F:x", ("trace", "GE", 7, "a.cc:7")),
        (f"[ERROR] TSCH(-1,null):{TIME} 715 (cpuid:0) hwts.c:1071 f: x", ("error", "TSCH", None, "hwts.c:1071")),
        ("[INFO]HSM:1970-01-01 00:02:17.408 x", ("info", "HSM", None, None)),
    ],
)
def test_head(text: str, wanted: tuple[object, ...]) -> None:
    found = head(text)
    assert found is not None
    assert (found.level, found.module, found.pid, found.source) == wanted


def test_time_has_one_width_whatever_was_printed() -> None:
    texts = (TIME, "2026-03-02-10:21:44.118", "2026-03-02-10:21:44", "2026-03-02 10:21:44.118305")
    heads = [head(f"[INFO] GE(7,python):{text} x") for text in texts]
    assert [found and found.time for found in heads] == [
        "2026-03-02T10:21:44.118305",
        "2026-03-02T10:21:44.118000",
        "2026-03-02T10:21:44.000000",
        "2026-03-02T10:21:44.118305",
    ]


def test_old_hccl_lines_name_the_rank() -> None:
    found = head(f"[ERROR] HCCL(5,python):{TIME} [a.cc:7][hccl-5-0-1-world][3][Wait]x")
    assert found is not None
    assert found.rank == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[ERROR]",
        "[ERROR] hello",
        "[ERROR] GE(7,python): x",
        f"[error] GE(7,python):{TIME} x",
        f"ERROR GE(7,p):{TIME}",
    ],
)
def test_no_head(text: str) -> None:
    assert head(text) is None
