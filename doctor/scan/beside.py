"""Scripts beside logs: what they start is told, as far as they say it themselves; no message in them has been printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from doctor.read.source import Source
from doctor.scan.harvest import Harvest
from doctor.scan.situation import HEAD, SMALL, Said, said
from kb.model import SITUATION, Signal
from parsers.lazy import lazy

TOLD = frozenset({"start", "client", "visible", "ray_given", "option", "loaded", "variable", "kernel", "shm"})
"""Facts that a script tells of; that it could do something else as well tells nothing."""

IN_SCRIPT = "script:"
"""Before the facts that the image and the comments of a script tell: they hold where the logs tell none."""

_OF_IMAGES = frozenset({"chip", "cann", "vllm", "vllm_ascend", "torch_npu", "torch", "mindspore"})
_OF_COMMENTS = _OF_IMAGES | {"machine"}
_OF_CODE = f"{SITUATION}script="
_CONTAINER = lazy(r"(?:docker|podman|nerdctl) run ")
_FROM = lazy(rb"^FROM[ \t]+(?:--\S{1,80}[ \t]+)?(\S{3,200})", re.MULTILINE)  # of a Dockerfile
_COMMENT = lazy(rb"^[ \t]*#.*$", re.MULTILINE)
_VALUE = rb"[\"']?([^\s\"'`$;|&()<>]{1,300})[\"']?[ \t]*\r?$|=(?:\"([^\"`]{1,1500})\"|\(([^()`;|&<>]{1,1500})\))[ \t]*\r?$)"
_SETS = lazy(rb"^[ \t]*(?:export[ \t]+|ENV[ \t]+|ARG[ \t]+)?([A-Za-z_]\w*)(?:[= ]" + _VALUE, re.MULTILINE)
_TYPED = lazy(rb"^[ \t]*(?:[^\n=]{0,80}[#$] )?(?:export[ \t]+)?([A-Za-z_]\w*)(?:=" + _VALUE, re.MULTILINE)
_NAMES = lazy(rb"\"?\$\{([A-Za-z_]\w*)\[[@*]\]\}\"?|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_LINES = lazy(rb"[ \t]*\\?\r?\n[ \t]*")
DEEP = 3  # variables in variables in variables
LONGEST = 1 << 18


def scan(source: Source, forms: Sequence[Signal]) -> Harvest:
    """What a script tells; nothing where it cannot be read, for it was not asked for."""
    try:
        with source.open() as stream:
            text = stream.read(HEAD)
    except OSError:
        return Harvest()
    plain = done(text)
    told = said(plain, source.name, forms)
    images = b"\n".join((*(one.value.encode("utf-8", "replace") for one in told if one.fact == "start" and _CONTAINER.match(one.value)), *_FROM.findall(plain)))
    inside = said(images, source.name, forms) if images else ()
    noted = said(b"\n".join(_COMMENT.findall(text)), source.name, forms)
    named = (one._replace(fact=IN_SCRIPT + one.fact) for ones, facts in ((inside, _OF_IMAGES), (noted, _OF_COMMENTS)) for one in ones if one.fact in facts)
    return Harvest(situation=(*(one for one in told if one.fact in TOLD), *named))


def of_code(source: Source, forms: Sequence[Signal]) -> tuple[Said, ...]:
    """What the source code of a program tells by what it calls, and what it does not."""
    about = [form for form in forms if form.id.startswith(_OF_CODE)]
    try:
        with source.open() as stream:
            text = done(stream.read(SMALL)) if about else b""
    except OSError:  # nobody asked for it
        return ()
    return said(text, source.name, about) if len(text) < SMALL else ()


def done(text: bytes) -> bytes:
    """A script without its comments, its variables replaced: what stands behind a # was not done. Its lines stay where they are."""
    return expanded(_COMMENT.sub(b"", text))


def told(text: bytes, path: str, forms: Sequence[Signal]) -> tuple[Said, ...]:
    """What a log tells; in a command that somebody pasted into it, with the variables that are set in the same paste."""
    found = said(text, path, forms)
    if not any(one.fact == "start" and "$" in one.value for one in found):
        return found
    values = _set(_TYPED, text)
    return tuple(one._replace(value=_replaced(one.value.encode(), values).decode("utf-8", "replace")) if one.fact == "start" else one for one in found)


def expanded(text: bytes) -> bytes:
    """The script with its variables replaced that it sets once: to a plain word, to options in quotes, to a list of them."""
    return _replaced(text, _set(_SETS, text))


def _set(pattern: re.Pattern[bytes], text: bytes) -> dict[bytes, set[bytes]]:
    values: dict[bytes, set[bytes]] = {}
    for found in pattern.finditer(text):
        values.setdefault(found[1], set()).add(_LINES.sub(b" ", found[2] or found[3] or found[4] or b"").strip())
    return values


def _replaced(text: bytes, values: Mapping[bytes, set[bytes]]) -> bytes:
    def value(found: re.Match[bytes]) -> bytes:
        known = values.get(found[1] or found[2] or found[3], ())
        return next(iter(known)) if len(known) == 1 else found[0]

    for _ in range(DEEP):
        made = _NAMES.sub(value, text)
        if made == text or len(made) > LONGEST:
            break
        text = made
    return text
