"""One operator with each type in turn: which types the device's kernel takes, and which it computes rightly.

A type that the CPU refuses too says nothing about the device; a type that the device alone refuses is a missing kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kb.repro._frame import ERROR, MISMATCH, Session, first_line, main
from kb.repro._tensors import UnusableError, operator

# >>> slots: change these to change what is run
OPERATOR: str = "torch.abs"
ARGS: list[Any] = [{"tensor": {"dtype": "float32", "shape": [4, 32]}}]
KWARGS: dict[str, Any] = {}
DTYPES: list[str] = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool"]
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def retyped(node: Any, original: str, wanted: str) -> Any:
    """The arguments with another type for the tensors that share the type of the first one; indices keep theirs."""
    if isinstance(node, list):
        return [retyped(item, original, wanted) for item in node]
    if isinstance(node, dict):
        if node.get("dtype") == original:
            return {**node, "dtype": wanted}
        return {key: retyped(item, original, wanted) for key, item in node.items()}
    return node


def first_type(node: Any) -> str:
    if isinstance(node, dict):
        return node["dtype"] if "dtype" in node and "shape" in node else first_type(list(node.values()))
    if isinstance(node, list):
        return next((found for found in map(first_type, node) if found), "")
    return ""


def reproduce(session: Session) -> None:
    function = operator(OPERATOR)
    original = first_type([ARGS, KWARGS])
    refused: list[str] = []
    wanted = " ".join(session.options.expect.split())
    for name in DTYPES:
        try:
            args, kwargs = (session.plan(retyped(node, original, name)) for node in (ARGS, list(KWARGS.values())))
        except UnusableError as reason:
            print(f"{name}: skipped: {reason}")
            continue

        def work(place: Callable[[Any], Any], args: Any = args, kwargs: Any = kwargs) -> Any:
            return function(*place(args), **dict(zip(KWARGS, place(kwargs))))  # noqa: B905

        expected = session.reference(work)
        try:
            actual = session.on_device(work)
        except UnusableError as reason:
            print(f"{name}: skipped: {reason}")
            continue
        except Exception as error:
            if expected is not None:
                text = f"{type(error).__name__}: {error}"
                session.judge(ERROR if wanted in " ".join(text.split()) else MISMATCH)
                refused.append(name)
            print(f"{name}: the device refuses: {first_line(str(error))}")
            continue
        session.check(name, expected, actual)
    if refused:
        print(f"refused by the device alone: {', '.join(refused)}")


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Types of {OPERATOR}", NOTES, EXPECT))
