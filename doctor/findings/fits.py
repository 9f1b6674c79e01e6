"""What is published of the versions that a log tells: which release of one software goes with the release of another.

A version is only named when it follows from one that the log tells, and is another one than that which is installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from doctor.findings.release import release
from kb.pairings import DRIVERS, SOFTWARE, TOLERATED, Pairing, plain, published
from parsers.lazy import lazy
from parsers.named import NamedTuple

MAX_SHOWN = 2  # versions of one software
# Whose releases are published with one release of what stands beneath them.
_MADE_FOR = (("vllm_ascend", ("vllm", "torch_npu", "torch", "cann")), ("torch_npu", ("torch", "cann")), ("mindspore", ("cann",)))


class Misfit(NamedTuple):
    """A release that is there, and the one that is published with another release that is there."""

    software: str
    version: str
    wanted: str
    by: str
    of: str  # the release that asks for it


def misfits(facts: Mapping[str, Sequence[str]], rows: Sequence[Pairing]) -> tuple[Misfit, ...]:
    """One for each software at most; nothing where logs tell of several releases of one: whose is which is not known."""
    known = {name: plain(values[0]) for name, values in facts.items() if len(values) == 1 and plain(values[0])[:1].isdecimal()}
    found: dict[str, Misfit] = {}
    for one in _misfits(known, rows):
        found.setdefault(one.software, one)
    return tuple(found.values())


def _misfits(known: Mapping[str, str], rows: Sequence[Pairing]) -> Iterator[Misfit]:
    for by, others in _MADE_FOR:
        for other in others if by in known else ():
            versions = published(rows, by, known[by], other, {}) if other in known else ()
            if not versions or any(release(v) == release(known[other]) for v in versions):
                continue
            if other == "cann" and release(known[other]) > min(map(release, versions)):
                continue  # a later CANN runs what was made for an earlier one
            yield Misfit(other, known[other], versions[0], by, known[by])


_MINOR = 2


def together(facts: Mapping[str, Sequence[str]], rows: Sequence[Pairing]) -> tuple[str, ...]:
    """Do the installed vllm and vllm-ascend go together, as published? Nothing where a version, or the table's word on it, is missing.

    Their numbers are the same: a vllm-ascend of a later minor release, from a checkout as well, waits for a later vllm (`plugin-newer`).
    `no-plugin`: the table knows no vllm-ascend of this vllm, so that one cannot be installed.
    `image`: one alone is told, and they run from the folders of an image of vllm-ascend, which holds a pair.
    """
    if "vllm" not in facts and "of-one-image" in facts.get("seen", ()) and len(facts.get("vllm_ascend", ())) == 1:
        return ("image",)
    known = {name: plain(values[0]) for name in ("vllm", "vllm_ascend") if len(values := facts.get(name, ())) == 1}
    wanted = published(rows, "vllm_ascend", known["vllm_ascend"], "vllm", {}) if len(known) == 2 else ()
    if any(release(v) == release(known["vllm"]) for v in wanted):
        return ("fits",)
    mine, plugin = (_minor(known.get(name, "")) for name in ("vllm", "vllm_ascend"))
    if _MINOR == len(mine) == len(plugin) and mine < plugin:
        return ("differs", "plugin-newer")
    if not wanted:
        return ()
    return ("differs",) if published(rows, "vllm", known["vllm"], "vllm_ascend", {}) else ("differs", "no-plugin")


def _minor(version: str) -> tuple[int, ...]:
    return release(version)[0][:_MINOR]


def same_minor(one: str, other: str) -> bool:
    """Are both of one minor release?"""
    return _minor(one) == _minor(other)


_OF_STACK = {"deepspeed": "torch", "vllm": "torch", "vllm_ascend": "torch"}


def of_another_stack(fact: str, stacks: Sequence[str]) -> bool:
    """Is it the version of software that nothing of these stacks runs with? Then no bound on it holds, told or not."""
    return bool(stacks) and _OF_STACK.get(fact, stacks[0]) not in stacks


_PACKAGE = lazy(r"(?P<name>[a-z_-]{3,20})-(?P<version>\d[\w.+]*)$")
_NAMED = lazy(r"(?i)(?P<name>cann|driver|驱动)\W?v?(?P<version>\d[\w.]*)$")


def without_former(facts: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """The versions that are there, where another one is told: not the one of which the reader says that it worked before, or that pip replaced."""
    found: dict[str, tuple[str, ...]] = {}
    former = [("cann" if was["name"].lower() == "cann" else "driver", was["version"]) for told in facts.get("worked", ()) if (was := _NAMED.match(told)) is not None]
    former += [(was["name"].replace("-", "_"), was["version"]) for told in facts.get("replaced", ()) if (was := _PACKAGE.match(told)) is not None]
    for name, version in former:
        rest = tuple(v for v in found.get(name, facts.get(name, ())) if v != version and not v.startswith(version + "."))
        found |= {name: rest} if rest else {}
    return found


_LINE = 2


def driver(facts: Mapping[str, Sequence[str]], rows: Sequence[Pairing]) -> Mapping[str, tuple[str, ...]]:
    """Is the driver of the host older than all that are published for this CANN, or for the first of its line? A newer one runs an older CANN."""
    cann, have = facts.get("cann", ()), facts.get("driver", ())
    if len(cann) != 1 or len(have) != 1:
        return {}
    mine = release(plain(cann[0]))
    table = [(release(r.versions["cann"][0]), r.versions["hdk"]) for r in rows if r.table == DRIVERS]
    listed = [hdk for one, hdk in table if one == mine] or [hdk for one, hdk in table if one[0][:2] == mine[0][:2] and one <= mine]
    least = min((one.removesuffix(".X") for hdk in listed for one in hdk), key=release, default=None)
    if least is None:
        return {}
    line = release(least)[0]
    same = len(line) <= _LINE and release(have[0])[0][: len(line)] == line  # `25.0.X` is any of them
    return {"driver_pair": ("older",), "driver_wanted": (least,)} if release(have[0]) < release(least) and not same else {"driver_pair": ("fits",)}


def cann_of(releases: Sequence[str], rows: Sequence[Pairing]) -> tuple[str, ...]:
    """The CANN for which releases of vllm-ascend are published; nothing where one of them is not."""
    made = {row.versions["vllm_ascend"][0]: row.versions["cann"] for row in rows if row.table == "vllm_ascend" and {"vllm_ascend", "cann"} <= row.versions.keys()}
    return tuple(cann for one in releases for cann in made[one.partition("+")[0]]) if all(one.partition("+")[0] in made for one in releases) else ()


def toolkit(facts: Mapping[str, Sequence[str]], rows: Sequence[Pairing]) -> Mapping[str, tuple[str, ...]]:
    """Is the installed CANN older than any that the software on it is published with, or declared to run with? A newer one runs it.

    `cann_for`: the release whose CANN it is not.
    """
    known = {name: plain(values[0]) for name in ("cann", "vllm", *_ON_CANN) if len(values := facts.get(name, ())) == 1 and plain(values[0])[:1].isdecimal()}
    if "cann" not in known:
        return {}
    told = _by_plugin(known, rows)
    least = {one: oldest for one in _ON_CANN if one in told and (oldest := _oldest(one, told[one], rows)) is not None}
    ahead = next((one for one, oldest in least.items() if release(known["cann"]) < oldest), None)
    if ahead is not None:
        return {"cann_pair": ("older",), "cann_for": (ahead, told[ahead])}
    return {"cann_pair": ("fits",)} if least else {}


def _oldest(one: str, version: str, rows: Sequence[Pairing]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The first CANN that a release of software runs with; torch_npu declares a range for its release line."""
    mine = next((v for v in (version, _PRE.sub("", version)) if any(r.table == one and v in r.versions[one] for r in rows)), None)
    here = [r.versions for r in rows if r.table == one and mine in r.versions[one] and "cann" in r.versions]
    line = {a for versions in here for a in versions.get("adapter", ())}
    declared = [v for r in rows if r.table == TOLERATED and not line.isdisjoint(r.versions["adapter"]) for v in r.versions["cann"]] if one == "torch_npu" else []
    return min((release(v) for v in (*declared, *(v for versions in here for v in versions["cann"]))), default=None)


