"""Where it began: the ends of the chains of waiting, weighed with what failed by itself.

A claim is made only when the logs support it. In this order: a rank with a fault of its own that is not later than the
waiting; a rank that came to its end while the others went on; ranks that issued different collectives; a rank that came
too late; the process in which the chains end (stopped, stuck, or without logs); two processes that only blame each other
(a link); a circle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from doctor.findings.evaluate import order
from doctor.job.case import (
    ACCUSED,
    MAX_ROOTS,
    SET_UP,
    SLACK,
    Case,
    Fault,
    before,
    make_root,
    node_of,
)
from doctor.job.chains import Ends, find_ends
from doctor.job.job import Issue, Root, Wait, label
from doctor.job.silent import has_finished, is_silent, terminal
from doctor.job.watched import watched
from doctor.scan.harvest import Place
from parsers.parsed import seconds


def choose(case: Case) -> tuple[Root, ...]:
    """The roots, the best first; nothing when nobody waits and nothing failed, or when nothing is supported."""
    waits = case.graph.waits
    first_wait = _first_waits(waits)
    own = [
        f for f in case.faults
        if (f.strong or "downstream" not in f.traits) and not _after(f, first_wait.get(f.process))
    ]  # fmt: skip
    ends = find_ends(case, {f.process for f in own if f.strong} or {f.process for f in own})
    if real := _faulty(case, own, ends, first_wait):
        return real
    for rule in (_gone, _mismatch, _late, _switch, _late_giving_up, terminal, watched):
        if found := rule(case, ends, first_wait):
            return found[:MAX_ROOTS]
    return ()


def _gone(case: Case, ends: Ends, first_wait: Mapping[int, Place]) -> tuple[Root, ...]:
    """Most wait for one that came to its end: what those who are left asked for differs as it may."""
    gone = any(n * 2 > len(ends.waiters) and has_finished(case, target, first_wait) for target, n in ends.votes.items())
    return tuple(root for root in terminal(case, ends, first_wait) if root.verdict == "finished") if gone else ()


def _first_waits(waits: Iterable[Wait]) -> dict[int, Place]:
    first: dict[int, Place] = {}
    for wait in waits:
        if wait.kind not in ACCUSED and (wait.by not in first or order(wait.place) < order(first[wait.by])):
            first[wait.by] = wait.place
    return first


def _after(fault: Fault, wait: Place | None) -> bool:
    """Did the process wait in vain before this went wrong? Then it is a consequence."""
    if wait is None or "shared" in fault.traits:
        return False
    if fault.time is not None and wait.time is not None:
        return seconds(fault.time) > seconds(wait.time) + SLACK
    return fault.place.path == wait.path and fault.place.line > wait.line


def _faulty(case: Case, own: list[Fault], ends: Ends, first_wait: Mapping[int, Place]) -> tuple[Root, ...]:
    """Processes with a fault of their own. Ambiguous ones only count where chains end or nobody waits."""
    strong = [f for f in own if f.strong]
    votes = {t.process: n for t, n in ends.votes.items() if t.process is not None}
    beside = _beside(case, own, ends)  # a launcher ends the neighbours of one that failed: chains may end at them
    votes = {**{n: behind for n, (_, behind) in beside.items()}, **votes}
    stood_for = {end for end, _ in beside.values()}
    outside = [
        n for t, n in ends.votes.items() if t.process is None or t.process not in stood_for | {f.process for f in own}
    ]
    certain = {f.process for f in strong}
    # Besides them an ambiguous one counts where a chain ends that leads to none of them: a second fault.
    chosen = strong + [f for f in own if not f.strong and f.process not in certain and votes.get(f.process)]
    if not strong:
        weak = [f for f in own if votes.get(f.process) or not ends.waiters]
        if not weak or (outside and max(outside) > max(votes.get(f.process, 0) for f in weak)):
            return ()
        chosen = weak
    chosen = [f for f in chosen if not _too_late(case, f, first_wait)] or []
    if not chosen:
        return ()
    by_process: dict[int, list[Fault]] = defaultdict(list)
    for fault in chosen:
        by_process[fault.process].append(fault)
    mismatch = [f for f in chosen if "shared" in f.traits]
    if mismatch and len(mismatch) == len(chosen):
        return _odd_one(case, mismatch, ends)
    first = {n: min(fs, key=lambda f: order(f.place)) for n, fs in by_process.items()}
    ranked = sorted(
        by_process,
        key=lambda n: (
            not votes.get(n) and bool(votes) and not _common(first[n], chosen),
            case.clocks.at(n, first[n].time or "") if first[n].time else float("inf"),
            n,
        ),
    )
    same = Counter(f.code for f in chosen)
    roots = []
    told: set[str] = set()
    for number in ranked:
        fault = first[number]
        if fault.code in told:  # the same on many ranks is one root with peers
            continue
        told.add(fault.code)
        peers = tuple(
            label(case.who.processes[f.process]) for f in chosen if f.code == fault.code and f.process != number
        )
        waiters = votes.get(number, 0) or len(ends.waiters - {number}) * (same[fault.code] == 1)
        roots.append(make_root(case, "fault", number, tuple(f.code for f in by_process[number]), waiters, peers, fault.place,
                           before(case, number, fault.time, first_wait)))  # fmt: skip
    return _unordered(case, roots[:MAX_ROOTS], first)


def _unordered(case: Case, roots: list[Root], first: Mapping[int, Fault]) -> tuple[Root, ...]:
    """The first of several independent faults is only called so as far as clocks tell."""
    if len(roots) < 2 or roots[0].process is None:
        return tuple(roots)
    for other in roots[1:]:
        if other.process is None or other.process == roots[0].process:
            continue
        gap = case.clocks.gap(roots[0].process, first[roots[0].process].time, other.process, first[other.process].time)
        if gap is None or gap[0] < gap[1]:
            return (roots[0]._replace(unordered=other.label), *roots[1:])
    return tuple(roots)


def _beside(case: Case, own: list[Fault], ends: Ends) -> dict[int, tuple[int, int]]:
    """Processes with a fault of their own and no wait, for whom a neighbour that only went quiet is waited for."""
    quiet = {
        node_of(case, t.process): (t.process, n)
        for t, n in sorted(ends.votes.items(), key=lambda i: i[1])
        if t.process is not None and t.process not in ends.waiters and t.process not in {f.process for f in own}
    }
    return {
        f.process: quiet[node_of(case, f.process)]
        for f in own
        if f.process not in ends.waiters and node_of(case, f.process) in quiet
    }


def _common(fault: Fault, chosen: list[Fault]) -> bool:
    return sum(f.code == fault.code for f in chosen) > 1


def _too_late(case: Case, fault: Fault, first_wait: Mapping[int, Place]) -> bool:
    """Did others give up for sure before this went wrong?"""
    for number, place in sorted(first_wait.items()):
        if number == fault.process:
            continue
        gap = case.clocks.gap(number, place.time, fault.process, fault.time)
        if gap is not None and gap[0] > gap[1] + SLACK:
            return True
    return False


def _odd_one(case: Case, found: list[Fault], ends: Ends) -> tuple[Root, ...]:
    """Both ends of a mismatch complain: the one whose value is rarest is the odd one, when there is one."""
    values = Counter((f.captures.get("field"), f.captures.get("local")) for f in found)
    fewest = min(values.values())
    rare = [f for f in found if values[f.captures.get("field"), f.captures.get("local")] == fewest]
    odd = rare[0] if len({f.process for f in rare}) == 1 and len(values) > 1 and len(found) > 2 else found[0]
    alone = odd is rare[0] and len(values) > 1 and len(found) > 2
    peers = () if alone else tuple(label(case.who.processes[f.process]) for f in found if f is not odd)
    return (
        make_root(case, "fault", odd.process, (odd.code,), len(ends.waiters - {odd.process}), peers, odd.place, None),
    )


def _mismatch(case: Case, ends: Ends, __: Mapping[int, Place]) -> tuple[Root, ...]:
    """Ranks of one communicator gave up in different collectives."""
    by_comm: dict[str, dict[int, list[Issue]]] = defaultdict(lambda: defaultdict(list))
    for issue in case.graph.issues:
        by_comm[issue.comm][issue.by].append(issue)
    for _, issues in sorted(by_comm.items()):
        for name in ("op", "nth", "elements", "dtype"):
            if name == "elements" and any(i.op in UNEVEN for many in issues.values() for i in many):
                continue
            told = {
                n: {v: i for i in reversed(many) if (v := getattr(i, name)) is not None}
                for n, many in sorted(issues.items())
            }
            if found := _differing(case, name, told, ends):
                return found
    return _unlike_calls(case, ends)


UNEVEN = (
    "alltoall",
    "alltoallv",
    "alltoallvc",
    "allgatherv",
    "reducescatterv",
    "batchsendrecv",
    "send",
    "recv",
    "receive",
)


def _differing(case: Case, name: str, told: Mapping[int, Mapping[object, Issue]], ends: Ends) -> tuple[Root, ...]:
    """Those among whose values the common one is missing."""
    values = Counter(v for mine in told.values() for v in mine)
    if len(values) < 2:
        return ()
    common, times = min(values.items(), key=lambda i: (-i[1], str(i[0])))
    if name == "nth" and times == 1 and len(told) > 2:
        return ()  # no two of them agree: these counters count something else
    odd = [(n, next(iter(mine.items()))) for n, mine in told.items() if mine and common not in mine]
    if not odd:
        return ()
    number, (value, issue) = odd[0]
    if times > len(odd):
        others = [(n, v) for n, (v, _) in odd[1:]]
    else:
        others = [(n, next(iter(mine))) for n, mine in told.items() if mine and n != number]
    peers = tuple(f"{label(case.who.processes[n])} ({name} {v})" for n, v in others[:MAX_ROOTS])
    root = make_root(case, "mismatch", number, (), len(ends.waiters - {number}), peers, issue.place, None)
    return (root._replace(last=f"{name}: {value} / {common}"),)


def _unlike_calls(case: Case, ends: Ends) -> tuple[Root, ...]:
    """The first call of a communicator that not all of its ranks made alike, as far as calls were logged and kept."""
    calls: dict[str, dict[int, list[Issue]]] = defaultdict(lambda: defaultdict(list))
    for call in case.graph.calls if ends.waiters else ():
        if call.op not in UNEVEN:
            calls[call.comm][call.by].append(call)
    for _, by_process in sorted(calls.items()):
        for nth in range(min(map(len, by_process.values()))):
            for name in ("op", "elements", "dtype"):
                told = {n: {getattr(mine[nth], name): mine[nth]} for n, mine in sorted(by_process.items())}
                if found := _differing(case, name, told, ends):
                    return (found[0]._replace(last=f"call {nth + 1}, {found[0].last}"),)
    return ()


def _late(case: Case, ends: Ends, __: Mapping[int, Place]) -> tuple[Root, ...]:
    """One process issued the collective, or came to the set-up, later than the others were ready to wait."""
    groups: dict[tuple[str, str], dict[int, tuple[str, Place]]] = defaultdict(dict)
    for issue in case.graph.issues:
        if issue.issued is not None:
            groups["op", issue.comm].setdefault(issue.by, (issue.issued, issue.place))
    waited = {w.comm for w in case.graph.waits if w.kind in SET_UP}
    for process, actor in zip(case.who.processes, case.who.actors, strict=True):
        for hit in actor.facts.of("comm-entry"):
            if hit.place.time is not None:
                comm = case.who.comm(process.number, dict(hit.captures).get("comm"))
                if comm in waited and comm is not None:
                    groups["entry", comm].setdefault(process.number, (hit.place.time, hit.place))
    for (what, _), times in sorted(groups.items()):
        if len(times) < 2:
            continue
        allowed = 0.9 * (case.exec_timeout if what == "op" else case.connect_timeout)
        behind = _behind(case, {n: time for n, (time, _) in times.items()})
        late = sorted((n for n, (gap, unsure) in behind.items() if gap - unsure > allowed), key=lambda n: behind[n][0])
        if late and len(late) <= len(times) / 2:
            number = late[0]
            peers = tuple(label(case.who.processes[n]) for n in late[1:MAX_ROOTS])
            root = make_root(
                case, "late", number, (), len(ends.waiters - set(late)), peers, times[number][1], behind[number][0]
            )
            return (root,)
    return ()


def _behind(case: Case, times: Mapping[int, str]) -> dict[int, tuple[float, float]]:
    """How far each process is behind the middle of those whose clocks can be compared with its own, and how sure."""
    found: dict[int, tuple[float, float]] = {}
    groups: dict[int, list[int]] = defaultdict(list)
    for number in times:
        groups[case.clocks.group(number)].append(number)
    for members in groups.values():
        ranked = sorted(members, key=lambda n: case.clocks.at(n, times[n]))
        middle = ranked[(len(ranked) - 1) // 2]
        for number in members:
            gap = case.clocks.gap(middle, times[middle], number, times[number])
            if gap is not None and number != middle:
                found[number] = gap
    return found


def _late_giving_up(case: Case, ends: Ends, first_wait: Mapping[int, Place]) -> tuple[Root, ...]:
    """All gave up, but one of them so much later that it cannot have been there when the others were waiting."""
    if any(t.process is not None and (is_silent(case, t) or n * 2 > len(ends.waiters)) for t, n in ends.votes.items()):
        return ()  # the chains of most end at somebody who has logs: those tell more
    groups: dict[tuple[str, str], dict[int, Place]] = defaultdict(dict)
    for wait in case.graph.waits:
        if wait.kind in ("notify", "link", "agent") and wait.place.time is not None:
            known = groups[wait.kind, wait.comm or ""].get(wait.by)
            if known is None or order(wait.place) < order(known):
                groups[wait.kind, wait.comm or ""][wait.by] = wait.place
    for (kind, _), places in sorted(groups.items()):
        allowed = 0.9 * (case.exec_timeout if kind == "notify" else case.connect_timeout)
        behind = _behind(case, {n: place.time for n, place in places.items() if place.time is not None})
        late = sorted((n for n, (gap, unsure) in behind.items() if gap - unsure > allowed), key=lambda n: behind[n][0])
        if late and len(late) * 2 < len(places):
            peers = tuple(label(case.who.processes[n]) for n in late[1:MAX_ROOTS])
            others = len(set(first_wait) - set(late))
            return (make_root(case, "late", late[0], (), others, peers, places[late[0]], behind[late[0]][0]),)
    return ()


def _switch(case: Case, ends: Ends, __: Mapping[int, Place]) -> tuple[Root, ...]:
    """Links fail between processes that encrypt and others that do not."""
    if not any(w.kind == "link" for w in case.graph.waits):
        return ()
    told: dict[int, Place] = {}
    values: dict[int, str] = {}
    for number, actor in enumerate(case.who.actors):
        for hit in actor.facts.of("tls-switch"):
            told[number], values[number] = hit.place, dict(hit.captures)["tls"]
    counted = Counter(values.values())
    if len(counted) < 2:
        return ()
    (common, most), (rare, least) = sorted(counted.items(), key=lambda i: (-i[1], i[0]))
    odd = sorted(n for n, value in values.items() if value == rare)
    peers = tuple(
        label(case.who.processes[n]) for n in (odd[1:] if most > least else sorted(set(values) - {odd[0]}))[:MAX_ROOTS]
    )
    root = make_root(case, "tls", odd[0], (), len(ends.waiters - set(odd)), peers, told[odd[0]], None)
    return (root._replace(last=f"{rare} / {common}"),)
