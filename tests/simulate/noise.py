"""What lies beside the logs of a failure and has nothing to do with it: old records of hardware, build files, other jobs.

Each kind makes files from a seed. None of them is of the time of the failure: their years are over, or they have no date.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.simulate.jobs import FAULTS_IN_ORDER, simulate

Files = dict[str, str]
YEAR = "2019"


def _old_device_log(pick: random.Random, at: str) -> Files:
    """The device log of a process that ended years ago, with a fault of the memory."""
    device, pid = pick.randrange(8), pick.randrange(300, 60000)
    head = f"[ERROR] KERNEL({pid},sklogd):{YEAR}-03-{pick.randrange(1, 28):02}-04:05:06.350.199 [klogd.c:242][583733.716907]"
    return {
        f"{at}debug/device-{device}/device-{pid}_{YEAR}0304040506{pick.randrange(1000):03}.log": (
            f"{head} {{1}}[Hardware Error]:   section_type: memory error\n"
            f"{head} device_id = {device}, fail info: device_id-{device} appeared multi ecc err, the physical address is 0x400cd8d202e0\n"
        )
    }


def _black_box(pick: random.Random, at: str) -> Files:
    """What the driver exported of a reset that nobody remembers."""
    return {
        f"{at}hisi_logs/device-{pick.randrange(8)}/history.log": (
            f"[{YEAR}-02-27-19:18:46.142527] system exception code [0x68020002]: ModuleName [DRIVER],ExceptionReason[DEVICE_HBL_EXCEPTION], "
            f"TimeStamp [{YEAR}0227191842-300803183].\n"
        )
    }


def _undated_black_box(pick: random.Random, at: str) -> Files:
    device = pick.randrange(8)
    return {
        f"{at}hisi_logs/device-{device}/bbox/os_info.txt": (
            f"device_id = {device}, fail info: device_id-{device} appeared multi ecc err, the physical address is 0x400cd8d202e0\n"
        )
    }


def _old_kernel_log(pick: random.Random, at: str) -> Files:
    return {
        f"{at}messages-{YEAR}": (
            f"{YEAR}-03-04T05:06:07.000000+08:00 node-3 kernel: Out of memory: Killed process {pick.randrange(300, 60000)} (python3.8) "
            "total-vm:812345678kB, anon-rss:498765432kB, file-rss:0kB\n"
        )
    }


def _build_files(_: random.Random, at: str) -> Files:
    return {
        f"{at}src/Makefile": 'ifndef ASCEND_HOME_PATH\n$(error "ASCEND_HOME_PATH is not set")\nendif\nall:\n\tg++ -o run main.cpp -lascendcl\n',
        f"{at}src/build.sh": '#!/bin/bash\nif [ -z "$ASCEND_HOME_PATH" ]; then\n  echo "ERROR: ASCEND_HOME_PATH is not set"\n  exit 1\nfi\n',
    }


def _other_job(pick: random.Random, at: str) -> Files:
    """The history of other nodes: a whole job of years ago, which failed in a way of its own."""
    old = simulate(pick.randrange(1 << 30), 8, pick.choice(FAULTS_IN_ORDER))
    return {f"{at}history/{name}".replace("2026", YEAR): text.replace("2026", YEAR) for name, text in old.files.items()}


NOISE: dict[str, Callable[[random.Random, str], Files]] = {
    "old-device-log": _old_device_log,
    "black-box": _black_box,
    "undated-black-box": _undated_black_box,
    "old-kernel-log": _old_kernel_log,
    "build-files": _build_files,
    "other-job": _other_job,
}


def noise(seed: int, at: str = "", kinds: tuple[str, ...] = tuple(NOISE)) -> Files:
    """Files of the kinds asked for, beneath a folder."""
    pick = random.Random(seed)
    return {name: text for kind in kinds for name, text in NOISE[kind](pick, at).items()}
