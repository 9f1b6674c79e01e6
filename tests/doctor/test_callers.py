"""Who made the call that was refused: shown with every root that is an exception, and asked whose code has to change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from doctor.answer import callers
from doctor.answer.report import report
from doctor.findings.situation import Situation
from doctor.judge.diagnosis import conclude
from doctor.read import discover
from doctor.render import compact, markdown
from doctor.render.call import Call
from doctor.render.layout import Style
from doctor.scan.harvest import Caller, Harvest, from_json, merge, shift
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

HEAD = "Traceback (most recent call last):\n"
OWN = '  File "/data/job/train.py", line 88, in step\n    loss = picked - target\n'
LIBRARY = '  File "/usr/lib/python3/dist-packages/plugh/attention.py", line 19, in forward\n    return torch_npu.npu_fusion_attention(\n'
TORCH = '  File "/usr/lib/python3/dist-packages/torch/_ops.py", line 1209, in __call__\n    return self._op(*args, **kwargs)\n'
NULL = "RuntimeError: call aclnnFlashAttentionVarLenScore failed, error code is 161001\n"
MIXED = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, npu:0 and cpu!\n"
KILLED = "RuntimeError: NPU function error: aclrtSynchronizeStream, error code is 507015\n"


@pytest.fixture
def root(scanner: Scanner, knowledge: Knowledge) -> Any:
    """The first root of a log."""

    def found(log: str) -> dict[str, Any]:
        made = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)
        return next(f for f in made["findings"] if f["role"] == "root")

    return found


@pytest.mark.parametrize(
    ("frames", "message", "place"),
    [
        (OWN, MIXED, "/data/job/train.py:88  loss = picked - target"),
        (OWN + TORCH, MIXED, "/data/job/train.py:88  loss = picked - target"),
        (OWN + LIBRARY + TORCH, NULL, "plugh/attention.py:19  torch_npu.npu_fusion_attention(...)"),
        (TORCH, MIXED, None),
        (OWN, KILLED, None),
    ],
)
def test_the_last_place_above_the_framework_is_told(root: Any, frames: str, message: str, place: str | None) -> None:
    """Not where a kernel failed that had been started long before, and not where only PyTorch is seen."""
    assert root(HEAD + frames + message)["caller"] == place


def test_what_changes_the_callers_code_is_no_other_way_out_where_a_library_calls(root: Any) -> None:
    """Nobody edits the arguments of a library; in a program of one's own that is the fix."""
    library, own = root(HEAD + OWN + LIBRARY + TORCH + NULL), root(HEAD + OWN + NULL)
    assert not any((library["fixes"][n].get("code") or {}).get("before") for n in library["other_fixes"])
    assert any((own["fixes"][n].get("code") or {}).get("before") for n in (own["first_fix"], *own["other_fixes"]))


def test_whose_code_it_is_decides_what_is_tried_first(root: Any) -> None:
    """A user can take another release of a library, but not write its arguments; of the own code the entry's fix holds."""
    library, own = root(HEAD + LIBRARY + TORCH + NULL), root(HEAD + OWN + NULL)
    assert "plugh" in library["fixes"][library["first_fix"]]["title"]["en"]
    assert "plugh" in library["fixes"][library["first_fix"]]["title"]["zh"]
    assert own["fixes"][own["first_fix"]]["code"]
    assert not any("plugh" in fix["title"]["en"] for fix in own["fixes"])


def test_a_sure_entry_keeps_its_fix(root: Any) -> None:
    """What mends a fault that is known is not replaced by another release."""
    found = root(HEAD + LIBRARY + MIXED)
    assert found["confidence"] > 0.9
    assert "plugh" not in found["fixes"][found["first_fix"]]["title"]["en"]
    assert any("plugh" in found["fixes"][n]["title"]["en"] for n in found["other_fixes"])


def test_a_compiler_is_not_to_blame_for_the_kernel_that_it_was_given(root: Any) -> None:
    """Triton's frames stand under every kernel: another release of it is no answer to what the kernel asks for."""
    of_compiler = LIBRARY.replace("plugh/attention.py", "triton/runtime/jit.py")
    assert not any("made by triton" in fix["title"]["en"] for fix in root(HEAD + of_compiler + TORCH + NULL)["fixes"])


