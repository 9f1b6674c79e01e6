"""Writing what was asked for: into a file, whole or not at all, or to standard output."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from doctor.base.errors import UsageError
from parsers.lazy import lazy

_AT_LINE_START = lazy(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_ANYWHERE = lazy(r"##(?=\[|vso\[)")
JSON_FORMS = ("json", "jsonl", "sarif", "gitlab", "trace")


def inert(text: str, form: str = "text") -> str:
    """Nothing that a log says is a command to the machine that runs a pipeline: `::error::`, `##[group]`, `##vso[...]`.

    They count there at the beginning of a line, or anywhere in it. The format `github` is made of them, and has escaped what it quotes.
    """
    if form == "github":
        return text
    if form in JSON_FORMS:
        return _ANYWHERE.sub(r"#\\u0023", _seen(text))
    return _ANYWHERE.sub("# #", _AT_LINE_START.sub(r"\1: ", text))


def _seen(text: str) -> str:
    """JSON whose values are the same, with an escape for every character that would steer the terminal that it is printed on."""
    if text.isascii() and "\x7f" not in text:
        return text
    from kb.invisible import STEERING

    return STEERING.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def write(text: str, target: str | None, *, private: bool = False, form: str = "text") -> None:
    """`-` and nothing are standard output. A file that cannot be written wholly stays as it was."""
    text = inert(text, form)
    if not target or target == "-":
        sys.stdout.write(text)
        return
    try:
        put(Path(target), text.encode("utf-8", "backslashreplace"), private=private)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}", "choose another place with -o FILE") from error


def spare(targets: Iterable[str | None], read: Iterable[str]) -> None:
    """Refuses to write where one of the files stands that are read; those in archives are named `archive!member`."""
    there = [target for target in targets if target and target != "-" and os.path.exists(target)]
    files = [path.partition("!")[0] for path in read] if there else []
    for target in there:
        names = {os.path.basename(target), os.path.basename(os.path.realpath(target))}
        if any(os.path.basename(path) in names and _same(path, target) for path in files):
            raise UsageError(f"{target} is one of the files that are read: it would be overwritten", "choose another place with -o FILE, outside of what is read")


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def put(path: Path, data: bytes, *, private: bool = False) -> None:
    """Puts a file in place in one step. `private`: for its owner alone."""
    real = Path(os.path.realpath(path))
    try:
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        mode = 0
    if mode and not stat.S_ISREG(mode):  # a pipe or a device has no name to exchange
        real.write_bytes(data)
        return
    temporary = real.with_name(f".{real.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(temporary, flags, 0o600 if private else 0o666)
    except PermissionError:
        if not mode:
            raise
        real.write_bytes(data)  # the file may be written, its folder not
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if mode and not private:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
