"""The five faults that the product is named for, from a traceback, from a plog line, and from a mixed stream."""

from __future__ import annotations

import json

import pytest
from tests_support import mixed  # type: ignore[import-not-found]

HEAD = "[ERROR] {module}(4711,python3):2026-02-03-04:05:06.007.008 [{file}:99]4711 "

FAULTS = {
    "ExchangeDevice": (
        "RuntimeError: ExchangeDevice:torch_npu/csrc/aten/common/SetNpu.cpp:50 NPU error, error code is 107002",
        HEAD.format(module="APP", file="SetNpu.cpp")
        + "ExchangeDevice:torch_npu/csrc/aten/common/SetNpu.cpp:50 NPU error, error code is 107002",
    ),
    "HelpACLExecute": (
        "RuntimeError: HelpACLExecute:/usr1/workspace/build/OpParamMaker.h:239 NPU error, error code is 500002",
        HEAD.format(module="APP", file="OpParamMaker.h")
        + "HelpACLExecute:/usr1/workspace/build/OpParamMaker.h:239 NPU error, error code is 500002",
    ),
    "drvMemcpy": (
        "RuntimeError: MemCopySync:drvMemcpy failed. reason: device task failed, error code is 507018",
        HEAD.format(module="RUNTIME", file="npu_driver.cc")
        + "MemCopySync:drvMemcpy failed: dst=0x10, dst size=4(byte), src=0x20, size=4(byte), kind=1",
    ),
    "libhccl": (
        "ImportError: libhccl.so: cannot open shared object file: No such file or directory",
        HEAD.format(module="APP", file="loader.cpp")
        + "dlopen failed: libhccl.so: cannot open shared object file: No such file or directory",
    ),
    "connect": (
        "RuntimeError: connect() timed out.",
        HEAD.format(module="APP", file="TCPStore.cpp") + "connect() timed out. Original timeout was 1800000 ms.",
    ),
}
WORDS = {
    "ExchangeDevice": ("one device", "thread"),
    "HelpACLExecute": ("task_queue_enable", "operator"),
    "drvMemcpy": ("asynchron", "memcpy", "earlier"),
    "libhccl": ("set_env",),
    "connect": ("firewall", "port", "master"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("form", ["traceback", "plog", "mixed"])
def test_named_fault(name: str, form: str, run) -> None:  # type: ignore[no-untyped-def]
    """Each is the first root, in whichever form it arrives, with a fix that can be acted on."""
    exception, plog = FAULTS[name]
    text = {
        "traceback": f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n{exception}\n',
        "plog": plog + "\n",
        "mixed": mixed(exception, plog),
    }[form]
    done = run("scan", "-", "-f", "json", stdin=text.encode())
    report = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    first = report["findings"][0]
    told = json.dumps([first["title"]["en"], first["cause"]["en"], first["fixes"]]).lower()
    assert any(word in told for word in WORDS[name]), told[:800]
    assert first["fixes"]
