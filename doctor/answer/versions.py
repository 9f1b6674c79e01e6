"""Which versions of what the logs name: what maintainers ask for first.

Versions stand anywhere, so the logs are read a second time: their beginnings and ends, within bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from doctor.base.notation import clean
from doctor.read.source import Source
from parsers.named import NamedTuple

HEAD, TAIL = 4 << 20, 1 << 20  # bytes of each log that are looked at
MAX_SOURCES = 400
MAX_TOTAL = 256 << 20
MAX_VALUES = 6  # versions of one thing

_WHEEL = re.compile(r"-cp\d.*|-py\d.*|\.whl$")
_V = rb"[vV]?(\d+\.\d+[\w.+-]{0,40})"


class Seen(NamedTuple):
    """One thing and the versions of it that were seen, each with the log and how often."""

    name: str
    values: tuple[tuple[str, str], ...]  # version, log in which it stood first


# In the order in which maintainers ask. Each pattern has one group: the version.
PATTERNS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("NPU", (rb"\b(Ascend ?(?:910|310|610|950)[\w-]{0,12})\b", rb"\|\s*\d+\s+((?:910|310)[A-Z]?\w{0,8}|Atlas[ \w-]{2,20}?)\s+\| (?:OK|Warning|Alarm|Critical|UNKNOWN)")),
    ("npu-smi", (rb"\| npu-smi " + _V,)),
    ("driver", (rb"(?i)driver[ _-]?version[\"' ]*[:=] ?[\"']?" + _V, rb"\| npu-smi [^|\n]{1,60}Version: " + _V)),
    ("firmware", (rb"(?i)firmware[ _-]?version[\"' ]*[:=] ?[\"']?" + _V,)),
    ("CANN", (
        rb"(?i)\bcann(?:[ _-]?(?:toolkit|nnal|kernels|version))*[\"' ]*[:=_ -] ?[\"']?" + _V,
        rb"/Ascend/(?:ascend-toolkit|cann|nnae|nnrt)[/-](\d+\.[\w.]{1,20}?)(?=/)",
    )),
    ("torch_npu", (rb"(?i)\btorch[_-]npu(?:\.__version__)?(?: version)?[\"' ]*(?:==|[:=/ -]) ?[\"']?" + _V,)),
    ("torch", (
        rb"(?i)(?<![\w-])(?:py)?torch(?:\.__version__)?(?: version)?[\"' ]*(?:==|[:=]| ) ?[\"']?" + _V,
    )),
    ("Python", (rb"\bPython(?: version)?[: ]{1,2}(3\.\d+\.\d+)", rb"/(?:lib|bin)/python(3\.\d+)\b")),
    ("vllm", (
        rb"(?<![\w-])vllm(?: version)?[\"' ]*(?:==|[:=]) ?[\"']?" + _V, rb"vLLM (?:API server )?(?:version |engine \()" + _V,
        rb"(?i)\bLLM engine \(" + _V,
    )),
    ("vllm-ascend", (rb"(?i)\bvllm[_-]ascend(?: version)?[\"' ]*(?:==|[:=]| ) ?[\"']?" + _V,)),
    ("MindSpore", (rb"(?i)\bmindspore(?:\.__version__)?(?: version)?[\"' ]*(?:==|[:=]| ) ?[\"']?" + _V,)),
    ("MindIE", (rb"(?i)\bmindie(?:[ _-]?(?:llm|service|version))*[\"' ]*(?:==|[:=_ ]) ?[\"']?" + _V,)),
    ("transformers", (rb"(?<![\w-])transformers[\"' ]*(?:==|[:=]) ?[\"']?" + _V,)),
    ("OS", (rb"\bLinux version " + _V, rb"PRETTY_NAME=\"?([^\"\n]{3,60})", rb"(?i)\b(openEuler \d+\.\d+[\w. ()-]{0,12}|Ubuntu \d+\.\d+(?:\.\d+)?)")),
)  # fmt: skip
_COMPILED = tuple((name, tuple(re.compile(p) for p in patterns)) for name, patterns in PATTERNS)


def versions(sources: Iterable[Source]) -> tuple[Seen, ...]:
    """What the sources name, in the order of the table. A log that cannot be read again is left out."""
    found: dict[str, dict[str, str]] = {name: {} for name, _ in PATTERNS}
    left = MAX_TOTAL
    for number, source in enumerate(sources):
        if number >= MAX_SOURCES or left <= 0:
            break
        if source.once:
            continue
        for piece in _pieces(source):
            left -= len(piece)
            for name, patterns in _COMPILED:
                for pattern in patterns:
                    for match in pattern.finditer(piece):
                        _note(found[name], match[1], source.name)
    return tuple(Seen(name, _longest(values)) for name, values in found.items() if values)


def _longest(values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Without those that only begin like another one: 2.5 beside 2.5.1."""
    return tuple((v, path) for v, path in values.items() if not any(w != v and w.startswith(v) for w in values))


def _note(known: dict[str, str], raw: bytes, path: str) -> None:
    text = _WHEEL.sub("", raw.decode("utf-8", "replace"))
    value = " ".join(clean(text).rstrip(".,-+_ ").split())
    if value and len(known) < MAX_VALUES:
        known.setdefault(value, path)


def _pieces(source: Source) -> Iterator[bytes]:
    try:
        with source.open() as stream:
            yield _read(stream, HEAD)
            if source.seekable and source.size is not None and source.size > HEAD + TAIL:
                stream.seek(source.size - TAIL)
                yield _read(stream, TAIL)
    except OSError:
        return  # the scan has told it already


def _read(stream: BinaryIO, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
