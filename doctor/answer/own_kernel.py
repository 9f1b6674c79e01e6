"""A kernel that its user wrote and that failed on the device: no other release mends it, its own code does.

It is theirs where a source beside the logs, or the paste itself, defines a kernel of the name that failed; where nothing names the
kernel that failed and one is defined; and where TileLang runs, which calls every kernel `main_kernel`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from doctor.base.words import word
from doctor.findings.evaluate import Finding
from doctor.findings.situation import Situation
from doctor.judge.diagnosis import Diagnosis
from doctor.judge.relate import Related
from kb.model import SAID, CodeFix, Command, Entry, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

KINDS = ("device-exception", "device-timeout")  # of entries that tell of a kernel
_WHEN = ((f"{SAID}own_kernel", ("~ .",)),)
_TRITON, _TILELANG, _ASCENDC = "triton", "tilelang", "ascendc"
_SUFFIX = lazy(r"(?:_mix_ai[cv]|_\d{1,20}|_[0-9a-f]{16,64})+$")
_GENERATED = lazy(r"triton_(?:[a-z]{2,6}_)?fused_")  # by torch.compile: its sources are nobody's own
_NAMELESS = lazy(r"(?:main|kernel|main_kernel)?$")  # what TileLang calls all of them
_IS_SOURCE = lazy(r"\.(?:py|ipynb|c|cc|cpp|cce|asc|h|hpp)$")
_PROGRAM = lazy(r"[a-z_][a-z0-9]*(?:_[a-z0-9]+){1,20}$")

# What kind of access failed, by entry.
_KINDS = {"RTS006": "ub", "RTS001": "gm", "RTS702": "gm", "RTS014": "align", "RTS701": "align", "RTS762": "race", "RTS007": "hang", "RTS005": "hang"}

_TITLES = {
    "ub": Text("Your own kernel[[ {own}]]: smaller tiles, so that all its buffers together fit 192 KB (A2/A3)", "自己的算子[[ {own}]]：减小分块，使全部缓冲合计不超过 192 KB（A2/A3）"),
    "gm": Text("Your own kernel[[ {own}]]: mask or clamp every read and write, the last block first", "自己的算子[[ {own}]]：每次读写都加掩码或限制范围，先查最后一块"),
    "align": Text("Your own kernel[[ {own}]]: bring offsets and lengths to multiples of 32 bytes", "自己的算子[[ {own}]]：偏移与长度按 32 字节对齐"),
    "race": Text("Your own kernel[[ {own}]]: add the wait that is missing between copy and compute", "自己的算子[[ {own}]]：在搬运与计算之间补上缺失的同步"),
    "hang": Text("Your own kernel[[ {own}]]: find the wait that is never answered, or the loop that does not end", "自己的算子[[ {own}]]：找出得不到响应的等待，或不会结束的循环"),
    "": Text("Your own kernel[[ {own}]]: check its tiling with the smallest shape that fails", "自己的算子[[ {own}]]：用能复现的最小 shape 检查 tiling"),
}
_ELSE = {
    _TRITON: Text("If the sizes are right: another triton-ascend, and report the kernel to it", "若大小都正确：更换 triton-ascend 版本，并向其反馈该算子"),
    _TILELANG: Text("If the sizes are right: a newer tilelang-ascend, and report the kernel to it", "若大小都正确：更新 tilelang-ascend，并向其反馈该算子"),
    _ASCENDC: Text("If the sizes are right: build the kernel again for this chip and this CANN", "若大小都正确：针对本机芯片与 CANN 重新编译该算子"),
}
_STEPS: Mapping[tuple[str, str], Text] = {
    ("ub", _TRITON): Text("All blocks that live at once must fit 192 KB on A2/A3, twice over with multi-buffering: take a smaller BLOCK_SIZE, or loop over sub-blocks.", "同时存活的所有块须放进 A2/A3 的 192 KB（多缓冲时翻倍）：减小 BLOCK_SIZE，或在核内循环子块。"),
    ("ub", _TILELANG): Text("Add up every T.alloc_ub, and what T.tile helpers take as workspace: about 192 KB a core on A2/A3. Smaller tiles, or a buffer of its own for the helper.", "把所有 T.alloc_ub 与 T.tile 接口内部占用的临时空间相加：A2/A3 每核约 192 KB。请减小分块，或为该接口显式提供临时缓冲。"),
    ("ub", _ASCENDC): Text("InitBuffer sizes times their number, the count of DataCopy, and repeat times stride of the last tile: together at most 192 KB on A2/A3. Print the tiling values that the kernel gets.", "InitBuffer 大小乘以缓冲个数、DataCopy 长度、尾块的 repeat 与 stride：合计不超过 A2/A3 的 192 KB。打印 kernel 实际收到的 tiling 值。"),
    ("gm", _TRITON): Text("mask= at every tl.load and tl.store, other= for what is left out, and the strides of a contiguous tensor. An address far outside is read on the NPU although it is masked: clamp the offset as well.", "每个 tl.load、tl.store 都加 mask=（缺省值用 other=），stride 按连续张量核对。NPU 上即使被掩掉，远超范围的地址仍会被访问：偏移本身也要限制在范围内。"),
    ("gm", _TILELANG): Text("Which T.copy goes beyond the last row or column when the tile does not divide the shape, and does the index that it is given lie inside? Workspaces count, too.", "分块不能整除 shape 时，哪个 T.copy 会越过最后一行或一列？传入的索引是否在范围内？workspace 也要核对。"),
    ("gm", _ASCENDC): Text("SetGlobalBuffer with the real size, blockIdx times length of a block inside it, a shorter count for the last core. Print the tiling values that the kernel gets.", "SetGlobalBuffer 使用真实长度，blockIdx 乘以单核长度不得越界，最后一核用较短的长度。打印 kernel 实际收到的 tiling 值。"),
    ("align", ""): Text("Start of a buffer in the unified buffer, length of a copy and stride of a row: rounded up to 32 bytes; for the rest of a row DataCopyPad, or a wider tile that is masked.", "UB 中缓冲的起始地址、搬运长度与行 stride 均向上取整到 32 字节；不足部分用 DataCopyPad，或加宽分块并加掩码。"),
    ("race", ""): Text("A barrier after every copy and every computation (T.barrier_all, PipeBarrier<PIPE_ALL>, tl.debug_barrier) must make it go away; then take them out one by one, and use SetFlag and WaitFlag where it is needed.", "先在每次搬运与计算后加屏障（T.barrier_all、PipeBarrier<PIPE_ALL>、tl.debug_barrier），故障应消失；再逐个去掉，在必要处使用 SetFlag 与 WaitFlag。"),
    ("hang", ""): Text("Every wait_flag needs its set_flag of the same pipes and event, on each path; a wait for all blocks needs as many blocks as cores at most.", "每个 wait_flag 在各分支上都要有同一流水、同一事件的 set_flag；全核同步要求 block 数不超过核数。"),
    ("", ""): Text("Halve the tile, then the shape, until it runs: what is over a border then is where the tiling is wrong.", "逐次减半分块与 shape 直到可运行，即可确定 tiling 出错之处。"),
}  # fmt: skip
_POOL = Text("For that one run also export PYTORCH_NO_NPU_MEMORY_CACHING=1: in a pool of memory no border is seen.", "该次运行另设 PYTORCH_NO_NPU_MEMORY_CACHING=1：在内存池中看不出越界。")
_DEBUG = Text("First without LLVM_EXTRACT_DI_LOCAL_VARIABLES and TRITON_DEBUG: with debug information reductions have been compiled wrongly (triton-ascend #494).", "先去掉 LLVM_EXTRACT_DI_LOCAL_VARIABLES 与 TRITON_DEBUG：带调试信息时归约曾被错误编译（triton-ascend #494）。")
_WHY = Text("Names the line that goes over the border; comes with the CANN toolkit.", "给出越界所在行；随 CANN toolkit 提供。")
_WHY_BUILT = Text("Names the line; build the kernel with -g -sanitizer first.", "给出越界所在行；需先以 -g -sanitizer 编译算子。")


class Own(NamedTuple):
    """A kernel of the user's own: its name where it is known, in which language, and the file that defines or starts it."""

    name: str
    language: str
    file: str


