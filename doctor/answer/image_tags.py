"""Images of vllm-ascend as there are: of the reader's chip, system and registry, by a tag that was published; the packages of it for who runs none.

A log may tell a build of a checkout, or nothing, where a fix says `v{vllm_ascend}`; and not every release has an image for every chip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from doctor.base.words import both
from doctor.findings.chips import family
from doctor.findings.release import release
from doctor.findings.situation import Situation
from kb.model import Command, Fix, Text
from parsers.lazy import lazy
from parsers.named import NamedTuple

OF_CHIP = {"A3": "-a3", "310P": "-310p", "950": "-a5"}
THEIRS = lazy(r"((?:[\w.:-]+/){1,4}vllm-ascend):v\d[\d.]*(?:rc\d+|\.post\d+)?(-a3|-a5|-310p)?(-openeuler)?")
_IMAGE = lazy(r"\b(?P<name>(?:[\w.:-]+/){1,4}vllm-ascend):(?P<tag>vX\.Y\.Z|vVERSION|v\d[\w.+]{0,60})(?P<chip>-a3|-a5|-310p)?(?P<system>-openeuler)?(?=$|[\s;&|'\"])")
_PULL = lazy(r"docker pull \S+$")
_BUILD = lazy(r"\.?(?:dev\d+)?(?:\+.*)?$")  # what a build from a checkout adds
_CLEAN = lazy(r"\d+(?:\.\d+){2}(?:rc\d+|\.post\d+)?$")
_BUILDS = "--no-build-isolation -e"
_ANY_CHIP = "this chip"  # of a title: the tag of its command is an example
_CONTAINERS = frozenset({"compose", "gpustack"})
_SOURCES = "https://github.com/vllm-project/vllm-ascend.git"


def has(tag: str, suffix: str) -> bool:
    """Was an image of a release published for a chip? By the files for images in the sources of each, and what its workflow makes of them.

    >>> [has(tag, "-310p") for tag in ("0.9.1rc1", "0.9.1", "0.9.2rc1", "0.11.0")], has("0.9.1", "-a3"), has("0.10.0rc1", "-a3")
    ([True, False, True, True], False, True)
    >>> has("0.22.1rc1", "-a5"), has("0.23.0", "-a5"), has("0.9.1", "")
    (False, True, True)
    """
    if suffix == "-a5":  # later ones are called otherwise, or not made for it
        return tag.startswith("0.23.0") and "rc" not in tag
    if suffix == "-310p":
        return tag == "0.9.1rc1" or release(tag) >= release("0.9.2rc1")
    return suffix != "-a3" or release(tag) >= release("0.10.0rc1")


def real(fixes: Iterable[Fix], situation: Situation) -> tuple[Fix, ...]:
    """The fixes of one finding, with images that there are."""
    fixes = tuple(fixes)
    builds = any(_BUILDS in command.run for fix in fixes for command in fix.commands)
    return tuple(of_their_machine(fix, situation, builds) for fix in fixes)


def of_their_machine(fix: Fix, situation: Situation, builds: bool = False) -> Fix:
    """A fix with images as the reader pulls them; `builds`: another fix says how to build it from its sources."""
    if not any(_IMAGE.search(command.run) for command in fix.commands):
        return fix
    rows = {row.versions["vllm_ascend"][0]: row.versions for row in situation.published if row.table == "vllm_ascend"}
    made: list[Command] = []
    for command in fix.commands:
        wanted = _wanted(command.run, fix, situation, rows)
        if wanted is None:
            made.append(command)
        elif wanted.tag is None:  # nobody published it for this chip
            made += [] if builds else _from_sources(wanted, rows)
        elif _PULL.match(command.run) and _in_no_container(situation) and wanted.tag in rows and sum(_IMAGE.search(c.run) is not None for c in fix.commands) == 1:
            if wanted.suffix and builds:
                made.append(_named(command, wanted))
                continue
            told = _told(wanted.tag, rows)
            title = Text(**both("pair-on-host", **told)) if len(fix.commands) == 1 else fix.title
            fix = fix._replace(title=title)
            made += _from_sources(wanted, rows) if wanted.suffix else [Command(f"pip install vllm=={told['vllm']} && pip install vllm-ascend=={wanted.tag}", Text(**both("pair-on-host-changes")), Text(**both("pair-on-host-why", **told)))]
        else:
            made.append(_named(command, wanted))
    if any(one.kind == "docker" for one in situation.started):
        from doctor.answer.pulled import start  # few logs show one

        made += start(made, situation.started)
    return fix._replace(commands=tuple(made))


class _Wanted(NamedTuple):
    """Which image is meant."""

    name: str
    tag: str | None  # a release; None where there is none for the chip
    suffix: str  # of the chip
    system: str
    asked: str  # which release the fix names, empty where it leaves it to its reader


def _wanted(run: str, fix: Fix, situation: Situation, rows: Mapping[str, Mapping[str, Sequence[str]]]) -> _Wanted | None:
    found = _IMAGE.search(run)
    if found is None:
        return None
    words = {word: None for one in situation.started if one.kind == "docker" for word in one.words if THEIRS.fullmatch(word)}
    mine = THEIRS.fullmatch(next(iter(words))) if len(words) == 1 else None
    chip, its = situation.first("chip"), found["chip"] or ""
    if chip and (not its or _ANY_CHIP in fix.title.en):
        its = OF_CHIP.get(family(chip), "")
    elif not chip and mine is not None and not its:
        its = mine[2] or ""
    name = mine[1] if mine is not None else found["name"]
    system = found["system"] or (mine[3] or "" if mine is not None else "")
    asked = found["tag"].removeprefix("v")
    if not asked[:1].isdigit() or (rows and release(asked) < min(map(release, rows))):  # nothing of this name has one
        return _Wanted(name, _newest(its, rows), its, system, "")
    return _Wanted(name, _published(asked, its, situation, rows), its, system, asked)


def _newest(suffix: str, rows: Iterable[str]) -> str | None:
    """The newest finished release that has an image for a chip."""
    return max((tag for tag in rows if tag.replace(".", "").isdecimal() and has(tag, suffix)), key=release, default=None)


def _published(asked: str, suffix: str, situation: Situation, rows: Mapping[str, Mapping[str, Sequence[str]]]) -> str | None:
    """The release that a version is of, or the first one after it, that has an image for the chip."""
    base = _BUILD.sub("", asked)
    if not rows or (base in rows and has(base, suffix)):
        return base
    if base != asked:  # a build: the release of the same vllm, else the next
        vllm = situation.facts.get("vllm", ())
        same = [tag for tag, versions in rows.items() if len(vllm) == 1 and _BUILD.sub("", vllm[0]).removeprefix("v") in versions["vllm"] and has(tag, suffix)]
        if same:
            return max(same, key=release)
    elif _CLEAN.match(base) and release(base) > max(map(release, rows)) and suffix != "-a5":
        return base  # of a release that is newer than the tables
    return min((tag for tag in rows if release(tag) >= release(base) and has(tag, suffix)), key=release, default=None)


def _named(command: Command, wanted: _Wanted) -> Command:
    """The command with the image."""
    image = f"{wanted.name}:v{wanted.tag}{wanted.suffix}{wanted.system}"
    run = _IMAGE.sub(lambda _: image, command.run, count=1)
    base = _BUILD.sub("", wanted.asked)
    if not wanted.asked or base == wanted.tag or not _CLEAN.match(base):
        return command._replace(run=run)
    return command._replace(run=run, why=Text(**both("image-first-of-chip", asked=base, release=str(wanted.tag))).then(command.why))


def _told(tag: str, rows: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, str]:
    return {"release": tag, "vllm": rows[tag]["vllm"][0], "cann": rows[tag]["cann"][0]}


def _from_sources(wanted: _Wanted, rows: Mapping[str, Mapping[str, Sequence[str]]]) -> list[Command]:
    """What is in no wheel either: those on PyPI are made for A2."""
    tag = wanted.tag or re.sub(r"\.dev.*|\+.*", "", wanted.asked)
    if tag not in rows:
        return []
    told = _told(tag, rows)
    run = f"pip install vllm=={told['vllm']} && git clone --depth 1 --branch v{tag} --recurse-submodules {_SOURCES} && pip install -v {_BUILDS} ./vllm-ascend"
    return [Command(run, Text(**both("pair-on-host-changes")), Text(**both("pair-from-sources", **told)))]


def _in_no_container(situation: Situation) -> bool:
    """Does it run on a bare host, or in a Python of the reader's own with nothing that tells of a container?"""
    place, seen = situation.facts.get("place", ()), situation.facts.get("seen", ())
    if place:
        return place == ("host",)
    shown = situation.facts.get("image") or situation.facts.get("kubernetes") or any(one.kind == "docker" for one in situation.started)
    return "own-python" in seen and not shown and _CONTAINERS.isdisjoint(seen)
