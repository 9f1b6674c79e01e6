"""The frame of the reproduction scripts: options, the environment check, the run, the exit code.

Written for Python 3.8 and torch 2.1, because the script runs where the fault is, not where npu-doctor is installed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from typing import Any

from kb.repro._tensors import (
    NPU_PROBLEM,
    Blueprint,
    UnusableError,
    blueprint,
    compare,
    describe,
    dtype_named,
    each,
    spoil,
    tensors,
    torch,
    torch_npu,
)

SAME, MISMATCH, ERROR, UNUSABLE, ANOTHER, MALFORMED, INCOMPARABLE = range(7)
VERDICTS = (
    "same result",
    "MISMATCH",
    "ERROR REPRODUCED",
    "environment not usable",
    "ANOTHER ERROR than the one in the log",
    "the call is MALFORMED: it says nothing about the NPU",
    "not comparable",
)
GRAVITY = (SAME, INCOMPARABLE, MISMATCH, MALFORMED, ANOTHER, ERROR, UNUSABLE)
VARIABLES = (
    "ASCEND_LAUNCH_BLOCKING",
    "ASCEND_GLOBAL_LOG_LEVEL",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "TASK_QUEUE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",
    "INF_NAN_MODE_ENABLE",
    "HCCL_BUFFSIZE",
    "HCCL_DETERMINISTIC",
    "COMBINED_ENABLE",
    "CPU_AFFINITY_CONF",
)


def add_options(parser: argparse.ArgumentParser, expect: str) -> None:
    parser.add_argument("--device", default="npu:0" if torch_npu is not None else "cpu", help="cpu, npu or npu:N")
    parser.add_argument("--dtype", default="", help="use this type for every floating input, for example float32")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs")
    parser.add_argument("--expect", default=expect, metavar="TEXT", help="text of the error in the original log")
    parser.add_argument(
        "--inject", choices=("mismatch", "error"), help="spoil the device's result, to prove that it would be noticed"
    )


def unusable(device: str) -> str:
    """Why this device cannot be used here; empty when it can."""
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "npu") or (number and not number.isdigit()):
        return f"unknown device {device!r}: use cpu, npu or npu:N"
    if kind == "cpu":
        return ""
    if torch_npu is None:
        return NPU_PROBLEM + " (use --device cpu to run without an NPU)"
    try:
        count = torch.npu.device_count()
        if not torch.npu.is_available() or int(number or 0) >= count:
            return f"device {device} is not there: {count} NPU(s) visible to this process"
    except Exception as problem:
        return f"the NPU cannot be asked: {problem}"
    return ""


def print_environment(device: str) -> None:
    """What a maintainer asks for first."""
    print(f"python {platform.python_version()}, torch {torch.__version__}", end="")
    print(f", torch_npu {torch_npu.__version__}" if torch_npu is not None else ", no torch_npu", end="")
    print(f", {platform.machine()}")
    if device.startswith("npu"):
        print(f"device {device}: {torch.npu.get_device_name(int(device.partition(':')[2] or 0))}")
        print(f"CANN {getattr(torch.version, 'cann', None) or cann_version()}")
    for name in VARIABLES:
        if name in os.environ:
            print(f"{name}={os.environ[name]}")


def cann_version() -> str:
    path = os.path.join(os.environ.get("ASCEND_HOME_PATH", ""), "version.cfg")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(400).strip().replace("\n", "; ")
    except OSError:
        return "unknown (ASCEND_HOME_PATH is not set: was set_env.sh sourced?)"


class Session:
    """One run: what was asked for, and the verdict so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device: str = options.device
        self.verdict = SAME
        self.generator = torch.Generator().manual_seed(options.seed)
        torch.manual_seed(options.seed)
        self.known: dict[Any, Blueprint] = {}
        self.reference_error = ""

    def judge(self, verdict: int) -> None:
        """The gravest of what was seen counts."""
        self.verdict = max(self.verdict, verdict, key=GRAVITY.index)

    def plan(self, node: Any) -> Any:
        """Arguments as the slots write them, with a blueprint for each tensor."""
        if isinstance(node, list):
            return [self.plan(item) for item in node]
        if not isinstance(node, dict):
            return node
        (kind, value), *_ = node.items()
        if kind == "tensor":
            name = value.get("id")
            if name is None or name not in self.known:
                made = blueprint(value, self.generator, self.options.dtype)
                if name is None:
                    return made
                self.known[name] = made
            return self.known[name]
        if kind == "tuple":
            return tuple(self.plan(item) for item in value)
        if kind == "dtype":
            wanted = self.options.dtype if dtype_named(value).is_floating_point else ""
            return dtype_named(wanted or value)
        if kind == "device":
            return torch.device
        if kind in ("memory_format", "layout"):
            return getattr(torch, value)
        if kind == "complex":
            return complex(*value)
        if kind == "float":
            return float(value)
        raise UnusableError(f"an argument of kind {kind!r} cannot be made again: put a value into ARGS")

    def place(self, planned: Any, device: str, widen: bool = False) -> Any:
        """The planned arguments on a device; tensors that were one object are one object again."""
        made: dict[int, Any] = {}

        def realise(leaf: Any) -> Any:
            if leaf is torch.device:
                return torch.device(device)
            if widen and leaf in (torch.float16, torch.bfloat16):
                return torch.float32
            if not isinstance(leaf, Blueprint):
                return leaf
            if id(leaf) not in made:
                narrow = leaf.base.dtype in (torch.float16, torch.bfloat16)
                made[id(leaf)] = leaf.make(device, torch.float32 if widen and narrow else None)
            return made[id(leaf)]

        return each(planned, realise)

    def reference(self, work: Callable[[Callable[[Any], Any]], Any]) -> Any:
        """Run on the CPU, half precision widened; None when the CPU refuses, and its words are kept."""
        problem = ""
        for widen in (True, False):

            def place(planned: Any, widen: bool = widen) -> Any:
                return self.place(planned, "cpu", widen)

            try:
                return work(place)
            except UnusableError:
                raise
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        self.reference_error = problem
        print(f"the CPU refuses: {first_line(problem)}")
        return None

    def on_device(self, work: Callable[[Callable[[Any], Any]], Any]) -> Any:
        """Run on the device and wait for it, so that an asynchronous error is raised here."""
        if self.options.inject == "error":
            raise RuntimeError("injected error")
        try:
            result = work(lambda planned: self.place(planned, self.device))
            self.synchronize()
        except RuntimeError as error:
            lacking = self.device == "cpu" and "not implemented for '" in str(error)
            if lacking and not (self.options.expect and self.options.expect in str(error)):
                raise UnusableError(
                    f"this CPU has no such kernel ({first_line(str(error))}): try --dtype float32"
                ) from None
            raise
        return each(result, spoil) if self.options.inject == "mismatch" else result

    def synchronize(self) -> None:
        if self.device.startswith("npu"):
            torch.npu.synchronize()

    def check(self, name: str, expected: Any, actual: Any) -> bool:
        """Compare every tensor of two results and print the figures; without a reference, say what the device gave."""
        pairs = tensors(actual)
        if expected is None:
            print(f"{name}: {describe(pairs)}, not compared: there is no reference")
            self.judge(INCOMPARABLE)
            return True
        wanted, good = tensors(expected), True
        if len(wanted) != len(pairs):
            print(f"{name}: MISMATCH: {len(wanted)} tensors against {len(pairs)}")
            good = False
        for number, (left, right) in enumerate(zip(wanted, pairs)):  # noqa: B905
            figures = compare(left, right)
            print(f"{name}[{number}] {describe([right])} {figures}")
            good = good and figures.same
        if not good:
            self.judge(MISMATCH)
        return good

    def failed(self, error: BaseException) -> None:
        """An operator raised on the device: judge the error against the one in the log, and against the CPU's."""
        text = f"{type(error).__name__}: {error}"
        print(f"the device raises: {text}")
        wanted = " ".join(self.options.expect.split())
        if wanted and wanted in " ".join(text.split()):
            print("the same error as in the log")
            if self.reference_error:
                print("the CPU raises as well: the call is wrong on every device, the NPU is not the cause")
            return self.judge(ERROR)
        if self.reference_error or (isinstance(error, TypeError) and not wanted):
            print("the CPU raises as well: the arguments are wrong in themselves, the NPU is not the cause")
            return self.judge(MALFORMED)
        if wanted:
            print(f"ANOTHER error than the expected one: {wanted}")
            return self.judge(ANOTHER)
        return self.judge(ERROR)


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300]


def main(
    reproduce: Callable[[Session], None],
    title: str,
    notes: Sequence[str],
    expect: str = "",
    extra: Callable[[argparse.ArgumentParser], None] | None = None,
) -> int:
    """Check the environment, reproduce, judge. The exit code is the verdict."""
    parser = argparse.ArgumentParser(
        description=title,
        epilog="exit code: 0 same result, 1 mismatch, 2 error reproduced, 3 not usable here, 4 another error than in the log, "
        "5 the call is malformed, 6 not comparable",
    )
    add_options(parser, expect)
    if extra is not None:
        extra(parser)
    options = parser.parse_args()
    print(title)
    for note in notes:
        print(f"note: {note}")
    problem = unusable(options.device)
    if problem:
        print(f"environment not usable: {problem}")
        return UNUSABLE
    print_environment(options.device)
    session = Session(options)
    try:
        reproduce(session)
    except UnusableError as reason:
        print(f"environment not usable: {reason}")
        session.verdict = UNUSABLE
    except Exception as error:
        session.failed(error)
    if session.verdict == SAME and options.expect:
        print("NOT reproduced here: no error was raised")
    print(f"verdict: {VERDICTS[session.verdict]}")
    sys.stdout.flush()
    return session.verdict
