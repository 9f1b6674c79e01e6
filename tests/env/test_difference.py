"""Where machines differ: folded into groups, what matters first, what differs by nature left out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from env import machines as m

from doctor.env import difference, difference_text
from doctor.env.difference import Node

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
SAME = {"driver.version": "24.1.rc3", "driver.inner": "V100R001C19", "cann.version": "8.2.RC1", "chip.0.health": "OK", "python.torch": "2.5.1"}


def fleet(count: int, **odd: dict[str, str]) -> list[Node]:
    """Machines that are the same but for those named here."""
    return [Node(name, {**SAME, "machine.host": name, "chip.0.temp": str(30 + n % 20), **odd.get(name, {})}) for n in range(count) if (name := f"node{n:04}")]


def told(nodes: list[Node], lang: str = "en") -> str:
    return difference_text.render(nodes, difference.differences(nodes), lang, False, 5)


def test_one_machine_against_the_others() -> None:
    """`node0007: ..., the other 63: ...`; what goes with it stands beneath it."""
    text = told(fleet(64, node0007={"driver.version": "24.1.rc2", "driver.inner": "V100R001C18"}))
    assert text.splitlines() == [
        "64 machines, 1 difference",
        "",
        "driver.version",
        "  24.1.rc2  node0007",
        "  24.1.rc3  the other 63",
        "    and with it: driver.inner",
        "",
    ]


def test_what_matters_comes_first() -> None:
    nodes = fleet(8, node0001={"python.torch": "2.6.0", "variable.X": "1"}, node0002={"cann.version": "8.3.RC1"}, node0003={"driver.version": "25.0"})
    assert [d.fact for d in difference.differences(nodes)] == ["driver.version", "cann.version", "python.torch"]


def test_two_machines_side_by_side() -> None:
    """`It works there`: both are named, and what one of them has not is told."""
    nodes = [Node("good", SAME), Node("bad", {k: v for k, v in SAME.items() if k != "python.torch"})]
    assert told(nodes).splitlines()[2:5] == ["python.torch", "  nothing  bad", "  2.5.1    good"]
    assert "无" in told(nodes, "zh")


def test_temperatures_and_names_are_no_differences() -> None:
    nodes = fleet(4)
    assert difference.differences(nodes) == ()
    assert [(d.fact, d.beside) for d in difference.differences(nodes, everything=True)] == [("chip.0.temp", ("machine.host",))]


def test_a_fleet_of_a_thousand_is_folded() -> None:
    """Of many odd machines a few are named; many values are counted."""
    nodes = fleet(1250, **{f"node{n:04}": {"cann.version": f"8.{n % 30}.0"} for n in range(600)})
    text = told(nodes)
    assert "the other 650" in text
    assert "(20 machines)" in text
    assert len(text.splitlines()) < 20


def test_the_command_end_to_end(tmp_path: Path, run: Run) -> None:
    files = []
    for name, driver in (("a", "24.1.rc3"), ("b", "24.1.rc3"), ("c", "25.0.rc1.1")):
        root = m.write({**m.machine(driver_version=driver), "/etc/hostname": f"host-{name}\n"}, tmp_path / name)
        files.append(str(tmp_path / f"{name}.json"))
        done = run("env", "--root", str(root), "-o", files[-1])
        assert done.returncode == 0, done.stderr
    done = run("env", "diff", *files)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[2:5] == ["driver.version", "  25.0.rc1.1  host-c", "  24.1.rc3    host-a, host-b"]
    assert run("env", "diff", files[0], files[1]).returncode == 0
    made = json.loads(run("env", "diff", str(tmp_path), "-f", "json").stdout)
    assert made["machines"] == ["host-a", "host-b", "host-c"]
    assert made["differences"][0]["fact"] == "driver.version"
    assert b"| driver" in run("env", "diff", *files, "-f", "md").stdout
    assert "台机器".encode() in run("env", "diff", *files, "--lang", "zh").stdout


@pytest.mark.parametrize("text", ["", "[]", '{"environment": 3}', '{"environment": {"facts": []}}', "\x00"])
def test_a_file_of_another_kind_is_told(text: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    done = run("env", "diff", str(path), str(path))
    assert done.returncode == 2
    assert b"= help: give files that" in done.stderr
