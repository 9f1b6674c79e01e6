"""The line that says what was given and what had to be is the answer, not what only passes it on; and what can be pasted has changed what was at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.api import report
from parsers.meaning import read
from parsers.meaning.said import Said

WRAPPED = "[ERROR] GE(9931,main):2026-03-06-10:05:17.662.{n} [plugh.cc:{n}]9931 Frob: ErrorNo: 145000(Parameter invalid.) {text}\n"
EXECUTE = "[ERROR] execute model failed, modelId is 1, errorCode is 145000\n"
SIZES = WRAPPED.format(n=183, text="[Check][Param] Input size:150528 from user add align:64 < op_size:602112 in model:1")
CMAKE = "CMake Error at cmake/func.cmake:893 (message):\n  {said}\n-- Configuring incomplete, errors occurred!\n"
DATA = "[ERROR] MD(20511,fff,python):2026-03-10-10:14:51.500.012 [x.cc:222] InterruptMaster] MindSpore dataset is terminated with err msg: Exception thrown from user defined Python function in dataset.\n\n- Dataset Pipeline Error Message: \n{rule}\n[ERROR] {said}\n"
REFUSED = "docker run -it -e ASCEND_VISIBLE_DEVICES={given} --shm-size=64g -v /d:/m quay.io/plugh/npu:1.0 bash\n[ERROR]    2026/03/11 09:31:22.241137 1       process/process.go:288    failed to get devices from ASCEND_VISIBLE_DEVICES value, error: {error}\n"


def root(*parts: tuple[str, str], folder: Path) -> dict[str, Any]:
    for name, text in parts:
        (folder / name).write_text(text)
    told = report(folder)
    found: dict[str, Any] = next(f for f in told["findings"] if f["role"] == "root")
    return {**found, "missing": told["missing_evidence"]}


def pasted(found: dict[str, Any]) -> str:
    return "\n".join(command["run"] for fix in found["fixes"] for command in fix["commands"])


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("user size[8192] is not equal to op size[16416]", ("size", "8192", "16416", "")),
        ("xyzzy len:1 is not equal to inputs len:2", ("number", "1", "2", "2")),
        ("plugh version is 2.1, wanted is ==2.3", ("release", "2.1", "==2.3", "")),
        ("world size 8 is different from group size 16", ("number", "8", "16", "2")),
        ("user size 9 is less than op size 4", None),  # it is not
        ("latency 9 > timeout 4", None),
        ("free memory size 9 is less than required size 40", None),  # whose reader is another one
    ],
)
def test_two_figures_are_read(text: str, row: tuple[str, str, str, str] | None) -> None:
    found = [r for r in read(Said(text)) if r.table == "meaning.figures"]
    assert [tuple(r.get(name) for name in ("how", "given", "allowed", "times")) for r in found] == ([row] if row else [])


def test_a_line_that_nobody_knows_is_told_by_its_figures(tmp_path: Path) -> None:
    found = root(("run.log", "[ERROR] xyzzy: frob size 150528 is less than plugh size 602112\n"), folder=tmp_path)
    assert found["id"] == "MNG025"
    assert "150528" in found["title"]["en"]
    assert "602112" in found["title"]["zh"]


def test_the_sizes_stand_in_the_title_and_are_the_evidence(tmp_path: Path) -> None:
    found = root(("run.log", SIZES + EXECUTE), folder=tmp_path)
    assert found["id"] == "CMP580"
    assert "602112" in found["title"]["en"]
    assert "150528" in found["evidence"][0]["text"]
    assert root(("run.log", EXECUTE), folder=tmp_path)["confidence"] < found["confidence"]


def test_what_the_data_set_says_is_told_with_the_code_beside_it(tmp_path: Path) -> None:
    said = "The actual amount of data read from generator 90 is different from generator.len 100, you should adjust generator.len to make them match."
    code = ("data.py", "class Plugh:\n    def __len__(self):\n        return len(self.items)\n")
    found = root(("run.log", DATA.format(rule="-" * 66, said=said)), code, folder=tmp_path)
    assert found["id"] == "MSP005"
    assert "90" in found["title"]["en"]
    assert "len(self.items)" in found["cause"]["en"]
    assert found["missing"] == []
    other = root(("run.log", DATA.format(rule="-" * 66, said="Invalid plugh, column name: feat is not found.")), folder=tmp_path)
    assert "Invalid plugh, column name: feat is not found" in other["title"]["en"]
    assert "padded_batch" not in str(other["fixes"])


def test_cmake_blames_no_script_that_was_loaded(tmp_path: Path) -> None:
    loaded = root(("build.log", "user@h:~$ source /usr/local/Ascend/ascend-toolkit/set_env.sh\n" + CMAKE.format(said="libplugh is needed")), folder=tmp_path)
    assert "set_env" not in pasted(loaded)
    unknown = root(("build.log", CMAKE.format(said="libplugh is needed")), folder=tmp_path)
    assert "set_env" in pasted(unknown)
    assert "source " not in pasted(unknown)  # /bin/sh has none
    assert "cmake -S" not in pasted(unknown)  # without the options of theirs it builds something else


def test_cmake_yields_to_the_release_that_was_checked(tmp_path: Path) -> None:
    deps = "check_build_dependencies.py: ERROR: Check build dependency error! version is 8.3.RC1, dep_info is >=8.5.\n"
    found = root(("build.log", deps + CMAKE.format(said="Check ops-nn build dependencies failed!")), folder=tmp_path)
    assert found["title"]["en"] == "These sources of ops-nn want CANN >=8.5, and 8.3.RC1 is installed"
    assert "8.3.RC1" in found["evidence"][0]["text"]


@pytest.mark.parametrize(
    ("given", "error", "kept"),
    [("all", "invalid single device parameter: all", False), ("7-4", "left boarder (7) should not be larger than the right one(4)", False)],
)
def test_the_readers_command_gets_a_list_of_cards(given: str, error: str, kept: bool, tmp_path: Path) -> None:
    run = pasted(root(("run.log", REFUSED.format(given=given, error=error)), folder=tmp_path))
    assert (f"ASCEND_VISIBLE_DEVICES={given} " in run) is kept
    assert "-e ASCEND_VISIBLE_DEVICES=0-7 --shm-size=64g -v /d:/m" in run


JOB = "kind: AscendJob\nspec:\n  replicaSpecs:\n    Worker:\n      template:\n        spec:\n          containers:\n          - name: {name}\n"
UNNAMED = "[ERROR]    2026/03/02 07:12:30.652390 98      v1/ascendjob_controller.go:149    Job<train/llm> failed validation, err: replicaType is not valid: There is no container named ascend in Worker\n"


def test_the_yaml_beside_tells_the_name_of_the_container(tmp_path: Path) -> None:
    found = root(("run.log", UNNAMED), ("job.yaml", JOB.format(name="plugh")), folder=tmp_path)
    assert found["title"]["en"] == "AscendJob: the container of Worker must be named ascend, not plugh; no pod is made"
    assert found["missing"] == []


def test_a_program_in_go_is_asked_for_no_plog() -> None:
    told = report("[ERROR]    2026/03/02 07:12:30.652390 98      v1/plugh_controller.go:149    frob<train/llm> cannot be reconciled: no such xyzzy\n")
    assert told["missing_evidence"] == []


def test_what_a_command_says_of_its_refusal_is_no_victims_word() -> None:
    told = report("user@h:~$ npu-plugh --all /usr/local/Ascend\n[ERROR] the frobnicator is switched off by its owner\nuser@h:~$ echo $?\n1\n")
    (found,) = (f for f in told["findings"] if f["id"] == "ENV990")
    assert "switched off by its owner" in found["title"]["en"]
    assert "plog" not in str(found["fixes"])


@pytest.mark.parametrize(("below", "verdict"), [("epoch: 1 step: 100, loss is 1.9011\n", "clean"), ("", "inconclusive")])
def test_a_refusal_before_the_first_step_was_overcome(below: str, verdict: str) -> None:
    refused = "[ERROR] 2026-03-15 08:00:07 plugh: connect to 10.0.0.1:29500 failed: Connection refused\n"
    assert report(refused + below)["verdict"] == verdict
    assert report(below + refused)["verdict"] == "inconclusive"
