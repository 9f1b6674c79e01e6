"""What fails in a package of which pip did not find the wanted release follows from that, in whichever file somebody tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.api import report

FAILED = """\
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/{0}/plugh.py", line 9, in check
    raise ValueError(
ValueError: xyzzy_size (40) must be divisible by batch_size (16)
"""
PIP = "ERROR: Could not find a version that satisfies the requirement {0}==9.6.2 (from versions: 9.1.1, 9.1.2)\n"


@pytest.mark.parametrize(("fails", "beneath"), [("megatron_plugh", True), ("xyzzy", False)])
def test_a_refusal_of_the_package_that_pip_did_not_find(fails: str, beneath: bool, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(FAILED.format(fails))
    (tmp_path / "install.log").write_text(PIP.format("megatron-plugh"))
    found = {f["id"]: f for f in report(str(tmp_path))["findings"]}
    assert (found["MNG071"]["explained_by"] == "INS015") is beneath
