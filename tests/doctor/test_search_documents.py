"""What a reader of the source documents would type, in Chinese and English, leads to what answers it."""

from __future__ import annotations

import pytest

from doctor.commands.table import COMMANDS
from doctor.lookup.search import Index
from kb.knowledge import Knowledge

# What answers, and what people type who look for it: headings, interfaces, file names, symptoms, joined words.
ASKED = {
    # precision
    "CARD-COMPARE": ("精度比对", "精度对比", "余弦相似度", "最大绝对误差", "均方根误差", "precision comparison", "cosine similarity", "ptdbg_ascend", "compare_distributed", "acc_cmp_dump", "dump data compare"),
    "CARD-OVERFLOW": ("溢出检测", "单算子溢出检测", "check_overflow"),
    "CARD-DUMP-JSON": ("init_dump", "set_dump", "单算子dump", "dump_op_switch"),
    "CARD-MSACCUCMP": ("msaccucmp", "解析dump文件"),
    "CARD-H5-TO-TBE": ("h5copy", "算子层级精度对比", "load_with_acl_dump", "acl.json dump_op_switch"),
    "CARD-DUMPER-BUILD": ("USE_DUMP", "torch.utils.dumper", "支持dump功能的框架"),
    "CARD-HDF5": ("编译安装hdf5", "hdf5", "libhdf5_cpp"),
    "CARD-PRECISION-STEPS": ("精度调测", "loss 对不齐", "梯度对比"),
    "CARD-MS-LOSS": ("TroubleShooter", "第一个loss"),
    "CARD-PRECISION": ("precision", "比对结果"),
    # debugging
    "CARD-SYNC-BISECT": ("流同步", "打点定位", "报错滞后", "torch.npu.synchronize", "stream synchronize"),
    "CARD-PDB": ("断点调试", "pdb", "set_trace"),
    "CARD-GDB-CORE": ("gdb core", "coredump", "core dump"),
    "CARD-HOOKS": ("Hook定位", "register_forward_hook", "整网精度", "running_mean"),
    "CARD-DUMP-OP": ("dump op方法", "dump op", "算子支持清单", "模型移植评估"),
    "CARD-SINGLE-OP": ("单算子样例", "单算子测试用例", "single operator test case", "上下文用例"),
    "CARD-REPRO": ("repro", "单算子用例", "复现脚本", "minimal script"),
    "CARD-NPU-PROCESSES": ("进程残留", "残留进程", "npu-smi python 残留", "orphan process"),
    "CARD-DEVICE-START": ("npu initialize device ladder",),
    "CARD-GCC": ("gcc 7.3.0", "安装gcc", "download_prerequisites"),
    "CARD-LOGS": ("日志路径", "host日志", "日志级别", "plog", "log path", "msnpureport"),
    # migration
    "CARD-MIGRATION-TOOL": ("脚本迁移工具", "script migration tool", "ms_fmk_transplt", "unsupported_op.xlsx", "change_list.csv", "run_distributed_npu.sh", "ArgsModifyRule", "自定义规则"),
    "CARD-MIGRATE": ("自动迁移", "手工迁移", "transfer_to_npu"),
    "CARD-CUDA-TO-NPU": ("torch.cuda.device_count",),
    "CARD-MULTI-CARD": ("单机多卡", "device_id_to_process_device_map", "drop_last", "init_process_group"),
    "CARD-SPAWN": ("mp.spawn", "torch.multiprocessing"),
    "CARD-MIXED-PRECISION": ("混合精度", "loss scale", "静态loss scale", "opt_level", "AMP autocast"),
    "CARD-COMBINE": ("combine_ddp", "combine_grad", "NpuFusedSGD", "融合优化器"),
    "CARD-CHECKPOINT": ("pth.tar", "model.eval", "module. 前缀"),
    "CARD-ONNX": ("导出ONNX", "torch.onnx.export"),
    "CARD-OLD-LIMITS": ("约束与限制", "unknown shape infershape", "4D format", "降维", "cube float16", "8P粒度"),
    "CARD-TRAINING-ENV": ("env_npu.sh", "常用环境变量"),
    # performance
    "CARD-PERF-STEPS": ("算子瓶颈", "框架瓶颈", "迭代间隙", "first step slow"),
    "CARD-PROFILING": ("性能数据采集", "profiling"),
    "CARD-OLD-PROFILER": ("prof_init", "profile_memory", "iteration_start", "iteration_end", "use_npu_simple", "E2E prof"),
    "CARD-OPS": ("ops", "算子反复编译", "get_ascend_op_info", "all_ops dynamic_ops", "OP_INFO", "编译瓶颈", "recompilation"),
    "CARD-TRANSDATA": ("copy瓶颈", "非连续转连续", "channel_shuffle", "transdata"),
    "CARD-COMPILE-OPTIONS": ("编译选项", "set_option", "ACL_OP_SELECT_IMPL_MODE", "ACL_OP_DEBUG_LEVEL", "ACL_DEBUG_DIR", "ACL_OPTYPELIST_FOR_IMPLMODE"),
    "CARD-AOE": ("AOE调优工具", "set_aoe"),
    "CARD-ALIGN16": ("16对齐", "16的倍数"),
    "CARD-GRAPH-KERNEL": ("图算融合", "graph kernel fusion", "dataset_sink_mode"),
    "CARD-ALLREDUCE-FUSION": ("all_reduce_fusion_config", "AllReduce 切分", "迭代拖尾"),
    "CARD-HOST-SPEED": ("cpupower", "BIOS Power Policy", "数据处理性能"),
    "CARD-PILLOW-SIMD": ("pillow-simd", "OpenCV 3.4.10"),
    "CARD-BATCH-MEMORY": ("减小batch size", "batch size memory"),
    # faults, and other commands
    "OPR029": ("Could not run aten::trunc.out",),
    "OPR034": ("match op inputs failed", "PTIndexPut"),
    "RTS021": ("ExchangeDevice",),
    "TRN950": ("FusedLayerNorm",),
    "ENV960": ("PILLOW_VERSION",),
    "CARD-ENV": ("env", "环境检查"),
    "CARD-RUN": ("run", "记录算子"),
    "CARD-ISSUE": ("issue", "求助"),
    "COMBINED_ENABLE": ("COMBINED_ENABLE",),
    "ACL_DUMP_DATA": ("ACL_DUMP_DATA",),
}  # fmt: skip
TYPED = [(typed, answer) for answer, several in ASKED.items() for typed in several]


