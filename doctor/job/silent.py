"""The ends of chains at which nobody complains: stopped, stuck, absent, without logs, a link, a circle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from doctor.findings.evaluate import order
from doctor.job.actor import size_of
from doctor.job.case import (
    ACCUSED,
    MAX_ROOTS,
    SET_UP,
    SILENT,
    Case,
    before,
    called,
    make_root,
    node_of,
    of_target,
    to_first,
)
from doctor.job.chains import Ends, outside
from doctor.job.job import Root, Target, label
from doctor.scan.harvest import Place

UNSEEN = ("no-logs", "absent", "no-root")


def terminal(case: Case, ends: Ends, first_wait: Mapping[int, Place]) -> tuple[Root, ...]:
    """Nobody has a fault of his own: whoever the chains end at is named with what its logs show, or that there are none."""
    link = _link(case)
    ranked = sorted(ends.votes.items(), key=lambda i: (-i[1], i[0].process is None, i[0].comm_rank or 0, str(i[0])))
    silent = [(t, n) for t, n in ranked if is_silent(case, t)]
    best = ranked[0][1] if ranked else 0
    if link is not None and (not silent or link.waiters > silent[0][1]):
        return (link, *_silent_roots(case, silent, first_wait))
    if ends.circling > best:
        return (_cycle(case, ends, first_wait), *_silent_roots(case, silent, first_wait))
    quiet = _quiet(case, ends)
    if quiet and silent and all(_verdict(case, t, first_wait) == "no-root" for t, _ in silent):
        # Somebody who came and does not wait for the root's answer as the others do is the one that the root waits for.
        found = _silent_roots(case, [(Target(n), len(ends.waiters)) for n in quiet], first_wait)
        return (*found, *_silent_roots(case, silent, first_wait))[:MAX_ROOTS]
    if silent and (lost := _gone_beside(case, ends, silent)):
        return _silent_roots(case, [*lost, *silent], first_wait)
    if ranked:
        return _silent_roots(case, silent or [(t, n) for t, n in ranked if n * 2 > best], first_wait)
    if quiet:
        return _silent_roots(case, [(Target(n), len(ends.waiters)) for n in quiet], first_wait)
    return ()


def _gone_beside(case: Case, ends: Ends, silent: list[tuple[Target, int]]) -> list[tuple[Target, int]]:
    """Ranks without logs among neighbours that went quiet together: a launcher ends a node when one of its ranks fails."""
    who = case.who
    found: list[tuple[Target, int]] = []
    for target, votes in silent:
        if target.process is None or (comm := _world(case)) is None:
            continue
        node = node_of(case, target.process)
        mates = [p for p in who.processes if node_of(case, p.number) == node and p.rank is not None]
        ranks = sorted(p.rank for p in mates if p.rank is not None)
        if len(ranks) < 2 or any(p.number in ends.waiters for p in mates):
            continue
        full = Counter(node_of(case, p.number) for p in who.processes).most_common(1)[0][1]
        near = [
            *range(ranks[0], ranks[-1]),
            *range(ranks[0] - 1, ranks[-1] - full, -1),
            *range(ranks[-1] + 1, ranks[0] + full),
        ]
        for rank in near:
            if len(ranks) < full and 0 <= rank < (who.world_size or 0) and rank not in who.by_rank:
                found.append((Target(None, comm, rank), votes))
                break
    return list(dict(found).items())


def _world(case: Case) -> str | None:
    """The communicator of all ranks."""
    comms = {c for p in case.who.processes for c, _ in p.seats if size_of(c) == case.who.world_size}
    return min(comms, default=None)


def _cycle(case: Case, ends: Ends, first_wait: Mapping[int, Place]) -> Root:
    members = tuple(label(case.who.processes[n]) for n in ends.circle)
    number = ends.circle[0]
    place = first_wait.get(number) or case.graph.waits[0].place
    return make_root(case, "cycle", number, (), ends.circling, members[1 : MAX_ROOTS + 1], place, None)


def is_silent(case: Case, target: Target) -> bool:
    """Somebody who does not complain himself."""
    return target.process is None or not any(w.by == target.process and w.kind not in ACCUSED for w in case.graph.waits)


def has_finished(case: Case, target: Target, first_wait: Mapping[int, Place]) -> bool:
    """Did it take its communicators down, without an error, before anybody gave up?"""
    if target.process is None or target.process in case.strange or not case.who.processes[target.process].ended:
        return False
    gap = to_first(case, target.process, case.who.processes[target.process].last, first_wait)
    return gap is not None and gap[0] > gap[1] and is_silent(case, target)


def _quiet(case: Case, ends: Ends) -> list[int]:
    """Members of the communicators in which others gave up, who print nothing about it: nobody names them, but they are few."""
    comms = {w.comm for w in case.graph.waits if w.comm is not None and w.by in ends.waiters}
    members = {p.number for p in case.who.processes if any(c in comms for c, _ in p.seats)}
    quiet = sorted(members - ends.waiters)
    return quiet if quiet and len(quiet) * 4 <= len(members) + 3 else []


def _silent_roots(case: Case, ends: list[tuple[Target, int]], first_wait: Mapping[int, Place]) -> tuple[Root, ...]:
    groups: dict[str, list[tuple[Target, int, Place]]] = defaultdict(list)
    for target, votes in ends:
        if verdict := _verdict(case, target, first_wait):
            groups[verdict].append((target, votes, _named_at(case, target)))
    roots = []
    # As many wait for somebody without logs as for one that stopped: then what is missing may tell why that one stopped.
    ranked = sorted(groups.items(), key=lambda g: (-max(n for _, n, _ in g[1]), g[0] not in UNSEEN))
    for verdict, members in ranked:
        target, votes, place = members[0]
        first = called(case, target)  # somebody without logs may have several names that lead to one rank
        peers = tuple(dict.fromkeys(n for t, _, _ in members[1:] if (n := called(case, t)) != first))[:MAX_ROOTS]
        if target.process is None:
            roots.append(Root(verdict, None, first, (), votes, peers, of_target(case, place, target), None, None))
        else:
            process = case.who.processes[target.process]
            own = case.strange.get(target.process) or process.place or place
            if verdict == "link":  # only one end complains: both are named
                peers = (
                    *sorted(
                        {
                            label(case.who.processes[w.by])
                            for w in case.graph.waits
                            if w.on is not None and _same(w.on, target)
                        }
                    ),
                    *peers,
                )
            root = make_root(case, verdict, target.process, (), votes, peers, own, None)
            roots.append(
                root._replace(before=before(case, target.process, process.last, first_wait), last=process.last)
            )
    return tuple(roots[:MAX_ROOTS])


def _verdict(case: Case, target: Target, first_wait: Mapping[int, Place]) -> str:
    said = {w.kind for w in case.graph.waits if w.on is not None and _same(w.on, target)}
    if target.process is None:
        if said == {"cqe"}:
            return ""  # a packet was lost on the way: that accuses neither end, and the entry of the error says it
        if not said & set(SET_UP):
            return "no-logs"
        return "absent" if "server" in said else "no-root"
    process = case.who.processes[target.process]
    if has_finished(case, target, first_wait):
        return "finished"
    if target.process in case.alive and target.process not in case.strange:
        return "stuck"
    if "lost" in said and "stuck" not in said and target.process not in case.strange:
        return "stopped"
    if target.process in case.strange:
        return "unknown"
    gap = to_first(case, target.process, process.last, first_wait)
    if said == {"cqe"} and (gap is None or gap[0] - gap[1] < SILENT):
        return "link"
    if "stuck" in said:
        return "stuck"
    if gap is None:
        return "silent"
    return "stuck" if gap[0] - gap[1] < SILENT else "stopped"


def _same(a: Target, b: Target) -> bool:
    return a.process == b.process if a.process is not None or b.process is not None else outside(a) == b


def _named_at(case: Case, target: Target) -> Place:
    """The first line that names it."""
    places = [w.place for w in case.graph.waits if w.on is not None and _same(w.on, target)]
    return min(places, key=order) if places else case.graph.waits[0].place


def _link(case: Case) -> Root | None:
    """Two processes that could not reach each other, both alive: the connection between them, not one of them."""
    pairs: Counter[tuple[int, int]] = Counter()
    blamed: set[int] = set()
    told: dict[tuple[int, int], Place] = {}
    directed = {
        (w.by, w.on.process) for w in case.graph.waits
        if w.on is not None and w.on.process is not None and w.kind in ("link", "cqe")
    }  # fmt: skip
    for wait in case.graph.waits:
        if wait.kind not in ("link", "cqe") or wait.on is None or wait.on.process is None:
            continue
        a, b = sorted((wait.by, wait.on.process))
        if (a, b) in directed and (b, a) in directed:
            pairs[a, b] += 1
            told.setdefault((a, b), wait.place)
            blamed |= {a, b}
    if not pairs:
        return None
    nodes = Counter(tuple(sorted((node_of(case, a), node_of(case, b)))) for a, b in pairs)
    top = nodes.most_common(1)[0][0]
    members = sorted(p for p in pairs if tuple(sorted((node_of(case, p[0]), node_of(case, p[1])))) == top)
    a, b = members[0]
    others = tuple(f"{label(case.who.processes[x])} - {label(case.who.processes[y])}" for x, y in members[1:MAX_ROOTS])
    root = make_root(case, "link", a, (), len(blamed), (label(case.who.processes[b]), *others), told[a, b], None)
    return root._replace(last=" - ".join(top) if top[0] != top[1] else top[0])
