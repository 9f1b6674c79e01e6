"""The operations of a pickle that dumps have seldom: those of old protocols, names, long texts. None of them calls anything."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from parsers.named import NamedTuple
from parsers.pickle_state import MAX_DIGITS, PickleError, Plain, State, Why


class _Maker(NamedTuple):
    """A name that torch and Python write for a plain container: it is read as what it is given, never called."""

    name: str


_MAKERS: Final = frozenset(
    {
        "torch.jit._pickle build_intlist",
        "torch.jit._pickle build_doublelist",
        "torch.jit._pickle build_boollist",
        "torch.jit._pickle build_tensorlist",
        "torch.jit._pickle restore_type_tag",
        "collections OrderedDict",
        "_codecs encode",
        "__builtin__ bytes",
        "__builtin__ bytearray",
        "builtins bytearray",
    }
)
_U4, _U8, _F8 = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct(">d")

Step = tuple[int, list[Plain]]


def _line(machine: State, at: int) -> tuple[bytes, int]:
    end = machine.data.find(b"\n", at, at + MAX_DIGITS)
    if end < 0:
        if len(machine.data) - at < MAX_DIGITS:
            raise PickleError(Why.TRUNCATED, len(machine.data), "it ends before its end")
        raise PickleError(Why.FOREIGN, at, "it has a line that does not end")
    return machine.data[at:end], end + 1


def _block(machine: State, at: int, end: int) -> bytes:
    machine.within(end, len(machine.data))
    return machine.data[at:end]


def _proto(machine: State, stack: list[Plain], at: int) -> Step:
    if machine.data[at + 1] > 5:
        raise PickleError(Why.FOREIGN, at, f"it says that it is of protocol {machine.data[at + 1]}")
    return at + 2, stack


def _frame(machine: State, stack: list[Plain], at: int) -> Step:
    _U8.unpack_from(machine.data, at + 1)
    return at + 9, stack


def _name(stack: list[Plain], at: int, name: str) -> None:
    if name not in _MAKERS:
        asked = name.replace(" ", ".", 1)
        raise PickleError(Why.HOSTILE, at, f"it asks for {asked}, which is no plain value", asked)
    stack.append(_Maker(name))


def _global(machine: State, stack: list[Plain], at: int) -> Step:
    module, after = _line(machine, at + 1)
    name, end = _line(machine, after)
    _name(stack, at, f"{module.decode('utf-8', 'replace')} {name.decode('utf-8', 'replace')}")
    return end, stack


def _stack_global(_machine: State, stack: list[Plain], at: int) -> Step:
    name, module = stack.pop(), stack.pop()
    _name(stack, at, f"{module} {name}" if isinstance(name, str) and isinstance(module, str) else "something unnamed")
    return at + 1, stack


def _inst(machine: State, _: list[Plain], at: int) -> Step:
    module, after = _line(machine, at + 1)
    name = _line(machine, after)[0]
    asked = f"{module.decode('utf-8', 'replace')}.{name.decode('utf-8', 'replace')}"
    raise PickleError(Why.HOSTILE, at, f"it asks for {asked}, which is no plain value", asked)


def _extension(machine: State, _: list[Plain], at: int) -> Step:
    asked = f"extension {machine.data[at + 1]}"
    raise PickleError(Why.HOSTILE, at, f"it asks for {asked}, which is no plain value", asked)


def _reduce(machine: State, stack: list[Plain], at: int) -> Step:
    given, maker = stack.pop(), stack.pop()
    if type(maker) is not _Maker or type(given) is not list:
        raise PickleError(Why.FOREIGN, at, "it calls what is no name")
    machine.count(1, at)
    if maker.name == "collections OrderedDict":
        stack.append({})
    elif maker.name == "_codecs encode" or maker.name.endswith(("bytes", "bytearray")):
        said = given[0] if given else b""
        stack.append(said.encode("latin-1") if isinstance(said, str) else said)
    else:
        stack.append(given[0])
    return at + 1, stack


def _tuple(number: int) -> Callable[[State, list[Plain], int], Step]:
    def step(machine: State, stack: list[Plain], at: int) -> Step:
        if len(stack) < number:
            raise PickleError(Why.FOREIGN, at, "it takes more values than there are")
        made = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        machine.count(number + 1, at)
        stack.append(made)
        return at + 1, stack

    return step


def _dict_of_marked(machine: State, stack: list[Plain], at: int) -> Step:
    outer = machine.marks.pop()
    outer.append({})
    machine.fill(outer, stack, at)
    return at + 1, outer


def _list_of_marked(machine: State, stack: list[Plain], at: int) -> Step:
    outer = machine.marks.pop()
    machine.count(len(stack) + 1, at)
    outer.append(stack)
    return at + 1, outer


def _text(machine: State, stack: list[Plain], at: int) -> Step:
    end = at + 9 + _U8.unpack_from(machine.data, at + 1)[0]
    stack.append(_block(machine, at + 9, end).decode("utf-8", "surrogatepass"))
    return end, stack


def _bytes(length: Callable[[bytes, int], tuple[int, int]], decode: bool = False) -> Callable[[State, list[Plain], int], Step]:
    def step(machine: State, stack: list[Plain], at: int) -> Step:
        start, count = length(machine.data, at + 1)
        block = _block(machine, start, start + count)
        stack.append(block.decode("utf-8", "replace") if decode else block)
        return start + count, stack

    return step


def _one(data: bytes, at: int) -> tuple[int, int]:
    return at + 1, data[at]


def _four(data: bytes, at: int) -> tuple[int, int]:
    return at + 4, _U4.unpack_from(data, at)[0]


def _eight(data: bytes, at: int) -> tuple[int, int]:
    return at + 8, _U8.unpack_from(data, at)[0]


def _long4(machine: State, stack: list[Plain], at: int) -> Step:
    start, count = _four(machine.data, at + 1)
    if count > MAX_DIGITS:
        raise PickleError(Why.LARGE, at, f"it has a number of {count} bytes")
    stack.append(int.from_bytes(_block(machine, start, start + count), "little", signed=True))
    return start + count, stack


def _float(machine: State, stack: list[Plain], at: int) -> Step:
    stack.append(_F8.unpack_from(machine.data, at + 1)[0])
    return at + 9, stack


def _written(kind: str) -> Callable[[State, list[Plain], int], Step]:
    """The operations of protocol 0, whose values are written in characters."""

    def step(machine: State, stack: list[Plain], at: int) -> Step:
        line, end = _line(machine, at + 1)
        if kind == "int":
            stack.append(bool(int(line)) if line in (b"00", b"01") else int(line.rstrip(b"L")))
        elif kind == "float":
            stack.append(float(line))
        elif kind == "text":
            stack.append(line.decode("raw-unicode-escape"))
        elif kind == "quoted":
            stack.append(line[1:-1].decode("unicode-escape"))
        elif kind == "get":
            stack.append(machine.memo[_number(line)])
        else:
            machine.remember(_number(line), stack[-1], at)
        return end, stack

    return step


def _number(line: bytes) -> int:
    if not line.isdigit():
        raise ValueError("no number")
    return int(line)


def _pop(machine: State, stack: list[Plain], at: int) -> Step:
    if stack:
        stack.pop()
        return at + 1, stack
    return at + 1, machine.marks.pop()


def _pop_mark(machine: State, _: list[Plain], at: int) -> Step:
    return at + 1, machine.marks.pop()


def _dup(machine: State, stack: list[Plain], at: int) -> Step:
    machine.count(1, at)
    stack.append(stack[-1])
    return at + 1, stack


RARE: Final[dict[int, Callable[[State, list[Plain], int], Step]]] = {
    0x80: _proto,
    0x95: _frame,
    0x63: _global,
    0x93: _stack_global,
    0x69: _inst,
    0x82: _extension,
    0x83: _extension,
    0x84: _extension,
    0x52: _reduce,
    0x29: _tuple(0),
    0x85: _tuple(1),
    0x86: _tuple(2),
    0x87: _tuple(3),
    0x64: _dict_of_marked,
    0x6C: _list_of_marked,
    0x8D: _text,
    0x54: _bytes(_four, decode=True),
    0x55: _bytes(_one, decode=True),
    0x42: _bytes(_four),
    0x43: _bytes(_one),
    0x8E: _bytes(_eight),
    0x96: _bytes(_eight),
    0x8B: _long4,
    0x47: _float,
    0x49: _written("int"),
    0x4C: _written("int"),
    0x46: _written("float"),
    0x56: _written("text"),
    0x53: _written("quoted"),
    0x67: _written("get"),
    0x70: _written("put"),
    0x30: _pop,
    0x31: _pop_mark,
    0x32: _dup,
}