@pytest.fixture(scope="module")
def index(knowledge: Knowledge) -> Index:
    return Index(knowledge)


def test_what_answers_is_found(index: Index) -> None:
    """Of more than 126 searches 97 % lead with what answers them, and all have it among the first three."""
    places = {typed: [one.id for one in index.search(typed)[:3]] for typed, _ in TYPED}
    assert len(TYPED) >= 126
    assert {typed: places[typed] for typed, answer in TYPED if answer not in places[typed]} == {}
    later = {typed: places[typed] for typed, answer in TYPED if places[typed][0] != answer}
    assert len(later) <= 0.03 * len(TYPED), later


def test_commands_that_answer_questions_are_found_by_their_names(index: Index) -> None:
    for name in ("scan", "merge", "explain", "repro", "issue", "run", "env", "ops", "precision", "watch"):
        assert name in COMMANDS
        first = index.search(name)[0]
        assert (first.kind, first.id) == ("card", f"CARD-{name.upper()}")
        assert first.title.en.startswith(f"npu-doctor {name}:")


def test_a_name_that_one_card_has_is_explained(run) -> None:  # type: ignore[no-untyped-def]
    """An option of the compiler is no variable of the environment, and is known all the same."""
    for name in ("ACL_OP_SELECT_IMPL_MODE", "ACL_OP_DEBUG_LEVEL", "ACL_DEBUG_DIR", "combine_ddp", "算子反复编译"):
        done = run("explain", name, "--lang", "en")
        assert done.returncode == 0, name
        assert b"CARD-" in done.stdout, name
