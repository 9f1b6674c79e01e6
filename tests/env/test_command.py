"""`npu-doctor env` as its users call it: formats, exit codes, other environments and processes, tools that answer, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from env import machines as m
from tests_support import HANG_S, fits_schema

from doctor import answer
from doctor.env.look_at import Asked, machine
from doctor.env.outputs import Live
from kb.knowledge import Knowledge

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
ROOT = Path(__file__).resolve().parents[2]
TREE = str(ROOT / "tests" / "data" / "env" / "torch-replaced")
SCHEMA = json.loads((Path(answer.__file__).parent / "report.schema.json").read_text())


def test_the_json_fits_the_schema_of_reports(run: Run) -> None:
    """That of a scan, with the machine beside it; alone and beside logs."""
    for args in (("env", "--root", TREE), ("scan", "kb/demo/train.log", "--with-env", "--root", TREE)):
        made = json.loads(run(*args, "-f", "json").stdout)
        fits_schema(made, SCHEMA)
        assert made["environment"]["facts"]["cann.version"] == "8.3.RC1"
        assert {g["name"]: g["light"] for g in made["environment"]["groups"]}["python"] == "red"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("form", ["text", "md", "html", "csv", "sarif", "junit", "github"])
def test_every_format_has_the_finding_and_its_fix(form: str, lang: str, run: Run) -> None:
    told = run("env", "--root", TREE, "-f", form, "--lang", lang).stdout.decode()
    assert "CHK301" in told
    assert form == "csv" or "pip install torch==2.7.1" in told.replace("&#x27;", "'")
    if form in ("text", "md", "html"):
        assert {"en": "container", "zh": "容器"}[lang] in told


def test_junit_has_a_case_for_each_check(run: Run) -> None:
    """What holds passes; what nobody knows is no case."""
    suite = ET.fromstring(run("env", "--root", TREE, "-f", "junit").stdout)
    cases = {str(c.get("name")): list(c) for c in suite.iter("testcase")}
    assert [n[:6] for n, inside in cases.items() if inside] == ["CHK301", "CHK305", "CHK505"]
    assert "CHK103 loaded-driver-is-another" in cases


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((), 1), (("--fail-on", "fatal"), 0), (("--exit-zero",), 0), (("--only", "driver"), 0), (("--only", "container"), 0),
        (("--only", "container", "--fail-on", "warning"), 1),
    ],
)  # fmt: skip
def test_exit_codes_are_those_of_scan(args: tuple[str, ...], code: int, run: Run) -> None:
    assert run("env", "--root", TREE, *args).returncode == code


@pytest.mark.parametrize(("lang", "label"), [("en", "machine  FAULT Python"), ("zh", "机器     故障 Python")])
def test_the_answer_fits_one_screen(lang: str, label: str, run: Run) -> None:
    """As a scan's does: the first finding with its fix, the others with theirs, the groups in a line, what to type next."""
    told = run("env", "--root", TREE, "--lang", lang, COLUMNS="80").stdout.decode()
    rows = told.splitlines()
    assert len(rows) <= 24
    assert [r.split()[1] for r in rows if "  CHK" in r] == ["CHK301", "CHK305", "CHK505"]
    assert label in told
    assert "pip install torch==2.7.1" in told
    assert rows[-1].endswith(f"npu-doctor env --root {TREE} --tui")


def test_verbose_and_quiet_are_those_of_scan(run: Run) -> None:
    """-q: a line a finding, with its place; -v: all fixes and where it is published."""
    quiet = run("env", "--root", TREE, "-q")
    assert quiet.stderr == b""
    rows = quiet.stdout.decode().splitlines()
    assert [r.split(": ")[1].split()[1] for r in rows] == ["CHK301", "CHK305", "CHK505"]
    assert rows[2].startswith("/proc/self/mountinfo:2: WARN ")
    short, long, everything = (run("env", "--root", TREE, *args).stdout.decode() for args in ((), ("-v",), ("-vv",)))
    assert "emptyDir" not in short
    assert "emptyDir" in long
    assert len(short) < len(long) < len(everything)
    assert run("env", "--root", TREE, "--all").stdout.decode() == everything


