"""Which release a fix means that says "update vllm-ascend": the newest finished one, where it is later than that which the logs tell, and its image.

Its releases carry the number of the vllm they are made for, which an engine prints at its start. Only where the fix itself has nothing to paste; releases are those of `kb/compat.yaml`.
"""

from __future__ import annotations

from doctor.answer.image_tags import OF_CHIP, THEIRS, has, of_their_machine
from doctor.base.words import both
from doctor.findings.chips import family
from doctor.findings.fits import later
from doctor.findings.release import release
from doctor.findings.situation import Situation
from kb.model import Command, Fix, Text
from parsers.lazy import lazy

_MEANS = lazy(r"(?i)\b(?:upgrade|update|newer|newest|later|next|another|move|release)\b[^.;:]{0,80}\b(?:vllm[-_]ascend|the framework)\b|\bvllm[-_]ascend\b[^.;:]{0,60}\b(?:upgrade|update|newer|newest|later|next|another|release)\b")
_PULL = 'cd "$(python3 -c \'import os, vllm_ascend; print(os.path.dirname(vllm_ascend.__path__[0]))\')" && git pull && pip install -v --no-build-isolation -e .'
_TOOLKIT = lazy(r"\bAscend-cann-toolkit_(?P<cann>\d+\.\d[\w.]*?)_linux")
_BASE = lazy(r"(?P<name>(?:[\w.:-]+/){0,4}ascend/cann):(?P<cann>\d+\.\d[\w.]*?)(?P<rest>-(?:910b|910|a3|310p)-[\w.-]+)")


def with_image(fix: Fix, situation: Situation) -> Fix:
    """For who starts an image, the tag of the same repository that has the CANN which a fix would install in a host; the fix itself where none is known to."""
    wanted = next((found["cann"] for command in fix.commands if (found := _TOOLKIT.search(command.run)) is not None), "")
    images = {one.words[one.target] for one in situation.started if one.kind == "docker" and one.target is not None}
    if fix.goal == "locate" or not wanted or len(images) != 1:
        return fix
    image, cann = _having(images.pop(), wanted, situation)
    if not image:
        return fix
    pull = Command(f"docker pull {image}", Text(**both("downloads-image")), Text(**both("newer-image-why")))
    return fix._replace(title=Text(**both("newer-image", image=image, cann=cann)), steps=(), env=(), commands=(pull,), code=None)


def _having(image: str, wanted: str, situation: Situation) -> tuple[str, str]:
    """The next finished release of an image that has such a CANN, and which it has; nothing of an image that nobody publishes."""
    if (base := _BASE.fullmatch(image)) is not None and release(base["cann"]) < release(wanted):
        return f"{base['name']}:{wanted.lower()}{base['rest']}", wanted
    mine = THEIRS.fullmatch(image)
    if mine is None:
        return "", ""
    tagged = release(image.rpartition(":v")[2])
    later_ones = [
        (row.versions["vllm_ascend"][0], row.versions["cann"][0])
        for row in situation.published
        if row.table == "vllm_ascend" and "cann" in row.versions and release(row.versions["vllm_ascend"][0]) > tagged and row.versions["vllm_ascend"][0].replace(".", "").isdecimal()
    ]
    fitting = [(name, cann) for name, cann in later_ones if release(cann) >= release(wanted) and has(name, mine[2] or "")]
    if not fitting:
        return "", ""
    name, cann = min(fitting, key=lambda one: release(one[0]))
    return f"{mine[1]}:v{name}{mine[2] or ''}{mine[3] or ''}", cann


def with_newer(fix: Fix, situation: Situation, faulty: str = "") -> Fix:
    """The fix with the image of the release that it means, of the reader's chip, system and registry; itself where nothing tells which that is.

    `faulty` is the package whose own release has the fault, where that is known.
    """
    return of_their_machine(_with_release(fix, situation, faulty), situation)


def _with_release(fix: Fix, situation: Situation, faulty: str) -> Fix:
    told = situation.facts.get("vllm_ascend") or situation.facts.get("vllm", ())
    if len(told) != 1 or fix.goal == "locate" or fix.env or fix.code or any(c.changes for c in fix.commands) or not _MEANS.search(fix.title.en):
        return fix
    if "dev" in told[0] and situation.facts.get("vllm_ascend"):
        return fix._replace(commands=(*fix.commands, Command(_PULL, Text(**both("newer-checkout")), Text(**both("newer-main", mine=told[0])))))
    release = finished = later("vllm_ascend", told[0], situation.published)
    if faulty == "vllm":
        release = _of_another_vllm(told[0], finished, situation)
    if release is None:
        return fix
    chip = situation.first("chip")
    if chip and not has(release, OF_CHIP.get(family(chip), "")):
        return fix
    if release != finished:
        why = Text(**both("newer-vllm", mine=told[0]))
        return fix._replace(commands=(*fix.commands, Command(f"docker pull quay.io/ascend/vllm-ascend:v{release}", Text(**both("downloads-image")), why)))
    why = Text(**both("newer-release" if chip else "newer-release-of-chip", release=release, mine=told[0]))
    return fix._replace(commands=(*fix.commands, Command(f"docker pull quay.io/ascend/vllm-ascend:v{release}", Text(**both("downloads-image")), why)))


def _of_another_vllm(mine: str, finished: str | None, situation: Situation) -> str | None:
    """The finished release, where it brings a newer vllm; one made for the reader's own vllm has its faults as well, so that the newest of all is meant then."""
    made = {row.versions["vllm_ascend"][0]: row.versions["vllm"][0] for row in situation.published if row.table == "vllm_ascend" and "vllm" in row.versions}
    here = next(iter(situation.facts.get("vllm", ())), "") or made.get(mine, "")
    newer = [name for name, vllm in made.items() if here and release(vllm) > release(here)]
    return finished if finished in newer or not here else max(newer, key=release, default=None)
