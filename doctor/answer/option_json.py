"""Options whose value is JSON: what is advised is put into what the reader has, which stays otherwise.

`--compilation-config '{"cudagraph_capture_sizes": [1]}'`, beside a mode that somebody chose, is that mode with those sizes.
A key that is advised as null goes: engines refuse a null where they expect an object or a list.
"""

from __future__ import annotations

import json
import re
from typing import Any

from doctor.base.words import both
from kb.model import Command, Text
from parsers.lazy import lazy

_OPTION = lazy(r"(?P<name>--[a-z][a-z-]{2,60}) '(?P<value>\{[^'\n]{1,600}\})'")
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


def for_none(advised: str) -> str:
    """An advised value for who has none: neither what stands for theirs, nor what goes of theirs. Itself where it is no JSON.

    >>> for_none('{"frob": {"on": false, "size": null}, ...}'), for_none('{"frob": null, ...}'), for_none("7")
    ('{"frob": {"on": false}}', '{}', '7')
    """
    wanted = _read(advised)
    if wanted is None or not _is_open(advised, wanted):
        return advised
    return json.dumps(_into({}, wanted), ensure_ascii=False)


def alone(run: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """A command that nobody's own is known for, as it can be typed; the options of which more is theirs, and the keys that go of theirs.

    >>> alone('vllm serve MODEL --frob-config \\'{"a": 1, ...}\\'')
    ('vllm serve MODEL --frob-config \\'{"a": 1}\\'', ('--frob-config',), ())
    >>> alone('vllm serve MODEL --frob-config \\'{"b": null, ...}\\'')
    ('vllm serve MODEL', ('--frob-config',), ('b',))
    """
    more: list[str] = []
    gone: list[str] = []

    def typed(found: re.Match[str]) -> str:
        wanted = _read(found["value"])
        if wanted is None or not _is_open(found["value"], wanted):
            return found[0]
        gone.extend(key for key, value in wanted.items() if value is None)
        if found["value"].endswith(_DOTS):
            more.append(found["name"])
        return "" if (value := for_none(found["value"])) == "{}" else f"{found['name']} '{value}'"

    made = _OPTION.sub(typed, run)
    return made if made == run else made.replace("  ", " ").rstrip(), tuple(more), tuple(gone)


def typable(command: Command) -> Command:
    """A command that nobody's own is known for, without what only holds beside theirs; what is theirs is said in words."""
    if not any(mark in command.run for mark in (*_DOTS, ": null")):
        return command
    run, more, gone = alone(command.run)
    why = command.why
    if gone:
        why = Text(**both("own-key-out", keys=", ".join(gone), name=", ".join(more) or "JSON")).then(why)
    elif more:
        why = Text(**both("own-keys", name=", ".join(more))).then(why)
    return command._replace(run=run, why=why)


def _is_open(advised: str, wanted: dict[str, Any]) -> bool:
    """Does it say that more is theirs, or that something of theirs goes?"""
    return advised.rstrip().endswith(_DOTS) or None in wanted.values() or any(isinstance(v, dict) and None in v.values() for v in wanted.values())


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
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict) and (had is None or isinstance(had, dict)):
            made[key] = _into(had or {}, value)
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
