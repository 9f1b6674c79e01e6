"""Logs that are not plain UTF-8 with line feeds: they are read all the same, with the line numbers of the file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from doctor.judge.diagnosis import conclude
from doctor.read.content import SETTINGS, SOURCE_CODE
from doctor.read.discover import Found, discover
from doctor.read.logfile import open_log
from doctor.scan.harvest import Harvest, merge
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

STEP = "[INFO] GE(7,python3):2026-02-03-04:05:06.007.008 [ge.cc:1]7 Run:step done"
SAID = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
LINES = [STEP, "[rank3]: Traceback (most recent call last):", '[rank3]:   File "/a/b.py", line 3, in f', "[rank3]:     import torch_npu", f"[rank3]: {SAID}", STEP]
TEXT = "\n".join(LINES) + "\n"
Json = dict[str, Any]


def scanned(scanner: Scanner, *paths: Path) -> tuple[Harvest, Found]:
    found = discover([str(path) for path in paths])
    return merge([scanner.scan(source) for source in found.sources]), found


def where(harvest: Harvest, code: str = "ENV001") -> list[tuple[int, int | None]]:
    """Line and rank of what was found."""
    return sorted({(h.place.line, h.place.rank) for h in harvest.hits if h.entry == code})


def docker(text: str) -> Json:
    return {"log": text + "\n", "stream": "stderr", "time": "2026-03-02T10:21:44.118305444Z"}


def python_logging(text: str) -> Json:
    return {"asctime": "2026-03-02 10:21:44,118", "name": "vllm", "message": text}


def journal(text: str) -> Json:
    return {"__REALTIME_TIMESTAMP": "1767000000123456", "_PID": "41", "SYSLOG_IDENTIFIER": "python3", "MESSAGE": text}


def fluentd(text: str) -> Json:
    return {"@timestamp": "2026-03-02T10:21:44.118Z", "log": text, "kubernetes": {"pod_name": "train-0"}, "m": "no message"}


@pytest.mark.parametrize("record", [docker, python_logging, journal, fluentd])
@pytest.mark.parametrize("cut", [False, True])
def test_json_logs_are_read(scanner: Scanner, tmp_path: Path, record: Any, cut: bool) -> None:
    """The message is the line: escapes are undone, prefixes inside it are peeled, the line number is the record's."""
    path = tmp_path / ("x.json" if cut else "x.log")
    path.write_text("".join(json.dumps(record(line)) + "\n" for line in LINES * 40))
    harvest, found = scanned(scanner, tmp_path)
    assert where(harvest) == [(5 + 6 * n, 3) for n in range(40)]
    assert found.skipped == ()
    assert harvest.lines == 240
    hit = next(h for h in harvest.hits if h.entry == "ENV001")
    assert hit.place.text == SAID


def test_what_a_record_says_beside_its_message(scanner: Scanner, tmp_path: Path) -> None:
    """Level, time, process, rank and pod are facts, and the stack stands on the line of its record."""
    record = {
        "time": "2026-03-02T10:21:44.118305Z", "level": "error", "msg": "worker died", "pid": 77, "rank": 5, "kubernetes": {"pod_name": "train-0"},
        "exc_info": f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n{SAID}',
    }  # fmt: skip
    (tmp_path / "a.log").write_text(f"{STEP}\n{json.dumps(record)}\n{STEP}\n{SAID}\n")
    harvest, _ = scanned(scanner, tmp_path)
    assert where(harvest) == [(2, 5), (4, None)]
    place = next(h.place for h in harvest.hits if h.entry == "ENV001" and h.place.line == 2)
    assert (place.time, place.pid, place.worker) == ("2026-03-02T10:21:44.118305", 77, "train-0")
    assert harvest.lines == 4


def test_a_record_behind_the_prefix_of_a_runtime(scanner: Scanner, tmp_path: Path) -> None:
    """What the runtime puts before a line that is itself a record."""
    (tmp_path / "a.log").write_text("".join(f'2026-03-02T10:21:44.118305Z stdout F {json.dumps({"level": "info", "msg": line})}\n' for line in LINES))
    assert where(scanned(scanner, tmp_path)[0]) == [(5, 3)]


