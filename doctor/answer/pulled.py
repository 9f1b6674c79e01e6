"""An image that is pulled changes nothing by itself: the reader's own `docker run`, with it."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from doctor.answer.container_env import runs
from doctor.base.notation import clean
from doctor.base.words import both
from doctor.findings.started import Started
from kb.model import Command, Text


def start(pulls: Sequence[Command], started: Sequence[Started]) -> tuple[Command, ...]:
    """How their one container is started with the image, where theirs is another of the same name; nothing where the fix does more than pull it, or they work in a shell of it."""
    words = pulls[0].run.split() if len(pulls) == 1 else []
    theirs = list({one.words: one for one in started if one.kind == "docker" and one.target is not None}.values())
    if words[:2] != ["docker", "pull"] or len(words) != 3 or len(theirs) != 1 or theirs[0].target is None or not runs(theirs[0]):
        return ()
    one, at, image = theirs[0], theirs[0].target, words[2]
    had = one.words[at]
    if had == image or _name(had) != _name(image):
        return ()
    changed = one._replace(words=(*one.words[:at], image, *one.words[at + 1 :]))
    path = clean(posixpath.basename(one.path))
    why = both("own-command", path=path, new=clean(image)) if path else both("own-typed", new=clean(image))
    return (Command(clean(changed.shell()), Text(**both("variable-of-container")), Text(**why)),)


def _name(image: str) -> str:
    """What an image is called, without its registry and its tag."""
    return posixpath.basename(image).partition("@")[0].partition(":")[0]
