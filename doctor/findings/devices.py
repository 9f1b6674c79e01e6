"""How many processes were started, how many NPUs they may use, and which ranks share one: arithmetic on what was told.

Nothing is concluded where two values were told: a script may know several jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.findings.on_this_node import SERVICES
from doctor.findings.started import Started
from parsers.lazy import lazy
from parsers.named import NamedTuple

VARIABLE = "ASCEND_RT_VISIBLE_DEVICES"
A_NODE = (8, 16)  # NPUs that hosts have
_LIST = lazy(r"\d{1,3}(?:,\d{1,3})*")
_HANDED = lazy(r"ASCEND_VISIBLE_DEVICES=(\d{1,3}(?:,\d{1,3})*)")  # to Ascend Docker Runtime
_CARD = lazy(r"/dev/davinci(\d{1,3})(?::\S+)?")

Facts = Mapping[str, tuple[str, ...]]


class Seat(NamedTuple):
    """A rank and the device that it names as its own, and where it says so."""

    where: str  # a node, or a log: ranks of several nodes may each have a device 0
    rank: int
    device: int


def started_with(started: Sequence[Started], visible: Iterable[str], there: Iterable[str] = (), apart: bool = False, usable: Iterable[str] = (), asked: Iterable[str] = ()) -> Facts:
    """The programs that make processes, their number, the NPUs that they see, and whether these are too few, or are told by ids of npu-smi (`there`), `outside` their container, or `given` to one that is `privileged`.

    `asked`: how many the manifest of a pod asks for, and so gets.
    """
    # Under Ray (`apart`) a service takes NPUs of other nodes as well, whether its command says so or not.
    made = {n for one in started if (n := one.processes) is not None and not (apart and one.kind in SERVICES)}
    told: dict[str, tuple[str, ...]] = {"launcher": tuple(dict.fromkeys(one.kind for one in started))}
    lists = {value for value in (*visible, *_given(started)) if _LIST.fullmatch(value)}
    cards = _cards(started)
    if cards is None and len(pods := {n for n in asked if n.isdecimal()}) == 1:
        cards = int(pods.pop())
    count = len(next(iter(lists)).split(",")) if len(lists) == 1 else None
    if len(lists) == 1:
        told["visible"] = tuple(lists)
        told["renumbered"] = (",".join(map(str, range(count or 1))),)
        told["numbering"] = ("from-0" if lists == set(told["renumbered"]) else "shifted",)
    if cards is not None:
        count = cards if count is None else min(count, cards)
    if count is None and len(own := set(usable)) == 1:
        count = int(own.pop())  # CANN itself says how many this process may open
    if count is not None:
        told["visible_count"] = (str(count),)
    if len(made) == 1:
        wanted = next(iter(made))
        told["processes"] = (str(wanted),)
        if count is not None:
            told["cards"] = ("too-few" if wanted > count else "enough",)
            if wanted > count and lists:
                told["visible_wanted"] = (_widened([int(n) for n in next(iter(lists)).split(",")], wanted),)
    if len(lists) == 1 and cards is not None and max(int(n) for n in next(iter(lists)).split(",")) >= cards:
        told["cards"] = ("outside",)
        told["renumbered"] = (",".join(map(str, range(count or 1))),)
    if not lists and (given := beyond(started)):
        told["cards"], told["given"] = ("privileged",), (given,)
    if len(lists) == 1 and _are_slots({int(n) for n in next(iter(lists)).split(",")}, {int(n) for n in there}):
        told["cards"] = ("slots",)
    return {fact: values for fact, values in told.items() if values}


def _are_slots(listed: set[int], there: set[int]) -> bool:
    """Does a list hold ids of a table with gaps? What counts from 0 reaches no further than the number of cards."""
    return listed <= there and max(listed) >= len(there)


def sharing(seats: Iterable[Seat]) -> Facts:
    """Neighbouring ranks that say of one device that it is theirs. Rank 0 and rank 8 may be the first ones of two nodes."""
    found: dict[tuple[str, int], set[int]] = {}
    for seat in seats:
        if 0 <= seat.device < 1 << 12 and seat.rank >= 0:
            found.setdefault((seat.where, seat.device), set()).add(seat.rank)
    shared = sorted((device, sorted(ranks)) for (_, device), ranks in found.items() if any(r + 1 in ranks for r in ranks))
    if not shared:
        return {}
    device, ranks = shared[0]
    return {"ranks": ("share-a-card",), "shared_card": (str(device),), "sharing_ranks": (", ".join(map(str, ranks)),)}


def _given(started: Iterable[Started]) -> Iterable[str]:
    """The variable as it stands before a command, or is given to a container."""
    for one in started:
        yield from (value for name, value in one.env if name == VARIABLE)
        if one.kind == "docker":
            yield from (o.value.partition("=")[2] for o in one.options if o.name == "env" and o.value.startswith(f"{VARIABLE}="))


def _cards(started: Iterable[Started]) -> int | None:
    """The NPUs of the one container that was started; None where it has all of them, or that is not told."""
    containers = [one for one in started if one.kind == "docker"]
    if len(containers) != 1 or containers[0].option("privileged") is not None:
        return None
    found, handed = _of_container(containers[0])
    return min(filter(None, (len(found), len(handed))), default=None)


def beyond(started: Iterable[Started]) -> str:
    """The cards that one container was given, where `--privileged` gives it all the others as well, and a program begins with one of those: with card 0."""
    containers = [one for one in started if one.kind == "docker"]
    if len(containers) != 1 or containers[0].option("privileged") in (None, "false"):
        return ""
    found, handed = _of_container(containers[0])
    listed = sorted(found or handed, key=int)
    return ",".join(listed) if listed and "0" not in listed else ""


def _of_container(one: Started) -> tuple[set[str], set[str]]:
    """The cards that are named as devices, and those for Ascend Docker Runtime."""
    found = {match[1] for o in one.options if o.name == "device" and (match := _CARD.fullmatch(o.value))}
    handed = {n for o in one.options if o.name == "env" and (match := _HANDED.fullmatch(o.value)) for n in match[1].split(",")}
    return found, handed


def _widened(ids: list[int], count: int) -> str:
    """The list with as many further ids as processes lack NPUs: the next ones, then those before."""
    room = next((size for size in A_NODE if max(ids) < size and count <= size), max(*ids, count) + 1)
    free = [n for n in (*range(max(ids) + 1, room), *range(max(ids) - 1, -1, -1)) if n not in ids]
    return ",".join(map(str, sorted([*ids, *free[: count - len(ids)]])))
