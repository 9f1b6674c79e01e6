"""`--ignore`: which entries a reader does not want to hear of, as codes or as a file that lists them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from doctor.base.errors import UsageError
from kb.knowledge import Knowledge


def codes(asked: Sequence[str], known: Knowledge) -> frozenset[str]:
    """Every code once; one that no entry has is refused, since it would hide nothing for ever."""
    return frozenset(_known(code, where, known) for one in asked for code, where in _named(one))


def _named(one: str) -> Iterator[tuple[str, str]]:
    if not os.path.isfile(one):
        yield from ((code.strip().upper(), "--ignore") for code in one.split(",") if code.strip())
        return
    try:
        with open(one, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if text := line.partition("#")[0].strip():
                    yield text.split()[0].upper(), f"{one}:{number}"
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {one}: {error}", "a file of codes, one a line; what stands behind a # is for you") from error


def _known(code: str, where: str, known: Knowledge) -> str:
    if code in known.codes_of_entries:
        return code
    import difflib

    near = difflib.get_close_matches(code, known.codes_of_entries, n=1)
    raise UsageError(f"{where}: there is no entry '{code}'", f"did you mean {near[0]}?" if near else "npu-doctor kb list shows all")
