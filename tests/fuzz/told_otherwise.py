"""What other commands than scan are given: dumps, snapshots, stacks, steps, baselines, reports, the words of nodes. What must hold for any bytes."""

from __future__ import annotations

import base64
import io
import json
import pickle
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

from doctor.base.errors import UsageError
from doctor.baseline import beside, kept, reports, told
from doctor.baseline.listen import listen
from doctor.baseline.run import Run
from doctor.baseline.shapes import Shapes
from doctor.fleet.talk import MARK, Order, Talk
from doctor.hang.conclude import conclude
from doctor.memory.classes import Case, judge
from doctor.memory.evidence import Evidence
from doctor.pace import page, report
from doctor.pace import text as pace_text
from doctor.pace.look import look
from doctor.pace.wordings import Wording, wordings
from doctor.read.source import Source, hints
from doctor.render import hang, layout
from doctor.render import memory as memory_text
from doctor.scan import dumps
from kb.invisible import STEERING
from kb.knowledge import Knowledge, load
from parsers.pickle_state import PickleError
from parsers.snapshot import NoSnapshotError, again, snapshot, written

BOTH = ("en", "zh")
NONCE = "fuzz"
RUN = b"2026-01-02 03:04:05 step 1 done\nRuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n"


def _source(name: str, data: bytes, dump: str = "") -> Source:
    return Source(name, lambda: io.BytesIO(data), len(data), hints(name))._replace(dump=dump)


def _shown(texts: Iterable[str]) -> None:
    for one in texts:
        assert not STEERING.search(one.replace("\n", "")), one


def flight(data: bytes) -> None:
    """A dump of the Flight Recorder, in a pickle or JSON: rows or a reason, and a verdict in both languages."""
    _verdict(dumps.scan(_source("hccl_trace_rank_3", data, "flight")).dumps)


def stacks(data: bytes) -> None:
    """Texts with stacks."""
    _verdict(dumps.anywhere(_source("stacks.txt", data)))


def _verdict(found: tuple[dumps.Dump, ...]) -> None:
    verdict = conclude(found)
    read = hang.Read(1, 1, 1, ())
    _shown(hang.text(verdict, read, language) for language in BOTH)
    json.dumps(hang.data(verdict, read), ensure_ascii=False)


def memory(data: bytes) -> None:
    """A memory snapshot: refused, or judged in both languages; its digest can be read."""
    try:
        made = snapshot(data)
    except (PickleError, NoSnapshotError):
        return
    again(json.loads(json.dumps(written(made))))
    found = Evidence(made, None, {})
    _shown(memory_text.text((Case("a", found, judge(found)),), language, layout.Style()) for language in BOTH)


def pace(data: bytes) -> None:
    """Steps of a run: whatever the numbers are, an answer in every form."""
    found = look([_source("rank_0.log", data)], (), _wordings())
    for language in BOTH:
        _shown([pace_text.text(found, language, layout.Style(), True)])
        page.render(found, language).encode("utf-8", "backslashreplace")
    json.loads(report.as_json(report.data(found)), parse_constant=_refused)


