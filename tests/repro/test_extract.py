"""What logs tell of operators: the table of expected values, and that no text makes the reader fail."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.repro.bind import bind
from doctor.repro.extract import operators
from doctor.repro.operator_table import load


class Case(NamedTuple):
    """A piece of a log, and the call that it stands for: sizes and types are those of the log."""

    name: str
    text: str
    operator: str
    call: str
    tensors: tuple[tuple[str | None, list[int] | None], ...] = ()  # None: not in the log
    attrs: Mapping[str, Any] = MappingProxyType({})
    device: int | None = None
    error: str = ""


PLOG = "[ERROR] RUNTIME(41207,python3.10):2026-03-02-10:21:44.122.330 [davinci_kernel_task.cc:946]41388 PrintErrorInfoForDavinciTask:[INIT][DEFAULT]"

CASES = (
    Case(
        "aclop-compile-matmul",
        "[INFO] ASCENDCL(20551,python3):2021-03-31-18:59:41.300.220 [op_compiler.cpp:187]20551 aclopCompile: aclopCompile::aclOp = OpType: MatMul, "
        "InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = -1, Shape = [16, 32], StorageShape = [], shapeRange = [], memtype = 0, "
        "isConst = 0 InputDesc[1]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = 29, Shape = [32, 8], StorageShape = [], shapeRange = [], "
        "memtype = 0, isConst = 0 OutputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = -1, Shape = [16, 8], StorageShape = [], "
        "shapeRange = [], memtype = 0, isConst = 0 Attr: {transpose_x1 = 0, transpose_x2 = 0}",
        "MatMul",
        "torch.mm",
        (("float16", [16, 32]), ("float16", [32, 8])),
        {"transpose_x1": 0, "transpose_x2": 0},
    ),
    Case(
        "aclop-not-compiled-older-attributes",
        "[ERROR] ASCENDCL(7,python):2022-06-01-10:00:00.000.001 [stream_executor.cpp:52]7 [Get][OpKernelDesc]Op with the given shape was not compiled. "
        "aclOp = OpType: TopKV2, InputDesc[0]: [TensorDesc] DataType = 0, Format = 2, StorageFormat = 2, Shape = [8, 4096], StorageShape = [], "
        "shapeRange = [], memtype = 0, isConst = 0 Attr: {dim: 1}, {largest: true}, {sorted: false}",
        "TopKV2",
        "torch.topk",
        (("float32", [8, 4096]),),
        {"dim": 1, "largest": True, "sorted": False},
    ),
    Case(
        "aicore-kernel-9.0",
        PLOG + "Aicore kernel execute failed, device_id=3, stream_id=7, report_stream_id=7, task_id=912, flip_num=0, "
        "fault kernel_name=GatherV2_7c0d1e22aa7e41d8b1f4_high_performance_1, fault kernel info ext=none, program id=18, hash=1.",
        "GatherV2",
        "torch.index_select",
        device=3,
    ),
    Case(
        "aicore-kernel-9.1-te-name",
        PLOG
        + "[DFX_INFO]AI Core kernel execution failed, device_id=5, stream_id=3, report_stream_id=3, task_id=2, flip_num=0, "
        "fault kernel_name=te_softmaxv2_657cb48fa1743a43209d7bc779fe8c29_1__kernel0, fault kernel info ext=none, program id=1, hash=2.",
        "SoftmaxV2",
        "torch.nn.functional.softmax",
        device=5,
    ),
    Case(
        "aicore-exception-block",
        "[EVENT] GE(9,python):2024-12-06-15:17:06.252.046 [exception_dumper.cc:579]9 [AIC_INFO] node_name:GatherV21, node_type:GatherV2, stream_id:2, task_id:6, context_id:0, thread_id:0\n"
        "[EVENT] GE(9,python):2024-12-06-15:17:06.252.047 [exception_dumper.cc:586]9 [AIC_INFO] input:0;shape:[32000,128];format:ND;dtype:DT_BF16;addr:0x12c040000000\n"
        "[EVENT] GE(9,python):2024-12-06-15:17:06.252.048 [exception_dumper.cc:586]9 [AIC_INFO] input:1;shape:[77];format:ND;dtype:DT_INT32;addr:0x12c040010000\n"
        "[EVENT] GE(9,python):2024-12-06-15:17:06.252.049 [exception_dumper.cc:586]9 [AIC_INFO] output:0;shape:[77,128];format:ND;dtype:DT_BF16;addr:0x12c040020000\n"
        + PLOG
        + "Aicore kernel execute failed, device_id=1, stream_id=2, task_id=6, fault kernel_name=te_gatherv2_0123456789abcdef0123_1, fault kernel info ext=none.",
        "GatherV2",
        "torch.index_select",
        (("bfloat16", [32000, 128]), ("int32", [77])),
        device=1,
    ),
    Case(
        "device-assertion-tells-index-and-table",
        "[ASSERT] [CANN_VERSION : 8.1.RC1][TimeStamp : 0] /opt/Ascend/8.1.RC1/opp/built-in/op_impl/ai_core/tbe/impl/dynamic/../ascendc/gather_v3/"
        "gather_v3_base.h:137: Assertion `(0 <= val && val < this->gxSize_)' Index 9001 out of range[0 8192)!\n"
        "RuntimeError: ACL stream synchronize failed, error code:507035",
        "GatherV3",
        "torch.index_select",
        ((None, [8192, 4]), (None, None)),
        error="507035",
    ),
    Case(
        "launch-failed-tvmbin",
        "[ERROR] RUNTIME(1,python3.7):2021-02-02-22:23:56.475.698 [logger.cc:113]12828 KernelLaunch:launch kernel failed, kernel=140631803535760/ArgMinWithValue_tvmbin, dim=32, stream=0x55",
        "ArgMinWithValue",
        "torch.min",
    ),
    Case(
        "aclnn-k-axis",
        "RuntimeError: call aclnnMatmul failed, detail:EZ1001: [PID: 418] 2024-12-28-09:52:34.435.298 The k-axis of the two inputs are different [1,5,4096], [1024,4096]\n\n"
        "[ERROR] 2024-12-28-09:52:34 (PID:418, Device:2, RankID:-1) ERR01100 OPS call acl api failed",
        "aclnnMatmul",
        "torch.matmul",
        ((None, [1, 5, 4096]), (None, [1024, 4096])),
        device=2,
        error="call aclnnMatmul failed",
    ),
    Case(
        "aclnn-type-not-implemented",
        "RuntimeError: cat:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:265 NPU function error: call aclnnCat failed, error code is 161002\n"
        "[ERROR] 2025-09-13-05:28:15 (PID:55172, Device:4, RankID:-1) ERR00100 PTA call acl api failed.\n"
        "EZ1001: [PID: 55172] 2025-09-13-05:28:15.526.256 tensor 0 not implemented for DT_UINT64, should be in dtype support list [DT_FLOAT,DT_INT32,DT_INT64,].",
        "aclnnCat",
        "torch.cat",
        (("uint64", None),),
        device=4,
        error="call aclnnCat failed",
    ),
    Case(
        "aclnn-named-scale-new-title-form",
        "RuntimeError: npu_quant_matmul_symint:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:211 NPU function error: call aclnnQuantMatmulWeightNz failed, error code is 161002\n"
        "(Worker_DP1_TP1_EP5 pid=465) ERROR 02-09 17:11:36 [multiproc_executor.py:751] [ERROR] 2026-02-09-17:11:34 (PID:465, Device:1, RankID:-1) ERR00100 PTA call acl api failed.\n"
        "(Worker_DP1_TP1_EP5 pid=465) ERROR 02-09 17:11:36 [multiproc_executor.py:751] [PID: 465] 2026-02-09-17:11:34.368.749 AclNN_Parameter_Error(EZ1001): Tensor scale not implemented "
        "for DT_FLOAT16, should be in dtype support list [DT_UINT64,DT_BFLOAT16,DT_INT64,DT_FLOAT,].",
        "aclnnQuantMatmulWeightNz",
        "torch_npu.npu_quant_matmul",
        ((None, None), (None, None), ("float16", None)),
        device=1,
    ),
    Case(
        "aclnn-optional-role",
        "RuntimeError: npu_weight_quant_batchmatmul:compiler_depend.ts:146 NPU function error: call aclnnWeightQuantBatchMatmulV2 failed, error code is 161002\n"
        "EZ1001: [PID: 9120] 2026-03-06-03:20:43.771.020 biasOptional's dtype should be [DT_FLOAT], actual is [DT_BFLOAT16].\n        TraceBack (most recent call last):",
        "aclnnWeightQuantBatchMatmulV2",
        "torch_npu.npu_weight_quant_batchmatmul",
        ((None, None), (None, None), (None, None), ("bfloat16", None)),
    ),
    Case(
        "aclnn-inplace-copy-broadcast",
        "RuntimeError: Worker failed with error 'call aclnnInplaceCopy failed, detail:EZ1001: [PID: 1123276] 2025-05-07-16:27:13.714.340 128 and 2048 cannot broadcast.\n"
        "        TraceBack (most recent call last):\n        the size of tensor self [17,2048] must match the size of tensor src [17,16,128].\n",
        "aclnnInplaceCopy",
        "torch.Tensor.copy_",
        ((None, [17, 2048]), (None, [17, 16, 128])),
    ),
    Case(
        "aclnn-two-shapes-by-role",
        "RuntimeError: call aclnnAdd failed, detail:EZ1001: [PID: 5] 2025-01-01-00:00:00.000.000 Self tensor shape:[2,3,4] and other tensor shape:[5,4] can't broadcast.",
        "aclnnAdd",
        "torch.add",
        ((None, [2, 3, 4]), (None, [5, 4])),
    ),
    Case(
        "aclnn-repeat-interleave-double",
        "> RuntimeError: call aclnnRepeatInterleaveIntWithDim failed, detail:EZ1001: [PID: 23975] 2025-01-02-11:00:00.313.502 self not implemented for DT_DOUBLE, should be in dtype support list [DT_UINT8,DT_INT8,].",
        "aclnnRepeatInterleaveIntWithDim",
        "torch.repeat_interleave",
        (("float64", None),),
    ),
    Case(
        "aclnn-cast-target-type",
        "RuntimeError: call aclnnCast failed, detail:EZ1001: The param dtype not implemented for DT_BFLOAT16, should be in dtype support list [DT_FLOAT16,DT_FLOAT,].",
        "aclnnCast",
        "torch.Tensor.to",
        ((None, None),),
        {"dtype": "bfloat16"},
    ),
    Case(
        "aclnn-gather-no-shapes",
        "RuntimeError: gather:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:69 NPU function error: call aclnnGather failed, error code is 161002\n"
        "[ERROR] 2026-04-14-17:27:41 (PID:3976217, Device:11, RankID:11) ERR00100 PTA call acl api failed.\n"
        "AclNN_Parameter_Error(EZ1001): Size does not match at dimension 1, expected index shape to be 0",
        "aclnnGather",
        "torch.gather",
        device=11,
    ),
    Case(
        "symbol-missing",
        "RuntimeError: aclnnFusedInferAttentionScoreV2 or aclnnFusedInferAttentionScoreV2GetWorkspaceSize not in libopapi.so, or libopapi.sonot found.",
        "aclnnFusedInferAttentionScoreV2",
        "torch_npu.npu_fused_infer_attention_score",
    ),
    Case(
        "no-binary-with-types-in-key",
        "EZ9999: [PID: 312378] 2025-02-11-11:32:58.201.638 x[FUNC:a][FILE:b][LINE:1]\n"
        "        Cannot find bin of op BinaryCrossEntropy, integral key 0/1/|bf16/ND/bf16/ND/bf16/ND/.\n        Cannot find binary for op BinaryCrossEntropy.",
        "BinaryCrossEntropy",
        "torch.nn.functional.binary_cross_entropy",
        (("bfloat16", None), ("bfloat16", None)),
    ),
    Case(
        "unsupported-type-ez3002",
        "[PID: 321725] 2025-12-20-22:25:54.410.921 Unsupported_Operator(EZ3002): Optype [MaxPoolWithArgmaxV1] of Ops kernel [AIcoreEngine] is unsupported. Reason: "
        "[tbe-custom]:op type MaxPoolWithArgmaxV1 is not found in this op store.[Dynamic shape check]: data type DT_FLOAT of input [x] is not supported. All supported data type and format",
        "MaxPoolWithArgmaxV1",
        "torch.nn.functional.max_pool2d",
        (("float32", None),),
        error="Optype [MaxPoolWithArgmaxV1]",
    ),
    Case(
        "op-with-optype",
        '[ERROR] FE(9120,python3):2025-11-05-08:00:12.301.774 [op_compiler.cc:702]9391 ParseTvmJsonToSetAttr:"Op[Conv2D_17,optype[Conv2D]]: no json file for the compiled kernel."',
        "Conv2D",
        "torch.nn.functional.conv2d",
    ),
    Case(
        "onnx-operator",
        "E19010: No parser is registered for Op [grid_sampler_3140, optype [ai.onnx::11::grid_sampler]].",
        "ai.onnx::11::grid_sampler",
        "torch.nn.functional.grid_sample",
    ),
    Case(
        "compile-failed-beats-the-working-operator",
        "RuntimeError: The Inner error is reported as above. The process exits for this inner error, and the current working operator name is Identity.\n"
        "E90003: [PID: 9038] 2025-09-28-03:43:47.761.546 Compile operator failed, cause: Template constraint, detailed information: bfloat16 of tbe.dsl.transdata is not supported.\n"
        "        TraceBack (most recent call last):\n        Failed to compile Op [trans_TransData_8,]. (oppath: [Compile /a/trans_data.py failed with errormsg/stack: x",
        "TransData",
        "torch_npu.npu_format_cast",
        (("bfloat16", None),),
    ),
    Case(
        "kernel-run-failed-llama-cpp",
        "EZ9999: 2025-04-02-00:54:30.240.432  Parse dynamic kernel config fail.\n        AclOpKernelInit failed opType\n        Op Add does not has any binary.\n"
        "        Kernel Run failed. opType: 3, Add\n        launch failed for Add, errno:561000.",
        "Add",
        "torch.add",
    ),
    Case(
        "aclnn-called-in-cpp",
        "  current device: 0, in function aclnn_arange at /src/aclnn_ops.cpp:291\n  aclnnArange(workspaceAddr, workspaceSize, executor, ctx.stream())",
        "aclnnArange",
        "torch.arange",
    ),
    Case(
        "execute-operator-named",
        "[PID: 1035] 2026-09-16-11:00:43.191.752 Execution_Error(EZ1008): Failed to execute operator MoeGatingTopKSoftmax_4507. Reason: Failed to execute tiling function.",
        "MoeGatingTopKSoftmax",
        "torch_npu.npu_moe_gating_top_k_softmax",
    ),
    Case(
        "cpu-fallback",
        "[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator 'aten::linalg_lstsq.out' is not currently supported on the NPU backend and will fall back to run on the CPU. (function npu_cpu_fallback)",
        "aten::linalg_lstsq.out",
        "torch.linalg.lstsq",
    ),
    Case(
        "refused-dispatch",
        "RuntimeError: Could not run 'aten::trunc.out' with arguments from the 'NPUTensorId' backend.",
        "aten::trunc.out",
        "torch.trunc",
        error="Could not run 'aten::trunc.out' with arguments from the 'NPUTensorId' backend",
    ),
    Case(
        "traceback-linear-shapes",
        'Traceback (most recent call last):\n  File "/home/u/model.py", line 33, in forward\n    return self.fc(x)\n'
        '  File "/opt/lib/python3.10/site-packages/torch/nn/modules/linear.py", line 125, in forward\n    return F.linear(input, self.weight, self.bias)\n'
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x1024 and 768x10)",
        "torch.nn.functional.linear",
        "torch.nn.functional.linear",
        ((None, [32, 1024]), (None, [10, 768])),
        error="mat1 and mat2 shapes cannot be multiplied (32x1024 and 768x10)",
    ),
    Case(
        "traceback-sign-behind-rank-prefix",
        '[rank0]: Traceback (most recent call last):\n[rank0]:   File "/w/finetune.py", line 118, in run\n[rank0]:     logits = logits + class_bias\n'
        "[rank0]: RuntimeError: The size of tensor a (7) must match the size of tensor b (9) at non-singleton dimension 1",
        "torch.add",
        "torch.add",
        ((None, [1, 7]), (None, [1, 9])),
    ),
    Case(
        "traceback-cut-call-in-worker-prefix",
        '(Worker_TP0 pid=9) ERROR 03-06 03:20:44 [multiproc_executor.py:824] Traceback (most recent call last):\n(Worker_TP0 pid=9) ERROR 03-06 03:20:44 [multiproc_executor.py:824]   File "/a/b.py", line 9, in forward\n'
        "(Worker_TP0 pid=9) ERROR 03-06 03:20:44 [multiproc_executor.py:824]     attn_output, _ = torch_npu.npu_fused_infer_attention_score(\n"
        "(Worker_TP0 pid=9) ERROR 03-06 03:20:44 [multiproc_executor.py:824] RuntimeError: EZ9999: Inner Error!",
        "torch_npu.npu_fused_infer_attention_score",
        "torch_npu.npu_fused_infer_attention_score",
    ),
    Case(
        "traceback-index-out-of-bounds",
        'Traceback (most recent call last):\n  File "/w/a.py", line 3, in <module>\n    out = torch.index_select(table, 0, ids)\nIndexError: index 4100 is out of bounds for dimension 0 with size 4096',
        "torch.index_select",
        "torch.index_select",
        ((None, [4096, 4]), (None, None)),
    ),
    Case(
        "traceback-method",
        'Traceback (most recent call last):\n  File "/w/a.py", line 3, in <module>\n    y = scores.masked_fill(mask, 0.0)\nRuntimeError: "masked_fill" not implemented for \'Half\'',
        "torch.Tensor.masked_fill",
        "torch.masked_fill",
        (("float16", None),),
    ),
    Case(
        "conv-weight-and-input",
        'Traceback (most recent call last):\n  File "/w/a.py", line 3, in f\n    return F.conv2d(input, weight, bias, self.stride,\nRuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 4, 224, 224] to have 3 channels, but got 4 channels instead',
        "torch.nn.functional.conv2d",
        "torch.nn.functional.conv2d",
        ((None, [1, 4, 224, 224]), (None, [64, 3, 7, 7])),
    ),
    Case(
        "error-takes-shapes-of-the-last-compile",
        "[INFO] ASCENDCL(7,python):2026-01-01-00:00:00.000.001 [op_compiler.cpp:187]7 aclopCompile::aclOp = OpType: ReduceSum, InputDesc[0]: [TensorDesc] DataType = 0, Format = 2, StorageFormat = 2, "
        "Shape = [1, 2], StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 \n"
        "[INFO] ASCENDCL(7,python):2026-01-01-00:00:00.000.002 [op_compiler.cpp:187]7 aclopCompile::aclOp = OpType: ReduceSum, InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = 2, "
        "Shape = [64, 512], StorageShape = [], shapeRange = [], memtype = 0, isConst = 0 Attr: {keep_dims = true}\n"
        "[ERROR] RUNTIME(7,python):2026-01-01-00:00:01.000.001 [x.cc:1]7 F:Aicore kernel execute failed, device_id=0, stream_id=7, fault kernel_name=ReduceSum_0123456789abcdef0123_1, fault kernel info ext=none.",
        "ReduceSum",
        "torch.sum",
        (("float16", [64, 512]),),
        {"keep_dims": True},
        device=0,
    ),
)


def _tensors(call: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict) and "tensor" in node:
            found.append(node["tensor"])
        elif isinstance(node, dict):
            for value in node.values():
                walk(value)
        elif isinstance(node, (list, tuple)):
            for value in node:
                walk(value)

    walk(call.args)
    walk(dict(call.kwargs))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_first_operator_is_the_one_of_the_log(case: Case) -> None:
    """Operator, torch call, types, sizes, attributes and device are those that the text tells."""
    first = operators(case.text)[0]
    bound = bind(first, load())
    assert (case.operator, case.call) == (first.name, bound.call.operator)
    assert case.device == first.device
    assert case.error in first.error
    told = dict(first.attrs)
    assert case.attrs == {name: told.get(name) for name in case.attrs}
    made = _tensors(bound.call)
    for (dtype, shape), tensor in zip(case.tensors, made, strict=False):
        assert dtype is None or dtype == tensor["dtype"]
        assert shape is None or shape == tensor["shape"]
    assert len(case.tensors) <= len(made)


def test_what_the_log_does_not_tell_is_named_as_guessed() -> None:
    (first, *_) = operators(
        "call aclnnMatmul failed, detail:EZ1001: The k-axis of the two inputs are different [3,4], [5,6]"
    )
    notes = [note.en for note in bind(first, load()).guessed]
    assert notes == ["types not in the log: self, mat2"]


def test_shapes_of_another_call_of_the_same_type_count_as_guessed() -> None:
    case = next(c for c in CASES if c.name == "error-takes-shapes-of-the-last-compile")
    assert operators(case.text)[0].guessed == ("inputs",)


def test_an_operator_that_nobody_knows_says_so() -> None:
    (first, *_) = operators("Optype [MyCustomThing] of Ops kernel [AIcoreEngine] is unsupported. Reason: x")
    bound = bind(first, load())
    assert bound.missing is not None
    assert "'MyCustomThing'" in bound.missing.en
    assert "'MyCustomThing'" in bound.missing.zh


def test_index_range_of_an_assertion_reaches_the_index() -> None:
    case = next(c for c in CASES if c.name == "device-assertion-tells-index-and-table")
    index = _tensors(bind(operators(case.text)[0], load()).call)[1]
    assert (index["low"], index["high"]) == (0, 9002)


def test_a_healthy_log_names_no_operator() -> None:
    assert (
        operators("[INFO] GE(1,python):2026-01-01-00:00:00.000.000 [a.cc:1]1 F:all is well\nINFO 03-25 started\n" * 50)
        == ()
    )


@pytest.mark.parametrize(
    ("text", "name", "attrs"),
    [
        ("[ERROR] HCCL(1,python):2025-05-12-20:55:44.706.132 [task_exception_handler.cc:947] [1][TaskExecStage][Timeout][Host]Task run failed, base information is streamID:[32], taskID[21], tag[AllReduce_group_name_0], AlgType\n"
         "[ERROR] HCCL(1,python):2025-05-12-20:55:44.706.163 [task_exception_handler.cc:737] [1][TaskExecStage][Timeout][Host]Task run failed, opData information is timeStamp:[x], deviceId[0], index[4], count[4096], src[0x1], dst[0x2], dataType[bfp16].",
         "all_reduce", {"count": 4096}),
        ("[Rank 1] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=12, OpType=REDUCESCATTER, Timeout(ms)=1836000) ran for", "reduce_scatter", {}),
        ("NPU out of memory. Tried to allocate 594.00 MiB (NPU 0; 60.97 GiB total capacity)", "allocate", {"size": 594 << 20}),
        ("RuntimeError: ExchangeDevice:/usr1/a.cpp:1 NPU error", "ExchangeDevice", {}),
    ],
)  # fmt: skip
def test_faults_with_a_template_of_their_own(text: str, name: str, attrs: dict[str, Any]) -> None:
    (first, *_) = operators(text)
    assert name == first.name
    assert attrs == {key: dict(first.attrs)[key] for key in attrs}


PIECES = [piece for case in CASES for piece in case.text.split("\n")]


@settings(max_examples=150)
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=80)), max_size=12),
    st.integers(0, 400),
    st.text(max_size=5),
)
def test_no_text_raises(lines: list[str], cut: int, noise: str) -> None:
    """Cut, mixed and spoilt logs give operators or nothing; what is found can always be bound."""
    text = "\n".join(lines)
    text = text[:cut] + noise + text[cut:]
    for one in operators(text):
        bind(one, load())


def test_a_very_long_line_costs_little() -> None:
    """Patterns are bounded: hostile repetition does not make them slow."""
    import time

    begin = time.process_time()
    for word in (
        "aclOp = OpType: A, InputDesc[0]: [TensorDesc] ",
        "call aclnn",
        "[AIC_INFO] input:0;shape:[",
        'File "',
        "Optype [",
        "[1,2,3]",
        "self dtype DT_",
    ):
        operators((word * 200_000)[: 2 << 20])
        operators("call aclnnAdd failed\n" + (word + "\n") * 20_000)
    assert time.process_time() - begin < 20
