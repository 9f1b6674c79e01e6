r"""A Flight Recorder dump (torch_npu's `hccl_trace_rank_N`, PyTorch's own) to what is compared between ranks.

The dump of version 2.x is a pickle, or the same as JSON, of one rank:

    {"version": "2.4", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "entries": [
      {"process_group": ("0", "default_pg"), "collective_seq_id": 8, "p2p_seq_id": 0, "profiling_name": "hccl:all_reduce",
       "input_sizes": [[4, 3]], "input_dtypes": ["Float"], "output_sizes": [[4, 3]], "state": "started", "retired": False,
       "is_p2p": False, "time_created_ns": 1772359200000000000, "frames": [{"name": "step", "filename": "train.py", "line": 41}]}]}

A ring holds the last calls only, so ranks begin at different numbers: calls are compared by number, never by place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from parsers import pickles
from parsers.named import NamedTuple

MAX_STACK: Final = 24
MAX_OPEN: Final = 64
"""Calls of one group that are kept as not ended; the first ones decide."""
MAX_CALLS: Final = 1_000_000
_WANTED: Final = frozenset(
    {
        *("process_group", "collective_seq_id", "profiling_name", "input_sizes", "output_sizes", "input_dtypes", "state", "retired", "is_p2p"),
        *("time_created_ns", "frames", "filename", "line", "name"),  # of calls and of their frames
        *("desc", "ranks"),  # of groups
    }
)

_RANK_OF_NAME: Final = re.compile(r"(?:rank|trace|dump)[_.-]?(\d{1,6})(?:\.(?:json|pkl|pickle|bin))?$|(?<![0-9])(\d{1,6})(?:\.(?:json|pkl|pickle|bin))?$")
_PAIR: Final = re.compile(r"(?:^|[:_])(send|recv) (\d+)(?:->|<-)(\d+)")


class NotFlightError(ValueError):
    """Plain values that are no dump of a Flight Recorder, or one of a version that is not known."""


class Signature(NamedTuple):
    """What all ranks must say of one call."""

    op: str
    inputs: str
    outputs: str
    dtypes: str


class Call(NamedTuple):
    """A call that has not ended, or the last one of a group."""

    number: int
    state: str
    created: int
    """Nanoseconds since 1970 by the clock of the rank."""
    stack: tuple[str, ...]
    """`file:line function`, the innermost first."""
    signature: int
    pair: tuple[str, int, int] | None = None
    """`send` or `recv`, the own number and the peer's, both inside the group."""


class Group(NamedTuple):
    """What one rank did in one process group."""

    desc: str
    ranks: tuple[int, ...]
    """Global ranks, in the order of the group; empty when the dump does not tell."""
    first: int
    signatures: tuple[int, ...]
    """Of the calls from number `first` on; -1 where the ring has a hole."""
    open: tuple[Call, ...]
    last: Call | None


class Flight(NamedTuple):
    """The dump of one rank."""

    version: str
    rank: int | None
    signatures: tuple[Signature, ...]
    groups: Mapping[str, Group]


def pickled(data: bytes) -> Any:
    """The plain value of a dump that is a pickle: of what is not read of a call nothing is kept."""
    return pickles.load(data, fold=_as_it_is, wanted=_WANTED)


def _as_it_is(value: dict[Any, Any]) -> dict[Any, Any]:
    return value


def rank_of(name: str) -> int | None:
    """The rank that a file's name ends with: `hccl_trace_rank_7`, `dump_7.pickle`."""
    found = _RANK_OF_NAME.search(name.rpartition("/")[2])
    return int(found[1] or found[2]) if found else None


def flight(value: Any, rank: int | None = None) -> Flight:
    """The dump in a plain value."""
    if not isinstance(value, dict) or not isinstance(value.get("entries"), list):
        raise NotFlightError("it is no dump of a Flight Recorder: it has no entries")
    version = value.get("version")
    if not isinstance(version, str) or not version.startswith("2."):
        raise NotFlightError(f"it is a Flight Recorder dump of version {str(version)[:20]}, and 2.x is read")
    reading = _Reading(_ranks(value.get("pg_config")))
    for entry in value["entries"][:MAX_CALLS]:
        if isinstance(entry, dict):
            reading.take(entry)
    own = value.get("rank")
    return Flight(version[:12], own if isinstance(own, int) and rank is None else rank, tuple(reading.signatures), reading.groups())


class _Made:
    """A group while its calls are read."""

    def __init__(self, desc: str, ranks: tuple[int, ...]) -> None:
        self.desc, self.ranks = desc, ranks
        self.calls: dict[int, int] = {}
        self.open: list[tuple[int, int, dict[str, Any]]] = []
        self.last: tuple[int, int, dict[str, Any]] | None = None


