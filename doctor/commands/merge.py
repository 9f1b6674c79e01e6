"""`npu-doctor merge`: the harvests of many nodes to one diagnosis, as if everything had been scanned at once."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from doctor.answer.redact import KEY_VARIABLE
from doctor.base import output
from doctor.base.errors import UsageError
from doctor.commands import common, reporting
from doctor.judge.diagnosis import conclude
from doctor.scan.harvest import Cluster, Harvest, Hit, Place, from_json


def arguments() -> common.Parser:
    made = common.parser(
        "merge",
        "Merge what `npu-doctor scan -f jsonl` wrote on several nodes into one diagnosis of the whole job. - is standard input.",
    )
    made.add_argument("paths", nargs="+", metavar="FILE.jsonl")
    reporting.output_options(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    begin = time.perf_counter()
    reporting.targets(args)
    known = common.knowledge(args)
    names: dict[str, str | None] = {}
    output.spare((*(args.output or ()), args.redact_map), args.paths)
    read = [(name, harvest) for name in args.paths for harvest in harvests(name, known.digest, names)]
    if len(set(names.values())) > 1:
        sys.stderr.write(
            "npu-doctor: these files were redacted with different pseudonyms: who waits for whom on another node cannot be told"
            f"\n = help: scan every node with --redact and the same secret in {KEY_VARIABLE}\n"
        )
    diagnosis = conclude(apart(read), known, time.perf_counter() - begin)
    reporting.emit(args, diagnosis, known)
    return reporting.exit_code(args, diagnosis)


def harvests(name: str, digest: str, names: dict[str, str | None] | None = None) -> Iterator[Harvest]:
    """The harvests in a file; everything else in it is a conclusion and is drawn again."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror}", "give files that `npu-doctor scan -f jsonl` wrote"
        ) from error
    found = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            kind = row["type"]
            made = from_json(row) if kind == "harvest" else None
            if kind == "report" and not all(isinstance(row.get(k, {}), dict) for k in ("redacted", "knowledge")):
                raise TypeError("no report")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{name}:{number} is no line of `npu-doctor scan -f jsonl`",
                "write it again on that node, with the same version",
            ) from error
        if kind == "report" and names is not None:
            names[name] = row.get("redacted", {}).get("names")
        if kind == "report" and row.get("knowledge", {}).get("digest") != digest:
            sys.stderr.write(
                f"npu-doctor: {name} was scanned with other knowledge: what only one of them knows is missing\n"
            )
        if made is not None:
            found = True
            yield made
    if not found:
        raise UsageError(f"there is no harvest in {name}", "write it with: npu-doctor scan LOGS -f jsonl -o node.jsonl")


def apart(read: list[tuple[str, Harvest]]) -> list[Harvest]:
    """Nodes whose logs stand under the same path are told apart by the names of their harvests' files.

    In containers every node has the same folders and the same pids: without this they would be one process. What was
    scanned on one machine in several calls stays together.
    """
    names = {Path(name).stem for name, _ in read}
    owners = [one.machine or f"file {number}" for number, (_, one) in enumerate(read)]
    called: dict[str, str] = {}
    for owner, (name, _) in zip(owners, read, strict=True):
        folder = Path(name).stem if len(names) == len(read) else name.strip("/").removesuffix(".jsonl")
        called[owner] = min(called.get(owner, folder), folder)
    of_key: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for owner, (_, one) in zip(owners, read, strict=True):
        for s in one.spans:
            of_key[(s.path.rpartition("/")[0], s.pid) if (s.pid or -1) >= 0 else (s.path, None)].add(owner)
    clashing = {owner for several in of_key.values() if len(several) > 1 for owner in several}
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
