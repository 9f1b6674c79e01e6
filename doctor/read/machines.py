"""What decompresses, as one kind of thing: bounded output, and what was not used of the input."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Protocol

LZMA_MEMORY = 256 << 20  # bytes; xz -9 needs 65 MB
ZSTD_WINDOW = 128 << 20  # bytes; zstd --long needs as much
_FED = 1 << 10  # bytes of zstd data at a time: a block of four bytes may become 128 KiB, and the library bounds no output


class Machine(Protocol):
    """As zlib's: `unconsumed_tail` is to be given again, `unused_data` comes after the end of the compressed stream."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, size: int, /) -> bytes: ...


class MissingError(OSError):
    """This Python has no library for a kind of compression: what to do about it."""


def machines(kind: str) -> Callable[[], Machine]:
    """What makes a machine for a kind of compression: gz, raw (deflated, without a head), bz2, xz, zst."""
    if kind in ("gz", "raw"):
        library: Any = zlib
        try:
            from isal import isal_zlib

            library = isal_zlib  # about three times as fast, where its wheel is there
        except ImportError:
            pass
        return lambda: library.decompressobj(31 if kind == "gz" else -15)
    if kind == "zst":
        try:
            import zstandard
        except ImportError:
            raise MissingError("zst compression needs the package zstandard: pip install zstandard, or unpack it first (zstd -d)") from None
        return lambda: _Zstd(zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj())
    try:
        if kind == "bz2":
            import bz2

            return lambda: _Keeping(bz2.BZ2Decompressor())
        import lzma
    except ImportError:
        raise MissingError(f"this Python was built without {kind} compression: unpack it first ({'bunzip2' if kind == 'bz2' else 'unxz'})") from None
    return lambda: _Keeping(lzma.LZMADecompressor(lzma.FORMAT_XZ, LZMA_MEMORY))


class _Keeping:
    """bz2 and lzma keep the input that they have not used yet: nothing more is given to them before it is."""

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        return bool(self._machine.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._machine.unused_data) + self.unconsumed_tail

    def decompress(self, data: bytes, size: int, /) -> bytes:
        if self._machine.needs_input:
            self.unconsumed_tail = b""
            return bytes(self._machine.decompress(data, size))
        self.unconsumed_tail = data
        return bytes(self._machine.decompress(b"", size))


class _Zstd:
    """Frames of zstd; output that is more than was asked for waits here."""

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._made = memoryview(b"")
        self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        return bool(self._machine.eof) and not self._made

    @property
    def unused_data(self) -> bytes:
        return bytes(self._machine.unused_data) + self.unconsumed_tail

    def decompress(self, data: bytes, size: int, /) -> bytes:
        if not self._made and not self._machine.eof:
            self._made, data = memoryview(self._machine.decompress(data[:_FED])), data[_FED:]
        self.unconsumed_tail = data
        given, self._made = self._made[:size], self._made[size:]
        return bytes(given)
