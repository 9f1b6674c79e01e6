"""Of the commands that several files tell, each once: a shell repeats one cut off, an engine tells a part of its settings."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.findings.started import Started


def unrepeated(commands: Sequence[Started]) -> tuple[Started, ...]:
    """Without those that another file tells in whole."""
    return tuple(one for one in commands if not any(_repeats(one, other) for other in commands))


def _repeats(one: Started, other: Started) -> bool:
    if one.kind != other.kind or one.path == other.path or other.partial or len(one.words) >= len(other.words):
        return False
    return one.words == other.words[: len(one.words)] or (one.partial and _given(one) <= _given(other))


def _given(command: Started) -> set[tuple[str, tuple[str, ...]]]:
    return {(option.name, option.values) for option in command.options}
