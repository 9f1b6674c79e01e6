"""Lines that nobody knows are read by what they say, once for each shape; whoever knows more goes before it."""

from __future__ import annotations

import pytest

from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.scan import meaningscan
from doctor.scan.plan import Plan
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge
from parsers.meaning import Said


@pytest.fixture(scope="module")
def scanner(knowledge: Knowledge) -> Scanner:
    return Scanner(Plan(knowledge.sought()))


def diagnosed(text: str, scanner: Scanner, knowledge: Knowledge) -> Diagnosis:
    return conclude([scanner.scan(discover.given_text(text, "<sample>"))], knowledge)


def roots(diagnosis: Diagnosis) -> list[str]:
    return [r.finding.entry.code for r in diagnosis.roots]


def test_software_that_nobody_has_heard_of(scanner: Scanner, knowledge: Knowledge) -> None:
    """Who asks is told by the frames, what for by the message; the line is no unexplained one any more."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/xyzzy/npu.py", line 4, in <module>\n'
        "    from mindformers.core import plugh\n"
        "ImportError: cannot import name 'plugh' from 'mindformers.core' (/usr/lib/python3/dist-packages/mindformers/core/__init__.py)\n"
    )
    diagnosis = diagnosed(text, scanner, knowledge)
    assert roots(diagnosis) == ["MNG001"]
    assert diagnosis.roots[0].finding.instances[0].captures["importer"] == "xyzzy"
    assert diagnosis.unexplained == ()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("plugh_init failed, error code: -123456", "MNG081"),
        ("Invalid device ID.", "MNG082"),
        ("The binary_info_config.json of socVersion [ascend910] does not support opType [Plugh].", "MNG060"),
    ],
)
def test_plain_words_without_a_level(line: str, code: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """A line that says "failed" in so many words is an error, whoever wrote it without a level."""
    assert roots(diagnosed(line + "\n", scanner, knowledge)) == [code]


BLOCK = """EE1001: [PID: 4242] 2026-03-18-10:02:45.811.307 The argument is invalid.Reason: rtPlugh execution failed
        Solution: 1.Check the input parameter range of the function.
        TraceBack (most recent call last):
        The plugh of this stream is gone.
        rtPlugh execution failed, reason=invalid value[FUNC:FuncErrorReason][FILE:error_message_manage.cc][LINE:65]
all is well again
"""


def test_what_a_block_says_in_plain_words_is_read(scanner: Scanner, knowledge: Knowledge) -> None:
    """The innermost line of a block has neither level nor code: it is told as what nobody knows, before anything general."""
    diagnosis = diagnosed(BLOCK, scanner, knowledge)
    assert diagnosis.decisive is not None
    assert diagnosis.decisive.first.text == "The plugh of this stream is gone."
    assert all("all is well" not in c.first.text for c in diagnosis.unexplained)


def test_a_program_that_only_says_failed_is_quoted(scanner: Scanner, knowledge: Knowledge) -> None:
    decisive = diagnosed("PlughOperation CreateOperation failed!\n", scanner, knowledge).decisive
    assert decisive is not None
    assert decisive.first.text == "PlughOperation CreateOperation failed!"
    assert diagnosed("plugh: 0 of 4 tests failed!\n", scanner, knowledge).decisive is None


def test_a_line_of_a_block_is_told_once(scanner: Scanner, knowledge: Knowledge) -> None:
    """One in which a mark of its own stands is met twice, and counted once; one that an entry knows is explained."""
    marked = BLOCK.replace("The plugh of this stream is gone.", "plugh failed, error code: -123456")
    diagnosis = diagnosed(marked, scanner, knowledge)
    assert [h.place.line for r in diagnosis.related for h in r.finding.hits if r.finding.entry.code == "MNG081"] == [4]
    assert "-123456" not in "".join(c.first.text for c in diagnosis.unexplained)
    known = BLOCK.replace("The plugh of this stream is gone.", "Binary register failed, elf machine or arch does not match the device.")
    assert roots(diagnosed(known, scanner, knowledge)) == ["RTS885"]


@pytest.mark.parametrize(
    ("line", "root"),
    [
        ("[svc.c,plugh_rename,587]:rename error. errno is 30", "HST003"),
        ("plugh write failed, errno: 28", "MNG024"),
        ("plugh open failed (errno=24)", "MNG024"),
    ],
)
def test_an_error_number_is_read_as_its_words(line: str, root: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """The number of the operating system says as much as its name."""
    assert roots(diagnosed(line + "\n", scanner, knowledge)) == [root]


@pytest.mark.parametrize("line", ["recv returned -1, errno=11, trying again", "connect: errno 115", "poll done, errno=0", "errno 4711 is none"])
def test_an_error_number_that_a_program_goes_on_after(line: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """Try again, in progress, and none at all are no failure."""
    diagnosis = diagnosed(line + "\n", scanner, knowledge)
    assert roots(diagnosis) == []
    assert diagnosis.unexplained == ()


@pytest.mark.parametrize(
    ("log", "root"),
    [
        ("/usr/bin/ld: warning: libplugh.so, needed by /x/libxyzzy.so, not found (try using -rpath)\nlibxyzzy.so: undefined reference to `plughInit'\nmake: *** [all] Error 2\n", "MNG090"),
        ("/x/libxyzzy.so: undefined reference to `plughInit'\nmake: *** [all] Error 2\n", "MNG091"),
        ("/usr/src/plugh/driver/kernel/x.c:9:3: error: too many arguments to function 'plugh'\n[Driver] [2026-04-02 15:25:03] [ERROR]driver rebuild failed\n", "MNG092"),
    ],
    ids=["library", "symbol", "kernel"],
)  # fmt: skip
def test_the_first_tool_that_failed_leads(log: str, root: str, scanner: Scanner, knowledge: Knowledge) -> None:
    """What compiler or linker said stands above make's word that something failed."""
    assert roots(diagnosed(log, scanner, knowledge)) == [root]


