"""A command typed with variables of the shell: the values that its program told of itself."""

from __future__ import annotations

from doctor.findings.filled_in import filled_in
from doctor.findings.started import Started, read


def made(*lines: str) -> tuple[Started, ...]:
    found = [read(line) for line in lines]
    assert all(found)
    return filled_in([one for one in found if one is not None])


def told(model: str, cards: int = 1) -> str:
    return f"{{'model_tag': '{model}', 'model': '{model}', 'tensor_parallel_size': {cards}}}"


def test_a_variable_of_the_shell_gets_what_the_service_told() -> None:
    typed = made("vllm serve $WEIGHTS -tp ${CARDS} --port 9000", told("/w/plugh", 4))[0]
    assert typed.shell() == "vllm serve /w/plugh -tp 4 --port 9000"


def test_instances_that_differ_leave_it_open() -> None:
    typed = made("vllm serve $WEIGHTS", told("/w/plugh"), told("/w/xyzzy"))[0]
    assert typed.words[-1] == "WEIGHTS"


def test_what_was_typed_in_full_stays() -> None:
    typed = made("vllm serve /a/b --served-model-name x", told("/w/plugh"))[0]
    assert typed.words[2] == "/a/b"


def test_a_service_that_told_nothing_leaves_it_open() -> None:
    assert made("vllm serve $WEIGHTS --port 9000")[0].words[2] == "WEIGHTS"
