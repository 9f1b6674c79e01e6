"""Clocks of nodes. Two times are compared only on one node, or when events that both nodes log tell how their clocks differ.

The end of a communicator's set-up is such an event: it is a barrier, all ranks log it at nearly the same true time.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from doctor.job.facts import fact_of
from doctor.job.identity import Who
from doctor.job.job import Skew
from parsers.parsed import seconds

LEAST = 1.0  # a barrier is left within about this time
# The root rank's list of the missing goes to all who came in one moment, as the end of a set-up does.
BARRIERS = ("comm-done", "comm-key", "missing-agents")


class Clocks:
    """Times of processes on one time line, with the uncertainty of every comparison."""

    def __init__(self, who: Who) -> None:
        self._processes = who.processes
        events: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for process, actor in zip(who.processes, who.actors, strict=True):
            seen: set[tuple[str, str]] = set()
            for hit in actor.facts.of(*BARRIERS):
                name = fact_of(hit)
                if hit.place.time is None:
                    continue
                comm = who.comm(process.number, dict(hit.captures).get("comm"))
                if name == "missing-agents":
                    comm = dict(hit.captures)["missing"]
                if comm is None or (name, comm) in seen:  # a communicator is set up once; later lines are another one
                    continue
                seen.add((name, comm))
                events[name, comm][process.machine].append(seconds(hit.place.time))
        nodes = sorted({p.machine for p in who.processes})
        self._ahead: dict[str, tuple[int, float, float]] = {}  # group of comparable nodes, seconds ahead, uncertainty
        self._spread(nodes, events)

    def _spread(self, nodes: list[str], events: dict[tuple[str, str], dict[str, list[float]]]) -> None:
        shared = [
            {node: (median(times), max(times) - min(times)) for node, times in by_node.items()}
            for _, by_node in sorted(events.items())
            if len(by_node) > 1
        ]
        by_node: dict[str, list[int]] = defaultdict(list)
        for number, event in enumerate(shared):
            for node in event:
                by_node[node].append(number)
        for group, start in enumerate(nodes):
            if start in self._ahead:
                continue
            self._ahead[start] = (group, 0.0, 0.0)
            queue = [start]
            used: set[int] = set()
            while queue:
                at = queue.pop(0)
                _, offset, within = self._ahead[at]
                new: dict[str, list[tuple[float, float]]] = defaultdict(list)
                for number in by_node[at]:
                    if number in used:
                        continue
                    used.add(number)
                    event = shared[number]
                    here, loose = event[at]
                    for node, (there, spread) in event.items():
                        if node not in self._ahead:
                            new[node].append((there - here, max(spread, loose)))
                for node in sorted(new):
                    gaps = [g for g, _ in new[node]]
                    unsure = max(min(s for _, s in new[node]), (max(gaps) - min(gaps)) / 2, LEAST)
                    self._ahead[node] = (group, offset + median(gaps), within + unsure)
                    queue.append(node)

    def skew(self) -> tuple[Skew, ...]:
        """The nodes whose clocks could be compared with another's."""
        members: dict[int, int] = defaultdict(int)
        for group, _, _ in self._ahead.values():
            members[group] += 1
        return tuple(
            Skew(node, round(ahead, 3), round(within, 3))
            for node, (group, ahead, within) in sorted(self._ahead.items())
            if members[group] > 1
        )

    def at(self, number: int, time: str) -> float:
        """A time on the common line; comparable only where `gap` allows."""
        return seconds(time) - self._ahead[self._processes[number].machine][1]

    def group(self, number: int) -> int:
        """Processes of one group can be compared."""
        return self._ahead[self._processes[number].machine][0]

    def gap(self, a: int, time_a: str | None, b: int, time_b: str | None) -> tuple[float, float] | None:
        """Seconds from the first time to the second, and how sure: None when the clocks say nothing about each other."""
        if time_a is None or time_b is None:
            return None
        left, right = self._ahead[self._processes[a].machine], self._ahead[self._processes[b].machine]
        if left[0] != right[0]:
            return None
        gap = self.at(b, time_b) - self.at(a, time_a)
        unsure = 0.0 if self._processes[a].machine == self._processes[b].machine else left[2] + right[2]
        return gap, unsure
