"""The harvests of many nodes: read from what each of them wrote, told apart, and marked where something is missing."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from doctor.base.errors import UsageError
from doctor.scan.harvest import Absent, Cluster, Harvest, Hit, Place, from_json
from parsers import foreign_json
from parsers.named import NamedTuple


class Kept(NamedTuple):
    """What a file of a node holds: its harvests, and what is said of how they were made."""

    name: str
    harvests: tuple[Harvest, ...]
    pseudonyms: frozenset[str | None]
    knowledge: frozenset[str | None]


def read(name: str) -> Kept:
    """The harvests in a file; everything else in it is a conclusion and is drawn again."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror}", "give files that `npu-doctor scan -f jsonl` wrote"
        ) from error
    return parsed(text, name)


def parsed(text: str, name: str) -> Kept:
    """The same of its text, which may be anything."""
    harvests: list[Harvest] = []
    pseudonyms: set[str | None] = set()
    knowledge: set[str | None] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = foreign_json.read(line)
            kind = row["type"]
            if kind == "harvest":
                harvests.append(from_json(row))
            elif kind == "report":
                pseudonyms.add(_of(row, "redacted", "names"))
                knowledge.add(_of(row, "knowledge", "digest"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{name}:{number} is no line of `npu-doctor scan -f jsonl`",
                "write it again on that node, with the same version",
            ) from error
    if not harvests:
        raise UsageError(f"there is no harvest in {name}", "write it with: npu-doctor scan LOGS -f jsonl -o node.jsonl")
    return Kept(name, tuple(harvests), frozenset(pseudonyms), frozenset(knowledge))


def _of(row: Mapping[str, Any], part: str, name: str) -> str | None:
    value = row.get(part, {}).get(name)
    if value is not None and not isinstance(value, str):
        raise TypeError("no report")
    return value


def warnings(read: Iterable[Kept], digest: str, variable: str) -> Iterator[str]:
    """What keeps these files from being one picture."""
    pseudonyms: set[str | None] = set()
    for kept in read:
        pseudonyms |= kept.pseudonyms
        if kept.knowledge - {digest}:
            yield f"npu-doctor: {kept.name} was scanned with other knowledge: what only one of them knows is missing\n"
    if len(pseudonyms) > 1:
        yield (
            "npu-doctor: these files were redacted with different pseudonyms: who waits for whom on another node cannot be told"
            f"\n = help: scan every node with --redact and the same secret in {variable}\n"
        )


def with_absent(answer: str, absent: Absent) -> str:
    """A node's answer with the remark that it is not all."""
    rows = []
    for line in answer.split("\n"):
        row = json.loads(line) if line.strip() else None
        if row is not None and row["type"] == "harvest":
            row["absent"] = [*row.get("absent", ()), absent]
            line = json.dumps(row, separators=(",", ":"))
        rows.append(line)
    return "\n".join(rows)


def nothing_of(absent: Absent) -> str:
    """What stands in for the answer of a node that gave none."""
    return json.dumps({"type": "harvest", **Harvest(absent=(absent,)).json()}, separators=(",", ":")) + "\n"


def sharing(read: Iterable[Kept]) -> tuple[tuple[str, ...], ...]:
    """Files of different machines that tell of the same logs: a folder that nodes share was read by each of them."""
    same: dict[tuple[Any, ...], list[tuple[str, str]]] = defaultdict(list)
    for kept in read:
        for one in kept.harvests:
            if any(span.first for span in one.spans):
                same[(one.spans, one.size, one.lines)].append((kept.name, one.machine))
    return tuple(tuple(Path(name).stem for name, _ in group) for group in same.values() if len({machine for _, machine in group}) > 1)


def apart(read: list[tuple[str, Harvest]]) -> list[Harvest]:
    """Nodes whose logs stand under the same path are told apart by the names of their harvests' files.

    In containers every node has the same folders and the same pids: without this they would be one process. What was
    scanned on one machine in several calls stays together. Of several machines every path is told with its node: else
    nobody knew where to look.
    """
    names = {Path(name).stem for name, _ in read}
    files = Counter(name for name, _ in read)
    owners = [one.machine or f"file {number}" for number, (_, one) in enumerate(read)]
    called: dict[str, str] = {}
    for owner, (name, _) in zip(owners, read, strict=True):
        folder = Path(name).stem if len(names) == len(files) else name.strip("/").removesuffix(".jsonl")
        called[owner] = min(called.get(owner, folder), folder)
    of_key: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for owner, (_, one) in zip(owners, read, strict=True):
        for s in one.spans:
            of_key[(s.path.rpartition("/")[0], s.pid) if (s.pid or -1) >= 0 else (s.path, None)].add(owner)
    clashing = {owner for several in of_key.values() if len(several) > 1 for owner in several}
    if len(called) > 1:
        clashing.update(one.machine for _, one in read if one.machine and one.spans)
    return [
        _under(called[owner], one) if owner in clashing else one for owner, (_, one) in zip(owners, read, strict=True)
    ]


def _under(folder: str, one: Harvest) -> Harvest:
    def name(path: str) -> str:
        return f"{folder}/{path.lstrip('/')}"

    def place(at: Place) -> Place:
        return at._replace(path=name(at.path), node=at.node if at.node is not None else folder)

    def hit(h: Hit) -> Hit:
        return h._replace(place=place(h.place))

    def cluster(c: Cluster) -> Cluster:
        return c._replace(first=place(c.first))

    return one._replace(
        hits=tuple(map(hit, one.hits)),
        facts=tuple(map(hit, one.facts)),
        clusters=tuple(map(cluster, one.clusters)),
        spans=tuple(s._replace(path=name(s.path)) for s in one.spans),
        skipped=tuple(s._replace(path=name(s.path)) for s in one.skipped),
    )