def test_what_is_logged_as_information_is_no_failure(scanner: Scanner, knowledge: Knowledge) -> None:
    """The same words at a lower level are left alone."""
    text = "INFO 03-25 06:14:02 [plugh.py:880] plugh_init failed, error code: -123456, trying again\n"
    assert roots(diagnosed(text, scanner, knowledge)) == []


def test_whoever_knows_the_line_knows_more(scanner: Scanner, knowledge: Knowledge) -> None:
    """An entry for just this failure stands first, and what was read from the words beneath it."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/x/vllm_ascend/worker/block_table.py", line 9, in <module>\n'
        "    from vllm.utils import cdiv\n"
        "ImportError: cannot import name 'cdiv' from 'vllm.utils' (/x/vllm/utils/__init__.py)\n"
    )
    assert roots(diagnosed(text, scanner, knowledge)) == ["VER012"]


def test_the_family_of_codes_stands_beneath_what_it_refused(scanner: Scanner, knowledge: Knowledge) -> None:
    """161002 says that an argument was refused; the words say which, and what is taken instead."""
    text = (
        "aclnnPlugh failed, error code is 161002\nAclNN_Parameter_Error(EZ1001):\nTensor scale not implemented for DT_FLOAT16,\n"
        "should be in dtype support list\n[DT_UINT64, DT_BFLOAT16, DT_FLOAT].\n"
    )
    diagnosis = diagnosed(text, scanner, knowledge)
    assert roots(diagnosis) == ["MNG010"]
    assert "OPR001" in diagnosis.roots[0].explains
    assert diagnosis.roots[0].finding.instances[0].captures["cast"] == "bfloat16"


def test_a_storm_is_read_once(scanner: Scanner, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of one shape say the same; beyond so many shapes none is read."""
    asked: list[str] = []
    monkeypatch.setattr(meaningscan.MeaningScan, "_said", lambda _self, _lines, _eol, place: asked.append(place.text) or Said("nothing"))
    diagnosed("".join(f"ERROR: plugh {n} must be even\n" for n in range(500)), scanner, knowledge)
    assert len(asked) == 1
    asked.clear()
    diagnosed("".join(f"ERROR: plugh{chr(97 + n % 26)}{chr(97 + n // 26)} is odd\n" for n in range(500)), scanner, knowledge)
    assert len(asked) == meaningscan.MAX_SHAPES


def test_windows_make_no_difference(scanner: Scanner, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames of an exception may stand in the window before."""
    from doctor.scan import windows

    frames = "".join(f'  File "/usr/lib/python3/dist-packages/xyzzy/f{n}.py", line 4, in f\n    g()\n' for n in range(60))
    text = "x\n" * 9000 + "Traceback (most recent call last):\n" + frames + "TypeError: build() missing 1 required positional argument: 'config'\n"
    whole = scanner.scan(discover.given_text(text, "<sample>")).hits
    monkeypatch.setattr(windows.windows, "__defaults__", (0, None, 20_000))
    assert scanner.scan(discover.given_text(text, "<sample>")).hits == whole
    assert next(h for h in whole if h.signal.startswith("MNG006")).captures[0] == ("importer", "xyzzy")