def told(root: Related, diagnosis: Diagnosis) -> Finding | None:
    """A finding with what to do about one's own kernel in front; None where the kernel is somebody else's."""
    finding = root.finding
    if root.role != "root" or finding.entry.kind not in KINDS or _told_by_the_log(finding.entry):
        return None
    own = _own(next((kernel for one in finding.instances if (kernel := one.captures.get("kernel"))), ""), finding, diagnosis)
    if own is None:
        return None
    first, *more = finding.instances
    captures = {**first.captures, "own_kernel": own.language, "own": own.name, "own_file": own.file}
    kind = _KINDS.get(finding.entry.code, "")
    cause = finding.entry.cause
    other = Fix("resolve", "low", _ELSE[own.language], (_DEBUG,) if own.language == _TRITON else (), (), (), None, _WHEN)
    entry = finding.entry._replace(
        fixes=(_fix(kind, own), other, *(fix for fix in finding.entry.fixes if fix.goal != "resolve")),
        cause=Text(f"{word('kernel-own', 'en')} {cause.en}", f"{word('kernel-own', 'zh')}{cause.zh}"),
    )
    return finding._replace(entry=entry, instances=(first._replace(captures=captures), *more))


def _told_by_the_log(entry: Entry) -> bool:
    """Has a line of the log chosen what to do, as the architecture that the kernel was compiled for? Then its tiling is no suspect."""
    return any(variant.fixes == entry.fixes and any(fact.startswith(SAID) for fact, _ in variant.when) for variant in entry.variants if variant.fixes)


