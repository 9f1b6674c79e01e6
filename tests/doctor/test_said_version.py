"""A variable that tells vllm-ascend to take the installed vllm for another release."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.api import report

FAILED = """\
Traceback (most recent call last):
  File "/opt/py/lib/python3.11/site-packages/vllm_ascend/platform.py", line 70, in pre_register_and_update
    adapt_patch(is_global_patch=True)
  File "/opt/py/lib/python3.11/site-packages/vllm_ascend/patch_plugh.py", line 12, in plugh
    registry.register(name)
TypeError: plugh() takes 1 positional argument but 2 were given
"""


@pytest.mark.parametrize(("told", "tells"), [("0.21.0", True), ("0.24.0", False), ("", False)])
def test_a_version_that_a_script_tells_is_compared_with_what_is_installed(told: str, tells: bool, tmp_path: Path) -> None:
    (tmp_path / "serve.log").write_text(FAILED)
    (tmp_path / "pip.txt").write_text("Package        Version\n-------------- -------\nvllm           0.24.0+empty\nvllm-ascend    0.24.0rc1\n")
    (tmp_path / "start.sh").write_text((f"export VLLM_VERSION={told}\n" if told else "") + "vllm serve /data/plugh --port 8000\n")
    made = report(str(tmp_path))
    assert any("VLLM_VERSION=0.21.0" in f["title"]["en"] for f in made["findings"]) is tells


IMPORTS = """\
Traceback (most recent call last):
  File "/opt/py/lib/python3.11/site-packages/vllm_ascend/patch/platform/patch_plugh.py", line 21, in <module>
    from vllm.v1.plugh.frob import Plugh
ModuleNotFoundError: No module named 'vllm.v1.plugh'
"""


@pytest.mark.parametrize(("told", "there", "tells"), [("0.18.0", "0.20.2", True), ("0.20.2", "0.20.2", False), ("0.20.2", "0.20.3.dev7+gabcdef0", False), ("0.18.0", "0.20.3.dev7+gabcdef0", True)])
def test_it_is_told_first_where_a_module_is_missing_and_a_build_next_to_that_release_is_what_it_is_for(told: str, there: str, tells: bool, tmp_path: Path) -> None:
    (tmp_path / "serve.log").write_text(IMPORTS)
    (tmp_path / "pip.txt").write_text(f"Package        Version\n-------------- -------\nvllm           {there}\nvllm-ascend    0.20.2rc1\n")
    (tmp_path / "start.sh").write_text(f"export VLLM_VERSION={told}\nvllm serve /data/plugh --port 8000\n")
    first = report(str(tmp_path))["findings"][0]
    assert first["id"] == "VER012"
    assert (f"VLLM_VERSION={told}" in first["title"]["en"]) is tells
    assert any("unset VLLM_VERSION" in command["run"] for fix in first["fixes"] for command in fix["commands"]) is tells
