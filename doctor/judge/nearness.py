"""Do two findings meet in a place, and which of them stood first?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from doctor.findings.evaluate import Finding, Scope, stream_of
from parsers.parsed import seconds

ONE_FAILURE = 2.0  # seconds in which an error travels up to where it is raised
BLOCK_LINES = 60
BELOW = 4  # lines: an exception, and the block of CANN that goes on with it
ONE_END = 2  # lines: `terminate called ...` and `what(): ...`
INTERLEAVED = 10.0  # seconds by which lines of one file may be late

_Owners = dict[int, set[tuple[object, object]]]  # pid -> node and rank of the processes that have it
_NARROW: Mapping[str, Callable[[Scope], tuple[object, object]]] = {
    "device": lambda scope: (scope.node, scope.device),
    "rank": lambda scope: (scope.node, scope.rank),
    "node": lambda scope: ("", scope.node),
}


class Places:
    """Where findings hold, as sets: thousands of ranks are compared at once, not pair by pair."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[set[str], _Owners, set[str]]] = {}
        self._scopes: dict[tuple[str, str], set[tuple[object, object]]] = {}
        self._lines: dict[str, set[tuple[str, int, str]]] = {}

    def reads(self, finding: Finding, other: Finding) -> bool:
        """Does a finding rest on the very line that the other one quotes, or on the error block in which CANN goes on below it?"""
        quoted = next((h.place for h in other.hits if h.captures), None)
        if quoted is None:
            return False
        if quoted.spot in self._lines_of(finding):
            return True
        return quoted.kind == "traceback" and any(h.place.kind == "message" and h.place.path == quoted.path and 0 < h.place.line - quoted.line <= BELOW for h in finding.hits)

    def rests_on(self, finding: Finding, other: Finding) -> bool:
        """Are all lines of a finding lines of the other one?"""
        return self._lines_of(finding) <= self._lines_of(other)

    def _lines_of(self, finding: Finding) -> set[tuple[str, int, str]]:
        code = finding.entry.code
        if code not in self._lines:
            self._lines[code] = {h.place.spot for h in finding.hits}
        return self._lines[code]

    def near(self, a: Finding, b: Finding) -> bool:
        """Do they share a stream or a process anywhere?"""
        (paths, pids, streams), (more_paths, more_pids, more_streams) = self._where(a), self._where(b)
        return bool(paths & more_paths or streams & more_streams) or _same_process(pids, more_pids)

    def share(self, scope: str, a: Finding, b: Finding) -> bool:
        """Can both be of one device, rank or node? What a line does not say contradicts nothing."""
        if scope == "job":
            return True
        if scope == "process":
            return self.near(a, b)
        left, right = self._of(scope, a), self._of(scope, b)
        if left & right:
            return True
        if len(left) > len(right):
            left, right = right, left
        open_right = {p for p in right if None in p}
        return any(_fit(x, y) for x in left for y in (right if None in x else open_right))

    def _where(self, finding: Finding) -> tuple[set[str], _Owners, set[str]]:
        code = finding.entry.code
        if code not in self._places:
            paths: set[str] = set()
            pids: _Owners = {}
            for instance in finding.instances:
                paths |= instance.paths
                for pid in instance.pids:
                    pids.setdefault(pid, set()).add((instance.scope.node, instance.scope.rank))
            self._places[code] = (paths, pids, {stream_of(h.place) for i in finding.instances for h in i.hits})
        return self._places[code]

    def _of(self, scope: str, finding: Finding) -> set[tuple[object, object]]:
        key = (scope, finding.entry.code)
        if key not in self._scopes:
            self._scopes[key] = {_NARROW[scope](i.scope) for i in finding.instances}
        return self._scopes[key]


def _same_process(a: _Owners, b: _Owners) -> bool:
    """Do both hold at one process? The same pid on two nodes, or of two ranks, is not one."""
    for pid in a.keys() & b.keys():
        left, right = a[pid], b[pid]
        if left & right:
            return True
        if any(_fit(x, y) for x in left if None in x for y in right) or any(
            _fit(x, y) for y in right if None in y for x in left
        ):
            return True
    return False


def _fit(a: tuple[object, object], b: tuple[object, object]) -> bool:
    return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))


def not_later(one: Finding, other: Finding) -> bool:
    """By the lines of one file, else by time. Lines without a time of their own stand where they stand."""
    a, b = one.first, other.first
    if a.path == b.path:
        return _first_line(one, a.path) <= _first_line(other, a.path)
    return bool(a.time and b.time and a.time <= b.time)


def later_in_file(one: Finding, other: Finding) -> bool:
    """Does it begin further down in a file in which the other stands as well, which may have begun in another file (its plog)?"""
    path = one.first.path
    told = [h.place.line for h in other.hits if h.place.path == path]
    return bool(told) and _first_line(one, path) > min(told)


def right_below(one: Finding, other: Finding) -> bool:
    """Does it begin in one of the few lines below the other's first, as the message of a C++ exception does?"""
    return one.first.path == other.first.path and 0 < one.first.line - other.first.line <= ONE_END


def raised_below(effect: Finding, cause: Finding) -> bool:
    """An exception that stands below a device's failure in the same file came of it, not the other way round.

    What a dying program says right below the line that tells of its end is one with that line.
    """
    guess = "of_program" in cause.entry.traits and cause.entry.role == "ambiguous"
    return guess and later_in_file(cause, effect) and not right_below(cause, effect)


def well_after(one: Finding, other: Finding) -> bool:
    """Does it begin later than the lines of one failure do, in one process?"""
    a, b = one.first, other.first
    if a.time and b.time:
        return seconds(a.time) - seconds(b.time) > ONE_FAILURE
    return a.path == b.path and _first_line(one, a.path) - _first_line(other, a.path) > BLOCK_LINES


def long_before(one: Finding, other: Finding) -> bool:
    """Did it happen well before, by one clock? Lines of several processes may stand in a wrong order for a while."""
    a, b = one.first, other.first
    return a.path == b.path and bool(a.time and b.time) and seconds(b.time or "") - seconds(a.time or "") > INTERLEAVED


def _first_line(finding: Finding, path: str) -> int:
    return min(h.place.line for h in finding.hits if h.place.path == path)
