r"""A pickle to plain values, without running anything: dumps of the Flight Recorder, memory snapshots.

>>> load(b"\x80\x02}q\x00X\x07\x00\x00\x00versionq\x01X\x03\x00\x00\x002.4q\x02s.")
{'version': '2.4'}
>>> load(b"cposix\nsystem\n(S'reboot'\ntR.")
Traceback (most recent call last):
...
parsers.pickle_state.PickleError: at byte 0: it asks for posix.system, which is no plain value

A pickle is a small program. This reads the part of its language that makes dictionaries, lists, texts, numbers, None and truth
values; the rest of the language does not exist here, so there is nothing that it could call. A tuple becomes a list: then it is no
key of a dictionary either, and hashing it cannot take for ever. Keys are texts or numbers.

What a large snapshot is made of (a dictionary of 2 to 999 items) goes to `fold` as soon as it is whole, and what `fold` returns is
kept instead of it. A list that says the same as an earlier one (a call stack) may be the same object: what is returned is to be
read, not to be changed.
"""
from __future__ import annotations

import re
import struct
from typing import Final

from parsers.pickle_rare import RARE
from parsers.pickle_state import USUAL, Bounds, Fold, PickleError, Plain, State, Why

_CONTAINERS: Final = frozenset({dict, list})
_I4, _U4 = struct.Struct("<i"), struct.Struct("<I")
# Points are written out: a counted repeat of one costs as much again.
_REFERENCES: Final = re.compile(rb"\(((?:h.|j....){2,999})e", re.DOTALL)
_GETS: Final = (b"h", b"j")
_REFERENCE: Final = re.compile(rb"h(.)|j(.{4})", re.DOTALL)
_REF, _PUT = rb"(?:h.|j....)", rb"(?:\x94|q.|r....)"
_SCALAR = _REF + rb"|K.|M..|J....|\x8a(?:\x05.....|\x06......|\x07.......|\x08........)|[N\x88\x89]"
# What torch writes of lists and pairs has no number in the memo: its bytes say all of it, and are read once.
_FLAT: Final = rb"\]\((?:" + _SCALAR + rb"){0,999}e"
_UNNUMBERED: Final = rb"(?:\]\((?:" + _SCALAR + rb"|" + _FLAT + rb"){0,999}e|" + _REF + _REF + rb"\x86)"
_PASSED: Final = rb"(?:" + _UNNUMBERED + rb"|" + _SCALAR + rb")"
_VALUE: Final = rb"(?:" + _UNNUMBERED + rb"|" + _SCALAR + rb"|\]" + _PUT + rb"\(" + _REF + rb"{2,999}e)"
_RECORD: Final = re.compile(rb"\}(?:" + _PUT + rb")?\(((?:" + _REF + _VALUE + rb"){2,30})u", re.DOTALL)
_ITEM: Final = re.compile(rb"(" + _REF + rb")" + _VALUE, re.DOTALL)
_MOST_SHAPES: Final = 8
_MOST_KEPT: Final = 1 << 16
_TRIES: Final = 64  # records that are looked at for a shape of their own
_AFTER: Final = {
    **dict.fromkeys(b"hKq\x82\x8a\x8c\x80UC", 1),
    **dict.fromkeys(b"M\x83", 2),
    **dict.fromkeys(b"jrJXTB\x84\x8b", 4),
    **dict.fromkeys(b"G\x8d\x8e\x95\x96", 8),
}
"""The bytes that an operation has after it at least."""
_NOT_PLAIN: Final = {
    0x50: "a persistent object",
    0x51: "a persistent object",
    0x97: "a buffer that lies elsewhere",
    0x98: "a buffer that lies elsewhere",
    0x62: "a state to be set on an object",
    0x81: "an object of a class",
    0x92: "an object of a class",
    0x6F: "an object of a class",
}


