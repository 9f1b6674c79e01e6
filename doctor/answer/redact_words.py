"""The user's own words to redact: names of projects, customers, models that no pattern can know."""

from __future__ import annotations

import os
from pathlib import Path

from doctor.base.errors import UsageError

MAX_BYTES, MAX_WORDS, SHORTEST = 1_000_000, 10_000, 2


def own_words(path: str | None) -> tuple[str, ...]:
    """One word or phrase a line; empty lines and those that begin with # are none."""
    if not path:
        return ()
    try:
        if not Path(path).is_file():
            raise UsageError(f"there is no file '{path}' of words to redact", "a text file with one word a line")
        if os.path.getsize(path) > MAX_BYTES:
            raise UsageError(f"'{path}' is larger than {MAX_BYTES} bytes", "a text file with one word a line")
        rows = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is no UTF-8 text: {error.reason} at byte {error.start}", "a text file with one word a line") from error
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}", "a text file with one word a line") from error
    words = tuple(dict.fromkeys(word for row in rows if (word := row.strip()) and not word.startswith("#")))
    if short := [w for w in words if len(w) < SHORTEST]:
        raise UsageError(f"'{short[0]}' in '{path}' is too short to be redacted everywhere", f"words of {SHORTEST} characters or more")
    if len(words) > MAX_WORDS:
        raise UsageError(f"'{path}' has {len(words)} words", f"up to {MAX_WORDS}")
    return words
