"""Whatever stands in the files of a machine: a look at it ends, and no area of it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest
from env import machines as m
from hypothesis import given
from hypothesis import strategies as st

from doctor.env import report, verdict
from doctor.env.look_at import Asked, machine
from doctor.env.releases import compare, holds, key, ranges, within
from kb.knowledge import Knowledge, load

KNOWN = load()
FILES = m.machine(named={"torch": "2.5.1", "torch-npu": "2.5.1", "vllm-ascend": "0.9.1"}, inside="docker")
READ = [
    f"{m.BASE}/driver/version.info", f"{m.BASE}/ascend-toolkit/8.2.RC1/aarch64-linux/ascend_toolkit_install.info", "/etc/ascend_install.info", "/etc/hccn.conf",
    "/etc/os-release", "/proc/1/cgroup", "/proc/meminfo", "/proc/self/limits", "/proc/self/mountinfo", "/proc/self/status", "/commands/npu-smi_info.txt",
    "/commands/env.txt", "/commands/id.txt", "/commands/uname_-a.txt", f"{m.ENVIRONMENT}/lib/python3.11/site-packages/vllm_ascend-0.9.1.dist-info/METADATA",
]  # fmt: skip
PIECES = st.sampled_from(["=", ":", "\n", "[", "]", ",", ".", "|", "/", " ", "0", "9" * 30, "V100R001C19", "8.2.RC1", "-", "rc", "size=", "HCCL_", "ASCEND_HOME_PATH=/", "Requires-Dist: torch", "é中", "\x1b", "(", ")"])
TEXT = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The machine as it is, written once: what an example breaks in it is mended before the next."""
    return m.write(FILES, tmp_path_factory.mktemp("any"))


@given(broken=st.dictionaries(st.sampled_from(READ), TEXT, min_size=1, max_size=6))
def test_no_text_stops_a_look(broken: dict[str, str], root: Path) -> None:
    texts = {path: text.encode("utf-8", "replace").decode() for path, text in broken.items()}
    m.write({path: text for path, text in texts.items() if not text.startswith("-> ")}, root)
    try:
        looked = machine(Asked(str(root)), KNOWN)
    finally:
        for path in texts:
            (root / path.lstrip("/")).unlink()
        m.write({path: FILES[path] for path in texts if path in FILES}, root)
    assert [s for s in looked.skipped if "to the end" in s.reason] == []
    made = report.report(looked, KNOWN, verdict.results(looked, KNOWN.checks()))
    assert made["verdict"] in ("findings", "clean", "inconclusive")


@given(a=st.text(max_size=20), b=st.text(max_size=20))
def test_versions_have_an_order(a: str, b: str) -> None:
    """Of any texts, and the same both ways."""
    assert compare(a, b) == -compare(b, a)
    assert compare(a, a) == 0
    assert isinstance(key(a), tuple)
    holds(f">={a}", b)
    within(a, ranges(b))


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("8.0.RC1", "8.0.RC3"), ("8.0.RC3", "8.0.0"), ("8.0.0", "8.1.RC1"), ("8.2.RC1.alpha001", "8.2.RC1"), ("8.5.0", "9.0.0"), ("8.9", "8.10"), ("24.1.rc2", "24.1.rc2.2"),
        ("24.1.rc3", "24.1.0"), ("2.5.1", "2.5.1.post1"), ("2.5.1.dev20250619", "2.5.1"), ("2.5.1rc1", "2.5.1"), ("2.7.1.post1", "2.8.0"), ("0.9.2rc1", "0.10.0rc1"),
    ],
)  # fmt: skip
def test_versions_of_this_stack(lower: str, higher: str) -> None:
    assert compare(lower, higher) == -1


@pytest.mark.parametrize(
    ("spec", "version", "held"),
    [
        (">=3.9,<3.12", "3.11.6", True), (">=3.9,<3.12", "3.12", False), ("==2.7.1", "2.7.1+cpu", True), ("==2.7.*", "2.7.9", True), ("~=4.2", "4.9", True),
        ("~=4.2", "5.0", False), ("!=1.0", "1.0", False), ("<0.10", "0.10.0rc1", False), ("", "1", True),
    ],
)  # fmt: skip
def test_requirements(spec: str, version: str, held: bool) -> None:
    assert holds(spec, version) is held


@pytest.mark.parametrize(
    ("version", "listed", "inside"),
    [
        ("7.5.0.1.129", "[7.0.0,7.5.99]", True), ("7.6.0", "[7.0.0,7.5.99]", False), ("24.1.rc3", "[24.0,24.0.],[24.1,24.1.]", True), ("24.10", "[24.1,24.1.]", False),
        ("24.1", "[24.1,24.1.]", True), ("1.0", "", False),
    ],
)  # fmt: skip
def test_ranges_of_version_files(version: str, listed: str, inside: bool) -> None:
    assert within(version, ranges(listed)) is inside


def test_the_knowledge_is_the_one_of_the_run(knowledge: Knowledge) -> None:
    assert len(knowledge.checks()) == len(KNOWN.checks())
