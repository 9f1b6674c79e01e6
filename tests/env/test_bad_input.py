"""What is missing, broken, hostile or slow is a line of the report, and never a crash."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from env import machines as m

from doctor.env import verdict
from doctor.env.facts import Machine
from doctor.env.look_at import Asked, machine
from doctor.env.outputs import NO_ANSWER, Live
from kb.knowledge import Knowledge

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def test_nothing_of_a_framework_is_imported(tmp_path: Path, run: Run) -> None:
    """Every package that could be imported is poisoned, and so is npu-smi's way to Python: the look does not notice."""
    root = m.write(m.machine(named={"torch": "2.5.1", "torch-npu": "2.5.1", "vllm": "0.9.1", "mindspore": "2.6.0"}), tmp_path / "root")
    poison = tmp_path / "poison"
    for name in ("torch", "torch_npu", "vllm", "vllm_ascend", "mindspore", "transformers", "numpy", "google", "te", "acl"):
        (poison / name).mkdir(parents=True)
        (poison / name / "__init__.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\nraise SystemExit(99)\n")
    done = run("env", "--root", str(root), "-f", "json", PYTHONPATH=str(poison))
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["environment"]["facts"]["python.torch_npu"] == "2.5.1"
    assert not (tmp_path / "imported").exists()


def test_the_machine_of_this_test_is_looked_at_without_changing_it(run: Run) -> None:
    done = run("env", "-f", "json")
    assert done.returncode in (0, 1, 3), done.stderr
    facts = json.loads(done.stdout)["environment"]["facts"]
    assert facts["machine.kernel"] == os.uname().release
    assert b"Traceback" not in done.stderr


