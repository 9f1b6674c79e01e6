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
    return Scanner(Plan(knowledge.signals()))


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


