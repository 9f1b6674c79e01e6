"""Bytes of logs to text."""

from __future__ import annotations

import pytest

from doctor.read.encoding import decode


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"&nbsp;&nbsp;data type DT_BF16 of &quot;x&quot;\r\n", '  data type DT_BF16 of "x"'),
        (b"a &amp;&amp; b &lt;N&gt;", "a && b <N>"),
        (b"ret = &value; c && d", "ret = &value; c && d"),
        ("错误\u00a0码".encode(), "错误 码"),
        ("设备".encode("gb18030"), "设备"),
    ],
)
def test_decode(raw: bytes, text: str) -> None:
    assert decode(raw) == text
