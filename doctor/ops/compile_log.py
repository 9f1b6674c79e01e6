"""From bytes of logs to a Summary, in one pass and bounded memory: descriptions are folded as they come.

    [INFO] ASCENDCL(205,python3):2021-03-31-18:59:41.300.220 [op_compiler.cpp:187]205 aclopCompile: aclopCompile::aclOp = OpType: MatMul, InputDesc[0]: ...
    [WARNING] ASCENDCL(205,python3):... [op_model_cache.h:101]205 MatchOpModel: Match op inputs failed. opType = MatMul, inputDesc = ...
    [INFO] ASCENDCL(205,python3):... [op_compiler.cpp:208]205 CompileOp: To compile op: MatMul, compileFlag is 0

CANN's lines know no training step. If the log carries progress lines (standard output with the log redirected into it),
those count the steps; in a pure plog a step is estimated to begin when the process's first description comes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import BinaryIO

from doctor.ops.compiled import Change, Kind, Summary
from doctor.read.source import Skipped, Source
from doctor.repro import read_cann
from doctor.repro.call import Seen
from doctor.repro.dtypes import FORMATS

MAX_KINDS = 4_000  # distinct descriptions that are kept; further ones are folded, one for each type
MAX_LINE = 1 << 16
BLOCK = 1 << 20
REMEMBERED = 8  # descriptions of one type that a new one is compared with, per process

_WORDS = (b"aclOp = OpType: ", b"Match op ", b"To compile op: ")
_PROCESS = re.compile(rb"\b[A-Z_]{2,16}\((\d{1,9})[,)]")
_MISSED = re.compile(rb"Match op (?:inputs|type)\S{0,8} failed\. opType = (\w{1,80})")
_COMPILE = re.compile(rb"To compile op: (\w{1,80})")
_LAYOUTS = {number: name for name, number in FORMATS.items()}
_LEVELS = (b"[INFO]", b"[DEBUG]", b"[WARNING]", b"[ERROR]", b"[EVENT]", b"[TRACE]")
STEP_MARKER = (
    rb"(?i:\biter(?:ation)?s?\b[\s:=\[]{0,12}(\d{1,9})(?=[\s,/\]]))"
    rb"|(?i:(?:\bstep|global_step)[\s:=\[]{0,12}(\d{1,9})(?=[\s,/\]|]|$))"
    rb"|Epoch:? ?\[\d{1,6}\]\[\s{0,6}(\d{1,9})/\d"
    rb"|(\d{1,9})/\d{1,9} \[\d{1,3}:\d\d<"
)


@dataclass(slots=True)
class _Process:
    """What one process did last: its anchor for steps, and the descriptions that its compile lines belong to."""

    anchor: bytes = b""
    step: int = 1
    last: dict[str, bytes] = field(default_factory=dict)
    known: dict[str, list[bytes]] = field(default_factory=dict)
    waiting: dict[str, bytes] = field(default_factory=dict)  # missed the cache; its compile line has not come


class Collector:
    """Folds lines. Feed sources one after the other, then ask for `summary`."""

    def __init__(self, marker: str | None = None) -> None:
        self.marker = re.compile(marker.encode() if marker else STEP_MARKER)
        self.kinds: dict[bytes, Kind] = {}
        self.processes: dict[bytes, _Process] = {}
        self.summary = Summary()
        self._estimates = True  # until a line that is no log line of CANN comes
        self._pure = False  # a plog by its name: nothing but CANN's lines
        self._markers = 0
        self._marked: bytes | None = None

    def read(self, source: Source) -> None:
        """Everything of one source; raises OSError where the source does."""
        self._estimates, self._markers, self._marked = True, 0, None
        self._pure = source.hints.pid is not None
        self.summary.files += 1
        with source.open() as stream:
            for block in _blocks(stream):
                self.summary.bytes += len(block)
                self._block(block)

    def finish(self) -> Summary:
        made = self.summary
        made.kinds = sorted(self.kinds.values(), key=lambda k: k.order)
        made.processes = len(self.processes)
        return made

    def _block(self, block: bytes) -> None:
        if self._pure and not any(word in block for word in _WORDS):
            return
        for line in block.split(b"\n"):
            if line.startswith(_LEVELS) or b"aclOp = OpType: " in line:
                if b" op" in line or b"OpType: " in line:
                    self.line(line[:MAX_LINE])
            elif line.strip():
                self._progress(line)

    def _progress(self, line: bytes) -> None:
        self._estimates = False
        found = self.marker.search(line[:2000])
        if found is None:
            return
        number = next((g for g in found.groups() if g is not None), found[0])
        if number != self._marked:
            self._marked = number
            self._markers += 1

    def _step(self, process: _Process) -> int:
        if self._markers:
            return self._markers + 1
        return process.step if self._estimates else 1

    def line(self, line: bytes) -> None:
        """One line of a CANN log."""
        at = line.find(b"aclOp = OpType: ")
        if at >= 0:
            self._described(line, at + 8)
        elif found := _MISSED.search(line):
            self._missed(self._process(line), found[1].decode())
        elif found := _COMPILE.search(line):
            self._compiled(self._process(line), found[1].decode())

    def _process(self, line: bytes) -> _Process:
        found = _PROCESS.search(line[:200])
        pid = found[1] if found else b""
        return self.processes.setdefault(pid, _Process())

    def _described(self, line: bytes, at: int) -> None:
        process = self._process(line)
        text = line[at:].rstrip()
        key = blake2b(text, digest_size=12).digest()
        if not process.anchor:
            process.anchor = key
        elif key == process.anchor:
            process.step += 1
        step = self._step(process)
        self.summary.steps = max(self.summary.steps, step)
        if step > 1 and self.summary.steps_by == "none":
            self.summary.steps_by = "marker" if self._markers else "estimate"
        name = text[8:90].split(b",", 1)[0].decode("ascii", "replace").strip()
        kind = self.kinds.get(key)
        if kind is None:
            if len(self.kinds) >= MAX_KINDS:
                key = f"folded {name}".encode()
                kind = self.kinds.get(key) or Kind(name, (), (), (), step, len(self.kinds), folded=True)
                self.kinds[key] = kind
            else:
                kind = self.kinds[key] = _kind(name, text.decode("utf-8", "replace"), step, len(self.kinds))
        if b"ompile" in line[:at]:
            kind.calls += 1
        else:
            kind.runs += 1
        process.last[name] = key
        known = process.known.setdefault(name, [])
        if key not in known:
            if known and not kind.changes and not kind.folded:
                kind.changes = nearest(kind, [self.kinds[k] for k in known if not self.kinds[k].folded])
            known.append(key)
            del known[:-REMEMBERED]

    def _missed(self, process: _Process, name: str) -> None:
        key = process.last.get(name)
        if key is not None and process.waiting.get(name) != key:
            process.waiting[name] = key
            self._count(process, name, key)

    def _compiled(self, process: _Process, name: str) -> None:
        key = process.last.get(name)
        if key is None:
            return
        if process.waiting.pop(name, None) != key:  # the cache's own line was not printed (level above WARNING)
            self._count(process, name, key)

    def _count(self, process: _Process, name: str, key: bytes) -> None:
        kind = self.kinds[key]
        kind.compiled += 1
        step = self._step(process)
        if step > 1 and len(process.known.get(name, ())) > 1:
            kind.again += 1
            kind.again_step = min(kind.again_step or step, step)


def collect(sources: Iterable[Source], marker: str | None = None) -> tuple[Summary, tuple[Skipped, ...]]:
    """All sources folded into one summary; what could not be read is named."""
    made = Collector(marker)
    skipped: list[Skipped] = []
    for source in sources:
        if source.only_adds:
            continue
        try:
            made.read(source)
        except OSError as error:
            skipped.append(Skipped(source.name, error.strerror or str(error)))
    return made.finish(), tuple(skipped)


def _kind(name: str, text: str, step: int, order: int) -> Kind:
    sides: dict[str, list[Seen]] = {"In": [], "Out": []}
    for side, seen in read_cann.tensors(text):
        if len(sides[side]) < 64:
            sides[side].append(seen)
    return Kind(name, tuple(sides["In"]), tuple(sides["Out"]), read_cann.aclop_attributes(text), step, order)


def nearest(kind: Kind, others: list[Kind]) -> tuple[Change, ...]:
    """What differs from the most similar of the descriptions known before."""
    return min((tuple(changes(other, kind)) for other in others), key=len, default=())


def changes(old: Kind, new: Kind) -> Iterator[Change]:
    if len(old.inputs) != len(new.inputs):
        yield Change(-1, "inputs", str(len(old.inputs)), str(len(new.inputs)))
        return
    for number, (a, b) in enumerate(zip(old.inputs, new.inputs, strict=True)):
        if a.shape != b.shape:
            yield Change(number, "shape", sizes(a), sizes(b))
        if a.dtype != b.dtype:
            yield Change(number, "dtype", a.dtype or "?", b.dtype or "?")
        if a.number_format != b.number_format:
            yield Change(number, "format", layout(a), layout(b))
    before, after = dict(old.attrs), dict(new.attrs)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Change(-1, f"attribute {name}", str(before.get(name)), str(after.get(name)))


def sizes(seen: Seen) -> str:
    return "?" if seen.shape is None else f"[{', '.join(map(str, seen.shape))}]"


def layout(seen: Seen) -> str:
    return "?" if seen.number_format is None else _LAYOUTS.get(seen.number_format, f"format {seen.number_format}")


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines in blocks of about a mebibyte; a line without an end is cut, never kept."""
    rest = b""
    while block := stream.read(BLOCK):
        end = block.rfind(b"\n") + 1
        if not end:
            rest = (rest + block)[:MAX_LINE]
            continue
        yield rest + block[: end - 1]
        rest = block[end:]
    if rest:
        yield rest
