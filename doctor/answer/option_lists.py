"""Options with a list of batch sizes for which graphs are captured: fewer of the reader's own, where an advice gives fewer as an example.

The reader's list is of numbers that fit something else as well (drafts, tensor parallelism), so that others than theirs may be refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from doctor.findings.started import Option, Started

SIZES = frozenset({"cuda-graph-bs", "cudagraph-capture-sizes", "cuda-graph-sizes"})
_SETTINGS, _KEY = "compilation-config", "cudagraph_capture_sizes"  # of vLLM, where the same list is a key of JSON
_LARGEST = ("max-cudagraph-capture-size", "max_cudagraph_capture_size")  # is refused where it is another than the largest of the list


def fewer(given: Sequence[str], example: Sequence[str]) -> tuple[str, ...]:
    """The reader's list, cut to what is no larger and no longer than an example; the smaller half of it where it is so already.

    >>> fewer("1 2 4 8 16 24 32 64 128 256".split(), "1 8 16 32".split())
    ('1', '4', '16', '32')
    >>> fewer("4 8 12".split(), "1 2 4 8 16".split()), fewer(["128"], ["1"]), fewer(["a", "b"], ["1"])
    (('4',), ('128',), ('1',))
    """
    if not all(one.isdecimal() for one in (*given, *example)):
        return tuple(example)
    mine = sorted({int(one) for one in given})
    some = [one for one in mine if one <= max(map(int, example))] or mine[:1]
    if len(some) > len(example):
        last = len(example) - 1
        some = [some[n * (len(some) - 1) // last] for n in range(last + 1)] if last else some[:1]
    if len(some) == len(mine):
        some = mine[: max(1, len(mine) // 2)]
    return tuple(map(str, some))


def advised(option: Option, theirs: Started, less: bool) -> tuple[Option, Started]:
    """An advised option as the reader's own way to name those sizes has it, and their command without what would contradict it."""
    if option.name in SIZES:
        mine = next((o for o in theirs.options if o.name == option.name), None)
        if mine is not None and less and len(mine.values) > 1:
            option = option._replace(values=fewer(mine.values, option.values))
        return option, theirs
    wanted = _object(option.value) if option.name == _SETTINGS else {}
    if _KEY not in wanted:
        return option, theirs
    apart = next((o for o in theirs.options if o.name in SIZES), None)
    mine_json = _object(theirs.option(_SETTINGS) or "")
    theirs = theirs.without(_LARGEST[0])
    if isinstance(sizes := wanted[_KEY], list):
        had = [*map(str, apart.values)] if apart is not None else [str(one) for one in _list(mine_json.get(_KEY))]
        told = [*map(int, fewer(had, [*map(str, sizes)]))] if less and len(had) > 1 else sizes
        if apart is not None:  # vLLM refuses to be told twice
            theirs = theirs.with_option(apart.name, [str(one) for one in told])
            del wanted[_KEY]
        else:
            wanted[_KEY] = told
    elif apart is not None:
        theirs = theirs.without(apart.name)
    if _LARGEST[1] in mine_json:
        wanted.setdefault(_LARGEST[1], None)
    return option._replace(values=(json.dumps(wanted, ensure_ascii=False),)), theirs


def _object(value: str) -> dict[str, object]:
    for dots in (", ...}", ",...}"):
        value = value.replace(dots, "}")
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