class _Reading:
    def __init__(self, ranks: Mapping[str, tuple[int, ...]]) -> None:
        self.ranks = ranks
        self.signatures: dict[Signature, int] = {}
        self.made: dict[str, _Made] = {}

    def take(self, entry: dict[str, Any]) -> None:
        group, number, op = entry.get("process_group"), entry.get("collective_seq_id"), entry.get("profiling_name")
        if not isinstance(group, list) or not group or not isinstance(number, int) or not isinstance(op, str):
            return
        name = str(group[0])[:80]
        made = self.made.get(name)
        if made is None:
            made = self.made[name] = _Made(str(group[1])[:80] if len(group) > 1 else "", self.ranks.get(name, ()))
        backend, _, what = op.rpartition(":")
        signed = Signature(what, str(entry.get("input_sizes")), str(entry.get("output_sizes")), str(entry.get("input_dtypes")))
        signature = self.signatures.setdefault(signed, len(self.signatures))
        ended = entry.get("state") == "completed" or (backend == "gloo" and entry.get("retired") is True)
        if not entry.get("is_p2p") and number >= 0:
            made.calls.setdefault(number, signature)
            if made.last is None or number >= made.last[0]:
                made.last = (number, signature, entry)
        if not ended and len(made.open) < MAX_OPEN:
            made.open.append((number, signature, entry))

    def groups(self) -> dict[str, Group]:
        return {name: _group(made) for name, made in self.made.items()}


def _group(made: _Made) -> Group:
    # A number far from all others is no call: without this, one such number would make a list as long as it is large.
    first = max(0, max(made.calls) - MAX_CALLS) if made.calls else 0
    first = min((number for number in made.calls if number >= first), default=0)
    numbers = range(first, max(made.calls) + 1) if made.calls else range(0)
    return Group(
        made.desc,
        made.ranks,
        first,
        tuple(made.calls.get(number, -1) for number in numbers),
        tuple(_call(*one) for one in made.open),
        _call(*made.last) if made.last else None,
    )


def _call(number: int, signature: int, entry: dict[str, Any]) -> Call:
    created = entry.get("time_created_ns")
    found = _PAIR.search(str(entry.get("profiling_name"))) if entry.get("is_p2p") else None
    pair = (found[1], int(found[2]), int(found[3])) if found else None
    return Call(number, str(entry.get("state"))[:20], created if isinstance(created, int) else 0, _stack(entry.get("frames")), signature, pair)


def _stack(frames: Any) -> tuple[str, ...]:
    if not isinstance(frames, list):
        return ()
    told = []
    for frame in frames[:MAX_STACK]:
        if isinstance(frame, dict):
            told.append(f"{str(frame.get('filename'))[-200:]}:{frame.get('line')} {str(frame.get('name'))[:100]}")
    return tuple(told)


def _ranks(config: Any) -> dict[str, tuple[int, ...]]:
    """The members of every group that the dump names."""
    found = {}
    for name, one in config.items() if isinstance(config, dict) else ():
        written = one.get("ranks") if isinstance(one, dict) else None
        ranks = written if isinstance(written, list) else re.findall(r"\d{1,7}", written) if isinstance(written, str) else []
        found[str(name)[:80]] = tuple(int(rank) for rank in ranks if isinstance(rank, int) or str(rank).isdigit())
    return found


def written(one: Flight) -> str:
    """A dump in one line of JSON, to be handed on; `read` is the inverse."""
    groups = {name: [g.desc, g.ranks, g.first, _packed(g.signatures), g.open, g.last] for name, g in one.groups.items()}
    return json.dumps([one.version, one.rank, one.signatures, groups], separators=(",", ":"))


def read(text: str) -> Flight:
    """What `written` wrote; anything else is a `ValueError`."""
    try:
        version, rank, signatures, groups = json.loads(text)
        return Flight(
            version,
            rank,
            tuple(Signature(*one) for one in signatures),
            {
                name: Group(desc, tuple(ranks), first, _unpacked(calls), tuple(map(_again, open_)), _again(last) if last else None)
                for name, (desc, ranks, first, calls, open_, last) in groups.items()
            },
        )
    except (TypeError, AttributeError) as cause:
        raise ValueError("no dump") from cause


def _again(row: list[Any]) -> Call:
    number, state, created, stack, signature, pair = row
    return Call(number, state, created, tuple(stack), signature, (pair[0], pair[1], pair[2]) if pair else None)


def _packed(values: tuple[int, ...]) -> list[int]:
    """Value and how often it follows: a training loop calls the same things thousands of times."""
    packed: list[int] = []
    for value in values:
        if packed and packed[-2] == value:
            packed[-1] += 1
        else:
            packed += (value, 1)
    return packed


def _unpacked(packed: list[int]) -> tuple[int, ...]:
    if sum(packed[1::2]) > 2 * MAX_CALLS:
        raise ValueError("too many calls")
    return tuple(value for value, often in zip(packed[::2], packed[1::2], strict=True) for _ in range(often))
