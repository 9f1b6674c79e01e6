"""What a typed command leaves to the shell's variables (`vllm serve $MODEL_PATH -tp $TP`), out of what its program printed of itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.findings.started import Started, blank


def filled_in(commands: Sequence[Started]) -> tuple[Started, ...]:
    """The commands, the typed ones with the values that their program told; where instances tell different ones, as they are."""
    return tuple(_filled(one, [other for other in commands if other.kind == one.kind and not other.typed]) if one.typed else one for one in commands)


def _filled(typed: Started, told: Sequence[Started]) -> Started:
    if not told:
        return typed
    made = typed
    for option in typed.options:
        if len(option.values) == 1 and blank(option.value) and (value := _only(other.option(option.name) for other in told)):
            made = made.with_option(option.name, (value,))
    at = typed.target
    if at is not None and typed.words[at] == typed.model and blank(typed.words[at]) and (model := _only(other.model for other in told)):
        words = list(made.words)
        words[at] = model  # options keep their number of words, so it still stands there
        made = made._replace(words=tuple(words))
    return made


def _only(values: Iterable[str | None]) -> str:
    """The one value that all name which name any."""
    found = {value for value in values if value and not blank(value)}
    return found.pop() if len(found) == 1 else ""
