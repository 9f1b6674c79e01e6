"""Which of the reader's own settings a failure of a serving engine belongs to: only what can be left out, and only where the code tells."""

from __future__ import annotations

import pytest

from doctor.answer.features import given, refused, through, through_graphs
from doctor.api import report
from doctor.findings.situation import Variable
from doctor.findings.started import read

LOG = """\
$ {command}
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099] EngineCore failed to start.
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099] Traceback (most recent call last):
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099]   File "/vllm-workspace/vllm-ascend/vllm_ascend/plugh_config.py", line 12, in __init__
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099]     frob("needs flashcomm2", self.frob_sharding)
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099]   File "/vllm-workspace/vllm/vllm/logger.py", line 143, in info_once
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099]     _print_info_once(self, msg, *args)
(EngineCore_DP0 pid=77) ERROR 05-28 06:51:40 [core.py:1099] TypeError: unhashable type: 'plugh'
"""


def _first(command: str) -> dict[str, object]:
    root = report(LOG.format(command=command))["findings"][0]
    assert root["id"] == "VLM800"
    first: dict[str, object] = root["fixes"][root["first_fix"]]
    return first


def test_a_key_of_the_settings_goes_and_the_others_stay() -> None:
    first = _first("""VLLM_ASCEND_ENABLE_FLASHCOMM1=1 vllm serve /models/plugh --additional-config '{"frob_sharding": ["q"], "xyzzy": true}' --port 8000""")
    assert first["title"]["en"] == "Start without frob_sharding: the traceback runs through its code"  # type: ignore[index]
    assert first["commands"][0]["run"] == """VLLM_ASCEND_ENABLE_FLASHCOMM1=1 vllm serve /models/plugh --additional-config '{"xyzzy": true}' --port 8000"""  # type: ignore[index]


def test_what_the_code_does_not_name_stays() -> None:
    """A message speaks of other features; a model that is quantised or split is what it is."""
    first = _first("vllm serve /models/plugh --quantization ascend --tensor-parallel-size 4 --numa-bind")
    assert "without" not in first["title"]["en"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("command", "way", "name"),
    [
        ("vllm serve /m --speculative-config '{\"method\": \"plugh\"}'", "spec_decode eagle_proposer", "--speculative-config"),
        ("vllm serve /m --enable-lora", "lora punica_wrapper", "--enable-lora"),
        ("vllm serve /m --additional-config '{\"eplb_config\": {\"dynamic_eplb\": true}}'", "eplb adaptor", "eplb_config"),
        ("vllm serve /m --additional-config '{\"xlite_graph_config\": {\"enabled\": false}}'", "xlite xlite_runner", None),
        ("vllm serve /m --trust-remote-code --enable-expert-parallel", "trust_remote_code expert_parallel", None),
        ("vllm serve /m --no-numa-bind", "numa_bind", None),
        ("python3 -m sglang.launch_server --model-path /m --speculative-algorithm NEXTN", "srt eagle_worker", "--speculative-algorithm"),
        ("python3 -m sglang.launch_server --model-path /m --enable-hierarchical-cache", "mem_cache memory_pool_host", "--enable-hierarchical-cache"),
        ("python3 -m sglang.launch_server --model-path /m --disable-radix-cache --enable-metrics", "radix_cache metrics", None),
    ],
)  # fmt: skip
def test_settings_are_told_by_names_in_the_code(command: str, way: str, name: str | None) -> None:
    started = read(f"{command} $")
    assert started is not None
    found = through(way, given((started,), ()))
    assert (found.name if found else None) == name


def test_a_variable_counts_where_it_is_on() -> None:
    on, off = Variable("VLLM_ASCEND_ENABLE_FLASHCOMM1", "1", "run.sh"), Variable("VLLM_ASCEND_ENABLE_FLASHCOMM1", "0", "run.sh")
    assert [one.name for one in given((), (on,))] == ["VLLM_ASCEND_ENABLE_FLASHCOMM1"]
    assert through("linear_op SequenceColumnParallelOp", given((), (on,))) is not None
    assert given((), (off,)) == ()


def test_what_a_message_refuses_by_its_name_goes() -> None:
    """A key within a key as well; the settings beside it stay."""
    log = LOG.replace("TypeError: unhashable type: 'plugh'", "AssertionError: oproj_tensor_parallel_size is only supported in graph mode")
    command = """vllm serve /models/plugh --additional-config '{"finegrained_tp_config": {"oproj_tensor_parallel_size": 8, "frob": 2}}'"""
    root = report(log.format(command=command))["findings"][0]
    first = root["fixes"][root["first_fix"]]
    assert first["title"]["en"] == "Start without finegrained_tp_config.oproj_tensor_parallel_size, which the message refuses"
    assert first["commands"][0]["run"] == """vllm serve /models/plugh --additional-config '{"finegrained_tp_config": {"frob": 2}}'"""
    assert "without finegrained_tp_config.oproj_tensor_parallel_size" in first["commands"][0]["why"]["en"]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Pipeline parallelism is not supported for this model", "--pipeline-parallel-size"),
        ("Speculative decoding does not work; LoRA is not supported with it", "--enable-lora"),
        ("pipeline parallel ranks: 2", None),
    ],
)
def test_a_message_speaks_of_settings_in_its_own_words(message: str, name: str | None) -> None:
    started = read("vllm serve /m --pipeline-parallel-size 2 --enable-lora --port 80 $")
    assert started is not None
    found = refused(message, given((started,), ()))
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Ngram speculative decoding only supports CUDA or CPU devices.", "--speculative-algorithm"),
        ("Pipeline parallelism is not compatible with it", "--pp-size"),
        ("Radix cache is not supported", None),
    ],
)
def test_another_engine_has_other_names_for_them(message: str, name: str | None) -> None:
    started = read("python3 -m sglang.launch_server --model-path /m --speculative-algorithm NGRAM --pp-size 2 --disable-radix-cache $")
    assert started is not None
    found = refused(message, given((started,), ()))
    assert (found.name if found else None) == name


