"""What `npu-doctor bundle` tells beside its archive."""

from __future__ import annotations

WORDS = {
    "wrote": ("wrote {path}: {files}, {size}", "已写入 {path}：{files}，{size}"),
    "same": ("it scans to the same diagnosis", "对它诊断会得到相同的结论"),
    "other": ("it does NOT scan to the same diagnosis: a larger --limit, or --no-redact, may help", "对它诊断得不到相同的结论：增大 --limit 或使用 --no-redact 可能有帮助"),
    "read": ("redacted; read it before you pass it on", "已脱敏；转交前请先通读"),
    "file": ("  {name}  {size}", "  {name}  {size}"),
}  # fmt: skip
