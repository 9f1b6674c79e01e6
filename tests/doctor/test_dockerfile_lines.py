"""What an image build is to install stands in its Dockerfile, and a refused installation is no success."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.api import report
from doctor.base import exits
from doctor.cli import main
from kb.knowledge import Knowledge

REFUSED = """\
ERROR: Cannot install torch-npu==2.3.1, torch==2.3.1 because these package versions have conflicting dependencies.
The conflict is caused by:
    The user requested torch==2.3.1
    torch-npu 2.3.1 depends on torch==2.3.1+cpu
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/
"""
LAYER = " => [plugh 5/6] RUN pip3 install -r plugh.txt     53.2s\n"


def fix(text: str, knowledge: Knowledge) -> dict[str, object]:
    root = report(text, knowledge=knowledge)["findings"][0]
    made: dict[str, object] = root["fixes"][root["first_fix"]]
    return made


def test_a_build_is_told_lines_of_its_dockerfile(knowledge: Knowledge) -> None:
    made = fix(LAYER + REFUSED, knowledge)
    assert not made.get("commands")
    code = made["code"]
    assert isinstance(code, dict)
    assert code["lang"] == "dockerfile"
    assert code["after"].startswith("RUN pip install torch==2.3.1+cpu")
    assert "pip freeze" not in str(made)


def test_a_shell_is_told_commands(knowledge: Knowledge) -> None:
    assert fix(REFUSED, knowledge).get("commands")


@pytest.mark.parametrize(
    "text",
    [
        "ERROR: Cannot install plugh==1.0 and xyzzy==2.0 because these package versions have conflicting dependencies.\n",
        "ERROR: Could not find a version that satisfies the requirement plugh==1.0 (from versions: none)\n",
        "WARNING: Requirement 'plugh.whl' looks like a filename, but the file does not exist\n",
    ],
)
def test_a_refused_installation_does_not_end_in_0(text: str, tmp_path: Path) -> None:
    (tmp_path / "pip.log").write_text(text, "utf-8")
    assert main(["scan", str(tmp_path)]) == exits.FINDINGS


def test_the_two_requirements_are_named(knowledge: Knowledge) -> None:
    text = REFUSED.replace("torch-npu 2.3.1 depends on torch==2.3.1+cpu", "plugh 0.9 depends on xyzzy==2.8.0\n    quux 1.1 depends on xyzzy>=2.9")
    assert "plugh 0.9 depends on xyzzy==2.8.0, quux 1.1 depends on xyzzy>=2.9" in report(text, knowledge=knowledge)["findings"][0]["cause"]["en"]


HAL = "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n"


@pytest.mark.parametrize(
    ("beside", "begins"),
    [
        ("", "Start the container"),
        ('Traceback (most recent call last):\n  File "/home/li/plugh/main.py", line 1, in <module>\n    import torch_npu\n', "It is there"),
        ('$ docker run -it plugh\nTraceback (most recent call last):\n  File "/home/li/plugh/main.py", line 1, in <module>\n    import torch_npu\n', "Start the container"),
    ],
)
def test_where_a_program_runs_decides_what_is_tried_first(beside: str, begins: str, knowledge: Knowledge) -> None:
    assert str(fix(beside + HAL, knowledge)["title"]["en"]).startswith(begins)  # type: ignore[index]