def test_what_goes_takes_its_own_options_along() -> None:
    log = """\
$ python3 -m sglang.launch_server --model-path /m --device npu --speculative-algorithm NGRAM --speculative-num-draft-tokens 16 --tp-size 4
Traceback (most recent call last):
  File "/sgl-workspace/sglang/python/sglang/srt/arg_groups/plugh_hook.py", line 40, in handle
    raise ValueError("Frob speculative decoding only supports xyzzy.")
ValueError: Frob speculative decoding only supports xyzzy.
"""
    root = report(log)["findings"][0]
    first = root["fixes"][root["first_fix"]]
    assert first["title"]["en"].startswith("Start without --speculative-algorithm")
    assert first["commands"][0]["run"] == "python3 -m sglang.launch_server --model-path /m --device npu --tp-size 4"


def test_without_a_command_the_feature_of_the_file_is_named() -> None:
    """The traceback alone was pasted."""
    trace = '''Traceback (most recent call last):
  File "/vllm-workspace/vllm-ascend/vllm_ascend/eplb/core/plugh.py", line 61, in frob
    for tensor in self.experts[layer]:
KeyError: 61
'''
    root = report(trace)["findings"][0]
    assert root["fixes"][root["first_fix"]]["title"]["en"].startswith("Start without EPLB")


CAPTURED = """\
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671] Traceback (most recent call last):
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671]   File "/opt/py/site-packages/vllm_ascend/worker/worker_v1.py", line 329, in compile_or_warm_up_model
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671]     self.model_runner.capture_model()
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671]   File "/opt/py/site-packages/vllm_ascend/worker/plugh_runner.py", line 34, in {function}
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671]     frob(builder.plugh_support)
(Worker_TP3 pid=9) ERROR 12-14 12:10:44 [multiproc_executor.py:671] AttributeError: 'XyzzyBuilder' object has no attribute 'plugh_support'
"""


@pytest.mark.parametrize(
    ("command", "function", "run"),
    [
        ("vllm serve /models/plugh --port 1", "initialize_aclgraph_capture", "vllm serve /models/plugh --port 1 --enforce-eager"),
        ("vllm serve /models/plugh --port 1", "_dummy_run", None),  # the model failed, while it was run for a graph
        ("vllm serve /models/plugh --enforce-eager", "initialize_aclgraph_capture", None),
    ],
)
def test_capture_of_graphs_is_left_out_where_its_own_code_failed(command: str, function: str, run: str | None) -> None:
    root = report(f"$ {command}\n" + CAPTURED.format(function=function))["findings"][0]
    told = [c["run"] for fix in root["fixes"] for c in fix["commands"] if "--enforce-eager" in c["run"]]
    assert told == [run] * bool(run)
    assert run is None or root["fixes"][root["first_fix"]]["commands"][0]["run"] == run


@pytest.mark.parametrize(("way", "holds"), [("worker capture_model", True), ("cuda_graph_runner capture", True), ("attention forward capture_model", False), ("executor output", False)])
def test_which_code_captures_graphs(way: str, holds: bool) -> None:
    assert through_graphs(way) is holds


COMPILED = '''\
$ {command}
Traceback (most recent call last):
  File "/w/sglang/python/sglang/srt/speculative/{file}.py", line 307, in verify
    plugh_update(batch)
  File "/usr/lib/python3/dist-packages/sgl_kernel_npu/plugh_triton.py", line 26, in plugh_update
    plugh_kernel[grid](
  File "/usr/lib/python3/dist-packages/triton/compiler/compiler.py", line 320, in compile
    raise MLIRCompilationError(stage_name, error_detail)
triton.compiler.errors.MLIRCompilationError:
loc("/tmp/x.mlir":2:3): error: ub overflow, requires 3000 bits while 2000 bits available!
'''


@pytest.mark.parametrize(("file", "out"), [("eagle_worker", True), ("plugh_worker", False)])
def test_a_kernel_that_cannot_be_compiled_goes_with_its_feature(file: str, out: bool) -> None:
    """However sure the cause is: the reader cannot mend the kernel. It is called in the frames, so no other feature wanted it."""
    command = "python3 -m sglang.launch_server --model-path /m --speculative-algorithm NEXTN --speculative-num-steps 3 --tp-size 4"
    root = report(COMPILED.format(command=command, file=file))["findings"][0]
    assert root["id"] == "CMP018"
    told = [c["run"] for fix in root["fixes"] for c in fix["commands"] if "launch_server" in c["run"]]
    assert told == ["python3 -m sglang.launch_server --model-path /m --tp-size 4"] * out


def test_code_is_shown_where_the_kernel_was_launched() -> None:
    """The compiler only speaks of the kernel that it was given."""
    root = report(COMPILED.format(command="python x.py", file="plugh_worker"))["findings"][0]
    assert root["caller"] == "sgl_kernel_npu/plugh_triton.py:26  plugh_kernel[grid]("
