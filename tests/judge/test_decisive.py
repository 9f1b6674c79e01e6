"""What failed and nobody knows is said: the line nearest to the origin, and an exit code that is no success."""

from __future__ import annotations

import argparse

import pytest

from doctor import diagnose
from doctor.base import exits
from doctor.commands.reporting import exit_code
from doctor.judge.diagnosis import Diagnosis

PLOG = "[ERROR] {module}(4242,python3):2026-05-01-10:00:0{second}.000.{n} [a.cc:1{n}]4242 f:{text}\n"
INNER = "E69999: Inner Error!\nE69999: [PID: 7] 2026-03-17-11:49:50.181.289 op[FlooIsolate3], illegal plate of x.[FUNC:Flo"


def code(diagnosis: Diagnosis, fail_on: str = "error") -> int:
    return exit_code(argparse.Namespace(exit_zero=False, fail_on=fail_on), diagnosis)


@pytest.mark.parametrize(
    "text",
    [
        INNER,
        "E60009: [PID: 7] 2026-03-17-11:49:50.181.289 In op[Floob], plates are crooked.\n        Solution: Straighten them.\n",
        "E60009: In op[Floob], plates are crooked.\n",
        "[PID: 7] 2026-03-17-11:49:50.181.289 Floob_Argument(E60009): Plates are crooked.\n",
        "init device failed, error code: -8255\n",
        "INFO:     Started server process [7]\n[FLOOB ERROR][front.cpp:94]failed to call getGate(&gate), error code: FLOOB_ERROR_INVALID_GATE\n",
        "flood gate kaput.[FUNC:Open][FILE:gate.cc][LINE:7]\n",
        'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    f()\nfloob.Gone: away\n',
        'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    floob()\n',
        "terminate called after throwing an instance of 'floob'\nAborted (core dumped)\n",
        "thread 'main' panicked at src/floob.rs:7:5:\nplates are crooked\n",
    ],
)
def test_a_failure_that_no_entry_knows_is_never_a_success(text: str) -> None:
    found = diagnose("step 1\n" + text)
    assert code(found) == exits.INCONCLUSIVE or (found.roots and code(found) == exits.FINDINGS)


def test_the_line_below_the_empty_head_of_an_error_block_is_the_decisive_one() -> None:
    found = diagnose(INNER + "\n")
    assert found.decisive is not None
    assert "illegal plate" in found.decisive.first.text


def test_what_a_panic_of_rust_says_stands_below_it() -> None:
    found = diagnose("thread 'main' panicked at src/floob.rs:7:5:\nplates are crooked\n")
    assert found.decisive is not None
    assert "plates are crooked" in found.decisive.first.text


def test_the_lowest_layer_speaks_first() -> None:
    """An error travels upwards; what is raised at last tells least."""
    text = (
        PLOG.format(module="ASCENDCL", second=1, n=300, text="call floob failed, it could not be done")
        + PLOG.format(module="DRV", second=1, n=100, text="floob register is upside down")
        + "RuntimeError: floob went wrong\n"
    )
    found = diagnose(text)
    assert found.decisive is not None
    assert "upside down" in found.decisive.first.text


def test_what_a_program_said_before_it_only_followed_is_the_decisive_line() -> None:
    """MindIE's daemon ends its sub processes because of an error that stands right above; one of another process says nothing of it."""
    head = "[2026-01-20 16:04:20.{ms}+08:00] [{pid}] [1290] "
    end = head.format(ms=204, pid=1203) + "[server] [ERROR] [llm_daemon.cpp:70] : ERR: Failed to init endpoint! Please check the service log or console output.\n"
    said = "[llm] [ERROR] [model_wrapper] : the floob of this model is upside down\n"
    found = diagnose(head.format(ms=111, pid=1203) + said + end)
    assert found.decisive is not None
    assert "upside down" in found.decisive.first.text
    assert diagnose(head.format(ms=111, pid=977) + said + end).decisive is None


def test_what_a_tool_said_above_the_tail_of_a_build_is_the_decisive_line() -> None:
    """The tail says that a step failed, whatever the reason; on a terminal docker build puts seconds before what the step printed."""
    found = diagnose(
        " > [7/8] RUN plughpack add ./floob:\n0.998 Using plughpack 25.1\n1.006 ERROR: ./floob has no label, nothing was added\n------\n"
        'ERROR: failed to solve: process "/bin/bash -c plughpack add ./floob" did not complete successfully: exit code: 1\n'
    )
    assert found.decisive is not None
    assert "no label" in found.decisive.first.text


def test_what_a_process_wrote_before_it_only_passed_the_error_on_is_the_decisive_line() -> None:
    """The graph engine tells which step failed; why stands above, in the same log. Of those who waited for others it tells nothing."""
    why = PLOG.format(module="LITE", second=1, n=100, text="floob x has no plate")
    step = PLOG.format(module="LITE", second=1, n=300, text="Build graph failed.")
    found = diagnose(why + step)
    assert found.decisive is not None
    assert "no plate" in found.decisive.first.text
    assert diagnose(why.replace("4242", "777") + step).decisive is None
    waited = PLOG.format(module="HCCL", second=1, n=300, text="wait socket establish timeout, role[1] rank[1] timeout[120 s]")
    assert diagnose(why.replace("LITE", "HCCL") + waited).decisive is None


def test_of_what_a_program_raises_and_says_the_first_is_the_decisive_line() -> None:
    found = diagnose("FloobError: the plate is gone\n[2026-02-10 10:00:01.204+08:00] [1203] [1203] [server] [ERROR] [model.cpp:211] : Floob init failed\n")
    assert found.decisive is not None
    assert "plate is gone" in found.decisive.first.text


