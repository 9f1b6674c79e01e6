"""`npu-doctor memory`: who holds the memory, from snapshots, out-of-memory messages and CANN's table of components."""

from __future__ import annotations

import json
import sys

from doctor.base import exits, output
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.words.told import told as in_words
from doctor.commands import common
from doctor.memory import reading
from doctor.memory.classes import Kind
from doctor.render import memory as told


def arguments() -> common.Parser:
    made = common.parser(
        "memory",
        "Who holds a device's memory: leak, fragmentation, the peak of one step, KV cache, other processes, HCCL buffers and others,\n"
        "with the places in the code that allocated it. Reads memory snapshots (torch_npu.npu.memory._dump_snapshot(),\n"
        "OOM_SNAPSHOT_ENABLE=1, torch.cuda.memory), the log with the out-of-memory message, and device_*_memUsageInfo_*.csv beside them.",
    )
    made.add_argument("paths", nargs="*", metavar="FILE", help="snapshots, logs, tables, or folders of them")
    made.add_argument("-f", "--format", choices=("text", "json"), help="default: by the suffix of -o, else text")
    made.add_argument("-o", "--output", metavar="FILE")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if not args.paths:
        raise UsageError("no snapshot was given", "npu-doctor memory SNAPSHOT.pickle train.log")
    language, form = common.language(args), common.format_of(args.format, args.output, ("text", "json"))
    found = reading.read(args.paths)
    output.spare([args.output], (*args.paths, *found.files))
    for path, why in found.refused[:20]:
        sys.stderr.write(f"npu-doctor: {clean(path)}: {clean(in_words(why, language))}\n")
    if not found.cases:
        if not found.refused:
            sys.stderr.write(f"npu-doctor: {clean(in_words('no memory snapshot and no out-of-memory message was found', language))}\n")
        help_text = in_words("a snapshot is written by OOM_SNAPSHOT_ENABLE=1 when memory runs out, or by torch_npu.npu.memory._dump_snapshot('memory.pickle')", language)
        sys.stderr.write(f" = help: {help_text}\n")
        if form == "json":
            common.write(_json(found), args.output, form=form)
        return exits.INCONCLUSIVE
    made = _json(found) if form == "json" else told.text(found.cases, language, common.style(args, args.output))
    common.write(made, args.output, form=form)
    if any(case.found.kind is not Kind.EVEN for case in found.cases):
        return exits.FINDINGS
    return exits.INCONCLUSIVE if found.refused else exits.CLEAN


def _json(found: reading.Read) -> str:
    return json.dumps(told.data(found.cases, found.refused), ensure_ascii=False, indent=1) + "\n"
