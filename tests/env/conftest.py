"""A machine of a test: written to a folder, looked at, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from env.machines import write

from doctor.env import verdict
from doctor.env.facts import Machine
from doctor.env.look_at import Asked, machine
from kb.knowledge import Knowledge

Look = Callable[..., Machine]


@pytest.fixture
def look(tmp_path: Path, knowledge: Knowledge) -> Look:
    """The facts of a machine made of these files."""

    def looked(files: Mapping[str, str], **asked: object) -> Machine:
        root = write(files, tmp_path / "root")
        return machine(Asked(str(root), **asked), knowledge)  # type: ignore[arg-type]

    return looked


@pytest.fixture
def accused(look: Look, knowledge: Knowledge) -> Callable[..., set[str]]:
    """The codes of the checks that fail with a warning or worse."""

    def found(files: Mapping[str, str], **asked: object) -> set[str]:
        results = verdict.results(look(files, **asked), knowledge.checks())
        return {r.check.code for r in results if r.fails and r.check.severity != "info"}

    return found
