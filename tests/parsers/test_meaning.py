"""Readers of meaning: what failures say, in the words of many programs, known and unknown."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import meaning
from parsers.meaning import Said, read, said_by
from parsers.meaning.anchors import ANCHORS
from parsers.traceback import failures

MODULES = sorted(module.name for module in pkgutil.iter_modules(meaning.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    """The samples of each reader are read as its docstring shows."""
    assert doctest.testmod(importlib.import_module(f"parsers.meaning.{name}")).failed == 0


SENTENCES = [
    ("expected scalar type Half but found Float", "refusal", {"property": "dtype", "given": "float32", "allowed": "float16"}),
    ('"plugh_cpu" not implemented for \'Half\'', "refusal", {"operator": "plugh_cpu", "given": "float16", "choice": "unknown"}),
    ("For 'Plugh', the dimension of 'x' must be 4, but got 3.", "refusal", {"operator": "Plugh", "property": "dims", "given": "3"}),
    ("x dim num should be in range [4, 8], but got 9", "refusal", {"property": "dims", "allowed": "in range [4, 8]"}),
    ("EZ1001: Expected self dtype [DT_BFLOAT16] to be equal to other dtype [DT_FLOAT].", "refusal", {"cast": "float32", "side": "npu"}),
    ("requires 4 devices but only 2 are available", "limit", {"kind": "devices", "needs": "4", "has": "2"}),
    ("Tried to allocate 2.00 GiB (60 GiB total capacity; 120.00 MiB free;", "memory", {"needs": "2.00 GiB", "has": "120.00 MiB"}),
    ("The number of operator inputs 5 exceeds the allowed maximum 4.", "limit", {"kind": "size", "needs": "5", "has": "4"}),
    ("[Errno 98] bind on address ('0.0.0.0', 8000): address already in use", "limit", {"kind": "port", "needs": "8000"}),
    ("npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file", "missing", {"wanted_by": "npu-smi", "of": "CANN"}),
    ("File /plugh/x.json does not exist", "missing", {"what": "file", "name": "/plugh/x.json"}),
    ("plugh tracker file does not exist: /plugh/latest_iteration.txt", "missing", {"what": "file", "name": "/plugh/latest_iteration.txt"}),
    ("The plugh config file was not found at ./conf/plugh.yaml", "missing", {"what": "file", "name": "./conf/plugh.yaml"}),
    ("open /dev/davinci_manager failed: Permission denied", "permission", {"what": "device", "name": "/dev/davinci_manager"}),
    ("not writable, it doesn't open: 'x' isn't there", "permission", {"what": "operation"}),
    ("wait for kernel plugh timeout, time: 120000 ms", "timeout", {"waited_for": "kernel plugh", "seconds": "120"}),
    ("The operation is not supported.", "rule", {"how": "combination"}),
    ("Unsupported soc version: Ascend310B4", "unsupported", {"what": "chip", "chip": "Ascend310B4"}),
    ("plugh_impl: implementation for device npu:0 not found.", "unsupported", {"what": "operator", "operator": "plugh_impl"}),
    ("Plugh currently only works on NVIDIA, AMD and Intel GPUs.", "unsupported", {"what": "elsewhere", "chip": "NVIDIA, AMD and Intel GPUs", "who": "Plugh"}),
    ("No GPU or XPU found. A GPU or XPU is needed for FP8 plugh.", "unsupported", {"what": "elsewhere", "chip": "GPU or XPU"}),
    ("Expected x.is_cuda() to be true, but got false.", "unsupported", {"what": "elsewhere", "chip": "CUDA"}),
    ("This plugh only supports CUDA devices", "unsupported", {"what": "elsewhere", "chip": "CUDA devices"}),
    ("No CUDA/mps device found", "unsupported", {"what": "elsewhere", "chip": "CUDA/mps device"}),
    ("Plugh requires a CUDA-capable GPU", "unsupported", {"what": "elsewhere", "who": "Plugh"}),
    ("chunked plugh is not supported with MLA", "rule", {"how": "combination", "given": "MLA"}),
    ("plugh is not a valid PlughOption, please select one of ['a', 'b']", "rule", {"how": "choice", "given": "plugh", "allowed": "a, b"}),
    ("Unknown kernel 'npu' for op='plugh', variant='full'. Available: ['a', 'eager']", "rule", {"how": "choice", "subject": "kernel", "given": "npu", "allowed": "a, eager"}),
    ("Please input valid device: 'cpu', 'cuda', 'cuda:0' !", "rule", {"how": "devices", "subject": "device", "allowed": "cpu, cuda, cuda:0"}),
    ("unsupported device npu:1", "rule", {"how": "choice", "subject": "device", "given": "npu:1"}),
    ("Unsupported device type: npu, only support ['cuda', 'cpu']", "rule", {"how": "choice", "subject": "device", "allowed": "cuda, cpu"}),
    ("mode\n  Input should be 'a' or 'b' [type=literal_error, input_value='plugh', input_type=str]", "rule", {"subject": "mode", "given": "plugh"}),
    ("plugh.py: error: unrecognized arguments: --foo 3", "rule", {"how": "option", "given": "--foo 3"}),
    ("plugh module initialize failed. ret is -8005", "failure", {"what": "plugh module initialize", "code": "-8005"}),
    ("Some plugh operations have failed or timed out after 9 s.", "timeout", {"waited_for": "Some plugh operations have failed", "seconds": "9"}),
    ("plugh_frame.py:1009] AssertionError: Device xyzzy not supported", "rule", {"subject": "Device xyzzy"}),
    ("0 active drivers ([]). There should only be one.", "rule", {"subject": ""}),
    ("Failed to create vdev info. (dev_id=0; ret=-22)", "failure", {"what": "create vdev info", "code": "-22"}),
    ("Invalid device ID.", "failure", {"kind": "device"}),
    ("/usr/bin/ld: /x/libplugh.so is incompatible with elf64-x86-64", "build", {"how": "processor", "what": "libplugh.so"}),
    ("/usr/bin/ld: /x/lib64/libplugh.so: error adding symbols: file in wrong format", "build", {"how": "processor", "path": "/x/lib64/libplugh.so"}),
    ("module 'torch.library' has no attribute 'plugh'", "import", {"imported": "torch", "what": "attribute"}),
    ("No module named 'plugh.core'; 'plugh' is not a package", "import", {"what": "shadowed"}),
    ("/usr/lib64/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by /x/libplugh.so)", "import", {"importer": "libplugh.so", "what": "symbol"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "table", "cells"), SENTENCES, ids=[text[:40] for text, *_ in SENTENCES])
def test_sentence(text: str, table: str, cells: dict[str, str]) -> None:
    """One meaning, with what the sentence tells."""
    (row,) = read(Said(text))
    assert (row.table, {name: row.get(name) for name in cells}) == (f"meaning.{table}", cells)


@pytest.mark.parametrize("text", ["FlashAttention only supports Ampere GPUs or newer.", "Plugh is only supported on CUDA, XPU and NPU devices", "Plugh requires a GPU with compute capability 8.0", "No CUDA device found", "No CUDA/NPU device found"])
def test_who_knows_the_npu_or_saw_a_gpu_is_not_for_others(text: str) -> None:
    """A generation of GPUs is asked for by whoever found one."""
    assert all(row.get("what") != "elsewhere" for row in read(Said(text)))


def test_who_refuses_a_choice_says_so_as_an_exception() -> None:
    """What is not supported was chosen; a line of a log may only tell what a chip lacks."""
    (row,) = read(Said("PLUGH do not support xyzzy parallel", "ValueError"))
    assert (row.table, row.get("how"), row.get("subject"), row.get("given")) == ("meaning.rule", "combination", "xyzzy parallel", "PLUGH")
    assert read(Said("PLUGH do not support xyzzy parallel")) == ()
    assert read(Said("ValueError: PLUGH do not support xyzzy parallel"))[0].get("subject") == "xyzzy parallel"


@pytest.mark.parametrize(
    "text", ["", "all is well", "the given file does not exist", "model you asked for was not found", "Check whether the plugh timeout is set.", "'NoneType' object has no attribute 'size'", "list index out of range", "step 12 took 3 s", "Get soc name failed.", "start (105984) + length (35328) exceeds dimension size (131125)"]
)
def test_what_says_nothing(text: str) -> None:
    """What no reader understands stays unread: nothing is made up."""
    assert read(Said(text)) == ()


def test_a_rank_beside_another_arguments_is_no_number_of_dimensions() -> None:
    """Two shapes that do not fit are not an operator that takes eight dimensions at most."""
    rows = read(Said("ValueError: For primitive [PlughTo]: input's rank should be less equal to the number of proposed_shape, but got 3 and 2"))
    assert not [row for row in rows if row.table == "meaning.refusal" and row.get("property") == "dims"]


def test_a_refused_type_is_never_advised() -> None:
    """Only what is allowed and differs from what was refused."""
    for given_type in ("FLOAT16", "BF16", "FLOAT", "DOUBLE", "INT64", "INT32", "BOOL"):
        for allowed in ("DT_FLOAT16", "DT_FLOAT16, DT_FLOAT", "DT_BF16, DT_INT8", "DT_INT32,DT_DOUBLE,"):
            (row,) = read(Said(f"EZ1001: x not implemented for DT_{given_type}, should be in dtype support list [{allowed}]."))
            advised = row.get("cast")
            assert advised != row.get("given")
            assert not advised or advised in row.get("allowed").split(", ")


TRACEBACK = """Traceback (most recent call last):
  File "/home/u/run.py", line 3, in <module>
    main()
  File "/usr/lib/python3/dist-packages/plugh/core.py", line 7, in run
    self.model(x, foo=1)
  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 1518, in _call_impl
    return forward_call(*args, **kwargs)
