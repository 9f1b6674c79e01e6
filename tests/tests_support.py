"""Texts that tests compose, and how long they wait."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from doctor.judge.diagnosis import Diagnosis
from kb import build
from kb.layers import HERE, Layer
from kb.model import Entry
from kb.pack import write_atomically
from kb.problems import Problem

INCIDENTS = sorted(p.parent for p in (Path(__file__).parent / "data" / "incidents").glob("*/label.json"))
Concluded = Callable[[Path], Diagnosis]
Diagnosed = Callable[[Path], dict[str, Any]]
HANG_S = 600  # nothing that moves takes so long, on however busy a machine: who waits this long waits for a hang
KEPT = "TESTS_OF_NPU_DOCTOR_KEEP"  # the variable that names the folder for what is made once for all workers and runs


@cache
def built_in_entries() -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """Every built-in entry with its samples, and the faults of those that cannot be read; read again when a file or the code has changed."""
    place = Path(os.environ[KEPT]) / f"{_digest_of_sources()}.pickle" if KEPT in os.environ else None
    if place is not None and place.exists():
        return pickle.loads(place.read_bytes())  # type: ignore[no-any-return]
    entries, faults = build.read_entries(Layer("built-in", HERE))
    if place is not None:
        for old in place.parent.glob("*.pickle"):
            old.unlink(missing_ok=True)
        write_atomically(place, pickle.dumps((tuple(entries), tuple(faults))))
    return tuple(entries), tuple(faults)


def fits_schema(made: object, schema: object) -> None:
    """Raises what of a report does not fit."""
    _validator(json.dumps(schema)).validate(made)


@cache
def _validator(schema: str) -> Any:
    """Checks the schema itself, which takes longer than a report, once."""
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    return jsonschema.Draft202012Validator(json.loads(schema))


def families(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries by the letters of their codes: one test looks at a family and names those that fail, for a thousand tests cost more than what they try."""
    found: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.code):
        found.setdefault(entry.code.rstrip("0123456789"), []).append(entry)
    return found


def _digest_of_sources() -> str:
    told = hashlib.sha256()
    for path in sorted((*HERE.glob("entries/**/*.yaml"), HERE / "kinds.yaml", *HERE.glob("*.py"))):
        told.update(f"{path}\0".encode() + path.read_bytes() + b"\0")
    return told.hexdigest()


SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.5        41                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3391 / 65536         |
+===========================+===============+====================================================+
"""


def mixed(exception: str, plog: str) -> str:
    """A training log as screens show it: progress, a table, a prefixed traceback, plog lines on stdout."""
    lines = [
        "2026-02-03 04:00:00,123 - INFO - starting",
        *(f" iteration {i:4}/ 100 | lm loss: {9 - i / 20:.3f} |" for i in range(40)),
        SMI,
        "[INFO] HCCL(4711,python3):2026-02-03-04:05:01.001.001 [op_base.cc:10] [4711]Entry-HcclAllReduce",
        plog,
        "[rank0]: Traceback (most recent call last):",
        '[rank0]:   File "/home/u/train.py", line 7, in main',
        "[rank0]:     loss.backward()",
        f"[rank0]: {exception}",
        "  0%|          | 0/300 [00:00<?, ?it/s]",
    ]
    return "\n".join(lines) + "\n"


EVIL = [
    "\x1b]0;owned\x07", "\x1b]8;;http://evil/\x1b\\click\x1b]8;;\x1b\\", "\x1b[2J\x1b[H", "\x1bP+q544e\x1b\\", "\x9b31m", "\x9d0;x\x9c", "\x08\x08\x08",
    "\r overwritten", "\u202egnp.exe\u202c", "\u2066hidden\u2069", "[bold red]markup[/]", "[@click=app.quit]x[/]", "<script>alert(1)</script>",
    "```\n# heading\n```", "![x](http://evil/x.png)", "| a | b |", "\x00\x00", "{rank}", "{0.__class__}", "%s%n", "$(touch /tmp/pwned)", "`id`", "'; id; '",
    "\u061chidden", "no\u200bwidth", "a\u200dz", "row\u2028row", "row\u2029row", "\ufeffmark", "\u2060\u00ad\U000e0041tag", "##[group]x", "##vso[task.setvariable]x",
]  # fmt: skip


def hostile_log() -> bytes:
    """Every piece of evil inside a line that some entry claims, and inside one that none claims."""
    rows = []
    for evil in EVIL:
        rows.append(f"ImportError: lib{evil}.so: cannot open shared object file: No such file or directory {evil}")
        rows.append(
            f"[ERROR] HCCL(7,{evil[:3]}py):2026-01-02-03:04:05.006.007 [a.cc:1] [7]unheard of {evil} trouble 507018"
        )
        rows.append(f"RuntimeError: {evil}")
    for command in ("::error::x", "::stop-commands::x", "  ::set-output name=x::y", "##[error]x"):
        rows += [command, f"RuntimeError: NPU out of memory\n{command} failed", f"Traceback (most recent call last):\n{command}\nRuntimeError: {command}"]
    return "\n".join(rows).encode("utf-8", "surrogateescape")

# Text that would do something if anything took it for more than text.
HOSTILE = (
    "'; import os; os.system('touch /tmp/pwned'); '",
    '"""\nimport os\nos.system("id")\n"""',
    "# <<< slots\nimport os\nos.abort()\n# >>> slots",
    "x\\\nimport os",
    "{__import__('os').system('id')}",
    "%s%n{0}",
    "../../../../etc/passwd",
    "torch.load",
    "torch.ops.aten.from_file",
    "__import__('os')",
    "a\r\nb\u2028c\u202ed\x00e\x1b[2J",
    "\ud800",
    "$(id)`id`",
    "',)]}\n",
)
