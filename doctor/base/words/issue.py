"""What `npu-doctor issue` tells beside its draft."""

from __future__ import annotations

WORDS = {
    "plain": ("NOT redacted: addresses, names and tokens of the logs stand in it", "未脱敏：日志中的地址、名字、令牌均为原文"),
    "redacted": ("redacted ({counts}); read it before you send it", "已脱敏（{counts}）；发送前请先通读"),
    "place": ("a place for it: {url}", "可提交到：{url}"),
}  # fmt: skip