def test_a_healthy_machine_shows_what_stands_how(run: Run, tmp_path: Path) -> None:
    told = run("env", "--root", str(m.write(m.machine(), tmp_path)), COLUMNS="80").stdout.decode()
    assert told.startswith("No fault found.")
    assert "OK  driver" in told
    assert "B, in" not in told  # no logs were read


def test_a_map_of_pseudonyms(run: Run, tmp_path: Path) -> None:
    run("env", "--root", TREE, "-f", "json", "--redact-map", str(tmp_path / "map"))
    assert "192.168.1.11" in (tmp_path / "map").read_text()
    assert (tmp_path / "map").stat().st_mode & 0o077 == 0
    beside = run("scan", "kb/demo/train.log", "--with-env", "--root", TREE, "-f", "json", "--redact-map", str(tmp_path / "map2")).stdout
    assert b"192.168.1.11" not in beside


def test_a_machine_without_ascend_is_inconclusive(tmp_path: Path, run: Run) -> None:
    done = run("env", "--root", str(m.write(m.host("x86_64"), tmp_path)))
    assert done.returncode == 3
    assert b"Nothing of Ascend was found" in done.stderr


def test_several_files_in_several_formats(tmp_path: Path, run: Run) -> None:
    run("env", "--root", TREE, "-o", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.html"), "-o", str(tmp_path / "a.md"))
    assert json.loads((tmp_path / "a.json").read_text())["verdict"] == "findings"
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "a.md").read_text().startswith("# npu-doctor")


@pytest.mark.parametrize("form", ["docker", "compose", "pod"])
def test_what_a_host_gives_to_a_container(form: str, run: Run, tmp_path: Path) -> None:
    """All cards, the managers, the driver; of a board other nodes."""
    told = run("env", "--root", TREE, "--spec", form).stdout.decode()
    assert ("/dev/davinci7" in told) is (form != "pod")
    assert "/usr/local/Ascend/driver/lib64" in told
    if form != "docker":
        assert isinstance(yaml.safe_load(told), dict)
    if form == "pod":
        assert "huawei.com/Ascend910: 8" in told
    board = m.write({**m.machine("310B", "7.0.RC1", "23.0.3", "", 1), "/dev/svm0": ""}, tmp_path)
    told = run("env", "--root", str(board), "--spec", form).stdout.decode()
    assert ("/dev/svm0" in told) is (form != "pod")
    assert "devmm_svm" not in told


def test_another_environment(tmp_path: Path, run: Run) -> None:
    """By its folder and by its interpreter, which is not started."""
    prefix = "/opt/other"
    root = m.write({**m.machine(named={"torch": "2.5.1"}), **m.packages({"torch": "2.1.0"}, prefix)}, tmp_path)
    for path in (prefix, f"{prefix}/bin/python3"):
        made = json.loads(run("env", "--root", str(root), "--python", path, "-f", "json").stdout)
        assert made["environment"]["facts"]["python.torch"] == "2.1.0"


def test_an_environment_named_from_here(run: Run) -> None:
    """A relative path is one of the folder in which the command is typed; one that is not there is no other one."""
    here = os.path.relpath(sys.prefix, ROOT)
    made = json.loads(run("env", "--python", here, "-f", "json").stdout)
    assert made["environment"]["facts"]["python.prefix"] == sys.prefix
    done = run("env", "--python", "/nonexistent")
    assert (done.returncode, b"there is no Python environment" in done.stderr) == (2, True)


def test_global_options_stand_before_what_env_does(run: Run, tmp_path: Path) -> None:
    nodes = [str(tmp_path / name) for name in ("a.json", "b.json")]
    run("env", "--root", TREE, "-o", nodes[0])
    run("env", "--root", str(m.write(m.machine(named={"torch": "2.5.1"}), tmp_path / "b")), "-o", nodes[1])
    told = run("--lang", "zh", "--color", "never", "env", "diff", *nodes)
    assert told.returncode == 1
    assert "2 台机器" in told.stdout.decode()
    told = run("--lang", "zh", "env", "check", "--for", "vllm-ascend==0.11.0", "--root", TREE)
    assert "需要" in told.stdout.decode()


