"""Text to a clipboard that works over SSH and in tmux: every way in turn, and an honest word about which one it was.

Inside tmux its own buffer is set (`-w` lets tmux hand it on to the outer terminal, which OSC 52 alone does not survive by
tmux's default settings); elsewhere OSC 52 is sent to the terminal; then the tools of a local desktop. A file is always
written too: it is what remains when nothing else answered.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from parsers.named import NamedTuple

OSC52_LIMIT = 74_994  # bytes of text that terminals accept: their limit is 100 000 characters of base64
TIMEOUT_S = 5.0

Runner = Callable[[Sequence[str], bytes], bool]


class Copied(NamedTuple):
    """Where the text went. `ways` is empty when only the file has it; `path` is empty when not even that."""

    ways: tuple[str, ...]
    path: str


def run(argv: Sequence[str], data: bytes) -> bool:
    """Feeds a tool; False when it is missing or fails."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed names of clipboard tools
            list(argv), input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def copy(
    text: str,
    terminal: Callable[[str], None] | None = None,
    environ: Mapping[str, str] = os.environ,
    runner: Runner = run,
) -> Copied:
    """Copies by every way that this place offers. `terminal` sends a text to the terminal as OSC 52."""
    data = text.encode("utf-8", "backslashreplace")
    ways: list[str] = []
    in_tmux = bool(environ.get("TMUX"))
    # Before 3.2 tmux knows no -w.
    if in_tmux and (runner(("tmux", "load-buffer", "-w", "-"), data) or runner(("tmux", "load-buffer", "-"), data)):
        ways.append("tmux")
    if (
        terminal is not None
        and "tmux" not in ways
        and environ.get("TERM") not in ("dumb", "linux")
        and len(data) <= OSC52_LIMIT
    ):
        terminal(data.decode())
        ways.append("OSC 52")
    for name, argv in _local_tools(environ):
        if runner(argv, data):
            ways.append(name)
            break
    return Copied(tuple(ways), _file(data, environ))


def _local_tools(environ: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(("wl-copy", ("wl-copy",)))
    if environ.get("DISPLAY"):
        found += [("xclip", ("xclip", "-selection", "clipboard")), ("xsel", ("xsel", "--clipboard", "--input"))]
    if environ.get("WSL_DISTRO_NAME"):
        found.append(("clip.exe", ("clip.exe",)))
    if os.uname().sysname == "Darwin":
        found.append(("pbcopy", ("pbcopy",)))
    return found


def _file(data: bytes, environ: Mapping[str, str]) -> str:
    """The text in the cache folder, readable by its owner alone."""
    base = environ.get("XDG_CACHE_HOME") or (str(Path(environ["HOME"]) / ".cache") if environ.get("HOME") else "")
    if not base:
        return ""
    path = Path(base) / "npu-doctor" / "clip"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"clip.{os.getpid()}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except OSError:
        return ""
    return str(path)