def _by_plugin(known: Mapping[str, str], rows: Sequence[Pairing]) -> Mapping[str, str]:
    """With the vllm-ascend that is published for the vLLM, where only that one is told."""
    if "vllm_ascend" in known or "vllm" not in known:
        return known
    plugins = published(rows, "vllm", known["vllm"], "vllm_ascend", {})
    return {**known, "vllm_ascend": plugins[0]} if plugins else known


def names(known: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """`vllm_for_vllm_ascend` and the like: the release to take, of every pair of which one version is known."""
    made: dict[str, str] = {}
    for one in SOFTWARE:
        for other in SOFTWARE if one in known else ():
            if other != one and (versions := _others(known, rows, one, other)):
                made[f"{other}_for_{one}"] = versions[0]
    return made | _of_cann(known, rows) | _wanted(known, rows) | _next(known, rows)


def _of_cann(known: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """`cann_torch` and `cann_torch_npu`: the pair to install for the installed CANN, of the release of torch that is there.

    Where torch is not told it is the one that torch_npu was made for; where neither is told, or none goes with this CANN, the newest.
    """
    if "cann" not in known:
        return {}
    there = _PRE.sub("", plain(known.get("torch", known.get("torch_npu", "")))).partition(".post")[0]
    fitting = [r.versions for r in rows if r.table == "torch_npu" and plain(known["cann"]) in r.versions.get("cann", ()) and "torch" in r.versions]
    chosen = next((v for v in fitting if there in v["torch"]), next(iter(fitting), None))
    return {} if chosen is None else {"cann_torch": chosen["torch"][0], "cann_torch_npu": chosen["torch_npu"][0]}


def _wanted(known: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """`cann_wanted`: the CANN that the installed software was made for, whichever is installed; `cann_update` where it is another one.

    `cann_later`: where the installed one is older than all that it runs with.
    """
    others = {name: version for name, version in known.items() if name != "cann"}
    told = _by_plugin(known, rows) if "cann" in known else known
    for one in _ON_CANN:
        mine = plain(told.get(one, ""))
        versions = mine and (published(rows, one, mine, "cann", others) or _of_builds(one, mine, rows) or published(rows, one, _PRE.sub("", mine), "cann", others))
        if versions:
            wanted = versions[0]
            older = toolkit({name: (version,) for name, version in known.items()}, rows).get("cann_pair") == ("older",)
            return {"cann_wanted": wanted} | ({"cann_update": wanted} if plain(known.get("cann", "")) != wanted else {}) | ({"cann_later": wanted} if older else {})
    return {}


def _of_builds(one: str, version: str, rows: Sequence[Pairing]) -> tuple[str, ...]:
    """The CANN of the last build before this one that other software is published with; of a build of no release alone."""
    if "dev" not in version:
        return ()
    built = [(release(v), r.versions["cann"]) for r in rows if "cann" in r.versions for v in r.versions.get(one, ()) if "dev" in v and _PRE.sub("", v) == _PRE.sub("", version)]
    return max((b for b in built if b[0] <= release(version)), default=((), ()))[1]


_ON_CANN = ("vllm_ascend", "torch_npu", "mindspore", "mindie", "torch")
_PRE = lazy(r"\.?(?:rc|dev|alpha|beta|a|b)\d*(?:\.dev\d+)?$")  # of a release that is not out: it needs what that one needs
_BRANCHES = (("torch_npu", "torch"), ("vllm_ascend", "vllm"))


def _next(known: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """`torch_npu_next` and `vllm_ascend_next`: the first later release for the same torch or vLLM, of the same CANN where there is one."""
    made: dict[str, str] = {}
    for one, beneath in _BRANCHES:
        mine = plain(known.get(one, ""))
        here = [r.versions for r in rows if r.table == one and mine in r.versions[one]]
        if not here or not mine:
            continue
        later = [
            (plain(known.get("cann", "")) not in r.versions.get("cann", ()), release(v), v)
            for r in rows
            if r.table == one and r.versions.get(beneath) == here[0].get(beneath)
            for v in r.versions[one]
            if release(v) > release(mine) and "dev" not in v and "+" not in v
        ]
        if later:
            made[f"{one}_next"] = min(later)[2]
    return made


def later(software: str, version: str, rows: Sequence[Pairing]) -> str | None:
    """The newest finished release of it, where that is later than one; None of what is built from a checkout, and where there is none.

    Which release mended a fault that nobody knows is not told: the newest is the likeliest to have it mended.
    """
    if "dev" in version:
        return None
    found = {v for r in rows if r.table == software for v in r.versions[software] if release(v) > release(version) and v.replace(".", "").isdecimal()}
    return max(found, key=release, default=None)


def pair(captures: Mapping[str, str], known: Mapping[str, str], rows: Sequence[Pairing]) -> dict[str, str]:
    """Of an importing and an imported package: the versions told, and the pairs that are published with either."""
    one, other = captures.get("importer", ""), captures.get("imported", "")
    made = {f"{role}_version": known[name] for role, name in (("importer", one), ("imported", other), ("in", captures.get("in", ""))) if name in known}
    if not one or not other or one == other:
        return made
    from parsers.meaning.said import distribution  # few logs name a pair

    found: list[str] = []
    for kept, changed in ((one, other), (other, one)):
        if kept in known:
            versions = _others(known, rows, kept, changed)[:MAX_SHOWN]
            found += [f"{distribution(kept)} {plain(known[kept])} + {distribution(changed)} {v}" for v in versions]
    return {**made, "pairs": "; ".join(found)} if found else made


def _others(known: Mapping[str, str], rows: Sequence[Pairing], one: str, other: str) -> tuple[str, ...]:
    """What is published with the version of one; nothing when the other is of such a version already."""
    versions = published(rows, one, known[one], other, known)
    if not versions and (one, other) == ("torch_npu", "torch"):
        versions = (_PRE.sub("", plain(known[one])).partition(".post")[0],)  # it carries the number of its torch, whichever post release it is
    return () if plain(known.get(other, "")) in versions else versions