def test_what_else_helps_comes_before_code_that_is_a_librarys(root: Any) -> None:
    """Also where the entry is sure: whoever serves a model takes another release, and does not write the rotary embedding anew."""
    engine = '  File "/usr/lib/python3/dist-packages/vllm_ascend/ops/plugh.py", line 19, in forward\n    torch_npu.npu_rotary_mul(q, cos, sin)\n'
    refused = "RuntimeError: call aclnnRotaryPositionEmbedding failed, error code is 161002\n"
    library, own = root("vllm-ascend 0.15.0rc1\n" + HEAD + engine + refused), root(HEAD + OWN + refused)
    assert "code" not in library["fixes"][library["first_fix"]]
    assert own["fixes"][own["first_fix"]]["code"]


def test_what_a_library_raises_of_the_service_is_no_fault_of_its_release(root: Any) -> None:
    """Mooncake did not come up: the connector that says so is not the one to replace."""
    frame = '  File "/usr/lib/python3/dist-packages/vllm_ascend/plugh.py", line 19, in start\n    raise\n'
    found = root(HEAD + frame + "RuntimeError: Initialize mooncake failed.\n")
    assert not any("vllm_ascend" in fix["title"]["en"] for fix in found["fixes"])


def test_faces_show_it(scanner: Scanner, knowledge: Knowledge) -> None:
    """On the one screen, and where everything is written down."""
    made = report(conclude([scanner.scan(discover.given_text(HEAD + OWN + MIXED))], knowledge), knowledge)
    assert "/data/job/train.py:88  loss = picked - target" in compact.render(made, "en", Style(100, False), Call())
    assert "/data/job/train.py:88" in markdown.render(made, "en")


def test_harvests_carry_it(scanner: Scanner) -> None:
    """Through JSON, into the file that a range belongs to, and once where two harvests have it."""
    found = scanner.scan(discover.given_text(HEAD + OWN + MIXED))
    assert [c.line for c in found.callers] == [4]
    assert from_json(json.loads(json.dumps(found.json()))).callers == found.callers
    assert [c.line for c in shift(found, 10).callers] == [14]
    assert merge([found, found]).callers == found.callers
    assert merge([found, Harvest()]).callers == found.callers


@pytest.mark.parametrize("row", [["a.log", None, "", "x", ""], ["a.log", 1, "", "x"], ["a.log", "1", "", "x", ""], [1, 1, "", "x", ""]])
def test_harvests_of_others_are_not_believed(row: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_json({**json.loads(json.dumps(Harvest().json())), "callers": [row]})


def test_what_a_trainer_does_with_no_known_remedy_is_answered_with_its_newer_release(root: Any) -> None:
    """Something to paste that leaves torch alone; nobody updates the engine or torch by itself, nor a library whose releases a framework bounds, a program of one's own has no release, and what is raised on purpose speaks of settings."""
    frame = '  File "/usr/lib/python3/dist-packages/{}/plugh.py", line 19, in forward\n    y = xyzzy(x)\n'
    failed = "RuntimeError: xyzzy() does not take that\n"
    trainer, engine, own = (root(HEAD + made + failed) for made in (frame.format("trl"), frame.format("sglang"), OWN))
    first = trainer["fixes"][trainer["first_fix"]]
    assert [c["run"] for c in first["commands"]] == ["python3 -m pip install -U --no-deps trl"]
    asked = root(HEAD + frame.format("trl").replace("y = xyzzy(x)", "raise ValueError(") + "ValueError: xyzzy must be set\n")
    bounded = root(HEAD + frame.format("vllm") + frame.format("transformers") + failed)
    for other in (engine, own, asked, bounded):
        assert not any("--no-deps" in c["run"] for fix in other["fixes"] for c in fix["commands"])


UNHEARD = "KeyError: 'Wanted grommets in `sprocket` for kind frob: pitch'\n"
PLOG = "plog of the failing process"


@pytest.mark.parametrize(
    ("log", "asked", "never"),
    [
        (HEAD + OWN + LIBRARY + UNHEARD, "releases of plugh", PLOG),
        (HEAD + OWN + UNHEARD, "train.py:88", PLOG),  # the reader's own code: no release, and no word of it in a plog
        (HEAD + OWN + LIBRARY + UNHEARD.replace("sprocket", "npu sprocket"), PLOG, "releases of"),
        (HEAD + OWN + LIBRARY + UNHEARD.replace("KeyError", "RuntimeError"), PLOG, "releases of"),
    ],
)
def test_what_is_asked_for_can_tell_of_what_was_refused(scanner: Scanner, knowledge: Knowledge, log: str, asked: str, never: str) -> None:
    shown = markdown.render(report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge), "en")
    assert asked in shown
    assert never not in shown
    assert "torch.compile" not in shown


