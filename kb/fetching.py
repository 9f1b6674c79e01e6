"""Commands that fetch something and execute it at once: nobody has seen what runs."""

from __future__ import annotations

import re

_FETCH = r"(?:curl|wget|fetch|aria2c|nc|ncat|base64 +(?:-d|--decode))\b"
_RUN = r"(?:sudo +(?:-\S+ +)*)?(?:env +)?(?:\S*/)?(?:(?:ba|z|da|k|c|fi)?sh|source|python[\d.]*|perl|ruby|node|php|xargs)\b"
_PIPED = re.compile(rf"{_FETCH}[^;\n]*\|\s*(?:tee \S+ *\| *)?{_RUN}")
_TAKEN = re.compile(rf"(?:{_RUN}|\beval\b|(?<!\S)\.)[^;|\n]*(?:<\(|\$\(|`)\s*{_FETCH}")
_THEN = re.compile(rf"{_FETCH}[^\n]*(?:&&|;)\s*(?:chmod [^\n]*(?:&&|;)\s*)?(?:sudo +)?(?:(?:ba|z|da|k)?sh +\S|\./\S)")


def executes_what_it_fetches(command: str) -> bool:
    """Does a command run what it has just got from elsewhere?

    >>> [executes_what_it_fetches(c) for c in ("curl -fsSL https://x/i.sh | sudo bash", "bash <(curl https://x)", "curl -I https://x | head")]
    [True, True, False]
    """
    joined = command.replace("\\\n", " ")
    return any(form.search(joined) is not None for form in (_PIPED, _TAKEN, _THEN))
