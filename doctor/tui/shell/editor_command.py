"""The command that opens a file at a line in the reader's editor or pager. No terminal."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping


def command(
    path: str, line: int, environ: Mapping[str, str] = os.environ, which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """Editor, pager, or what is there. A log is opened to be read: vim gets no orders from the text it shows (modelines)."""
    chosen = environ.get("VISUAL") or environ.get("EDITOR") or environ.get("PAGER") or ""
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        words = [next((name for name in ("less", "vi", "more") if which(name)), "cat")]
    path = os.path.abspath(path)
    name = os.path.basename(words[0])
    if name in ("vim", "nvim", "gvim", "view"):
        return [*words, "-R", "--cmd", "set nomodeline", f"+{line}", "--", path]
    if name in ("code", "code-insiders", "cursor", "subl", "zed"):
        flags = ["--goto"] if name.startswith(("code", "cursor")) else []
        return [*words, *flags, f"{path}:{line}"]
    if name == "less":
        return [*words, "-N", f"+{line}g", "--", path]
    if name in ("vi", "nano", "emacs", "emacsclient", "ne", "joe", "micro", "kak", "pico"):
        return [*words, f"+{line}", path]
    if name in ("hx", "helix"):
        return [*words, f"{path}:{line}"]
    return [*words, path]
