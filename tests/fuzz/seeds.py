"""Beginnings for the fuzzer that the repository holds already: lines of healthy logs, samples of parsers, archives made on the spot."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tests.fuzz import told_otherwise

DATA = Path(__file__).resolve().parent.parent / "data"
KNOWN = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
ENTRY = """\
code: USR001
severity: error
kind: user-code
title: {en: Mine, zh: 我的}
cause: {en: Mine., zh: 我的。}
evidence: {same: process, within_s: 5, any: [{regex: 'libhccl\\.so: (?P<what>.{1,40}) file', lines: 1, in: {plog: {level: error}}}, {code: E10001}, {exit: 137}, {text: hello world}], not: [{fields: {table: ps, where: {stat: "~ ^Z"}}}]}
fixes: [{goal: resolve, title: {en: x, zh: 改}, commands: [{run: "true"}], env: [{name: A, value: b, undo: unset A}], code: {after: x}}]
references: [{title: me}]
samples: {match: [{name: a, text: "libhccl.so: no such file E10001: x"}]}
"""
FACTS = "- {id: rank, about: identity, forms: [{regex: 'my rank is (?P<rank>\\d+)'}], references: [{title: me}], samples: [{text: my rank is 3}]}\n"
CODES = "family: mine\ntitle: {en: Mine, zh: 我的}\ncodes:\n- {code: '1234', name: X, meaning: {en: a, zh: 甲}, forms: retCode=1234}\n"
ROWS = "- {name: MY_VARIABLE, purpose: {en: a, zh: 甲}}\n"
CARDS = "- {code: CARD-X, title: {en: a, zh: 甲}, text: {en: a, zh: 甲}}\n"


def _archives() -> Iterable[bytes]:
    data = KNOWN.encode() * 3
    yield gzip.compress(data, mtime=0)
    yield gzip.compress(data, mtime=0) + gzip.compress(data, mtime=0)
    for mode, form in (("w", tarfile.GNU_FORMAT), ("w", tarfile.PAX_FORMAT), ("w:gz", tarfile.USTAR_FORMAT)):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode=mode, format=form) as tar:
            for name, body in (("a.log", data), ("d/" + "x" * 90 * (form != tarfile.USTAR_FORMAT) + "b.log", b""), ("c.log.gz", gzip.compress(data, mtime=0))):
                info = tarfile.TarInfo(name)
                info.size = len(body)
                tar.addfile(info, io.BytesIO(body))
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
        yield made.getvalue()
    for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", how) as archive:
            archive.writestr("a.log", data)
            archive.writestr("d/b.log", b"")
        yield made.getvalue()


def _harvests() -> Iterable[bytes]:
    place = ["a.log", 3, 3, "2026-01-02T03:04:05.000006", "error", "HCCL", "plog", "n", 7, 1, 0, "w", KNOWN]
    row = {
        "type": "harvest", "hits": [["ENV001/0", place, [["lib", "libhccl.so"]]]], "counts": {"ENV001/0": 3}, "clusters": [["a <n>", 2, place, ["507018"]]],
        "kinds": {"plog": 3}, "skipped": [["b", "why"]], "files": 1, "size": 9, "lines": 3, "errors": 2, "capped": ["ENV001/0"],
        "facts": [["fact:rank/0", place, [["rank", "1"]]]], "spans": [["a.log", "2026-01-02T03:04:05.000006", None, 7]],
    }  # fmt: skip
    yield (json.dumps({"type": "report", "knowledge": {"digest": "x"}}) + "\n" + json.dumps(row) + "\n").encode()


def _pieces(folder: Path, size: int = 3000) -> Iterable[bytes]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        yield data[:size]
        yield data[len(data) // 2 :][:size]


TEXTS = tuple(_pieces(DATA / "parsers"))
LINES = tuple(row for text in TEXTS for row in text.split(b"\n")[1:4])
_PATTERNS = (rb"(?:ret|code)[=:] ?(?P<n>\d{1,9})(?:, | )failed\n", rb"[sS]ub ?process (?:a|bc){2,3}died", rb"(?i)nothing", rb"(?>abcdef)+\b")

SEEDS: dict[str, Iterable[bytes]] = {
    "line": LINES,
    **dict.fromkeys(("rows", "traceback", "scan", "tight"), TEXTS),
    "archive": tuple(_archives()),
    "yaml": (ENTRY.encode(), FACTS.encode(), CODES.encode(), b"a: &x [1, *y]\n? b\n: !!str c\n"),
    "entry": (ENTRY.encode(),),
    "layer": ("\0".join((ENTRY, FACTS, ROWS, CODES, CARDS)).encode(),),
    "harvest": tuple(_harvests()),
    "codes": (b"retCode=0x28", b"507018", b"EZ9999", b"-1", b"80E01801", b"drvRetCode[17]", b"error code is 507018, result=0x7110001"),
    "regex": tuple(p + b"\nret=7 failed\n" for p in _PATTERNS),
    **told_otherwise.SEEDS,
    "paths": (b"node-3/plog/plog-1234_2026.log", b"rank_76/device-2/device-1234_99.log", b"10.0.0.1/x"),
}  # fmt: skip


def kept(name: str) -> list[Path]:
    """The inputs of a target that are kept: what once broke a promise, and what leads far into the code."""
    return sorted((DATA / "fuzz" / name).glob("*"))


def write(seeds: Iterable[bytes], folder: Path) -> None:
    """Seeds as files, as libFuzzer wants them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds):
        (folder / f"seed-{number}").write_bytes(data)