def test_a_general_entry_claims_no_title_while_a_line_stands_nearer_to_the_origin() -> None:
    known = "RuntimeError: call aclnnFloob failed, detail:EZ1001: floob\n, error code is 161002\n"
    alone = diagnose(known)
    assert alone.roots[0].finding.entry.general
    assert alone.decisive is None
    below = diagnose(PLOG.format(module="OP", second=1, n=100, text="the plate of floob is upside down") + known)
    assert below.decisive is not None
    assert below.general == alone.roots[0].finding.entry.code
    assert code(below) == exits.INCONCLUSIVE


def test_what_ended_a_program_is_no_success_whoever_is_to_blame() -> None:
    found = diagnose("OSError: [Errno 28] No space left on device: '/ckpt/model.pt'\n")
    assert {r.finding.entry.severity for r in found.roots} == {"warning"}
    assert code(found) == exits.FINDINGS
    assert code(found, "fatal") != exits.FINDINGS


def test_source_lines_of_a_traceback_that_a_launcher_logs_are_no_errors() -> None:
    head = "(Worker pid=7) ERROR 05-01 10:00:01 [core.py:7] "
    text = "".join(head + row + "\n" for row in ("Traceback (most recent call last):", '  File "/a.py", line 3, in f', "    x = floob(y)", "floob.GoneError: away"))
    assert [c.first.text for c in diagnose(text).unexplained] == ["floob.GoneError: away"]


REFUSED = "[ERROR] FLOOB(11206,floob_lite):2021-01-08-09:53:15.978.801 [floob/tools/plates.cc:94] ReadPlates] Parse plates.bin failed.\n"
ENDED = "CONVERT RESULT SUCCESS:0\n"


def test_an_error_above_the_good_end_of_its_program_was_got_over() -> None:
    """A converter tries a format, says that it is none, and takes the next: it came to its end."""
    found = diagnose(REFUSED + ENDED)
    assert (found.verdict, found.decisive, code(found)) == ("clean", None, exits.CLEAN)
    assert [c.first.line for c in found.unexplained] == [1]  # it is told all the same


@pytest.mark.parametrize("text", [ENDED + REFUSED, REFUSED + ENDED + REFUSED, REFUSED + "step 2\n"])
def test_an_error_that_no_good_end_follows_was_not(text: str) -> None:
    found = diagnose(text)
    assert (found.verdict, code(found)) == ("inconclusive", exits.INCONCLUSIVE)


WISHES = "{title}\nvllm 0.11.0 requires torch==2.8.0, but you have torch 2.7.1 which is incompatible.\nSuccessfully installed vllm-ascend-0.11.0rc1\n"
UP = "INFO:     Application startup complete.\n"
HARMLESS = '{title}\nWARNING 05-01 10:00:01 [_custom_ops.py:20] Failed to import from vllm._C with ModuleNotFoundError("No module named \'vllm._C\'")\n'


@pytest.mark.parametrize("rest", [WISHES + UP, HARMLESS])
@pytest.mark.parametrize("title", ["ERROR: floob read the following notes:", "ERROR: floob has the following wishes.", "ERROR: floob 的说明如下："])
def test_the_heading_of_what_is_known_and_no_fault_is_none_either(rest: str, title: str) -> None:
    found = diagnose(rest.format(title=title))
    assert (found.verdict, found.decisive, code(found)) == ("clean", None, exits.CLEAN)
    assert [c.first.line for c in found.unexplained] == [1]  # it is told all the same


@pytest.mark.parametrize("text", [HARMLESS.format(title="ERROR: floob has lost its plates"), HARMLESS.format(title="ERROR: floob said:\n"), WISHES.format(title="") + "ERROR: floob read:\n" + UP])
def test_a_failure_above_what_is_no_fault_stays_one(text: str) -> None:
    assert diagnose(text).verdict != "clean"


def test_a_check_that_names_no_reason_leaves_the_word_to_the_first_error_of_its_thread() -> None:
    """The library says what it does not support; all that calls it says that a call failed."""
    lines = (
        "[2025-09-28 20:14:33.202857] [error] [710583] [floob.cpp:444] plates are crooked, rank 4\n",
        "[2025-09-28 20:14:33.202940] [error] [710583] [runner.cpp:54] FloobRunner init fail\n",
        "F20250928 20:14:33.261377 {thread} floob_impl.cpp:97] Check failed: st == atb::NO_ERROR (3 vs. 0) Floob execute fail\n",
    )
    found = diagnose("".join(lines).format(thread=710583))
    assert found.decisive is not None
    assert "plates are crooked" in found.decisive.first.text
    other = diagnose("".join(lines).format(thread=4))
    assert other.decisive is None


def test_the_bare_title_of_a_block_is_no_other_error_than_the_line_within_it() -> None:
    """`The argument is invalid` names no argument; what failed is told by the traceback beneath."""
    block = (
        "[PID: 7] 2026-03-17-11:49:50.181.289 Invalid_Argument(EL0003): {title}\n"
        "        Solution: Try again with a valid argument.\n"
        "        TraceBack (most recent call last):\n"
        "        The error from device(chipId:0, dieId:1), serial number is 3, there is an exception of fftsplus aicore error, core id is 5, error code = 0x800000\n"
    )
    found = diagnose(block.format(title="The argument is invalid."))
    assert found.decisive is None
    assert [root.finding.entry.code for root in found.roots] == ["RTS002"]
    assert found.roots[0].against is None
    told = diagnose(block.format(title="Argument floob is upside down."))
    assert told.decisive is not None
