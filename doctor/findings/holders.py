"""Who holds what the job could not get, and what is free: processes and cards in tables of npu-smi, programs that listen on a port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from doctor.findings.devices import VARIABLE, beyond
from doctor.findings.started import Started
from parsers.lazy import lazy
from parsers.named import NamedTuple

MAX_NAMED = 4
_TWO = 2
_MOST = 0.95  # of a card that engines may fill
_SHARE = lazy(r"0?\.\d{1,4}")
MAX_OF_PROGRAM = 16
SMALLEST = 1024  # MB: what an idle process of a service takes holds up nobody

Facts = Mapping[str, tuple[str, ...]]

_PROCESS = lazy(r"\|?\s*(\d{1,3})\s+(\d{1,2})\s*\|\s*(\d{1,8})\s*\|\s*(\S[^|]{0,60}?)\s*\|\s*(\d{1,8})")
_CARD = lazy(r"\| ?(\d{1,3}) [^|]*\| ?OK .*\|[^|]*\|\s{0,8}(\d{1,3})\s[^|]*?(\d{1,7})\s{0,8}/\s{0,8}(\d{1,7})\s*\|$")
_SEAT = lazy(r"\| ?(?P<npu>\d{1,3}) [^|]*(?:\|[^|]*){2}\|\s{0,2}\| ?(?P<chip>\d{1,3}) +(?:(?P<device>\d{1,3}) +)?\|")
_NOTHING = 10  # a card that nothing runs on holds less than a tenth of its memory
_SS = lazy(r"LISTEN\s.*?[:\]](\d{1,5})\s.*?users:\(\(\"([^\"]{1,60})\",pid=(\d{1,8})")
_NETSTAT = lazy(r"tcp6?\s.*?:(\d{1,5})\s+\S+\s+LISTEN\s+(\d{1,8})/(\S{1,60})")
_LSOF = lazy(r"(\S{1,60})\s+(\d{1,8})\s.*TCP\s+\S*?:(\d{1,5}) \(LISTEN\)")


def held(holders: Iterable[str], cards: Iterable[str], listeners: Iterable[str], started: Sequence[Started], visible: str, own: frozenset[int]) -> Facts:
    """All of it, in one."""
    memory, port = of_memory(holders, visible, own), of_port(listeners, started)
    beside = engines(started)
    named = seats(cards)
    whole = {m[4] for row in cards if (m := _CARD.match(row)) and int(m[4])}
    size: Facts = {"card_mib": (whole.pop(),)} if len(whole) == 1 else {}
    both = (*memory.get("held", ()), *port.get("held", ()), *beside.get("held", ()))
    return {**beside, **memory, **port, **idle(cards, started), **named, **size, **({"held": both} if both else {})}


def idle(rows: Iterable[str], started: Sequence[Started]) -> Facts:
    """As many cards on which nothing runs as the started program wants; nothing of boards with several chips a card, whose numbers differ.

    `instead` of those that others use, where all others work; what holds memory and does nothing may be a leftover.
    """
    found = [(int(m[1]), int(m[2]), int(m[3]), int(m[4])) for row in rows if (m := _CARD.match(row)) and int(m[4])]
    free = sorted(npu for npu, busy, used, whole in found if busy == 0 and used * _NOTHING < whole)
    made = {n for one in started if (n := one.processes) is not None}
    wanted = next(iter(made)) if len(made) == 1 else 1
    if len({npu for npu, *_ in found}) < len(found) or not 0 < wanted <= len(free):
        return {}
    if (given := beyond(started)) and {int(n) for n in given.split(",")} <= set(free):  # theirs, and not in use
        return {"idle": ("enough",), "idle_npu": (given.partition(",")[0],), "idle_npus": (given,)}
    others_work = all(busy for npu, busy, *_ in found if npu not in free)
    told = ",".join(map(str, free[:wanted]))
    return {"idle": ("instead" if others_work and len(free) < len(found) else "enough",), "idle_npu": (str(free[0]),), "idle_npus": (told,)}


def seats(rows: Iterable[str]) -> Facts:
    """Of each device of a table its card and its chip there: the columns Device and Phy-ID tell it; without them a card has one chip and its number."""
    found: dict[str, str] = {}
    for row in rows:
        if (m := _SEAT.match(row)) is None:
            continue
        device = m["device"] or m["npu"]
        if found.setdefault(device, f"{device} {m['npu']} {m['chip']}") != f"{device} {m['npu']} {m['chip']}":
            return {}  # tables of several hosts or containers
    return {"seats": tuple(found.values())} if found else {}


def engines(started: Sequence[Started]) -> Facts:
    """Two services of vLLM that were typed for the same cards and different ports, and the shares that they want together."""
    typed = {one.option("port"): one for one in started if one.kind == "vllm" and one.typed}
    cards = {dict(one.env).get(VARIABLE) for one in typed.values()}
    if len(typed) != _TWO or len(cards) != 1 or not all(cards) or any((one.processes or 1) > 1 for one in typed.values()):
        return {}
    shares = [float(share) for one in typed.values() if (share := one.option("gpu-memory-utilization")) and _SHARE.fullmatch(share)]
    told = {"both_shares": (f"{min(sum(shares), _MOST):g}",)} if len(shares) == _TWO else {}
    return {"held": ("engine",), **told}


class Holder(NamedTuple):
    """A process on an NPU."""

    mb: int
    pid: int
    npu: int
    chip: int
    name: str


def of_memory(rows: Iterable[str], visible: str, own: frozenset[int]) -> Facts:
    """Processes of others on the NPUs that the job may use, the largest first; who is to go is only said where they are on one, or of one program.

    `sharers` are those on an NPU that a process of the job is on.
    """
    found = {Holder(int(m[5]), int(m[3]), int(m[1]), int(m[2]), m[4]) for row in rows if (m := _PROCESS.match(row))}
    dies = max((h.chip for h in found), default=0) + 1
    wanted = {int(n) for n in visible.split(",")} if visible else None
    at = {(h.npu, h.chip) for h in found if h.pid in own}
    beside = sorted({(h.npu, h.pid, h.name) for h in found if (h.npu, h.chip) in at and h.pid not in own})
    shared: Facts = {"sharers": (", ".join(f"{pid} ({name}, NPU {npu})" for npu, pid, name in beside[:MAX_NAMED]),)} if beside else {}
    if crowd := crowded(found):
        return {**shared, "held": ("ranks",), "crowded_npu": (str(crowd[0].npu),), "crowd": (", ".join(f"{h.pid} ({h.mb} MB)" for h in crowd[:MAX_NAMED]),)}
    others = sorted((h for h in found if h.pid not in own and h.mb >= SMALLEST and (wanted is None or h.npu * dies + h.chip in wanted)), reverse=True)
    if not others:
        return shared
    told = {**shared, "holders": (", ".join(f"{h.pid} ({h.name}, {h.mb} MB, NPU {h.npu})" for h in others[:MAX_NAMED]),)}
    if len({(h.npu, h.chip) for h in others}) > 1:
        of_one_program = len({h.name for h in others}) == 1 and len(others) <= MAX_OF_PROGRAM
        return {**told, "held": ("npus",), "holder_pids": (" ".join(str(pid) for pid in sorted(h.pid for h in others)),)} if of_one_program else told
    return {**told, "held": ("npu",), "holder_pid": (str(others[0].pid),)}


def crowded(found: Iterable[Holder]) -> list[Holder]:
    """Processes that each have a card of their own, and memory on one more that is the same for all: ranks of one job that put something on the first card."""
    cards: dict[int, set[tuple[int, int]]] = {}
    for h in found:
        cards.setdefault(h.pid, set()).add((h.npu, h.chip))
    spread = {pid: places for pid, places in cards.items() if len(places) == _TWO}
    common = set.intersection(*spread.values()) if len(spread) >= _TWO else set()
    if len(common) != 1 or len(set().union(*spread.values())) != len(spread) + 1:
        return []
    return sorted((h for h in found if h.pid in spread and (h.npu, h.chip) in common), reverse=True)


def of_port(rows: Iterable[str], started: Sequence[Started]) -> Facts:
    """The port that the one started service wants, and who listens on it."""
    wanted = {port for one in started if (port := one.option("port") or "").isdecimal()}
    if len(wanted) != 1:
        return {}
    port = next(iter(wanted))
    listening = {(who, pid) for at, who, pid in map(_listener, rows) if at == port}
    if len(listening) != 1:
        return {"port": (port,), "other_port": (_other(port),)}
    who, pid = next(iter(listening))
    return {"port": (port,), "other_port": (_other(port),), "held": ("port",), "listener_pid": (pid,), "listener": (who,)}


def _listener(row: str) -> tuple[str, str, str]:
    if match := _SS.search(row):
        return match[1], match[2], match[3]
    if match := _NETSTAT.search(row):
        return match[1], match[3], match[2]
    if match := _LSOF.search(row):
        return match[3], match[1], match[2]
    return "", "", ""


def _other(port: str) -> str:
    return str(int(port) + 11 if int(port) < 65000 else 8011)
