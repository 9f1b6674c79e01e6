"""Small values in log text: sizes, attributes. Bounded, and never an error: what is no value is None."""

from __future__ import annotations

import re

from doctor.repro.call import Value

MAX_DIMS = 16
_ITEM = re.compile(r"(?P<name>[A-Za-z_]\w{0,60})\s?[=:]\s?(?P<value>\[[^\[\]]{0,200}\]|[^,{}\[\];\s][^,{}\[\];]{0,80})")


def shape(written: str) -> tuple[int, ...] | None:
    """`1, 5,4096` as sizes; None for a dynamic shape (-1) or anything else."""
    parts = [p for p in re.split(r"[,\s]+", written.strip()) if p][: MAX_DIMS + 1]
    if len(parts) > MAX_DIMS or not all(p.isdigit() and len(p) < 13 for p in parts):
        return None
    return tuple(int(p) for p in parts)


def scalar(written: str) -> Value:
    """A number, a truth value, or the word itself."""
    text = written.strip()
    if re.fullmatch(r"[+-]?\d{1,19}", text):
        return int(text)
    if re.fullmatch(r"[+-]?(?:\d{1,19}\.\d{0,19}|\.?\d{1,19}(?=e))(?:e[+-]?\d{1,3})?", text):
        return float(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text[:80]


def attributes(written: str) -> tuple[tuple[str, Value], ...]:
    """`{keep_dims = false, axes = [0,1]}` and the older `{transpose_x1: 0}, {transpose_x2: 0}`, at most 40 of them."""
    found: list[tuple[str, Value]] = []
    for item in _ITEM.finditer(written[:4000]):
        value = item["value"].strip()
        if value.startswith("["):
            inner = [p for p in value[1:-1].split(",") if p.strip()][:64]
            found.append((item["name"], [scalar(p) for p in inner]))
        else:
            found.append((item["name"], scalar(value)))
        if len(found) == 40:
            break
    return tuple(found)
