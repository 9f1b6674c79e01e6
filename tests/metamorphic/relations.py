"""Every relation: how an incident may come to us without being another one. Each writes files into a folder and says which are read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Relation = Callable[[bytes, Path], None]
RELATIONS: dict[str, Relation] = {}
HEALTHY = b"[INFO] GE(7,python3):2020-02-03-04:05:06.007.008 [ge.cc:1]7 Run:step done\n"
STRANGERS = {
    "nginx/access.log": b'10.0.0.9 - - [01/Feb/2020:04:05:06 +0000] "GET /healthz HTTP/1.1" 200 2 "-" "kube-probe/1.29"\n' * 40,
    "messages": b"Feb  1 04:05:06 host-1 systemd[1]: Started Session 12 of user root.\n" * 40,
    "plog/plog-9911_20200203040506007.log": b"[INFO] RUNTIME(9911,python3):2020-02-03-04:05:06.007.008 [runtime.cc:1]9911 Init:ok\n" * 40,
}
NO_LOGS = {
    "Makefile": b'ifndef ASCEND_HOME_PATH\n$(error "ASCEND_HOME_PATH is not set")\nendif\n',
    "README.md": b"If you see `RuntimeError: NPU out of memory`, lower the batch size.\n",
    "config.json": b'{\n "hint": "EZ9999: Inner Error!",\n "other": 1\n}\n',
    "check.sh": b"#!/bin/bash\ngrep -q 'error code is 507018' $1 && echo 'ERROR: RuntimeError: NPU out of memory'\n",
    "repo/.git/HEAD": b"ref: refs/heads/main\n",
    "repo/tests/data/oom.log": b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n",
}


def relation(made: Relation) -> Relation:
    RELATIONS[made.__name__.replace("_", "-")] = made
    return made


def whole(name: str, change: Callable[[bytes], bytes], file: str = "input.txt") -> None:
    """A relation that changes the bytes of the one file."""
    RELATIONS[name] = lambda data, place: (place / file).write_bytes(change(data)) and None


def each(name: str, change: Callable[[bytes], bytes], file: str = "input.txt") -> None:
    """A relation that changes every line."""
    whole(name, lambda data: b"".join(change(line) + b"\n" for line in lines(data)), file)


def lines(data: bytes) -> list[bytes]:
    found = data.replace(b"\r\n", b"\n").split(b"\n")
    return found[:-1] if found and not found[-1] else found


def text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()


def record(made: Callable[[str], dict[str, Any]], **more: Any) -> Callable[[bytes], bytes]:
    return lambda line: json.dumps(made(text(line)), **more).encode()


# How it is written

whole("crlf", lambda data: b"\r\n".join(lines(data)) + b"\r\n")
whole("carriage-returns", lambda data: b"\r".join(line.replace(b"\r", b"") for line in lines(data)) + b"\r")
whole("no-final-newline", lambda data: data.rstrip(b"\n"))
whole("blank-lines-around", lambda data: b"\n\n" + data + b"\n\n\n")
whole("byte-order-mark", lambda data: b"\xef\xbb\xbf" + data)
whole("utf-16", lambda data: text(data).encode("utf-16"))
whole("utf-16-without-mark", lambda data: text(data).encode("utf-16-le"))
whole("utf-16-big-endian", lambda data: b"\xfe\xff" + text(data).encode("utf-16-be"))
whole("utf-32", lambda data: text(data).encode("utf-32"))
whole("nuls-before", lambda data: bytes(300) + data)
whole("nuls-behind", lambda data: data + bytes(5000))
whole("a-megabyte-of-nuls-before", lambda data: bytes(1 << 20) + data)
each("nuls-between", lambda line: b"\0\0\0" + line)
each("trailing-blanks", lambda line: line + b"  ")
each("coloured", lambda line: b"\x1b[31m" + line + b"\x1b[0m")

# Who wrote it

each("json-file", record(lambda line: {"log": line + "\n", "stream": "stderr", "time": "2026-03-02T10:21:44.118305444Z"}, separators=(",", ":")))
each("json-file-with-attributes", record(lambda line: {"log": line + "\n", "stream": "stdout", "attrs": {"tag": "x"}, "time": "2026-03-02T10:21:44.1Z"}))
each("json-of-python", record(lambda line: {"message": line, "name": "root"}))
each("json-of-go", record(lambda line: {"msg": line, "caller": "log/log.go:31"}, ensure_ascii=False))
each("json-of-journald", record(lambda line: {"__REALTIME_TIMESTAMP": "1767000000123456", "_PID": "41", "SYSLOG_IDENTIFIER": "python3", "MESSAGE": line}))
each("json-of-a-collector", record(lambda line: {"log": line, "kubernetes": {"pod_name": "train-0"}, "@timestamp": ""}))
each("json-in-json", record(lambda line: {"_source": {"message": line, "stream": "stderr"}, "_index": "logs"}))
each("json-behind-cri", lambda line: b"2026-03-02T10:21:44.118305Z stdout F " + record(lambda said: {"log": said, "logger": "x"})(line))
each("cri", lambda line: b"2026-03-02T10:21:44.118305Z stderr F " + line)
each("syslog-of-a-service", lambda line: b"Mar  2 10:21:44 node-7 serve.sh[41]: " + line)
each("kubectl", lambda line: b"[pod/train-0/main] " + line)
each("compose", lambda line: b"train-1  | " + line)
each("torchrun", lambda line: b"[default0]:" + line)
each("buildkit", lambda line: b"#12 34.567 " + line)
each("grep", lambda line: b"logs/train.log:7:" + line if line[:1] in b"[(" else line)

# How it is pasted

whole("numbered", lambda data: b"\n".join(b"%6d\t%s" % row for row in enumerate(lines(data), 1)) + b"\n")

# How it is packed

whole("gz", gzip.compress, "input.txt.gz")
whole("xz", lzma.compress, "input.log")
whole("bz2", bz2.compress, "input.txt.bz2")
whole("two-gz-in-a-row", lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]), "x")


def zst(data: bytes) -> bytes:
    import zstandard

    return bytes(zstandard.ZstdCompressor().compress(data))


whole("zst", zst, "input.txt.zst")


def tarred(data: bytes, mode: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as tar:  # type: ignore[call-overload]
        info = tarfile.TarInfo("logs/input.txt")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def zipped(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/input.txt", data)
    return made.getvalue()


whole("tar", lambda data: tarred(data, "w"), "x.tar")
whole("tar-gz", lambda data: tarred(data, "w:gz"), "x.tgz")
whole("tar-xz", lambda data: tarred(data, "w:xz"), "x.tar.xz")
whole("gz-in-tar", lambda data: tarred(gzip.compress(data), "w"), "x.tar")
whole("zip", zipped, "x.zip")
whole("zip-without-its-end", lambda data: zipped(data)[:-40], "x.zip")

# What stands around it

whole("behind-healthy-lines", lambda data: HEALTHY * 3000 + data)
whole("before-healthy-lines", lambda data: (data if data.endswith(b"\n") else data + b"\n") + HEALTHY * 3000)
whole("behind-a-long-line", lambda data: b"x" * 900_000 + b"\n" + data)


@relation
def beside_strangers(data: bytes, place: Path) -> None:
    (place / "input.txt").write_bytes(data)
    _put(place, STRANGERS)


@relation
def beside_what_is_no_log(data: bytes, place: Path) -> None:
    (place / "input.txt").write_bytes(data)
    _put(place, NO_LOGS)


@relation
def beside_an_archive_of_healthy_logs(data: bytes, place: Path) -> None:
    (place / "input.txt").write_bytes(data)
    (place / "old.log.gz").write_bytes(gzip.compress(HEALTHY * 100))


@relation
def deep_in_folders(data: bytes, place: Path) -> None:
    _put(place, {"a/b/c/d/e/input.txt": data})


@relation
def read_as_a_pipe(data: bytes, place: Path) -> None:
    """The test hands it over as standard input."""
    (place / "stdin").write_bytes(data)


@relation
def in_small_ranges(data: bytes, place: Path) -> None:
    """The test cuts it into ranges of a few lines."""
    (place / "ranges").write_bytes(data)


@relation
def in_workers(data: bytes, place: Path) -> None:
    """The test gives its ranges to two processes."""
    (place / "workers").write_bytes(data)


def _put(place: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