def _own(failed: str, finding: Finding, diagnosis: Diagnosis) -> Own | None:
    """Whose kernel it is, as far as the logs and the sources beside them show it."""
    situation = diagnosis.situation
    if _GENERATED.match(failed):
        return None
    written = [(value.rpartition(" ")[2], _language(value), _source(path)) for _, value, path, _ in situation.kernels if not _GENERATED.match(value.rpartition(" ")[2])]
    for name, language, file in written:
        if failed and _alike(failed, name):
            return Own(name, language, file)
    bare = _SUFFIX.sub("", failed)
    if not _NAMELESS.match(bare):
        return Own(bare, _ASCENDC, "") if _PROGRAM.match(bare) and situation.first("program") == "native" and not situation.facts.get("framework") else None
    if not _for_itself(situation):
        return None
    if len(written) == 1:
        return Own(*written[0])
    if written or "tilelang" in situation.facts.get("framework", ()):
        return Own("", written[0][1] if written else _TILELANG, written[0][2] if written else _started(finding, diagnosis))
    return None


def _for_itself(situation: Situation) -> bool:
    """Is it a program of somebody's own, not a framework that brings kernels?"""
    known = situation.facts.get("framework", ())
    return all(name in situation.frameworks and situation.frameworks[name].beneath for name in known)


def _alike(failed: str, name: str) -> bool:
    """`add_custom_2`, `AddCustom_0f1e...` and `add_custom` are one kernel."""
    return _SUFFIX.sub("", failed) == name or _SUFFIX.sub("", failed).replace("_", "").lower() == name.replace("_", "").lower()


def _source(path: str) -> str:
    """The file that holds it; a log into which it was pasted is none."""
    return os.path.basename(path) if _IS_SOURCE.search(path) else ""


def _language(value: str) -> str:
    return _TRITON if value.startswith("@triton") else _ASCENDC if value.startswith("__global__") else _TILELANG


def _started(finding: Finding, diagnosis: Diagnosis) -> str:
    """The script of the user's own that waited for the kernel, where a stack names it."""
    paths = {place.path for instance in finding.instances for place in (h.place for h in instance.hits)}
    near = (one for one in diagnosis.harvest.callers if one.path in paths and not one.package)
    return os.path.basename(next((one.place.rpartition(":")[0] for one in near), ""))


def _fix(kind: str, own: Own) -> Fix:
    step = next(_STEPS[key] for key in ((kind, own.language), (kind, ""), ("", "")) if key in _STEPS)
    if own.language == _TILELANG:
        code = CodeFix("python", "", "print(kernel.get_kernel_source())   # of the compiled kernel: every buffer with offset and size\n")
        return Fix("resolve", "low", _TITLES[kind], (step,), (), (), code, _WHEN)
    script = "python3 {own_file|SCRIPT.py}" if own.file.endswith(".py") else "python3 SCRIPT.py"
    runs = "./PROGRAM" if own.language == _ASCENDC and not own.file.endswith(".py") else script
    tool = {"race": "racecheck", "hang": "synccheck"}.get(kind, "memcheck")
    always = "TRITON_ALWAYS_COMPILE=1 " if own.language == _TRITON else ""
    check = Command(f"{always}mssanitizer --tool={tool} {runs}", None, _WHY if own.language == _TRITON else _WHY_BUILT)
    return Fix("resolve", "low", _TITLES[kind], (step, *((_POOL,) if own.file.endswith(".py") else ())), (), (check,), None, _WHEN)
