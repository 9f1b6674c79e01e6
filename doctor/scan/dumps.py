"""Dumps of processes among the sources: each is read as a whole, into what the room it is for can read again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from doctor.read import dumps
from doctor.read.source import Skipped, Source
from doctor.scan.harvest import Dump, Harvest
from parsers import foreign_json, stacks
from parsers.foreign_json import ForeignJsonError
from parsers.pickle_state import MAX_BYTES, PickleError, Plain, Why

MAX_TEXT = 64 << 20
"""Bytes of a text with stacks, or of a dump in JSON."""

_SILENCE = ("who", "step", "last", "count", "others", "seconds")
_WHY = {
    Why.HOSTILE: "not read: it asks for {asked}, and a dump holds nothing but plain values (nothing was run)",
    Why.TRUNCATED: "a dump that was cut off: not read",
    Why.FOREIGN: "by its name a dump, by its bytes none: not read",
    Why.LARGE: "a dump larger than what is read of one: not read",
}


def scan(source: Source) -> Harvest:
    """What a dump says; or why it is not read."""
    try:
        with source.open() as stream:
            data = _whole(stream)
    except OSError as error:
        return Harvest(skipped=(Skipped(source.name, error.strerror or str(error)),))
    if not data:
        return Harvest(skipped=(Skipped(source.name, "an empty dump: its process died, or the disk was full, before it was written"),), files=1)
    try:
        told, rank = _READERS[source.dump](data, source.name)
    except PickleError as error:
        return Harvest(skipped=(Skipped(source.name, _WHY[error.why].format(asked=error.asked)),), files=1, size=len(data))
    except ValueError as error:
        return Harvest(skipped=(Skipped(source.name, str(error)),), files=1, size=len(data))
    hints = source.hints
    made = Dump(source.dump, source.name, hints.node, rank if rank is not None else hints.rank, hints.pid, told)
    return Harvest(dumps=(made,), kinds={"dump": 1}, files=1, size=len(data))


def _whole(stream: BinaryIO) -> bytes:
    """The stream to its end, or one byte more than is read of a dump."""
    pieces, size = [], 0
    while size <= MAX_BYTES and (piece := stream.read(1 << 24)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces) if len(pieces) != 1 else pieces[0]


def _flight(data: bytes, name: str) -> tuple[str, int | None]:
    from parsers import flight

    if data[:1] > b"\x80":  # by its name alone it is one: a picture, an archive
        raise PickleError(Why.FOREIGN, 0, "no pickle begins so")
    value: Plain = _json(data) if data.lstrip()[:1] == b"{" else flight.pickled(data)
    made = flight.flight(value, flight.rank_of(name))
    return flight.written(made), made.rank


def _json(data: bytes) -> Plain:
    if len(data) > MAX_TEXT:
        raise PickleError(Why.LARGE, 0, f"it has more than {MAX_TEXT} bytes")
    try:
        return foreign_json.read(data)
    except ForeignJsonError as error:
        raise PickleError(Why.FOREIGN, 0, str(error)) from None


def _memory(data: bytes, _: str) -> tuple[str, int | None]:
    from parsers import snapshot

    return json.dumps(snapshot.written(snapshot.snapshot(data)), ensure_ascii=False), None


_READERS: dict[str, Callable[[bytes, str], tuple[str, int | None]]] = {dumps.FLIGHT: _flight, dumps.MEMORY: _memory}


def in_text(source: Source, kind: str, data: bytes | None) -> tuple[Dump, ...]:
    """The dumps that stand in a text, which is read as a log as well; `data` is all of it when that was little."""
    if data is None:
        if source.once:
            return ()
        with source.open() as stream:
            data = stream.read(MAX_TEXT)
    text = data.decode("utf-8", "replace")
    hints = source.hints
    if kind == dumps.STACKS:
        return tuple(
            Dump(kind, source.name, hints.node, one.rank if one.rank is not None else hints.rank, one.pid if one.pid is not None else hints.pid, stacks.written(one))
            for one in stacks.read(text)
        )
    if kind == dumps.VERDICT:
        return tuple(_verdicts(source, text))
    return tuple(_snapshots(source, text) if kind == dumps.MEMORY else _flights(source, text))


def _snapshots(source: Source, text: str) -> Iterator[Dump]:
    """The snapshots that a report of `npu-doctor memory` tells."""
    from parsers import snapshot

    try:
        cases = foreign_json.read(text)["cases"]
        made = [snapshot.again(case["snapshot"]) for case in cases if case["snapshot"]]
    except (ValueError, KeyError, TypeError):
        return
    for one in made:
        yield Dump(dumps.MEMORY, source.name, source.hints.node, source.hints.rank, None, json.dumps(snapshot.written(one), ensure_ascii=False))


def _verdicts(source: Source, text: str) -> Iterator[Dump]:
    """What `npu-doctor hang -f json` said where the processes ran."""
    try:
        told = foreign_json.read(text[text.index("{") :])
        made = {name: str(told[name]) for name in ("kind", "call", "line", "other_line")}
        ranks = {name: [int(rank) for rank in told[name]] for name in ("ranks", "waiting")}
        quiet = next(({name: str(one[name]) for name in _SILENCE} for one in told.get("reasons", ()) if one["what"] == "silent"), None)
    except (ValueError, KeyError, TypeError):
        return
    yield Dump(dumps.VERDICT, source.name, source.hints.node, next(iter(ranks["ranks"]), None), None, json.dumps({**made, **ranks, "silence": quiet}))


def anywhere(source: Source) -> tuple[Dump, ...]:
    """All dumps that stand in a text, wherever in it: who asks for hangs reads all of it, and its end when it is long."""
    with source.open() as stream:
        data = _tail(stream) if source.size is None or source.size > MAX_TEXT else stream.read(MAX_TEXT)
    kind = dumps.in_text(data)
    return in_text(source, kind, data) if kind else ()


def _tail(stream: BinaryIO) -> bytes:
    """The last part of a stream: stacks are printed at the end."""
    kept = b""
    while piece := stream.read(1 << 22):
        kept = (kept + piece)[-MAX_TEXT:]
    return kept


def _flights(source: Source, text: str) -> Iterator[Dump]:
    """Flight Recorder dumps as JSON, one a line, with the rank before it that a launcher prints; or one in a file."""
    from parsers import flight

    for line in text.split("\n") if '"entries"' in text else ():
        begin = line.find("{")
        if begin < 0 or '"entries"' not in line:
            continue
        prefix = re.match(r"\[(?:rank|default)?(\d{1,6})\]", line)
        try:
            made = flight.flight(foreign_json.read(line[begin:]), int(prefix[1]) if prefix else flight.rank_of(source.name))
        except ValueError:
            continue
        yield Dump(dumps.FLIGHT, source.name, source.hints.node, made.rank, None, flight.written(made))
