"""All formats, the more particular before the more general. A new one is a file beside this and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from parsers import (
    device_log,
    hccn,
    host_log,
    kernel_log,
    message,
    mindspore,
    npu_smi,
    smi_query,
    text,
    traceback,
)
from parsers.parsed import Record
from parsers.runs import Format, runs


class Parser(Protocol):
    """What a format's module offers."""

    KIND: str
    FORMAT: Format

    def sniff(self, lines: Iterable[str]) -> bool: ...
    def parse(self, lines: Iterable[str]) -> Iterator[Record]: ...


PARSERS: tuple[Parser, ...] = (
    npu_smi,
    smi_query,
    hccn,
    device_log,
    host_log,
    mindspore,
    message,
    traceback,
    kernel_log,
    text,
)


def split(lines: Iterable[str]) -> Iterator[Record]:
    """A mixed stream as records: every line in exactly one, in order, whatever the chunks it arrived in."""
    return runs([parser.FORMAT for parser in PARSERS], lines)


def kind_of(lines: Sequence[str]) -> str:
    """What a text is by its first words: the kind of the one parser that claims it."""
    return next((parser.KIND for parser in PARSERS if parser.sniff(lines)), text.KIND)
