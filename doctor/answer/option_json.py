"""Options whose value is JSON: what is advised is put into what the reader has, which stays otherwise.

`--compilation-config '{"cudagraph_capture_sizes": [1]}'`, beside a mode that somebody chose, is that mode with those sizes.
"""

from __future__ import annotations

import json
from typing import Any

_DOTS = (", ...}", ",...}")  # how the knowledge says that the rest is theirs
# What an example must name, and what is theirs where they have it.
_EXAMPLES = frozenset({"method", "model", "torch_profiler_dir"})


def joined(given: str, advised: str) -> str:
    """The reader's value with what is advised; the advised one where either is not JSON."""
    theirs, wanted = _read(given), _read(advised)
    if theirs is None or wanted is None:
        return advised
    made = _into(theirs, wanted)
    if made == theirs:
        return given
    return json.dumps(made, ensure_ascii=False, separators=(", ", ": ") if '": ' in given else (",", ":"))


def without_key(given: str, key: str) -> str:
    """The reader's value without a key, or one within it (`outer.inner`); itself where it has none."""
    theirs = _read(given)
    if theirs is None:
        return given
    outer, _, inner = key.partition(".")
    if inner and isinstance(within := theirs.get(outer), dict) and inner in within:
        less = {k: v for k, v in within.items() if k != inner}
        return json.dumps({k: less if k == outer else v for k, v in theirs.items() if k != outer or less}, ensure_ascii=False)
    return json.dumps({k: v for k, v in theirs.items() if k != key}, ensure_ascii=False) if key in theirs else given


def difference(before: str, after: str) -> tuple[str, str]:
    """Both values as far as they differ: only the keys that do, where both are JSON."""
    was, now = _read(before), _read(after)
    if was is None or now is None:
        return before, after
    keys = [key for key in (*was, *(k for k in now if k not in was)) if was.get(key) != now.get(key)]
    old, new = ({key: of[key] for key in keys if key in of} for of in (was, now))
    return json.dumps(old, ensure_ascii=False) if old else "", json.dumps(new, ensure_ascii=False)


def _into(theirs: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    made = dict(theirs)
    for key, value in wanted.items():
        had = theirs.get(key)
        if isinstance(had, dict) and isinstance(value, dict):
            made[key] = _into(had, value)
        elif key not in _EXAMPLES or had is None:
            made[key] = value
    return made


def _read(value: str) -> dict[str, Any] | None:
    for dots in _DOTS:
        value = value.replace(dots, "}")
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
