"""The compiled form of one layer of knowledge: one file, read in pieces, never trusted blindly.

Layout: a JSON header in the first line (format, digest, stamp, sections with offset, length and checksum), then the
sections. `index` is what every scan needs; entries, leaves, codes, cards and variables are looked up one by one on shelves,
by their number. Texts in two languages stand apart from what is around them, each language by itself, and so do leaves and
references: what is alike stands together, and a wheel is a sixth smaller so. What a Chinese text says in the words of the English
one it says by references to it (`kb/alike.py`).
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

from kb import alike
from kb.letters import Letters, lettered, letters_of, letters_row, reader, written
from kb.shelves import NEXT, STEP, Shelf, begins, differences, sums
from parsers.lazy import lazy
from parsers.named import NamedTuple

FORMAT = 42
HEADER_LIMIT = 65536
CODE = 6  # letters of a code, which begins the name of an entry's file
TAKEN = b"\x01"
"""Stands for a text in two languages: JSON has no such character."""
AGAIN = b"\x02"
"""Begins what stands in the place of a text that was told before: the number of that one follows, and in the other language nothing."""
WORTH = 16  # letters of a text in both languages together: a shorter one is told again
LANGUAGES = ("english", "chinese")
OBJECTS = "objects"  # have letters, too
ENTRIES, LEAVES, REFERENCES, WORDS, ROWS, OTHERS = SHELVES = ("entries", "leaves", "references", "words", "rows", "others")
"""Entries without what stands on the three shelves behind; rows of the tables of codes; checks, variables, cards."""
PLAIN = (LEAVES, REFERENCES, WORDS)  # of what stands there no text in two languages is taken out
_STRING = r'[^"\\]*(?:\\.[^"\\]*)*'  # of JSON, between its quotes: in stretches, for every object is searched when knowledge is built
_CHINESE = r'(?=[^"\\\u4e00-\u9fff]*(?:\\.[^"\\\u4e00-\u9fff]*)*[\u4e00-\u9fff])'
_BEGIN = lazy(r"\A(?:[A-Za-z_]{2,}|[^\x00-\x7f]+)")
_PAIR = lazy(rf'\["({_STRING})","{_CHINESE}({_STRING})"\]')


T = TypeVar("T")


class BrokenPackError(Exception):
    """The file is no pack, an old one, or damaged: build it again."""


class Header(NamedTuple):
    digest: str
    stamp: str
    version: str  # of the knowledge itself; empty for a user's folder
    sections: Mapping[str, tuple[int, int, int]]


def header(line: bytes) -> Header:
    """What the first line of a pack tells."""
    if not line.endswith(b"\n"):
        raise BrokenPackError("no header")
    try:
        raw = json.loads(line)
        if raw["format"] != FORMAT:
            raise BrokenPackError("another format")
        return Header(raw["digest"], raw["stamp"], raw["version"], {k: (int(v[0]), int(v[1]), int(v[2])) for k, v in raw["sections"].items()})
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BrokenPackError("header not readable") from error


class Pack:
    """An open pack. Small sections are decoded on first use; objects are decoded one at a time."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        end = data.find(b"\n", 0, HEADER_LIMIT)
        self.header = header(data[: end + 1])
        if sum(length for _, length, _ in self.header.sections.values()) != len(data) - end - 1:
            raise BrokenPackError("cut off")
        self._data, self._base = data, end + 1
        self._decoded: dict[str, Any] = {}

    @classmethod
    def of_file(cls, path: Path) -> Pack:
        """A file is mapped: of ten megabytes a run reads a few pages. Packs are only ever replaced whole, never written into."""
        with open(path, "rb") as file:
            try:
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            except ValueError as error:
                raise BrokenPackError("an empty file") from error

    @property
    def data(self) -> bytes:
        """The whole pack, as it is kept in a file."""
        return bytes(self._data)

    def begins(self, head: bytes) -> bool:
        """Is that the header, letter by letter?"""
        return self._data[: len(head)] == head

    def _bytes(self, name: str) -> bytes:
        self._intact(name)
        offset, length, _ = self.header.sections[name]
        return self._data[self._base + offset : self._base + offset + length]

    def _intact(self, name: str) -> None:
        offset, length, crc = self.header.sections[name]
        with memoryview(self._data) as whole, whole[self._base + offset : self._base + offset + length] as piece:
            if len(piece) != length or zlib.crc32(piece) != crc:
                raise BrokenPackError(f"section {name} is damaged")

    def check(self) -> None:
        """Raises BrokenPackError when the index or any piece is not what was written: a few milliseconds."""
        self.section("index")
        for name in ("letters", "steps", *SHELVES, *LANGUAGES):
            self._intact(name)

    def section(self, name: str) -> Any:
        """A whole section as JSON."""
        if name not in self._decoded:
            try:
                self._decoded[name] = json.loads(self._bytes(name))
            except (ValueError, KeyError) as error:
                raise BrokenPackError(f"section {name} is not readable") from error
        return self._decoded[name]

    @cached_property
    def files(self) -> Mapping[str, str]:
        """How the file of each entry is called: `drv018_chip_module_fault`; of one that is not built in, its code."""
        return {file[:CODE].upper(): file for file in filter(None, self.section("index")["entries"].split("\n"))}

    @cached_property
    def entries(self) -> Mapping[str, int]:
        """The number of each entry, which what is told of it elsewhere has as well."""
        return {code: number for number, code in enumerate(self.files)}

    @cached_property
    def first_leaves(self) -> Sequence[int]:
        """The number of the first leaf of each entry, and behind them the one at which leaves of no entry begin."""
        return sums(self.section("index")["leaves"])

    @cached_property
    def codes(self) -> Mapping[str, Sequence[int]]:
        """Every spelling of every code, with the numbers of the rows that it may mean."""
        found: dict[str, list[int]] = {}
        for number, spelled in enumerate(self.section("codes").split("\n")):
            for spelling in filter(None, spelled.split("\t")):
                found.setdefault(spelling, []).append(number)
        return found

    def named(self, name: str) -> Mapping[str, int]:
        """The number of each object of a section that is asked for by its name."""
        first, names = self.section(name)
        return {one: number for number, one in enumerate(filter(None, names.split("\n")), first)}

    def item(self, shelf: str, number: int) -> Any:
        """One object."""
        [one] = self.items(shelf, number, 1)
        return one

    def items(self, shelf: str, first: int, count: int) -> Sequence[Any]:
        """Some objects that stand beside each other, read together."""
        try:
            pieces = self._shelves[shelf].pieces(first, count)
            told = self._read[OBJECTS](NEXT.join(pieces)).split(NEXT.decode())
            if shelf not in PLAIN:
                told = [self._with_texts(shelf, number, piece) if TAKEN.decode() in piece else piece for number, piece in enumerate(told, first)]
            found: list[Any] = json.loads(f"[{','.join(told)}]")
        except (ValueError, IndexError, KeyError) as error:
            raise BrokenPackError("an object is not readable") from error
        if len(found) != count:
            raise BrokenPackError("there is no such object")
        return found

    def pairs(self) -> Callable[[int], tuple[str, str]]:
        """Every text that was taken out of an object, in both languages, by its number."""
        kept = self.kept_pairs()
        read_english, read_chinese = (self._read[name] for name in LANGUAGES)

        def pair(number: int) -> tuple[str, str]:
            english, chinese = kept(number)
            one = read_english(english)
            other = alike.joined(one, read_chinese(chinese))
            return (one, other) if "\\" not in one and "\\" not in other else tuple(json.loads(f'["{one}","{other}"]'))

        return pair

    def kept_pairs(self) -> Callable[[int], tuple[bytes, bytes]]:
        """The same as they are kept."""
        english, chinese = (self._shelves[name].all() for name in LANGUAGES)

        def kept(number: int) -> tuple[bytes, bytes]:
            told = english[number]
            return kept(int(told[1:])) if told.startswith(AGAIN) else (told, chinese[number])

        return kept

    def may_tell(self, words: Sequence[str]) -> Callable[[int, int], bool]:
        """Can one of these words be told by the leaves or the words of an entry, by its number, or by a text, by its own? Said without reading them; of no words, always."""
        kept, letters = self.kept_pairs(), self._letters
        mixed = any(not word.isascii() and alike.may_refer(word) for word in words)  # a part of it may stand in the other text
        # The blank before a word is a part of its letter: only what follows the first letters of a word is kept the same everywhere.
        sought = [[write(_BEGIN.sub("", _json(word)[1:-1])) for word in words] for write in (written(letters[name]) for name in (OBJECTS, *LANGUAGES))] if words else []
        leaves, said, firsts = self._shelves[LEAVES], self._shelves[WORDS], self.first_leaves

        def may(entry: int, text: int) -> bool:
            if not words or mixed:
                return True
            told = NEXT.join((*said.pieces(entry), *leaves.pieces(firsts[entry], firsts[entry + 1] - firsts[entry])))
            return any(one in piece for ones, piece in zip(sought, (told, *kept(text)), strict=True) for one in ones)

        return may

    def _slice(self, name: str) -> Callable[[int, int], bytes]:
        offset, length, _ = self.header.sections[name]
        return lambda start, end: self._data[self._base + offset + start : self._base + offset + min(end, length)]

    def _with_texts(self, shelf: str, number: int, told: str) -> str:
        """An object's JSON with its texts again, which stand in the order of the objects."""
        around = told.split(TAKEN.decode())
        first = self._taken[shelf][number // STEP] + sum(one.count(TAKEN) for one in self._shelves[shelf].before(number))
        pairs = map(self._first, self._told(first, len(around) - 1))
        return "".join(chain.from_iterable(zip(around, (f'["{english}","{chinese}"]' for english, chinese in pairs), strict=False))) + around[-1]

    def _told(self, first: int, count: int) -> Iterator[tuple[str, ...]]:
        english, chinese = (self._texts(name, first, count) for name in LANGUAGES)
        return zip(english, map(alike.joined, english, chinese), strict=True)

    def _first(self, pair: tuple[str, ...]) -> tuple[str, ...]:
        """A text in both languages, or the earlier one that it is again."""
        return next(self._told(int(pair[0][1:]), 1)) if pair[0].startswith(AGAIN.decode()) else pair

    def _texts(self, name: str, first: int, count: int) -> list[str]:
        return self._read[name](NEXT.join(self._shelves[name].pieces(first, count))).split(NEXT.decode())

    @cached_property
    def _shelves(self) -> Mapping[str, Shelf]:
        """What stands on each shelf; texts stand on two of their own."""
        return {name: Shelf(self._slice(name), self.header.sections[name][1], sums(steps)) for name, steps in self.section("steps")["begins"].items()}

    @cached_property
    def _taken(self) -> Mapping[str, Sequence[int]]:
        """Of each shelf, how many texts were taken out before each place by which it is entered."""
        return {name: sums(steps) for name, steps in self.section("steps")["taken"].items()}

    @cached_property
    def _letters(self) -> Mapping[str, Letters]:
        return {name: lettered(row) for name, row in self.section("letters").items()}

    @cached_property
    def _read(self) -> Mapping[str, Callable[[bytes], str]]:
        """Of each language, and of objects, what reads its texts."""
        return {name: reader(letters) for name, letters in self._letters.items()}


class Writer:
    """Collects sections and objects, then makes the bytes of a pack."""

    def __init__(self, alike: Iterable[str] = ()) -> None:
        """`alike`: texts that say the same words as the objects will, by which the letters of these are chosen beforehand."""
        self._letters = letters_of(alike, blanks=False)
        self._write = written(self._letters)
        self._shelves: dict[str, list[bytes]] = {name: [] for name in SHELVES}
        self._sections: dict[str, bytes] = {}
        self._texts: dict[str, list[str]] = {name: [] for name in LANGUAGES}
        self._numbers: dict[tuple[str, ...], int] = {}  # of the texts in both languages
        self._filled = ENTRIES  # the shelf that texts were taken out of last
        self._whole = ""
        self._pairs: tuple[tuple[int, int], ...] = ()  # where the texts in two languages stand in it

    def add(self, shelf: str, value: Any) -> int:
        """Puts an object beside the last one of its shelf. Those that texts are taken out of are filled one after the other, as SHELVES has them."""
        whole = _json(value)
        pieces = (whole,) if shelf in PLAIN else self._without_texts(shelf, whole)
        self._shelves[shelf].append(TAKEN.join(map(self._write, pieces)))
        return len(self._shelves[shelf]) - 1

    def _without_texts(self, shelf: str, whole: str) -> Sequence[str]:
        """What stands around the texts of an object."""
        if SHELVES.index(shelf) < SHELVES.index(self._filled):  # texts stand in the order of the objects: those of the other one would be read as its own
            raise ValueError(f"the shelf {shelf} was left for {self._filled}")
        self._filled = shelf
        done, around, pairs = 0, [], []
        for found in _PAIR.finditer(whole):
            number = len(self._texts["english"])
            told = found.groups()
            if (first := self._numbers.setdefault(told, number)) != number and sum(map(len, told)) >= WORTH:
                told = f"{AGAIN.decode()}{first}", ""
            told = told[0], alike.without(*told)
            for name, text in zip(LANGUAGES, told, strict=True):
                self._texts[name].append(text)
            begin, end = found.span()
            pairs.append((begin, end))
            around.append(whole[done:begin])
            done = end
        self._whole, self._pairs = whole, tuple(pairs)
        return (*around, whole[done:])

    def pairs(self, values: Sequence[Any]) -> Iterator[Any]:
        """The numbers among all texts of some that stand in the last object that texts were taken out of, in their order; what is no text in two languages itself."""
        done = 0
        for value in values:
            part = _json(value)
            done = self._whole.index(part, done)
            number = len(self._texts["english"]) - sum(begin >= done for begin, _ in self._pairs)
            yield number if (done, done + len(part)) in self._pairs else value
            done += len(part)

    def section(self, name: str, value: Any) -> None:
        self._sections[name] = _dump(value)

    def finish(self, digest: str, stamp: str, version: str = "") -> bytes:
        body, table = bytearray(), {}
        letters = {OBJECTS: self._letters, **{name: letters_of(told) for name, told in self._texts.items()}}
        shelves = {**self._shelves, **{name: list(map(written(letters[name]), texts)) for name, texts in self._texts.items()}}
        rows = {name: letters_row(one) for name, one in letters.items()}
        pieces = {name: NEXT.join(told) for name, told in shelves.items()}
        for name, piece in {**self._sections, "letters": _dump(rows), "steps": steps_of(shelves), **pieces}.items():
            table[name] = (len(body), len(piece), zlib.crc32(piece))
            body += piece
        header = {"format": FORMAT, "digest": digest, "stamp": stamp, "version": version, "sections": table}
        return _dump(header) + b"\n" + bytes(body)


def steps_of(shelves: Mapping[str, Sequence[bytes]]) -> bytes:
    """The section `steps`: where the pieces of shelves are entered, and how many texts were taken out before each of these places."""
    taken, count = {}, 0
    for name in SHELVES:
        if name not in PLAIN:
            before = list(accumulate((piece.count(TAKEN) for piece in shelves[name]), initial=count))
            taken[name], count = differences(before[:-1:STEP]), before[-1]
    return _dump({"begins": {name: differences(begins(pieces)) for name, pieces in shelves.items()}, "taken": taken})


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # `dumps` makes a new one for every object


def codes_row(spelled: Sequence[Sequence[str]]) -> str:
    """What `codes` of the pack is made of: a line for each row of the tables."""
    return "\n".join("\t".join(" ".join(one.split()) for one in row) for row in spelled)


def _dump(value: Any) -> bytes:
    return _json(value).encode()


def write_atomically(path: Path, data: bytes) -> bool:
    """Puts the file in place in one step; False when the place cannot be written (a cache is a convenience)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:  # an interrupt leaves nothing behind either
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True


def keep_newest(folder: Path, pattern: str, count: int, spared: Path | None = None) -> None:
    """Of the files of a cache, those written last, and the one that is spared: knowledge changes, and nobody else would ever tidy up."""
    try:
        found = sorted((path for path in folder.glob(pattern) if path != spared), key=lambda path: path.stat().st_mtime_ns)
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:  # another process tidies up as well
        return