def test_the_network_is_asked_where_no_nodes_tell_how_many_cards(tmp_path: Path, knowledge: Knowledge) -> None:
    """A container without device nodes that has the tool."""
    (tmp_path / "hccn_tool").write_text('#!/bin/sh\n[ "$2" = 0 ] && [ "$3" = -link ] && echo "link status: DOWN"\n')
    (tmp_path / "hccn_tool").chmod(0o755)
    found = machine(Asked(network=True), knowledge, {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert found.value("network.0.link") == "DOWN"


def test_variables_are_checked_where_no_ascend_is(run: Run, tmp_path: Path) -> None:
    """A login node on which a job is prepared."""
    files = {**m.host("x86_64"), "/commands/env.txt": "HCCL_CONECT_TIMEOUT=600\nPATH=/usr/bin\n"}
    done = run("env", "--root", str(m.write(files, tmp_path)), "-q", "--fail-on", "warning")
    assert done.stdout.decode().split(": ")[1].startswith("WARN CHK801")
    assert done.returncode == 1


def test_the_variables_of_a_running_process(run: Run) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env={**os.environ, "HCCL_CONECT_TIMEOUT": "600"})
    try:
        made = json.loads(run("env", "--pid", str(child.pid), "-f", "json").stdout)
        assert "HCCL_CONNECT_TIMEOUT?" in made["environment"]["facts"]["variables.misspelt"]
    finally:
        child.kill()
        child.wait()


def test_the_tree_of_a_process_is_no_live_machine(run: Run) -> None:
    """`/proc/PID/root` is the tree of a container: nothing of this machine is run for it."""
    made = json.loads(run("env", "--root", "/proc/self/root", "-f", "json").stdout)
    assert made["environment"]["where"] == "/proc/self/root"
    assert "npu_smi.state" not in made["environment"]["facts"]
    assert "machine.os" in made["environment"]["facts"]


def test_secrets_are_no_facts(run: Run) -> None:
    raw = run("env", "-f", "json", ASCEND_SECRET_TOKEN="s3cr3t-value", HCCL_API_KEY="s3cr3t-value").stdout
    assert b"s3cr3t-value" not in raw


def test_tools_that_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knowledge: Knowledge) -> None:
    """npu-smi and hccn_tool of this machine, run for real: only with --network the second one."""
    (tmp_path / "table").write_text(m.smi("A2", 2))
    for name, text in (("npu-smi", f"cat {tmp_path}/table"), ("hccn_tool", 'echo "link status: DOWN"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    found = machine(Asked(), knowledge, environ)
    assert (found.value("npu_smi.state"), found.value("chips.count"), found.value("chips.family")) == ("ok", "2", "A2")
    assert not found.under("network.0.")
    said = Live(HANG_S, environ=environ).ask(("hccn_tool", "-i", "0", "-link", "-g"))
    assert said.text == "link status: DOWN\n"


def test_plain_terminals_and_pipes(run: Run) -> None:
    done = run("env", "--root", TREE, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii", NO_COLOR="1", TERM="dumb")
    assert done.returncode == 1
    assert done.stdout.isascii()
    cut = subprocess.run(
        f"{sys.executable} -m doctor env --root {TREE} | head -1", shell=True, capture_output=True, cwd=ROOT, timeout=HANG_S, check=False
    )
    assert b"Traceback" not in cut.stderr
    assert b"Broken" not in cut.stderr


def test_ctrl_c_ends_a_look(tmp_path: Path) -> None:
    """While npu-smi hangs."""
    os.mkfifo(tmp_path / "asked")
    (tmp_path / "npu-smi").write_text(f"#!/bin/sh\necho now > {tmp_path}/asked\nexec sleep 300\n")
    (tmp_path / "npu-smi").chmod(0o755)
    child = subprocess.Popen(
        [sys.executable, "-m", "doctor", "env"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert (tmp_path / "asked").read_text() == "now\n"
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=HANG_S)
    assert b"Traceback" not in told
    assert child.returncode in (130, 0, 1, 3)
