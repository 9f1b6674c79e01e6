"""What a command says as it ends with an error is heard, though no level stands in it; a value that is called error is none."""

from __future__ import annotations

import pytest

from doctor import diagnose


@pytest.mark.parametrize(
    "said",
    [
        "error: Failed to define domain from vm.xml",
        "virt-install: error: the path does not fit",
        "docker: Error response from daemon: the quota of this project is used up",
        "Error from server (Gone): the version asked for is too old",
        "insmod: ERROR: could not insert module vendor_net.ko: Unknown symbol in module",
        "modprobe: FATAL: Module vendor_net is built in.",
        "2026/05/27 03:11:21 FATAL: [core] the plugin has no configuration",
        "panic: the plugin has no configuration",
        "fatal error: all goroutines are asleep - deadlock!",
        "kube-system   plugin-x8w2c   0/1     CrashLoopBackOff   6 (2m ago)   9m",
    ],
)
def test_it_is_no_all_clear(said: str) -> None:
    made = diagnose(f"root@npu-7:~# npu-smi info -l\n        Total Count                    : 8\nroot@npu-7:~# start it\n{said}\n")
    assert made.verdict != "clean"


@pytest.mark.parametrize("said", ["error: None", "error: 0", "error: 0.0012", "error: null", "error: false", "rel: error: 1e-3"])
def test_a_value_is_none(said: str) -> None:
    made = diagnose(f"root@npu-7:~# npu-smi info -l\n        Total Count                    : 8\nroot@npu-7:~# compare it\n{said}\nroot@npu-7:~# echo done\ndone\n")
    assert made.verdict == "clean"