def _refused(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def baseline(data: bytes) -> None:
    """The content of a baseline whose digest is right: refused, or a run is compared with it."""
    body = zlib.compress(data)
    run, shapes = _run()
    try:
        usual = kept.unpacked(f"{kept.MAGIC} {kept.VERSION} {kept._digest(body)}\n".encode() + body, "x.baseline", shapes)
    except UsageError:
        return
    made = beside.compared(run, usual, {}, shapes, _knowledge())
    for language in BOTH:
        _shown([told.text(made, language, layout.Style(), True), told.markdown(made, language)])
        told.page(made, language)


def reported(data: bytes) -> None:
    """A report that is compared with itself and with an empty one."""
    empty = {"schema_version": 1, "verdict": "x", "findings": [], "unexplained": []}
    try:
        made = reports.read("a", data)
        found = [reports.changes(made, made, ("a", "b")), reports.changes(empty, made, ("a", "b")), reports.changes(made, empty, ("a", "b"))]
    except UsageError:
        return
    _shown(reports.text(one, language, layout.Style(), markdown) for one in found for language in BOTH for markdown in (False, True))


def talk(data: bytes) -> None:
    """What a node says, behind the mark that it was given: an outcome, whose reason can be shown."""
    order = Order(("scan",), ".jsonl", "1", 10)
    for spoken in (data, data.replace(b"\n", b"\n" + MARK + NONCE.encode() + b" ")):
        made = Talk(NONCE, lambda machine: (machine.encode("utf-8", "backslashreplace"), "digest"), order)
        made.opening()
        for at in range(0, len(spoken), 700):
            made.heard(spoken[at : at + 700])
        made.said(spoken)
        _shown([made.outcome(0, False, 1.0).reason])


@lru_cache(maxsize=1)
def _knowledge() -> Knowledge:
    return load()


@lru_cache(maxsize=1)
def _wordings() -> tuple[Wording, ...]:
    return wordings(_knowledge().pace())


def _run() -> tuple[Run, Shapes]:
    shapes = Shapes()
    return listen([_source("bad.log", RUN)], shapes), shapes


_FRAMES = [{"filename": "/home/x/train.py", "line": 8, "name": "step"}]
_ENTRY = {
    "record_id": 1, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": 4, "p2p_seq_id": 0, "op_id": 1, "profiling_name": "hccl:all_reduce",
    "input_sizes": [[3]], "output_sizes": [[3]], "input_dtypes": ["Float"], "output_dtypes": ["Float"], "state": "scheduled", "is_p2p": False, "retired": False,
    "timeout_ms": 600000, "time_created_ns": 7, "frames": _FRAMES,
}  # fmt: skip
_FLIGHT = {"version": "2.4", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "pg_status": {"0": {"last_enqueued_collective": 4}}, "entries": [_ENTRY]}
_BLOCK = {"address": 1, "size": 4194304, "state": "active_allocated", "frames": _FRAMES}
_SNAPSHOT = {
    "segments": [{"address": 1, "total_size": 8388608, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "blocks": [_BLOCK, {"address": 2, "size": 9, "state": "inactive"}]}],
    "device_traces": [[{"action": action, "addr": 1, "size": 4194304, "stream": 0, "time_us": 17, "frames": _FRAMES, "device_free": 3} for action in ("alloc", "free_completed", "oom")]],
    "allocator_settings": {"expandable_segments": False},
}  # fmt: skip
_USUAL = {"made_by": "1", "runs": 2, "lines": 9.5, "voices": 1, "further": 0, "settings": {"lr": ["1"]}, "facts": {"cann": ["8.0"]}, "shapes": [["step <n> done", 2, 1.0, 1, 1, None], ["x failed", 1, 1, 1, 1, 3.5]]}
_REPORT = {
    "schema_version": 1, "verdict": "findings", "unexplained": [{"template": "a <n>", "count": 1, "evidence": {"path": "a.log", "line": 1}}],
    "findings": [{"id": "A", "title": {"en": "a", "zh": "b"}, "role": "root", "severity": "error", "count": 1, "scope": {"node": None, "rank": 3}, "evidence": [{"path": "x", "line": 1}]}],
}  # fmt: skip
_STACKS = (
    'Process 7: python train.py\nPython v3.10.1 (/usr/bin/python)\n\nThread 7 (active): "MainThread"\n    wait (c10d.py:3)\n    step (train.py:8)\n',
    'Thread 0x00007f (most recent call first):\n  File "/a/train.py", line 8 in step\n  File "/a/b.py", line 3 in main\n',
    'Thread 1 (LWP 7):\n#0  0x00007f in poll () from /lib/libc.so\n#1  0x01 in hcclWait (x=3) at hccl.cc:9\n',
    '[{"pid": 7, "thread_id": 3, "thread_name": "MainThread", "os_thread_id": 7, "active": true, "frames": [{"name": "f", "filename": "a.py", "line": 3}]}]',
)  # fmt: skip
_STEPS = (
    " iteration       10/     100 | consumed samples:          320 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.0E-04 | lm loss: 2.3E+00 |\n",
    "{'loss': 1.5, 'grad_norm': 2.0, 'learning_rate': 1e-05, 'epoch': 0.1}\n 10%|#         | 10/100 [00:10<01:30,  1.00s/it]\n",
    "INFO 03-25 06:14:02 [loggers.py:1] Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 20.0 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n",
)  # fmt: skip


def _spoken() -> bytes:
    packed = base64.b64encode(zlib.compress(b"x" * 50)).decode()
    return f'here {{}}\nneed {{"machine": "aarch64"}}\ndata {packed}\nend {{"code": 0, "late": false, "size": 50, "sha256": "x", "said": "", "seconds": 1}}\nrefused {{"reason": "no"}}\n'.encode()


TARGETS: dict[str, Callable[[bytes], None]] = {
    "flight": flight, "stacks": stacks, "memory": memory, "pace": pace, "baseline": baseline, "reported": reported, "talk": talk,
}  # fmt: skip
SEEDS: dict[str, Iterable[bytes]] = {
    "flight": (*(pickle.dumps(_FLIGHT, protocol) for protocol in (2, 4)), json.dumps(_FLIGHT).encode()),
    "stacks": tuple(text.encode() for text in _STACKS),
    "memory": tuple(pickle.dumps(_SNAPSHOT, protocol) for protocol in (2, 4)),
    "pace": tuple((text * 12).encode() for text in _STEPS),
    "baseline": (json.dumps(_USUAL).encode(),),
    "reported": (json.dumps(_REPORT).encode(),),
    "talk": (_spoken(),),
}
