"""What a repository owes to whoever takes it: licence, citation, changes, forms, one version everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from doctor.version import __version__
from kb.editions import order
from kb.layers import HERE, Layer

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_licence_is_the_one_that_is_named() -> None:
    """pyproject names Apache-2.0, and the file holds it whole."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "9. Accepting Warranty or Additional Liability" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_versions_are_semantic_and_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", __version__)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert __version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert order(Layer("built-in", HERE).version()) >= (2026, 11)


def test_forms_can_be_filled_in() -> None:
    """Every field of an issue form has what the form needs; the new fault asks for the log and for what it was."""
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(ids) == len(set(ids)), path
        assert all(field["attributes"].get("label") or field["attributes"].get("value") for field in form["body"])
    new = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/new-fault.yml").read_text(encoding="utf-8"))
    assert {"log", "cause"} <= {f["id"] for f in new["body"] if f.get("validations", {}).get("required")}


def test_both_workflows_call_the_one_gate() -> None:
    """What is tested does not differ from place to place."""
    github = yaml.safe_load((ROOT / ".github/workflows/gate.yml").read_text(encoding="utf-8"))
    gitlab = yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text(encoding="utf-8"))
    assert [step.get("run") for step in github["jobs"]["gate"]["steps"]][-1] == "bash .ci/run"
    assert gitlab["gate"]["script"] == ["bash .ci/run"]
    assert (ROOT / ".ci/run").is_file()