def test_a_line_that_nobody_knows_is_shown_with_the_place_that_raised_it(scanner: Scanner, knowledge: Knowledge) -> None:
    log = HEAD + OWN + LIBRARY + "plugh.errors.GrommetError: sprocket 17 of kind frob is not round\n"
    made = report(conclude([scanner.scan(discover.given_text(log))], knowledge), knowledge)
    assert "plugh/attention.py:19" in made["decisive"]["caller"]
    for shown in (compact.render(made, "en", Style(100, False), Call()), markdown.render(made, "en")):
        assert "plugh/attention.py:19" in shown


def test_what_is_only_read_from_a_refusal_is_no_order_to_whoever_calls_a_library(root: Any) -> None:
    """That its tensors shall be of another shape, the user of a library cannot do; that it be updated, he can."""
    refused = "RuntimeError: call aclnnPlughMatMul failed, detail:EZ1001: Input tensor's shape[[3,64,67]] should be same with output's shape[[1,64,67]].\n"
    library, own = root(HEAD + OWN + LIBRARY.replace("torch_npu.npu_fusion_attention(", "inv @ position") + refused), root(HEAD + OWN + refused)
    assert "plugh" in library["fixes"][library["first_fix"]]["title"]["en"]
    assert "made by" not in own["fixes"][own["first_fix"]]["title"]["en"]


SERVING = "lmdeploy - INFO - async_engine.py:173 - updated backend_config=PytorchEngineConfig(tp=1, {}device_type='ascend')\n"


@pytest.mark.parametrize(("told", "advised"), [("eager_mode=True, ", False), ("eager_mode=False, ", True), ("", True)])
def test_nobody_is_sent_to_switch_off_graphs_that_are_off(root: Any, told: str, advised: bool) -> None:
    """The engine itself says how it was started; another release is still the way."""
    frame = LIBRARY.replace("plugh/attention.py", "lmdeploy/pytorch/plugh.py")
    found = root(SERVING.format(told) + HEAD + frame + NULL)
    steps = " ".join(step["en"] for n in (found["first_fix"], *found["other_fixes"]) for step in found["fixes"][n].get("steps", ()))
    assert "dlinfer-ascend of one release" in steps
    assert ("--eager-mode" in steps) is advised


def test_who_ran_with_and_without_graphs_is_still_told(root: Any) -> None:
    """Which of two starts failed the settings alone do not tell."""
    frame = LIBRARY.replace("plugh/attention.py", "lmdeploy/pytorch/plugh.py")
    found = root(SERVING.format("eager_mode=True, ") + SERVING.format("eager_mode=False, ") + HEAD + frame + NULL)
    assert any("--eager-mode" in step["en"] for fix in found["fixes"] for step in fix.get("steps", ()))


@pytest.mark.parametrize(("here", "asked"), [("4.49.0", "'transformers<5'"), ("", "transformers"), ("main", "transformers")])
def test_a_newer_release_is_of_the_same_major(here: str, asked: str) -> None:
    """Without its dependencies it has to go with what is there: the next major asks for another torch."""
    made = Caller("train.log", 7, "transformers", "transformers/modeling_utils.py:9", "raise ImportError(x)")
    situation = Situation(facts={"transformers": (here,)} if here else {})
    assert [c.run for c in callers._newer(made.package, situation)] == [f"python3 -m pip install -U --no-deps {asked}"]


def test_what_a_worker_raised_is_not_laid_to_who_waited_for_it(root: Any) -> None:
    """torch raises it again in the parent, whose frames stand above: the worker's own stand below."""
    parent = HEAD + '  File "/usr/lib/python3/dist-packages/plugh/loops.py", line 26, in advance\n    batch = next(it)\n' + TORCH + "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\nOriginal "
    forked = "RuntimeError: Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the 'spawn' start method\n"
    lazily = '  File "/usr/lib/python3/dist-packages/torch_npu/npu/__init__.py", line 214, in _lazy_init\n    raise RuntimeError(\n'
    found = root(parent + HEAD + OWN + lazily + forked)
    assert found["caller"] == "/data/job/train.py:88  loss = picked - target"
    assert not any("plugh" in fix["title"]["en"] for fix in found["fixes"])
