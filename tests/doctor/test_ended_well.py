"""What a run that came to its end, tests that passed, or another vendor's machine make of the lines before: and what they do not hide."""

from __future__ import annotations

import pytest

from doctor.api import diagnose, report
from doctor.render import parts
from kb.knowledge import Knowledge

IGNORED = "[INFO:swift] args.ignore_args_error: remaining_argv: ['--use_rotary_position_embeddings'], ignored.\n"
MEMORY = "RuntimeError: NPU out of memory. Tried to allocate 900.00 GiB (NPU 0; 60.97 GiB total capacity; 1.00 GiB already allocated)\n"
SLOW = "[W] Warning: CAUTION: The operator 'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall back to run on the CPU. This may have performance implications.\n"
PASSED = "=================== 4 passed, 1 skipped in 14.22s ===================\n"
FAILED = "=================== 1 failed, 3 passed in 14.22s ===================\n"
NO_AUTOCAST = "/opt/py/torch/amp/autocast_mode.py:27: UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling\n"
OPENVINO = 'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    load()\nRuntimeError: Exception from src/inference/core.cpp:112:\n'


def roots(text: str, knowledge: Knowledge) -> list[str]:
    return [r.finding.entry.code for r in diagnose(text, knowledge=knowledge).roots]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("  - fixed-ratio dry-run error: " + MEMORY + "exit=0\n", []),  # the program caught it
        ("  - fixed-ratio dry-run error: " + MEMORY + "exit=1\n", ["MEM005"]),
        (IGNORED + "exit=0\n", []),
        (IGNORED + "exit=1\n", ["TRN732"]),
        ("exit=0\n" + IGNORED, ["TRN732"]),  # of another run
        (IGNORED + "exit=0\n" + IGNORED, ["TRN732"]),
        (MEMORY + "exit=0\n", ["MEM005"]),  # `train | tee log` ends well, whatever became of the training
        (SLOW + "exit=0\n", ["OPR026"]),  # slow all the same
        (MEMORY + PASSED, []),  # a test wanted it
        (MEMORY + FAILED, ["MEM005"]),
        (PASSED + MEMORY, ["MEM005"]),
        (OPENVINO, ["NOT033"]),
        ("NPU : Intel(R) AI Boost\n" + OPENVINO, ["NOT971"]),
        ("NPU : Intel(R) AI Boost\n" + NO_AUTOCAST, ["NOT971"]),  # what it advises is for Ascend's NPU
        (NO_AUTOCAST, ["PTA012"]),
    ],
)
def test_what_stands_before_the_end(text: str, codes: list[str], knowledge: Knowledge) -> None:
    assert roots(text, knowledge) == codes


CONVERTED = "ATC run success, welcome to the next use.\n"


@pytest.mark.parametrize(("text", "answers", "harmless"), [(CONVERTED, ["NOI901"], []), (CONVERTED + MEMORY, ["MEM005"], ["NOI901"])])
def test_that_a_step_before_went_well_is_no_answer_beside_a_fault(text: str, answers: list[str], harmless: list[str], knowledge: Knowledge) -> None:
    told = report(text, knowledge=knowledge)
    assert [f["id"] for f in parts.roots(told)] == answers
    assert [f["id"] for f in parts.noise(told)] == harmless


CARD = """
+---------------------------+---------------+----------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)                       |
+===========================+===============+====================================================+
| 0     310B1               | HEALTH        | 0.0         57                15    / 15           |
| 0     0                   | NA            | 0           11833/ 23673                           |
+===========================+===============+====================================================+
"""
NO_KERNEL = """EZ9999: Inner Error!
EZ9999: [PID: 41346] 2025-08-05-22:49:45.373.816 Parse dynamic kernel config fail.[THREAD:42075]
       AclOpKernelInit failed opType[THREAD:42075]
       GatherElements AiCore ADD_TO_LAUNCHER_LIST_AICORE failed.[THREAD:42075]
"""
WRONG_FIRMWARE = "        NPU ID                         : 0\n        Compatibility                  : NOT OK\n"
NOT_STARTED = "EE9999: [PID: 412] 2025-09-22-20:03:38.402.118 tsd client wait response fail, device response code[1]. unknown device error.\n"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (NO_KERNEL + CARD.replace("HEALTH", "Alarm "), ["ENV046"]),  # no state of a card takes files away
        (NO_KERNEL + CARD.replace("HEALTH  ", "Critical"), ["ENV046", "SMI001"]),
        (CARD.replace("HEALTH", "Alarm ").replace("NA            |", "0000:11:00.0  |"), ["SMI001"]),
        (CARD.replace("HEALTH", "Alarm "), []),  # a board that cannot measure its power
        (NOT_STARTED, ["DRV010"]),
        (NOT_STARTED + WRONG_FIRMWARE, ["SMI010"]),
    ],
)
def test_what_only_stands_beside_or_follows(text: str, codes: list[str], knowledge: Knowledge) -> None:
    assert sorted(roots(text, knowledge)) == codes
