"""Where an API was called: from msprobe's stack.json, or ptdbg_ascend's .pkl, which is text (a JSON list a line).

A real pickle is never loaded: it could run code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doctor.base.errors import UsageError
from parsers import foreign_json

MAX_FRAMES = 30
MAX_BYTES = 256 << 20  # of a stack.json, and of a line of the text


def find(path: str, api: str) -> tuple[str, ...] | None:
    """The frames of an API's call, or None when the file does not know it."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(2)
            if head.startswith(b"\x80"):
                raise UsageError(
                    f"{path} is a binary pickle, which is not read (it could run code)",
                    "give the .pkl that ptdbg_ascend wrote beside the dump (text), or msprobe's stack.json",
                )
            stream.seek(0)
            if head.lstrip().startswith(b"{"):
                return _from_json(foreign_json.read(stream.read(MAX_BYTES).decode("utf-8", "replace")), api)
            return _from_lines(stream, api)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "--stack takes stack.json or the dump's .pkl"
        ) from None
    except ValueError:
        raise UsageError(f"{path} is neither JSON nor ptdbg_ascend's text", "--stack takes stack.json or the dump's .pkl") from None  # fmt: skip


def _from_json(data: Any, api: str) -> tuple[str, ...] | None:
    """`{api: [frames]}`, and the newer form that folds equal stacks: `{"0": [[apis], [frames]]}`."""
    if not isinstance(data, dict):
        return None
    for key, value in data.items():
        if key == api:
            return _frames(value)
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], list) and api in value[0]:
            return _frames(value[1])
    return None


def _from_lines(stream: Any, api: str) -> tuple[str, ...] | None:
    wanted = (f"{api}_stack_info", f"{api}.stack_info")
    while raw := stream.readline(MAX_BYTES):
        if b"stack_info" not in raw:
            continue
        row = foreign_json.read(raw)
        if isinstance(row, list) and len(row) > 1 and row[0] in wanted:
            return _frames(row[1])
    return None


def _frames(value: Any) -> tuple[str, ...]:
    """Frames as text; ptdbg_ascend's are [file, line, function, code]."""
    rows = value if isinstance(value, list) else [value]
    shown = []
    for row in rows[:MAX_FRAMES]:
        if isinstance(row, list) and len(row) >= 3:
            code = "; ".join(map(str, row[3])) if len(row) > 3 and isinstance(row[3], list) else ""
            shown.append(f"File {row[0]}, line {row[1]}, in {row[2]} {code}".rstrip())
        else:
            shown.append(" ".join(str(row).split()))
    return tuple(shown)