def load(data: bytes, *, fold: Fold | None = None, wanted: frozenset[str] = frozenset(), bounds: Bounds = USUAL) -> Plain:
    """The value of a pickle, or a `PickleError`. Of dictionaries that are alike, `fold` may get the `wanted` keys alone: so they are read faster."""
    if len(data) > bounds.size:
        raise PickleError(Why.LARGE, 0, f"it has {len(data)} bytes, more than {bounds.size}")
    machine = _Machine(data, fold, wanted, bounds)
    try:
        value = machine.run()
    except PickleError:
        raise
    except (IndexError, struct.error) as cause:
        if machine.at >= len(data) or machine.at + _AFTER.get(data[machine.at], 0) >= len(data):
            raise PickleError(Why.TRUNCATED, len(data), "it ends before its end") from cause
        raise PickleError(Why.FOREIGN, machine.at, "it is no pickle that a program has written") from cause
    except (TypeError, ValueError, AttributeError, OverflowError, UnicodeDecodeError) as cause:
        raise PickleError(Why.FOREIGN, machine.at, "it is no pickle that a program has written") from cause
    _check_depth(value, bounds.depth)
    return value


class _Machine(State):
    """One reading, with what it has learnt of lists and records that are said again."""

    def __init__(self, data: bytes, fold: Fold | None, wanted: frozenset[str], bounds: Bounds) -> None:
        super().__init__(data, fold, bounds)
        self.wanted = wanted
        self.lists: dict[bytes, list[Plain]] = {}
        self.unnumbered: dict[bytes, list[Plain]] = {}
        self.shapes: list[tuple[re.Pattern[bytes], tuple[Plain, ...]]] = []
        self.tries = _TRIES if fold is not None else 0

    def run(self) -> Plain:
        """The frequent operations stand here, in the order of how often dumps have them; the others in `pickle_rare`."""
        data, size, memo = self.data, len(self.data), self.memo
        stack: list[Plain] = []
        plainly, most_memo = self.fold is None, self.bounds.memo
        at = 0
        try:
            while True:
                op = data[at]
                if op == 0x68:  # BINGET
                    stack.append(memo[data[at + 1]])
                    at += 2
                elif op == 0x4B:  # BININT1
                    stack.append(data[at + 1])
                    at += 2
                elif op == 0x6A:  # LONG_BINGET
                    stack.append(memo[_U4.unpack_from(data, at + 1)[0]])
                    at += 5
                elif op == 0x28:  # MARK
                    if len(self.marks) >= self.bounds.depth:
                        raise PickleError(Why.LARGE, at, f"it is nested more than {self.bounds.depth} deep")
                    self.marks.append(stack)
                    stack = []
                    at += 1
                elif op == 0x71:  # BINPUT
                    self.remember(data[at + 1], stack[-1], at)
                    at += 2
                elif op == 0x94:  # MEMOIZE
                    self.remember(len(memo), stack[-1], at)
                    at += 1
                elif op == 0x72:  # LONG_BINPUT
                    slot = _U4.unpack_from(data, at + 1)[0]
                    if plainly and slot == len(memo) < most_memo:
                        memo.append(stack[-1])
                    else:
                        self.remember(slot, stack[-1], at)
                    at += 5
                elif op == 0x75:  # SETITEMS
                    items = stack
                    stack = self.marks.pop()
                    self.fill(stack, items, at)
                    at += 1
                elif op == 0x7D:  # EMPTY_DICT
                    end = self._record(stack, at) if self.shapes or self.tries else 0
                    if end:
                        at = end
                        continue
                    stack.append({})
                    self.count(1, at)
                    at += 1
                elif op == 0x5D:  # EMPTY_LIST
                    at = self._list(stack, at)
                elif op == 0x65:  # APPENDS
                    items = stack
                    stack = self.marks.pop()
                    _open_list(stack[-1]).extend(items)
                    self.count(len(items), at)
                    at += 1
                elif op == 0x4A:  # BININT
                    stack.append(_I4.unpack_from(data, at + 1)[0])
                    at += 5
                elif op == 0x8A:  # LONG1
                    end = at + 2 + data[at + 1]
                    self.within(end, size)
                    stack.append(int.from_bytes(data[at + 2 : end], "little", signed=True))
                    at = end
                elif op == 0x4D:  # BININT2
                    stack.append(data[at + 1] | data[at + 2] << 8)
                    at += 3
                elif op == 0x58:  # BINUNICODE
                    end = at + 5 + _U4.unpack_from(data, at + 1)[0]
                    self.within(end, size)
                    stack.append(data[at + 5 : end].decode("utf-8", "surrogatepass"))
                    at = end
                elif op == 0x8C:  # SHORT_BINUNICODE
                    end = at + 2 + data[at + 1]
                    self.within(end, size)
                    stack.append(data[at + 2 : end].decode("utf-8", "surrogatepass"))
                    at = end
                elif op == 0x4E:  # NONE
                    stack.append(None)
                    at += 1
                elif op == 0x88 or op == 0x89:  # NEWTRUE, NEWFALSE
                    stack.append(op == 0x88)
                    at += 1
                elif op == 0x61:  # APPEND
                    item = stack.pop()
                    _open_list(stack[-1]).append(item)
                    self.count(1, at)
                    at += 1
                elif op == 0x73:  # SETITEM
                    value, key = stack.pop(), stack.pop()
                    self.fill(stack, [key, value], at, whole=False)
                    at += 1
                elif op == 0x2E:  # STOP
                    if self.marks or len(stack) != 1:
                        raise PickleError(Why.FOREIGN, at, "it ends with more or less than one value")
                    return stack[0]
                elif op == 0x74:  # TUPLE
                    items = stack
                    stack = self.marks.pop()
                    self.count(len(items) + 1, at)
                    stack.append(items)
                    at += 1
                elif op in RARE:
                    at, stack = RARE[op](self, stack, at)
                else:
                    self._refuse(op, at)
        finally:
            self.at = min(size, at)

    def _list(self, stack: list[Plain], at: int) -> int:
        """An empty list; or one of nothing but references (a call stack), which is read in one go."""
        data, start = self.data, at + 1
        self.count(1, at)
        follows = data[start] if start < len(data) else 0
        after = start + (2 if follows == 0x71 else 5 if follows == 0x72 else 1 if follows == 0x94 else 0)
        found = _REFERENCES.match(data, after) if data[after + 1 : after + 2] in _GETS else None
        if found is None:
            stack.append([])
            return start
        written = found[1]
        known = self.lists.get(written)
        if known is None:
            memo = self.memo
            # A list may refer to itself: then its own number is not known yet, and it is read step by step.
            numbers = [one[0] if one else _U4.unpack(four)[0] for one, four in _REFERENCE.findall(written)]
            if max(numbers) >= len(memo):
                stack.append([])
                return start
            known = [memo[number] for number in numbers]
            self.count(len(known), at)
            if not any(type(value) is dict and not value for value in known):
                self.lists[written] = known
        stack.append(known)
        if after != start:
            slot = len(self.memo) if follows == 0x94 else data[start + 1] if follows == 0x71 else _U4.unpack_from(data, start + 1)[0]
            self.remember(slot, known, start)
        return found.end()

    def _record(self, stack: list[Plain], at: int) -> int:
        """A dictionary like those before it: the same keys, values of one operation each. It goes to `fold` in one go; 0: it is another."""
        data = self.data
        found, keys = next(((match, keys) for pattern, keys in self.shapes if (match := pattern.match(data, at)) is not None), (None, ()))
        if found is None:
            return self._learn(at)
        put, *raws = found.groups()
        memo, start = self.memo, at + 1
        slot = -1 if not put else len(memo) if put == b"\x94" else put[1] if len(put) == 2 else _U4.unpack_from(put, 1)[0]
        if slot == len(memo) and slot < self.bounds.memo - 1:  # the usual case, without a call
            memo.append(None)
        elif slot >= 0:
            self.remember(slot, None, start)
        values: list[Plain] = []
        for number, raw in enumerate(raws, 2):
            op = raw[0]
            if op == 0x68 and len(raw) == 2:
                values.append(memo[raw[1]])
            elif op == 0x6A and len(raw) == 5:
                values.append(memo[_U4.unpack_from(raw, 1)[0]])
            elif op == 0x68 or op == 0x6A or (op == 0x5D and raw[1] == 0x28):
                known = self.unnumbered.get(raw)
                values.append(self._unnumbered(raw) if known is None else known)
            elif op == 0x8A:
                values.append(int.from_bytes(raw[2:], "little", signed=True))
            elif op == 0x4A:
                values.append(_I4.unpack_from(raw, 1)[0])
            elif op == 0x4B:
                values.append(raw[1])
            elif op == 0x4D:
                values.append(raw[1] | raw[2] << 8)
            elif op == 0x5D:
                put = raw[1]
                known = self.lists.get(raw[3 if put == 0x94 else 4 if put == 0x71 else 7 : -1])
                if known is not None and put == 0x94 and len(memo) < self.bounds.memo:
                    memo.append(known)
                    values.append(known)
                elif self._list(values, found.start(number)) != found.end(number):
                    raise TypeError("a list that refers to itself")
            else:
                values.append(None if op == 0x4E else op == 0x88)
        self.count(len(keys) + 1, at)
        assert self.fold is not None
        made = self.fold(dict(zip(keys, values, strict=True)))
        if slot >= 0:
            memo[slot] = made
        stack.append(made)
        return found.end()

    def _unnumbered(self, raw: bytes) -> list[Plain]:
        """A list or a pair without a number: read by itself, and kept, for the next record will say the same."""
        inner = _Machine(raw + b".", None, self.wanted, self.bounds)
        inner.memo = self.memo
        inner.objects = self.objects
        made = inner.run()
        self.objects = inner.objects
        if len(self.unnumbered) < _MOST_KEPT and not any(type(value) is dict and not value for value in made):
            self.unnumbered[raw] = made
        return _open_list(made)

    def _learn(self, at: int) -> int:
        """Learns the shape of a record whose keys are all known by reference: the next one is read by it."""
        if not self.tries or len(self.shapes) >= _MOST_SHAPES:
            return 0
        found = _RECORD.match(self.data, at)
        if found is None:
            return 0
        self.tries -= 1
        refs = [item[1] for item in _ITEM.finditer(found[1])]
        numbers = [ref[1] if len(ref) == 2 else _U4.unpack_from(ref, 1)[0] for ref in refs]
        if max(numbers) >= len(self.memo):
            return 0
        keys = tuple(self.memo[number] for number in numbers)
        if len(set(map(repr, keys))) != len(keys) or any(type(key) is not str for key in keys):
            return 0
        told = self.wanted or frozenset(keys)
        # A list among the values has a number in the memo: it is always read.
        body = b"".join(re.escape(ref) + (_VALUE if key in told else _PASSED).join((b"(", b")") if key in told else (b"", b"")) for ref, key in zip(refs, keys, strict=True))
        self.shapes.append((re.compile(rb"\}(" + _PUT + rb"|)\(" + body + rb"u", re.DOTALL), tuple(key for key in keys if key in told)))
        return 0

    def _refuse(self, op: int, at: int) -> None:
        asked = _NOT_PLAIN.get(op)
        if asked is not None:
            raise PickleError(Why.HOSTILE, at, f"it asks for {asked}, which is no plain value", asked)
        raise PickleError(Why.FOREIGN, at, f"it has the byte {op:#04x} where an operation must stand")


def _open_list(value: Plain) -> list[Plain]:
    if type(value) is not list:
        raise TypeError("no list")
    return value


def _check_depth(value: Plain, most: int) -> None:
    """A value can be made deep by way of the memo, without any mark: who walks it later would not come back."""
    level = [value] if type(value) is dict or type(value) is list else []
    seen: set[int] = set()
    for _ in range(most):
        below: list[Plain] = []
        for one in level:
            if id(one) not in seen:
                seen.add(id(one))
                below += [inner for inner in (one.values() if type(one) is dict else one) if type(inner) in _CONTAINERS]
        if not below:
            return
        level = below
    raise PickleError(Why.LARGE, 0, f"it is nested more than {most} deep")
