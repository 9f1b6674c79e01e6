"""Evidence belongs to the time of the failure: what is older, or has no date, is context and says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from simulate.jobs import FAULTS_IN_ORDER, simulate
from simulate.noise import NOISE, noise

from benchmarks.job import named
from doctor.answer.report import report
from doctor.judge.diagnosis import Diagnosis, conclude
from doctor.read import discover
from doctor.read.source import Source
from doctor.scan.harvest import Harvest
from doctor.scan.scanner import Scanner
from kb.knowledge import Knowledge

INCIDENTS = Path(__file__).parent.parent / "data" / "incidents"
# No date and no program: of two records neither is known to be the older one.
RECORDS_ONLY = {"hardware-task-scheduler-silent", "w15-black-box-heartbeat", "w15-core-lockup", "w15-newest-record-link-down", "w15-device-memory-not-the-server", "w15-optical-link-signal"}
WELL = {"operator-fallback-but-healthy", "seed-leftover-python-a"}  # nothing failed: there is no time of the failure

Files = dict[str, str]


@pytest.fixture(scope="module")
def diagnosed(scanner: Scanner, knowledge: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> object:
    """What is concluded of a folder that holds some files, found as the command finds them; each is scanned once at its place."""
    root = tmp_path_factory.mktemp("logs")
    there: Files = {}
    kept: dict[tuple[str, str], Harvest] = {}

    def harvest(source: Source) -> Harvest:
        key = (source.name, there[str(Path(source.name).relative_to(root))])
        if key not in kept:
            kept[key] = scanner.scan(source)
        return kept[key]

    def made(files: Files) -> Diagnosis:
        for name in there.keys() - files.keys():
            (root / name).unlink()
            del there[name]
        for name, text in files.items():
            if there.get(name) != text:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8", errors="surrogateescape")
                there[name] = text
        return conclude([harvest(source) for source in discover.discover([str(root)]).sources], knowledge)

    return made


def first(diagnosis: Diagnosis) -> str | None:
    return diagnosis.roots[0].finding.entry.code if diagnosis.roots else None


def home(files: Files) -> str:
    """The folder in which the logs of some process of a job stand."""
    path = min(name for name in files if "plog" in name)
    return path[: re.search(r"(?:run/|debug/|plog-)", path).start()]  # type: ignore[union-attr]


TRAIN = "2025-06-02 10:00:00,000 - INFO - step 1\n2025-06-02 10:09:00,000 - ERROR - NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity; 60.00 GiB already allocated)\n"
ECC = "[ERROR] KERNEL(3551,sklogd):{day}-23:07:08.350.199 [klogd.c:242][583733.716907] device_id = 2, fail info: device_id-2 appeared multi ecc err, the physical address is 0x400cd8d202e0\n"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (ECC.format(day="2021-10-05"), "before the run that failed began"),
        (ECC.format(day="2025-11-05"), "after the failure"),
        ("device_id = 2, fail info: device_id-2 appeared multi ecc err, the physical address is 0x400cd8d202e0\n", "has no date"),
    ],
    ids=["older", "later", "undated"],
)
def test_a_record_of_another_time_is_context_and_says_so(record: str, said: str, diagnosed: object, knowledge: Knowledge) -> None:
    found = diagnosed({"train.log": TRAIN, "bbox/device-2.txt": record})  # type: ignore[operator]
    assert [r.finding.entry.code for r in found.roots] == ["MEM001"]
    beside = next(f for f in report(found, knowledge)["findings"] if f["id"] == "DRV002")
    assert (beside["role"], beside["explains"], beside["explained_by"]) == ("context", [], None)
    assert said in beside["note"]["en"]
    assert said in beside["why"]["en"]


@pytest.mark.parametrize("day", ["2025-06-02-10:08:00.350.199", "2025-06-02-02:08:00.350.199"], ids=["same-clock", "clock-of-another-zone"])
def test_a_record_of_the_time_of_the_failure_is_a_cause(day: str, diagnosed: object) -> None:
    record = ECC.replace("{day}-23:07:08.350.199", day)
    found = diagnosed({"train.log": TRAIN, "debug/device-2/device-3551_20250602.log": record})  # type: ignore[operator]
    assert "DRV002" in [r.finding.entry.code for r in found.roots]


def test_without_a_failure_a_record_stands_for_itself(diagnosed: object) -> None:
    found = diagnosed({"bbox/device-2.txt": ECC.format(day="2021-10-05")})  # type: ignore[operator]
    assert first(found) == "DRV002"


@pytest.mark.parametrize("fault", FAULTS_IN_ORDER)
def test_a_job_is_told_alike_beside_what_is_not_of_it(fault: str, diagnosed: object) -> None:
    """Old records of hardware, build files and the history of other nodes lie in its folders."""
    job = simulate(700, 16, fault)
    alone = diagnosed(job.files)  # type: ignore[operator]
    beside = diagnosed({**noise(5, home(job.files), tuple(k for k in NOISE if k != "build-files")), **job.files})  # type: ignore[operator]
    assert (first(beside), named(beside)) == (first(alone), named(alone))


@pytest.mark.parametrize("case", sorted(p.parent.name for p in INCIDENTS.glob("*/label.json")))
def test_an_incident_is_told_alike_beside_what_is_not_of_it(case: str, diagnosed: object) -> None:
    given = next((INCIDENTS / case).glob("input.*"))
    data = given.read_bytes()
    if given.suffix not in (".txt", ".log") or case in RECORDS_ONLY | WELL:
        pytest.skip("no text of a failure that programs tell of")
    files = {f"job/{given.name}": data.decode("utf-8", "surrogateescape")}
    alone = diagnosed(files)  # type: ignore[operator]
    if first(alone) is None:
        pytest.skip("nothing failed")
    # The logs of another job are told from these by their dates alone, and only when a program tells of this failure.
    dated = alone.harvest.spans and alone.roots[0].finding.first.kind in ("traceback", "launcher", "message", "plog")
    kinds = tuple(k for k in NOISE if k != "build-files" and (k != "other-job" or dated))
    assert first(diagnosed({**noise(5, "job/", kinds), **files})) == first(alone)  # type: ignore[operator]


def test_mentions_of_a_name_are_no_occurrences(scanner: Scanner, knowledge: Knowledge) -> None:
    """An entry that wants a crash and a name beside it happened as often as the crash, not as often as the name."""
    text = "INFO torch_npu loaded\n" * 40 + "Segmentation fault (core dumped)\n"
    found = conclude([scanner.scan(discover.given_text(text))], knowledge)
    crash = next(r.finding for r in found.roots if r.finding.entry.code == "RTS040")
    assert (crash.total, crash.exact) == (1, True)


SHOT = "2025-06-02 10:09:00,000 - INFO - step 1\n2025-06-02 10:09:09,000 - ERROR - failed (exitcode: -9) local_rank: 3 (pid: 77) of binary: /usr/bin/python3\n"
OOM = "[{at}] Memory cgroup out of memory: Killed process 991 (python3) total-vm:156721328kB, anon-rss:68047816kB, file-rss:0kB, shmem-rss:0kB, UID:0\n"


def test_who_was_killed_is_whom_the_kernel_killed(diagnosed: object) -> None:
    """Its records count from the start of the machine, and pids of a container are others: a job that was killed, and a kill, are one."""
    found = diagnosed({"train.log": SHOT, "kernel.txt": OOM.format(at="1890231.448502")})  # type: ignore[operator]
    assert first(found) == "DST017"
    found = diagnosed({"train.log": TRAIN, "kernel.txt": OOM.format(at="1890231.448502")})  # type: ignore[operator]
    assert first(found) == "MEM001"
    found = diagnosed({"train.log": SHOT, "kernel.txt": OOM.format(at="Tue Dec  2 09:32:38 2024")})  # type: ignore[operator]
    assert first(found) != "DST017"


RUNS = """\
li@plugh:~$ torchrun train.py
ImportError: libhccl.so: cannot open shared object file: No such file or directory
li@plugh:~$ source /usr/local/Ascend/ascend-toolkit/set_env.sh
li@plugh:~$ torchrun train.py
RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 61.00 GiB total capacity; 60.00 GiB already allocated)
"""


def test_what_an_earlier_run_failed_with_is_past(diagnosed: object, knowledge: Knowledge) -> None:
    found = diagnosed({"session.txt": RUNS})  # type: ignore[operator]
    assert first(found) == "MEM001"
    assert "ENV001" in [f["id"] for f in report(found, knowledge)["findings"] if f["role"] == "context"]
    mended_all = RUNS.rsplit("RuntimeError", 1)[0] + "step 1 loss 2.5\n"
    assert first(diagnosed({"session.txt": mended_all})) == "ENV001"  # type: ignore[operator]