def test_npu_smi_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its children, one of which would keep the pipe open."""
    program = tmp_path / "npu-smi"
    program.write_text("#!/bin/sh\nsleep 300 &\nsleep 300\n")
    program.chmod(0o755)
    begin = time.monotonic()
    said = Live(0.2, environ={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}).ask(("npu-smi", "info"))
    assert said.state == NO_ANSWER
    assert time.monotonic() - begin < 100
    assert subprocess.run(["pgrep", "-f", str(program)], capture_output=True, check=False).stdout == b""


def test_a_hanging_npu_smi_is_itself_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge) -> None:
    program = tmp_path / "npu-smi"
    program.write_text("#!/bin/sh\nexec sleep 300\n")
    program.chmod(0o755)
    monkeypatch.setattr("doctor.env.outputs.SECONDS", 0.2)
    monkeypatch.setattr(Live.__init__, "__defaults__", (0.2, (), os.environ))
    found = machine(Asked(), knowledge, {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert found.value("npu_smi.state") == "no answer"
    assert {r.check.code for r in verdict.failures(verdict.results(found, knowledge.checks()))} >= {"CHK401"}


HOSTILE = {
    "/usr/local/Ascend/driver/version.info": "\x1b[31mVersion=\x1b]0;pwned\x0724.1.rc3\x9b\n",
    "/etc/hostname": "\u202enode\n",
    "/etc/os-release": "PRETTY_NAME=" + "x" * 5000 + "\n",
    "/proc/1/cgroup": "\xff\xfe\n",
    "/proc/self/mountinfo": "1\n2 3\n",
    "/proc/self/limits": "Max open files\nMax open files            many\n",
    "/proc/meminfo": "MemTotal: lots\nHugePages_Total:\n",
    "/etc/hccn.conf": "address_=\naddress_999999=1\n=\n",
    "/commands/env.txt": "ASCEND_HOME_PATH=/../../../etc\nHCCL_X=[@click=app.quit]\n=x\nLD_LIBRARY_PATH=" + ":" * 9000 + "\n",
    "/commands/npu-smi_info.txt": "| 0 910B3 | OK |\n" * 400,
    "/commands/id.txt": "uid=()\n",
}


def test_hostile_files_are_only_values(look: Callable[..., Machine], knowledge: Knowledge, tmp_path: Path, run: Run) -> None:
    found = look({**m.machine(), **HOSTILE})
    assert not [f for f in found.facts.values() if any(c < " " or c in "\x7f\x9b\u202e" for c in f.value)]
    for form in ("text", "md", "html", "junit", "json"):
        done = run("env", "--root", str(tmp_path / "root"), "-f", form)
        assert b"Traceback" not in done.stderr
        assert b"\x1b" not in done.stdout


def test_links_out_of_the_tree_and_in_circles_lead_nowhere(look: Callable[..., Machine], tmp_path: Path) -> None:
    secret = tmp_path / "secret.info"
    secret.write_text("Version=99.9\n")
    found = look({
        **m.host(), f"{m.BASE}/driver/version.info": f"-> {secret}", f"{m.BASE}/firmware/version.info": "-> ../../../../../../secret.info",
        f"{m.BASE}/cann": "-> cann", f"{m.BASE}/ascend-toolkit/latest": "-> ../ascend-toolkit/latest",
    })  # fmt: skip
    assert found.value("driver.version") == ""
    assert found.value("firmware.version") == ""
    assert found.value("cann.dead_links") != "none"
    assert any("leads nowhere" in s.reason for s in found.skipped)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(look: Callable[..., Machine], tmp_path: Path) -> None:
    files = m.machine()
    root = m.write(files, tmp_path / "root")
    (root / "usr/local/Ascend/driver/version.info").chmod(0)
    assert any("Permission" in s.reason for s in machine(Asked(str(root)), None).skipped)  # type: ignore[arg-type]


def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path: Path, knowledge: Knowledge) -> None:
    root = m.write(m.host(), tmp_path / "root")
    (root / "usr/local/Ascend/driver").mkdir(parents=True)
    os.mkfifo(root / "usr/local/Ascend/driver/version.info")
    assert machine(Asked(str(root)), knowledge).value("driver.version") == ""


@pytest.mark.parametrize("home", ["", "relative", "/nonexistent"])
def test_no_home(home: str, run: Run, checkout: Path) -> None:
    done = run("env", "-f", "json", cwd=checkout, HOME=home, XDG_CACHE_HOME="/proc/nothing")
    assert done.returncode in (0, 1, 3), done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("--root", "/no/such"), b"there is no folder or archive"),
        (("--root", __file__), b"no archive that can be read"),
        (("--outputs", "/no/such"), b"there is no folder"),
        (("--pid", "999999999"), b"no such process"),
        (("--python", "/no/such/python"), b"there is no Python environment"),
        (("--only", "drivers"), b"there is no group"),
        (("diff", "/no/such.json", "/no/such.json"), b"cannot read"),
        (("diff", "/dev/zero", __file__), b"larger than"),
        (("diff", __file__, __file__), b"is no JSON"),
        (("check",), b"nothing is asked for"),
        (("check", "--for", "=="), b"is no requirement"),
        (("check", "--requirements", "/no/such"), b"cannot read"),
    ],
)
def test_a_slip_is_told_with_a_way_out(args: tuple[str, ...], what: bytes, run: Run) -> None:
    done = run("env", *args)
    assert done.returncode == 2
    assert what in done.stderr
    assert b"= help:" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.xz", "zip"])
def test_an_archive_says_the_same_as_its_folder(form: str, tmp_path: Path, knowledge: Knowledge) -> None:
    """In the folder of its own that a report has around its tree."""
    files = m.machine(named={"torch": "2.5.1", "torch-npu": "2.5.1"}, cann_version="8.5.0", driver_version="25.3.rc1")
    root = m.write(files, tmp_path / "sosreport-node-1")
    path = tmp_path / f"bundle.{form}"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                info = zipfile.ZipInfo(f"sosreport-node-1{name}")
                if text.startswith("-> "):
                    info.external_attr = 0o120777 << 16
                archive.writestr(info, text.removeprefix("-> "))
    else:
        with tarfile.open(path, {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz"}[form]) as tar:  # type: ignore[call-overload]
            tar.add(root, arcname="sosreport-node-1")
    folder, packed = machine(Asked(str(root)), knowledge), machine(Asked(str(path)), knowledge)
    assert {n: f.value for n, f in packed.facts.items()} == {n: f.value for n, f in folder.facts.items()}
    assert packed.value("cann.version") == "8.5.0"


def test_members_that_lead_out_stay_inside(tmp_path: Path, knowledge: Knowledge) -> None:
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as tar:
        for name in ("../../etc/hostname", "/etc/os-release", "etc/passwd"):
            info = tarfile.TarInfo(name)
            data = b"PRETTY_NAME=evil\n"
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("usr/local/Ascend/driver/version.info")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/shadow"
        tar.addfile(link)
    found = machine(Asked(str(path)), knowledge)
    assert found.value("machine.os") == "evil"
    assert found.value("driver.version") == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.tar"]


def test_a_damaged_archive_is_told(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "cut.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(m.write(m.machine(), tmp_path / "root"), arcname="x")
    path.write_bytes(path.read_bytes()[:300])
    done = run("env", "--root", str(path))
    assert done.returncode == 2
    assert b"no archive that can be read" in done.stderr