TypeError: Xyzzy.forward() got an unexpected keyword argument 'foo'"""


def test_who_made_the_call_is_told_by_the_frames() -> None:
    """Files of torch that only pass a call on did not make it."""
    (failure,) = failures(TRACEBACK.splitlines())
    said = said_by(failure, failure.raised)
    assert (said.raised_in, said.through, said.user_file) == ("plugh", ("plugh", "torch"), "/home/u/run.py:3")
    assert read(said)[0].get("importer") == "plugh"


WORDS = st.sampled_from(
    [anchor for anchors in ANCHORS.values() for anchor in anchors]
    + ["'x'", "does", "there", "file", "path", "should be", "(", "]", "(1)", "[2]", "128", "GiB", "is", "not", "but", "got", ",", ".", "\n", "\\n", "DT_FLOAT", "aclnnFoo", "the", ":", "/a/b.so"]
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=300)


@given(st.builds(Said, TEXTS, st.sampled_from(["", "ImportError", "AssertionError", "TimeoutError"]), code=TEXTS, following=st.lists(TEXTS, max_size=3).map(tuple)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_taken(said: Said) -> None:
    """Never an exception; cells are named once, short, on one line and never empty."""
    for row in read(said):
        names = [name for name, _ in row.cells]
        assert len(names) == len(set(names))
        assert all(0 < len(value) <= 160 and "\n" not in value and value == value.strip() for _, value in row.cells)
        assert all(names_something(value) for name, value in row.cells if name in ("subject", "waited_for", "resource"))
        assert row.get("what") != "file" or "/" in row.get("name") or names_something(row.get("name"))


def names_something(value: str) -> bool:
    """Is a name more than words that any sentence has, with all its brackets closed?"""
    words = re.findall(r"[^\W_]+", value.lower())
    closed = all(value.count(one) == value.count(other) for one, other in ("()", "[]", "{}"))
    return closed and bool(words) and not {*words} <= {"does", "is", "the", "not", "file", "or", "and", "with", "there", "this", "of", "to", "should", "was"}


@pytest.mark.parametrize("piece", ["a ", "is not ", "expected x ", "must be ", "(1) ", "x: ", "'a' ", "dtype of ", "for ", "1 ", "timed out ", "/a", "a.", "[", "failed, ", "x must be y, but got "])
def test_a_long_text_costs_no_more_than_its_front(piece: str) -> None:
    """Only the front is looked at, and no pattern runs away on it."""
    opened = " ".join(anchor for anchors in ANCHORS.values() for anchor in anchors)
    for text in (piece * 3000, opened[-700:] + piece * 3000):
        read(Said(text, following=(text, text)))
        begin = time.process_time()
        read(Said(text, following=(text, text)))
        assert time.process_time() - begin < 0.25


def test_what_is_not_there_yet_is_named_without_its_verb() -> None:
    """`A and B are currently not supported` speaks of A and B: a fix that names them must read as a sentence."""
    (row,) = (one for one in read(Said("Prefix cache and chunked prefill are currently not supported.", "RuntimeError", "vllm_ascend")) if one.table == "meaning.rule")
    assert (row.get("how"), row.get("subject"), row.get("given")) == ("combination", "Prefix cache and chunked prefill", "")


@pytest.mark.parametrize("text", ["'<=' not supported between instances of 'NoneType' and 'int'", "unsupported operand type(s) for +: 'int' and 'str'", "'tuple' object does not support item assignment"])
def test_what_the_interpreter_says_of_types_is_no_rule(text: str) -> None:
    """Nobody refused anything: the program met a value that it does not expect."""
    assert not [row for row in read(Said(text, "TypeError", "vllm_ascend")) if row.kind == "rule"]


def test_what_quotes_a_wrong_call_did_not_make_it() -> None:
    """The assertion on a service's answer is not the call that failed there; the exception itself is, wherever it was passed on."""
    quoted = '{"message":"Internal server error: build() missing 1 required positional argument: \'config\'","code":500}'
    assert [row for row in read(Said(quoted, "AssertionError", "sglang")) if row.table == "meaning.import"] == []
    row = next(row for row in read(Said(quoted)) if row.table == "meaning.import")
    assert row.get("name") == "build() missing 1 required positional argument: 'config'"
    passed_on = Said("build() missing 2 required positional arguments: 'a' and 'b'", "ray.exceptions.RayTaskError(TypeError)", "verl")
    assert read(passed_on)[0].get("name").endswith("'a' and 'b'")


def test_a_method_that_an_npu_stack_replaced_is_of_that_stack() -> None:
    said = Said("npu_fold.<locals>._fold() missing 1 required positional argument: 'x'", "TypeError", "transformers", through=("sglang", "transformers"), code="y = self._fold(z)")
    row = read(said)[0]
    assert (row.get("importer"), row.get("imported"), row.get("between")) == ("transformers", "sglang", "two-packages")
    own = said._replace(text="fold.<locals>._fold() missing 1 required positional argument: 'x'")
    assert read(own)[0].get("imported") == ""
