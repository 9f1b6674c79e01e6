"""The compiled form of one layer of knowledge: one file, read in pieces, never trusted blindly.

Layout: a JSON header in the first line (format, digest, stamp, sections with offset, length and checksum), then the
sections. `index` is what every scan needs; entries, codes, cards and variables are looked up one by one by offset.
Texts in two languages stand apart from what is around them, each language by itself: a wheel is a tenth smaller so.
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
from typing import Any, NamedTuple, TypeVar

from kb.letters import letters_of, reader, written
from kb.places import differences, named_places, places_of
from parsers.lazy import lazy

FORMAT = 40
HEADER_LIMIT = 65536
CODE = 6  # letters of a code, which begins the name of an entry's file
TAKEN = b"\x01"
"""Stands for a text in two languages, and between the texts of one: JSON has no such character."""
AGAIN = b"\x02"
"""Begins what stands in the place of a text that was told before: the number of that one follows, and in the other language nothing."""
WORTH = 16  # letters of a text in both languages together: a shorter one is told again
LANGUAGES = ("english", "chinese")
OBJECTS = "objects"  # have letters, too
PACE, TEXTS = 1 << 13, 16
"""Of so many bytes of objects it is told how many texts were taken before them; of so many texts, where they begin."""
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


class Pack:
    """An open pack. Small sections are decoded on first use; objects are decoded one at a time."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        end = data.find(b"\n", 0, HEADER_LIMIT)
        if end < 0:
            raise BrokenPackError("no header")
        try:
            raw = json.loads(data[:end])
            if raw["format"] != FORMAT:
                raise BrokenPackError("another format")
            sections = {k: (v[0], v[1], v[2]) for k, v in raw["sections"].items()}
            self.header = Header(raw["digest"], raw["stamp"], raw["version"], sections)
            if sum(length for _, length, _ in sections.values()) != len(data) - end - 1:
                raise BrokenPackError("cut off")
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise BrokenPackError("header not readable") from error
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
        """Raises BrokenPackError when the index or any object is not what was written: a few milliseconds."""
        self.section("index")
        for name in ("letters", "texts", "blob", *LANGUAGES):
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
    def entries(self) -> Mapping[str, tuple[int, int]]:
        """Where each entry stands."""
        return dict(zip(self.files, self._entries_and_words[::2], strict=True))

    @cached_property
    def files(self) -> Mapping[str, str]:
        """How the file of each entry is called: `drv018_chip_module_fault`; of one that is not built in, its code."""
        return {file[:CODE].upper(): file for file in filter(None, self.section("index")["entries"][0].split("\n"))}

    @cached_property
    def searched(self) -> Sequence[tuple[int, int]]:
        """Where the words stand that each entry is searched by, in the order of `entries`."""
        return self._entries_and_words[1::2]

    @cached_property
    def _entries_and_words(self) -> Sequence[tuple[int, int]]:
        return places_of(self.section("index")["entries"][1:])

    @cached_property
    def codes(self) -> Mapping[str, Sequence[int]]:
        """Every spelling of every code, with the numbers of the rows that it may mean."""
        found: dict[str, list[int]] = {}
        for number, spelled in enumerate(self.section("codes").split("\n")):
            for spelling in filter(None, spelled.split("\t")):
                found.setdefault(spelling, []).append(number)
        return found

    def named(self, name: str) -> Mapping[str, tuple[int, int]]:
        """Where each object of a section that is asked for by its name stands."""
        return named_places(self.section(name))

    def item(self, at: Sequence[int]) -> Any:
        """One object of the blob, by offset and length."""
        piece = self._kept(at)
        try:
            return json.loads(self._with_texts(piece, at[0]) if TAKEN in piece else self._read[OBJECTS](piece))
        except (ValueError, IndexError, KeyError) as error:
            raise BrokenPackError("an object is not readable") from error

    def pairs(self) -> Callable[[int], tuple[str, str]]:
        """Every text that was taken out of an object, in both languages, by its number."""
        kept = self.kept_pairs()
        read_english, read_chinese = (self._read[name] for name in LANGUAGES)

        def pair(number: int) -> tuple[str, str]:
            english, chinese = kept(number)
            one, other = read_english(english), read_chinese(chinese)
            return (one, other) if "\\" not in one and "\\" not in other else tuple(json.loads(f'["{one}","{other}"]'))

        return pair

    def kept_pairs(self) -> Callable[[int], tuple[bytes, bytes]]:
        """The same as they are kept."""
        english, chinese = (self._slice(name, 0, self.header.sections[name][1]).split(TAKEN) for name in LANGUAGES)

        def kept(number: int) -> tuple[bytes, bytes]:
            told = english[number]
            return kept(int(told[1:])) if told.startswith(AGAIN) else (told, chinese[number])

        return kept

    def may_tell(self, words: Sequence[str]) -> Callable[[Sequence[int], Sequence[int], int], bool]:
        """Can one of these words stand in what lies between two objects, or in a text, by its number? Told without reading them; of no words, always."""
        kept, letters = self.kept_pairs(), self.section("letters")
        # The blank before a word is a part of its letter: only what follows the first letters of a word is kept the same everywhere.
        sought = [[write(_BEGIN.sub("", _json(word)[1:-1])) for word in words] for write in (written(letters[name]) for name in (OBJECTS, *LANGUAGES))] if words else []

        def may(first: Sequence[int], last: Sequence[int], number: int) -> bool:
            return not words or any(one in piece for ones, piece in zip(sought, (self._slice("blob", first[0], sum(last)), *kept(number)), strict=True) for one in ones)

        return may

    def _kept(self, at: Sequence[int]) -> bytes:
        """One object of the blob as it is kept."""
        return self._slice("blob", at[0], sum(at))

    def _slice(self, name: str, start: int, end: int) -> bytes:
        offset, length, _ = self.header.sections[name]
        return self._data[self._base + offset + start : self._base + offset + min(end, length)]

    def _with_texts(self, piece: bytes, at: int) -> str:
        """An object's JSON with its texts again, which stand in the order of the objects."""
        around = self._read[OBJECTS](piece).split(TAKEN.decode())
        places = self._places
        first = places["before"][at // PACE] + self._slice("blob", at - at % PACE, at).count(TAKEN)
        pairs = map(self._first, self._told(first, len(around) - 1))
        return "".join(chain.from_iterable(zip(around, (f'["{english}","{chinese}"]' for english, chinese in pairs), strict=False))) + around[-1]

    def _told(self, first: int, count: int) -> Iterator[tuple[str, ...]]:
        return zip(*(self._texts(name, self._places[name], first, count) for name in LANGUAGES), strict=True)

    def _first(self, pair: tuple[str, ...]) -> tuple[str, ...]:
        """A text in both languages, or the earlier one that it is again."""
        return next(self._told(int(pair[0][1:]), 1)) if pair[0].startswith(AGAIN.decode()) else pair

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """How many texts were taken before each stretch of the objects, and where in each language each so many texts begin."""
        return {name: tuple(accumulate(map(int, steps.split()))) for name, steps in self.section("texts").items()}

    @cached_property
    def _read(self) -> Mapping[str, Callable[[bytes], str]]:
        """Of each language, and of objects, what reads its texts."""
        return {name: reader((singles, pairs)) for name, (singles, pairs) in self.section("letters").items()}

    def _texts(self, name: str, places: Sequence[int], first: int, count: int) -> list[str]:
        begin, end = first // TEXTS, (first + count) // TEXTS + 1
        piece = self._slice(name, places[begin], places[end] if end < len(places) else self.header.sections[name][1])
        return self._read[name](TAKEN.join(piece.split(TAKEN)[first % TEXTS :][:count])).split(TAKEN.decode())


class Writer:
    """Collects sections and objects, then makes the bytes of a pack."""

    def __init__(self, alike: Iterable[str] = ()) -> None:
        """`alike`: texts that say the same words as the objects will, by which the letters of these are chosen beforehand."""
        self._letters = letters_of(alike, blanks=False)
        self._write = written(self._letters)
        self._blob = bytearray()
        self._sections: dict[str, bytes] = {}
        self._texts: dict[str, list[str]] = {name: [] for name in LANGUAGES}
        self._numbers: dict[tuple[str, ...], int] = {}  # of the texts in both languages
        self._whole = ""
        self._pairs: tuple[tuple[int, int], ...] = ()  # where the texts in two languages stand in it

    def add(self, value: Any) -> tuple[int, int]:
        self._whole = whole = _json(value)
        done, around, pairs = 0, [], []
        for found in _PAIR.finditer(whole):
            number = len(self._texts["english"])
            told = found.groups()
            if (first := self._numbers.setdefault(told, number)) != number and sum(map(len, told)) >= WORTH:
                told = f"{AGAIN.decode()}{first}", ""
            for name, text in zip(LANGUAGES, told, strict=True):
                self._texts[name].append(text)
            begin, end = found.span()
            pairs.append((begin, end))
            around.append(whole[done:begin])
            done = end
        self._pairs = tuple(pairs)
        piece = TAKEN.join(map(self._write, (*around, whole[done:])))
        at = (len(self._blob), len(piece))
        self._blob += piece
        return at

    def parts(self, at: tuple[int, int], values: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Where the members of a list of the object that was added last stand, in their order: they can be read alone, and need not be kept twice."""
        start, done = at[0], 0
        for value in values:
            part = _json(value)
            begin = self._whole.index(part, done)
            end = begin + len(part)
            start += self._length(done, begin)
            length = self._length(begin, end)
            yield start, length
            start, done = start + length, end

    def _length(self, begin: int, end: int) -> int:
        """How long a stretch of the object that was added last is without its texts; none of them stands across its borders."""
        length = 0
        for text, after in self._pairs:
            if begin <= text < end:
                length += len(self._write(self._whole[begin:text])) + len(TAKEN)
                begin = after
        return length + len(self._write(self._whole[begin:end]))

    def pairs(self, values: Sequence[Any]) -> Iterator[Any]:
        """The numbers among all texts of some that stand in the object that was added last, in their order; what is no text in two languages itself."""
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
        told = {name: list(map(written(letters[name]), texts)) for name, texts in self._texts.items()}
        texts = {name: TAKEN.join(pieces) for name, pieces in told.items()}
        for name, piece in {**self._sections, "letters": _dump(letters), "texts": _dump(self._steps(told)), "blob": bytes(self._blob), **texts}.items():
            table[name] = (len(body), len(piece), zlib.crc32(piece))
            body += piece
        header = {"format": FORMAT, "digest": digest, "stamp": stamp, "version": version, "sections": table}
        return _dump(header) + b"\n" + bytes(body)

    def _steps(self, texts: Mapping[str, Sequence[bytes]]) -> dict[str, str]:
        """What `_places` of the pack is made of: each number less the one before it."""
        before = [0, *accumulate(self._blob.count(TAKEN, at, at + PACE) for at in range(0, len(self._blob), PACE))]
        begins = {name: [0, *accumulate(len(text) + 1 for text in told)][::TEXTS] for name, told in texts.items()}
        return {name: differences(numbers) for name, numbers in {"before": before, **begins}.items()}


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # `dumps` makes a new one for every object


def catalog_columns(lines: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Lines of the catalogue, column by column; of numbers, each less the one before it: they are much alike then."""
    return [_less_before(column) for column in zip(*lines, strict=True)]


def catalog_lines(columns: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The inverse of `catalog_columns`."""
    return zip(*map(_with_before, columns), strict=True)


def _less_before(column: Iterable[Any]) -> list[Any]:
    last, made = 0, []
    for one in column:
        made.append(one - last if isinstance(one, int) else one)
        last = one if isinstance(one, int) else last
    return made


def _with_before(column: Iterable[Any]) -> Iterator[Any]:
    last = 0
    for one in column:
        last += one if isinstance(one, int) else 0
        yield last if isinstance(one, int) else one


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