def test_json_that_is_no_record_stays_what_it_is(scanner: Scanner, tmp_path: Path) -> None:
    """An answer of a service that is quoted in a log, a configuration that a program prints."""
    rows = [
        f'INFO config: {{"message": "{SAID}", "level": "error"}}',
        f'{{"object": "error", "message": "{SAID}", "code": 400}}',
    ]
    (tmp_path / "a.log").write_text("\n".join([STEP, *rows]) + "\n")
    harvest, _ = scanned(scanner, tmp_path)
    assert [h.place.text[:1] for h in harvest.hits if h.entry == "ENV001"] == ["I", "{"]


NULS = b"\0" * 300


@pytest.mark.parametrize(
    "data",
    [NULS + TEXT.encode(), TEXT.encode() + NULS * 30, NULS * 4000 + TEXT.encode(), TEXT.encode().replace(b"\n[rank3]: Imp", b"\n" + NULS + b"[rank3]: Imp")],
    ids=["before", "behind", "a-megabyte", "between"],
)
def test_nuls_are_passed_over(scanner: Scanner, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.log").write_bytes(data)
    harvest, found = scanned(scanner, tmp_path)
    assert where(harvest) == [(5, 3)]
    assert found.skipped == ()
    assert [s.reason for s in harvest.skipped] == []


def test_a_hole_beside_records_moves_no_line(scanner: Scanner, tmp_path: Path) -> None:
    """NULs at the beginning of a line are a hole, and not another line of a record, of which some stand beside it."""
    log = tmp_path / "a.log"
    log.write_text(f"{json.dumps(docker(STEP))}\n\0\0\0{STEP}\n{STEP}\n{SAID}\n")
    found, _ = scanned(scanner, log)
    assert (where(found), found.lines) == ([(4, None)], 4)


def test_a_hole_costs_nothing(tmp_path: Path) -> None:
    """A file of terabytes of which nothing stands on the disk is told apart at once."""
    with (tmp_path / "a.log").open("wb") as file:
        file.truncate(1 << 40)
    found = discover([str(tmp_path)])
    assert [len(found.sources), len(found.skipped)] == [0, 1]


def test_a_sparse_file_is_read_where_it_holds_something(scanner: Scanner, tmp_path: Path) -> None:
    """A log that was copied and emptied while its writer went on: a hole of any size, then text."""
    with (tmp_path / "a.log").open("wb") as file:
        file.truncate(100 << 20)
        file.seek(0, os.SEEK_END)
        file.write(TEXT.encode())
    assert where(scanned(scanner, tmp_path)[0]) == [(5, 3)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_encodings(scanner: Scanner, tmp_path: Path, encoding: str, ends: str) -> None:
    """What PowerShell and editors write."""
    (tmp_path / "a.log").write_bytes(("训练\n" + TEXT).replace("\n", ends).encode(encoding))
    harvest, found = scanned(scanner, tmp_path)
    assert where(harvest) == [(6, 3)]
    assert found.skipped == ()
    log = open_log(found.sources[0])
    assert [row.text.lstrip("\ufeff").rstrip() for row in log.rows(0, 2)] == ["训练", STEP]


def test_carriage_returns_as_line_ends(scanner: Scanner, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes((TEXT * 30).replace("\n", "\r").encode())
    harvest, _ = scanned(scanner, tmp_path)
    assert where(harvest) == [(5 + 6 * n, 3) for n in range(30)]
    assert harvest.lines == 180


def test_progress_bars_are_no_lines(scanner: Scanner, tmp_path: Path) -> None:
    """A bar that is drawn over and over stands on one line of the file."""
    bar = "".join(f"\r{n:3}%|####      | {n}/100 [00:10<00:20]" for n in range(100)) * 4
    (tmp_path / "a.log").write_text(bar + "\n" + TEXT, newline="")
    assert where(scanned(scanner, tmp_path)[0]) == [(6, 3)]


def zstd(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))


def xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)  # the quickest


PACKERS = {".gz": gzip.compress, ".xz": xz, ".bz2": bz2.compress, ".zst": zstd}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_logs(scanner: Scanner, tmp_path: Path, ending: str) -> None:
    """By their content, whatever they are called; twice compressed, in a row, cut off, and damaged."""
    pack = PACKERS[ending]
    big = TEXT * 300 + os.urandom(3 << 18).hex() + "\n"  # of bzip2 a whole block, and the cut behind it
    (tmp_path / "a.log").write_bytes(pack(TEXT.encode()))
    (tmp_path / f"b.log{ending}").write_bytes(pack(STEP.encode() + b"\n") + pack(TEXT.encode()))
    (tmp_path / f"c.log{ending}").write_bytes(pack(pack(TEXT.encode("utf-16"))))
    (tmp_path / f"d.log{ending}").write_bytes(pack(big.encode())[:-(1 << 17)])
    harvests = {Path(source.name.partition("!")[0]).name[:1]: scanner.scan(source) for source in discover([str(tmp_path)]).sources}
    lines = {name: where(merge([harvest])) for name, harvest in harvests.items()}
    assert lines.pop("a") == [(5, 3)]
    assert lines.pop("b") == [(6, 3)]
    assert lines.pop("c") == [(5, 3)]
    assert lines.pop("d")
    assert [s.reason for s in merge(list(harvests.values())).skipped if "ends early" in s.reason]


@pytest.mark.parametrize("ending", PACKERS)
def test_bombs(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of compression stops at the same bounds."""
    from doctor.read import inflate

    monkeypatch.setattr(inflate, "RATIO_GRACE", 1 << 20)
    (tmp_path / "a").write_bytes(PACKERS[ending](bytes(b"a" * (64 << 20))))
    (source,) = discover([str(tmp_path)]).sources
    with source.open() as stream, pytest.raises(OSError, match="when unpacked"):
        stream.read()


def zipped(files: dict[str, str], streamed: bool, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()

    class Forward(io.RawIOBase):
        """A target that cannot go back: sizes stand behind the members."""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            return made.write(data)

    with zipfile.ZipFile(Forward() if streamed else made, "w", method) as archive:  # type: ignore[arg-type]
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("lost", [30, 150, "half"])
def test_a_zip_without_its_end_gives_its_members(scanner: Scanner, tmp_path: Path, streamed: bool, method: int, lost: Any) -> None:
    """A copy that was cut off: the members that are there are read, and the damage is told."""
    if streamed and method == zipfile.ZIP_STORED:
        return  # nothing tells where such a member ends
    whole = zipped({"a.log": TEXT, "b/c.log": TEXT * 2, "z.log": STEP + os.urandom(3000).hex() + "\n" + TEXT * 40}, streamed, method)
    (tmp_path / "x.zip").write_bytes(whole[: -lost if isinstance(lost, int) else -len(whole) // 2])
    harvest, found = scanned(scanner, tmp_path)
    assert [s.name.rpartition("!")[2] for s in found.sources][:2] == ["a.log", "b/c.log"]
    assert where(harvest)[0] == (5, 3)
    assert any("one after the other" in s.reason for s in found.skipped)


def test_standard_input_in_any_form(run) -> None:  # type: ignore[no-untyped-def]
    """What is piped in may be compressed or in another encoding as well."""
    for data in (TEXT.encode("utf-16"), gzip.compress(TEXT.encode()), lzma.compress(TEXT.encode("utf-16-le")), TEXT.replace("\n", "\r").encode(), NULS + TEXT.encode()):
        done = run("scan", "-", "-f", "json", stdin=data)
        assert json.loads(done.stdout)["findings"][0]["id"] == "ENV001"
        assert json.loads(done.stdout)["findings"][0]["evidence"][0]["line"] == 5
    done = run("scan", "-", "-f", "json", stdin=zipped({"a.log": TEXT}, False))
    assert "give the file itself" in json.loads(done.stdout)["skipped"][0]["reason"]


NO_LOGS = {
    "Makefile": 'ifndef ASCEND_HOME_PATH\n$(error "ASCEND_HOME_PATH is not set")\nendif\nall:\n\techo ok\n',
    "zh.po": 'msgid "NPU out of memory"\nmsgstr "内存不足"\n',
    "config.json": '{\n  "error": "RuntimeError: NPU out of memory",\n  "x": 1\n}\n',
    "one.json": '{"tips": ["NPU out of memory"]}',
    "env.sh": "source /usr/local/Ascend/set_env.sh || echo 'ERROR: no CANN'\n",
    "start": "#!/bin/bash\nset -e\necho 'NPU out of memory'\n",
    "CMakeLists.txt": 'message(FATAL_ERROR "no acl.h")\n',
    "fix.patch": '--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-raise RuntimeError("NPU out of memory")\n',
}


@pytest.mark.parametrize("name", NO_LOGS)
def test_what_is_no_log_is_told_and_not_read(tmp_path: Path, name: str) -> None:
    """Build files, scripts, translations and configurations that lie beside the logs; named, or with --all-files, they are read."""
    path = tmp_path / name
    path.write_text(NO_LOGS[name])
    (tmp_path / "a.log").write_text(TEXT)
    found = discover([str(tmp_path)])
    assert [Path(s.name).name for s in found.sources if not s.dump] == ["a.log"]
    assert [(s.path, s.reason) for s in found.skipped] in ([(str(path), SETTINGS)], [(str(path), SOURCE_CODE)])
    assert [s.name for s in discover([str(path)]).sources] == [str(path)]
    assert len(discover([str(tmp_path)], everything=True).sources) == 2


def test_a_makefile_beside_the_logs_is_no_root(scanner: Scanner, knowledge: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(NO_LOGS["Makefile"])
    (tmp_path / "a.log").write_text(TEXT)
    harvest, found = scanned(scanner, tmp_path)
    diagnosis = conclude([harvest], knowledge, 0, found.skipped)
    assert [r.finding.entry.code for r in diagnosis.roots] == ["ENV001"]


def test_rank_tables_and_json_logs_are_read_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "hccl.json").write_text('{\n "version": "1.0",\n "server_list": [{"server_id": "10.0.0.1", "device": [{"device_id": "0", "device_ip": "1.1.1.1", "rank_id": "0"}]}]\n}\n')
    (tmp_path / "events.json").write_text("".join(json.dumps(docker(line)) + "\n" for line in LINES))
    assert len(discover([str(tmp_path)]).sources) == 2


def checkout(top: Path) -> None:
    for name, text in {
        ".git/HEAD": "ref: refs/heads/main\n", "setup.py": "from setuptools import setup\nsetup()\n", "pkg/a.txt": TEXT, "tests/data/golden.log": TEXT,
        "tests/input.txt": TEXT, "train.log": TEXT, "notes.txt": "milk\n", "CHANGES": "1.0 first\n", "run/nohup.out": TEXT, "lib/site-packages/x.txt": TEXT,
    }.items():  # fmt: skip
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


def test_of_a_source_tree_only_logs_are_read(tmp_path: Path) -> None:
    """What a program printed into a checkout is read; its tests, examples, packages and texts are not, and one row tells it."""
    checkout(tmp_path / "repo")
    (tmp_path / "a.txt").write_text("milk\n")
    found = discover([str(tmp_path)])
    names = sorted(str(Path(s.name).relative_to(tmp_path)) for s in found.sources)
    assert names == ["a.txt", "repo/pkg/a.txt", "repo/run/nohup.out", "repo/train.log"]
    told = {str(Path(s.path).relative_to(tmp_path)): s.reason for s in found.skipped}
    assert set(told) == {"repo", "repo/.git", "repo/lib/site-packages"}
    assert told["repo"].startswith("5 files of a source tree")
    assert len(discover([str(tmp_path)], everything=True).sources) == 11


def test_the_command_reads_all_files_when_asked(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "Makefile").write_text(NO_LOGS["Makefile"] + SAID + "\n")
    assert run("scan", str(tmp_path), "-f", "json").returncode == 3
    done = run("scan", str(tmp_path), "--all-files", "-f", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["skipped"] == []


@pytest.mark.parametrize(
    ("read_off", "code"),
    [
        ("RuntimeError: call aclrtSetDevice failed, error code 1s 107001", "107001"),
        ("RuntimeError: NPU function error: aclrtSynchronizeStream, error code is 5O7O18", "507018"),
        ("RuntimeError: NPU function error: x, error code ls 5070l8[ERROR]", "507018"),
    ],
)
def test_codes_read_off_a_screenshot(scanner: Scanner, tmp_path: Path, read_off: str, code: str) -> None:
    """Letters that stand where digits should, and the other way round, are tried once as what they look like."""
    path = tmp_path / "a.txt"
    path.write_text(read_off + "\n")
    harvest, _ = scanned(scanner, path)
    clean = read_off.replace("1s", "is").replace("ls", "is").replace("5O7O18", code).replace("5070l8", code)
    path.write_text(clean + "\n")
    assert {h.signal for h in harvest.hits} == {h.signal for h in scanned(scanner, path)[0].hits}
    assert any(code in h.place.text for h in harvest.hits)
