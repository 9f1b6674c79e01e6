"""Running scripts for real: in this process, so that torch is imported once."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Execute = Callable[..., tuple[int, str]]


@pytest.fixture
def run(run: Callable[..., Any]) -> Callable[..., Any]:
    """The command without its trial, which imports PyTorch where that is installed: `test_from_words.py` tests the trial."""
    return lambda *args, **more: run(*args, *(["--no-try"] if args[:1] == ("repro",) else []), **more)


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Execute]:
    """`execute(text, "--device", "cpu")` gives the exit code and what was printed; skips without PyTorch."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: scripts are not executed")
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(1)

    def call(text: str, *arguments: str) -> tuple[int, str]:
        path = tmp_path / "script.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", [str(path), *arguments])
        out = io.StringIO()
        code = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                exec(compile(text, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 1
        return code, out.getvalue()

    yield call
    torch.set_rng_state(state)
    torch.set_num_threads(threads)
