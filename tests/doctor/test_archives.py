"""Archives, honest and hostile: every member is read or named, and no archive costs more than its size allows."""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.read import archives, inflate, tar, zips
from doctor.read.content import ZIP
from doctor.read.discover import discover
from doctor.read.source import Source
from doctor.scan.many_sources import worker_count
from doctor.scan.ranges import Ranges

LOG = b"[ERROR] HCCL(7,python3):2026-02-03-04:05:06.007.008 [a.cc:1]7 trouble\n" * 40


def tarred(files: dict[str, bytes], mode: str = "w", form: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def zipped(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def look(tmp_path: Path, data: bytes) -> tuple[list[Source], dict[str, str]]:
    path = tmp_path / "x"
    path.write_bytes(data)
    found = discover([str(path)])
    return list(found.sources), {s.path.removeprefix(str(path)): s.reason for s in found.skipped}


def content(source: Source) -> bytes:
    with source.open() as stream:
        return stream.read()


FILES = {"a.log": LOG, "d/empty.log": b"", "d/" + "n" * 150 + "/b.log": LOG[:100], "名字.log": LOG[50:], "c.log.gz": gzip.compress(LOG)}


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_is_read_as_the_standard_library_reads_it(tmp_path: Path, form: int, mode: str) -> None:
    files = FILES if form != tarfile.USTAR_FORMAT else {k: v for k, v in FILES.items() if len(k) < 90}
    sources, skipped = look(tmp_path, tarred(files, mode, form))
    names = [s.name.partition("!")[2] for s in sources]
    assert names == list(files)
    expected = [gzip.decompress(d) if n.endswith(".gz") else d for n, d in files.items()]
    assert [content(s) for s in sources] == expected
    assert [content(s) for s in reversed(sources)] == expected[::-1]
    assert not skipped


@given(st.permutations(range(12)), st.booleans())
@settings(max_examples=20)
def test_members_can_be_opened_in_any_order(tmp_path_factory: pytest.TempPathFactory, order: list[int], overlap: bool) -> None:
    """Also while others are still open."""
    files = {f"{n}.log": b"%d " % n * 9000 for n in range(12)}
    sources, _ = look(tmp_path_factory.mktemp("tar"), tarred(files, "w:gz"))
    streams = []
    for n in order:
        stream = sources[n].open()
        assert stream.read(10) == files[f"{n}.log"][:10]
        if overlap:
            streams.append((n, stream))
        else:
            stream.close()
    for n, stream in streams:
        assert stream.read() == files[f"{n}.log"][10:]
        stream.close()


def test_members_in_order_cost_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed tar of many members is inflated twice, to list it and to read it, not once a member."""
    chance = random.Random(1)
    files = {f"{n}.log": LOG + chance.randbytes(500).hex().encode() for n in range(200)}
    data = tarred(files, "w:gz")
    sources, _ = look(tmp_path, data)
    taken = []
    original = inflate.Slice.readinto

    def counted(self: inflate.Slice, buffer: object) -> int:
        taken.append(original(self, buffer))
        return taken[-1]

    monkeypatch.setattr(inflate.Slice, "readinto", counted)
    for source in sources:
        assert content(source) == files[source.name.partition("!")[2]]
    assert sum(taken) <= len(data)


def test_archives_in_archives(tmp_path: Path) -> None:
    """Read like folders in folders, down to a depth that is named when it is reached."""
    node = tarred({"plog-7_1.log": LOG, "rank_3/b.log.gz": gzip.compress(LOG)}, "w:gz")
    sources, skipped = look(tmp_path, zipped({"node-1.tar.gz": node, "node-2.tar": tarred({"c.log": LOG}), "top.log": LOG}))
    assert [s.name.partition("!")[2] for s in sources] == [
        "node-1.tar.gz!plog-7_1.log", "node-1.tar.gz!rank_3/b.log.gz", "node-2.tar!c.log", "top.log",
    ]  # fmt: skip
    assert all(content(s) == LOG for s in sources)
    assert not skipped
    deep = LOG
    for level in range(archives.MAX_DEPTH + 2):
        deep = tarred({f"{level}.tar" if level else "x.log": deep})
    sources, skipped = look(tmp_path, deep)
    assert not sources
    assert ["deeper than" in why for why in skipped.values()] == [True]
    assert "unpack the outer one" in look(tmp_path, tarred({"in.zip": zipped({"a": LOG})}))[1]["!in.zip"]


def test_many_layers_of_gzip(tmp_path: Path) -> None:
    data = LOG
    for _ in range(archives.MAX_DEPTH):
        data = gzip.compress(data)
    assert [content(s) for s in look(tmp_path, data)[0]] == [LOG]
    sources, skipped = look(tmp_path, gzip.compress(data))
    assert not sources
    assert any("deeper than" in why for why in skipped.values())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_compressed_logs_are_read_by_as_many_workers_as_if_they_were_not(tmp_path: Path) -> None:
    """How much a compressed stream holds is not known before it is read: what is usual counts."""
    with gzip.open(tmp_path / "a.log.gz", "wb", compresslevel=1) as file:
        file.write(b"".join(b"step %x loss\n" % n for n in random.Random(3).choices(range(1 << 60), k=300_000)))
    (tmp_path / "b.log.gz").write_bytes((tmp_path / "a.log.gz").read_bytes())
    ranges = Ranges(discover([str(tmp_path)]).sources)
    assert ranges.size == 0
    assert ranges.likely > 1 << 24
    assert worker_count(None, ranges, ranges.size + ranges.likely) == 2


def test_members_that_are_no_logs_are_named(tmp_path: Path) -> None:
    files = {"lib.so": b"\x7fELF" + bytes(500), "a.7z": b"7z\xbc\xaf" + bytes(500), "a.log": LOG}
    for data in (tarred(files), tarred(files, "w:gz"), zipped(files)):
        sources, skipped = look(tmp_path, data)
        assert [s.name.partition("!")[2] for s in sources] == ["a.log"]
        assert skipped["!lib.so"] == "a binary file"
        assert "7z compression" in skipped["!a.7z"]


def test_what_a_tar_holds_besides_files_is_named(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "sym"), (tarfile.LNKTYPE, "hard"), (tarfile.CHRTYPE, "dev"), (tarfile.FIFOTYPE, "pipe"), (tarfile.DIRTYPE, "d")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        sparse = tarfile.TarInfo("holes")
        sparse.type = tarfile.GNUTYPE_SPARSE
        archive.addfile(sparse)
    sources, skipped = look(tmp_path, made.getvalue())
    assert not sources
    assert {n: why.split()[1] for n, why in skipped.items()} == {
        "!sym": "link", "!hard": "link", "!dev": "link", "!pipe": "link", "!holes": "file",
    }  # fmt: skip


def header(kind: bytes, size: int, name: bytes = b"x") -> bytes:
    head = bytearray(tarfile.TarInfo(name.decode()).tobuf(tarfile.USTAR_FORMAT))
    head[156:157] = kind
    head[124:136] = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "a header of 4 GB": (header(b"x", 1 << 32) + bytes(1 << 16), "a header of 4294967296 bytes"),
    "a name of 4 GB": (header(b"L", 1 << 32) + bytes(1 << 16), "a header of 4294967296 bytes"),
    "headers without end": ((header(b"x", 0)) * 5000, "headers before one member"),
    "a size that cannot be": (header(b"0", 1 << 80), "cannot be"),
    "a wrong sum": (header(b"0", 0)[:-1] + b"\1", "sum is wrong"),
    "cut off": (tarred({"a.log": LOG})[:700], ""),
    "not a number": (header(b"x", 20) + b"20 size=\xc2\xb2\xc2\xb2 abcdefg\n".ljust(512, b"\0") + header(b"0", 0), "cannot be"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("packed", [False, True])
def test_a_hostile_tar_ends_where_it_is_broken(tmp_path: Path, name: str, packed: bool) -> None:
    data, why = HOSTILE[name]
    sources, skipped = look(tmp_path, gzip.compress(data) if packed else data)
    if why:
        assert any(why in told for told in skipped.values()), skipped
    for source in sources:
        with pytest.raises(inflate.ArchiveError):
            content(source)


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound counts all of one file, and is named; what came before it is read."""
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    files = {f"{n}.log": LOG for n in range(8)}
    for data in (tarred(files), tarred(files, "w:gz"), zipped(files)):
        sources, skipped = look(tmp_path, data)
        assert [content(s) for s in sources] == [LOG] * 5
        assert skipped == {"": "more than 5 members: the rest was not read (NPU_DOCTOR_MAX_MEMBERS moves that)"}


def test_a_table_of_contents_larger_than_all_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MAX_DIRECTORY", 2000)
    sources, skipped = look(tmp_path, zipped({f"{n:090}.log": b"" for n in range(40)}))
    assert not sources
    assert "table of contents" in skipped[""]


def test_members_that_overlap(tmp_path: Path) -> None:
    """One stretch of data that a thousand members claim."""
    made = bytearray(zipped({f"{n:03}.log": LOG * 20 for n in range(300)}))
    first = ZIP + bytes(26)
    at = made.find(b"PK\x01\x02")
    while at >= 0:
        made[at + 20 : at + 24] = (len(made) // 2).to_bytes(4, "little")
        at = made.find(b"PK\x01\x02", at + 4)
    assert first
    sources, skipped = look(tmp_path, bytes(made))
    assert "overlap" in skipped[""]
    assert len(sources) <= 2


def test_a_member_larger_than_its_table_says(tmp_path: Path) -> None:
    made = bytearray(zipped({"a.log": LOG * 200}))
    at = made.find(b"PK\x01\x02")
    made[at + 24 : at + 28] = (9000).to_bytes(4, "little")
    sources, _ = look(tmp_path, bytes(made))
    with pytest.raises(inflate.ArchiveError, match="size that the archive tells"):
        content(sources[0])


@pytest.mark.parametrize(("flag", "method", "why"), [(1, 8, "encrypted"), (0, 12, "kind of compression"), (0, 14, "kind of compression")])
def test_members_that_cannot_be_unpacked(tmp_path: Path, flag: int, method: int, why: str) -> None:
    made = bytearray(zipped({"a.log": LOG}))
    at = made.find(b"PK\x01\x02")
    made[at + 8], made[at + 10] = flag, method
    sources, skipped = look(tmp_path, bytes(made))
    assert not sources
    assert why in skipped["!a.log"]


def test_a_bomb_in_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios do not multiply: what was taken from the file itself is what the output is measured by."""
    monkeypatch.setattr(inflate, "RATIO_GRACE", 1 << 16)
    monkeypatch.setattr(inflate, "MAX_RATIO", 50)
    inner = gzip.compress(b"log " * 200_000)
    sources, _ = look(tmp_path, gzip.compress(inner * 40))
    with pytest.raises(inflate.ArchiveError, match="more than 50 times"):
        content(sources[0])


def test_a_million_tiny_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflate, "MAX_STREAMS", 100)
    sources, _ = look(tmp_path, gzip.compress(LOG) + gzip.compress(b"") * 200)
    with pytest.raises(inflate.ArchiveError, match="more than 100 compressed streams"):
        content(sources[0])


@pytest.mark.parametrize("seed", range(8))
def test_damage_is_told_after_what_came_before_it(tmp_path: Path, seed: int) -> None:
    body = random.Random(seed).randbytes(30_000).hex().encode() * 4
    torn = bytearray(zipped({"a.log": body}))
    torn[len(torn) // 2 : len(torn) // 2 + 900] = bytes(900)
    stored = zipped({"a.log": body}, zipfile.ZIP_STORED).replace(body[-40:], b"x" * 40)
    for data in (gzip.compress(body)[:-40], tarred({"a.log": body}, "w:gz")[:-3000], bytes(torn), stored):
        sources, _ = look(tmp_path, data)
        assert sources
        for source in sources:
            with source.open() as stream:
                assert inflate.beginning(stream, 20_000) == body[:20_000]
                with pytest.raises(OSError, match=r"ends early|damaged|gone|grows beyond"):
                    stream.read()


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    """Many archives with many members, all read: the number of open files stays small."""
    files = {f"{n}.log": LOG for n in range(6)}
    for n in range(12):
        (tmp_path / f"{n}.tgz").write_bytes(tarred(files, "w:gz"))
    before = len(os.listdir("/proc/self/fd"))
    for source in discover([str(tmp_path)]).sources:
        assert content(source) == LOG
    assert len(os.listdir("/proc/self/fd")) <= before + archives._MAX_WALKS


@pytest.mark.parametrize("make", [lambda: tarred({"a.log": LOG}), lambda: tarred({"a.log": LOG}, "w:gz"), lambda: zipped({"a.log": LOG})])
def test_a_name_of_numbers_without_end(tmp_path: Path, make: Callable[[], bytes]) -> None:
    """What a path tells about its process is a number that a process can have."""
    del make
    long = "plog-" + "9" * 6000 + "_1.log"
    sources, _ = look(tmp_path, zipped({long: LOG, "device-" + "8" * 6000 + "/device-1_2.log": LOG}))
    assert [s.hints.pid for s in sources] == [None, None]


@pytest.mark.parametrize("data", [zipped({"d/": b""}), header(b"5", 0) + bytes(1024)])
def test_an_archive_of_folders_is_named(tmp_path: Path, data: bytes) -> None:
    assert look(tmp_path, data) == ([], {"": "an archive without any file in it"})


def test_the_headers_of_the_standard_library_sum_up() -> None:
    assert tar._sums_up(header(b"0", 12345))
