"""What is asked for where no entry knows the line: what led to it, what the kernel says, and what a container was not given."""

from __future__ import annotations

import pytest

from doctor.answer.missing import given_to
from doctor.api import report
from doctor.findings.started import read

LINE = "[ERROR] {module}(12,plugh):2026-11-03-10:00:14.443.001 [channel_mgr.cc:221][PlughOpen] the frobnicated channel is gone, ret=-17\n"


def asked(text: str) -> list[str]:
    return [one["how"]["en"] for one in report(text)["missing_evidence"]]


@pytest.mark.parametrize(("module", "wanted"), [("TDT", True), ("DRV", True), ("ASCENDCL", False)])
def test_of_the_drivers_side_the_kernels_log_is_asked_for(module: str, wanted: bool) -> None:
    found = asked(LINE.format(module=module))
    assert any("dmesg" in how for how in found) is wanted
    assert any("ASCEND_GLOBAL_LOG_LEVEL=1" in how for how in found)


@pytest.mark.parametrize("note", ["It works fine outside the container.", "容器外可正常转换", "On the host the same script runs."])
def test_what_works_on_the_host_lacks_something_in_the_container(note: str) -> None:
    run = "docker run -it --device=/dev/davinci0 --device=/dev/davinci_manager -v /usr/local/Ascend/driver:/usr/local/Ascend/driver plugh:1.0 bash\n"
    options = next(how for how in asked(run + note + "\n" + LINE.format(module="TDT")) if "docker run" in how)
    assert "--device=/dev/devmm_svm" in options
    assert "davinci_manager" not in options
    assert "driver/lib64" not in options


@pytest.mark.parametrize("note", ["It does not work on the host.", "宿主机上也不能正常转换", "Works in the container."])
def test_what_works_nowhere_is_not_told_so(note: str) -> None:
    assert not any("version.info" in how for how in asked(note + "\n" + LINE.format(module="TDT")))


def test_a_privileged_container_has_all_nodes() -> None:
    made = read("docker run --privileged -v /usr/local:/usr/local -v /etc:/etc plugh:1.0 bash")
    assert made is not None
    assert given_to([made]) == ()
    assert given_to([made, made]) is None
