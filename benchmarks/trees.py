"""Seeded log trees of any size: `python -m benchmarks.trees DIR --kind typical --size 64M --files 16`.

typical  0.05 % ERROR lines, diverse INFO text with many near misses ("error code 0", "timeout[130]")
nasty    20 % ERROR lines, most of which some entry knows
storm    every line an ERROR with a text of its own
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

# What a process says once, when it begins: its settings and its identity.
BEGIN = (
    ("HCCL", "externalinput.cc:598", "[{tid}][HCCL_ENV] HCCL_CONNECT_TIMEOUT set by default to [120]s, timeout[{s}]"),
    ("HCCL", "hccl_communicator_attrs.cc:346", "[{tid}][LocalRank Key Info]userRank[{d}] hostIp[{ip}] devicePhyId[{d}] server[{ip}] deviceIp[192.168.{s}.{d}] superPodId[0]"),
    ("HCCP", "rs_ssl.c:1514", "tid:{tid},rs_ssl_init(1514) : TLS SWITCH (0)"),
)  # fmt: skip
INFO = (
    ("HCCL", "op_base.cc:2210", "[{tid}]Entry-HcclAllReduce: tag[AllReduce_{ip}%eth0_60000_0_{big}], count[{n}], dataType[bfloat16], op[sum], streamId[{s}], deviceLogicId[{d}]"),
    ("RUNTIME", "stream.cc:1121", "{tid} StreamSync: stream_id={s}, timeout={n}ms, pending=0, error code 0, ret=0"),
    ("RUNTIME", "api_impl.cc:3278", "{tid} SetDevice: device_id={d}, ret=0, error count 0"),
    ("RUNTIME", "memory_pool.cc:88", "{tid} Alloc: size={n}, addr=0x{hex}, pool blocks={s}, failed count 0"),
    ("RUNTIME", "task_recycle.cc:402", "{tid} RecycleTask: stream_id={s}, task_id={n}, head={s}, tail={n}, result=0x0"),
    ("GE", "graph_manager.cc:1204", "{tid} PreRun: ErrorNo: 0(success) [COMP][Process]compile graph {s} done, graph name online_{n}"),
    ("GE", "op_tiling_manager.cc:109", "{tid} ~FuncPerfScope:[GEPERFTRACE] The time cost of OpTilingManager::LoadSo is [{n}] micro seconds."),
    ("GE", "model_manager.cc:512", "{tid} LoadModel: model_id={s}, session={d}, weight size={n}, block dim={d}"),
    ("FE", "op_compiler.cc:702", "{tid} CompileOp: \"Op[Conv2D_{s}, optype[Conv2D]]: compile result is success, kernel te_conv2d_{hex}_1\""),
    ("ASCENDCL", "op_executor.cpp:64", "{tid} ExecuteAsync: ExecuteAsync::aclOp = OpType: MatMul, InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, Shape = [{s}, {n}]"),
    ("ASCENDCL", "memory.cpp:71", "{tid} aclrtMallocImpl: start to execute, size = {n}, policy = 1"),
    ("DRV", "devmm_svm.c:402", "[devmm] [devmm_ioctl_alloc 402] Alloc device memory ok. (devid={d}; size={n}; addr=0x{hex})"),
    ("TDT", "process_mode_manager.cpp:371", "[InitTsdClient][tid:{tid}] [TsdClient] deviceId[{d}] begin to init hdc client"),
    ("PROFILING", "msprof_callback_impl.cpp:79", ">>> (tid:{tid}) MsprofCtrlCallback called, type: {s}"),
    ("ATRACE", "trace_attr.c:195", "(tid:{tid}) attr init success, timeout=0ms."),
    ("APP", "NPUCachingAllocator.cpp:1377", "{tid} malloc: device {d}, size {n}, allocated {n}, reserved {big}, retries 0"),
    ("TEFUSION", "compile_pool.cc:90", "CompilePool: worker {d} idle, queue {s}, exception list empty"),
)  # fmt: skip
ERRORS = (
    ("RUNTIME", "device_error_core_proc.cc:1201", "{tid} ProcessStarsCoreErrorInfo:[INIT][DEFAULT]The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fixp_error0 info: 0x{hex}"),
    ("RUNTIME", "davinci_kernel_task.cc:946", "{tid} PrintErrorInfoForDavinciTask:[INIT][DEFAULT]Aicore kernel execute failed, device_id={d}, stream_id={s}, report_stream_id={s}, task_id={n}, flip_num=0, fault kernel_name=GatherV2_{hex}_1, fault kernel info ext=none"),
    ("HCCL", "hccl_socket_manager.cc:803", "[{tid}][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[{d}] timeout[120 s]"),
    ("HCCL", "task_exception_handler.cc:915", "[{tid}][TaskExecStage][Timeout][Host]Task run failed, base information is streamID:[{s}], taskID[{n}], tag[AllReduce_{ip}]"),
    ("DRV", "devmm_svm.c:402", "[devmm] [devmm_ioctl_alloc 402] Alloc device memory fail. (ret=6; devid={d}; size={n})"),
    ("HCCP", "ra_hdc_lite.c:801", "tid:{tid},ra_hdc_lite_period_poll_cqe : [create][ra_hdc_period_poll]failed CQE status[12], wr[0]"),
)  # fmt: skip
WORDS = tuple("queue tensor graph segment buffer window cursor ledger packet bridge anchor marble copper signal harbor velvet canyon ripple meadow".split())  # noqa: SIM905


class Tree:
    """Makes lines of one seeded process."""

    def __init__(self, seed: int, pid: int) -> None:
        self.random = random.Random(seed)
        self.pid, self.clock = pid, 0

    def _fill(self, text: str) -> str:
        r = self.random
        values = {
            "tid": self.pid + r.randrange(200), "ip": f"10.{r.randrange(99)}.{r.randrange(99)}.{r.randrange(250)}", "n": r.randrange(1, 2**24),
            "s": r.randrange(200), "d": r.randrange(16), "big": r.randrange(2**50), "hex": f"{r.randrange(2**48):x}",
        }  # fmt: skip
        return re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]), text)

    def line(self, level: str, row: tuple[str, str, str]) -> str:
        self.clock += self.random.randrange(900)
        milli, micro = divmod(self.clock, 1000)
        second, milli = divmod(milli, 1000)
        minute, second = divmod(second, 60)
        hour, minute = divmod(minute, 60)
        stamp = f"2026-03-{1 + hour // 24:02}-{hour % 24:02}:{minute:02}:{second:02}.{milli:03}.{micro:03}"
        module, where, text = row
        blank = " " if module in ("HCCL", "PROFILING") else ""
        return f"[{level}] {module}({self.pid},python3.10):{stamp} [{where}]{blank}{self._fill(text)}\n"

    def lines(self, kind: str) -> Iterator[str]:
        share = {"typical": 0.0005, "nasty": 0.2, "storm": 1.0}[kind]
        r = self.random
        for row in BEGIN:
            yield self.line("INFO", row)
        while True:
            if r.random() >= share:
                yield self.line("INFO" if r.random() < 0.97 else "EVENT", r.choice(INFO))
            elif kind == "storm":
                words = " ".join(r.choice(WORDS) for _ in range(8))
                module = r.choice(INFO)[0]
                yield self.line(
                    "ERROR", (module, f"{r.choice(WORDS)}.cc:{r.randrange(999)}", "{tid} " + words + " {hex} {n}")
                )
            else:
                yield self.line("ERROR", r.choice(ERRORS))


BLOCK = 8 << 20


def write(folder: Path, kind: str, size: int, files: int, seed: int = 1) -> None:
    """A tree of about `size` bytes. A file is built of a few distinct blocks, repeated: making it must not take for ever."""
    each = size // files
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        path = folder / "debug" / "plog" / f"plog-{4000 + number}_2026030109{number:06}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = Tree(seed * 10007 + number % 8, 4000 + number).lines(kind)
        with path.open("w") as file:
            written, blocks = 0, list[str]()
            while written < each:
                if len(blocks) < 1 or (number < 4 and len(blocks) < 4):
                    rows, length = [], 0
                    while length < min(BLOCK, each):
                        rows.append(next(lines))
                        length += len(rows[-1])
                    blocks.append("".join(rows))
                    piece = blocks[-1]
                else:
                    piece = blocks[(written // BLOCK) % len(blocks)]
                if written + len(piece) > each:
                    piece = piece[: piece.rfind("\n", 0, each - written) + 1] or piece[: piece.index("\n") + 1]
                file.write(piece)
                written += len(piece)
                if each - written < 400:
                    break


def size_of(text: str) -> int:
    return int(float(text.rstrip("KMGB")) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text.rstrip("B")[-1:], 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=("typical", "nasty", "storm"), default="typical")
    parser.add_argument("--size", default="64M")
    parser.add_argument("--files", type=int, default=16)
    args = parser.parse_args()
    write(args.folder, args.kind, size_of(args.size), args.files)


if __name__ == "__main__":
    main()
