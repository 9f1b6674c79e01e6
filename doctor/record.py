"""Records the last operators of a PyTorch program: names, tensor types, shapes, strides and scalar arguments.

    python -m doctor.record [--out DIR] [--last N] [--keep] train.py ...      a script
    python -m doctor.record -m package.module ...                             a module
    npu-doctor run --record-ops -- torchrun train.py                          every Python process of a command

This file stands alone: it imports nothing of npu-doctor, needs Python 3.8 and torch 2.1, and may be copied anywhere.

Every operator is written into a small memory-mapped file before it runs and marked when it has returned. The kernel
keeps that file whatever becomes of the process, so a crash in native code, SIGKILL or the OOM killer leaves the
operator that was running. When Python can still act, the record is completed with the error and written as JSON.
Contents of tensors are never read, but for the range of the integers of an operator that raised on the CPU.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import faulthandler
import json
import linecache
import math
import mmap
import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

FORMAT = 1
HEADER = 4096
SLOT = 2048
FEW = 16  # members of a list that are written one by one
SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL")
SKIPPED = (os.path.join("torch", "_ops.py"), os.path.basename(__file__))
VARIABLES = ("ASCEND_", "HCCL_", "PYTORCH_NPU_", "TASK_QUEUE", "RANK", "LOCAL_RANK", "WORLD_SIZE", "INF_NAN_MODE")


class Ring:
    """The last operators in a memory-mapped file of fixed slots; each slot is one line of JSON."""

    def __init__(self, directory: str, last: int) -> None:
        self.pid = os.getpid()
        self.last = last
        rank = os.environ.get("RANK", "")
        name = f"ops-{self.pid}" + (f"-rank{rank}" if rank.isdigit() else "")
        self.path = os.path.join(directory, name + ".ring")
        self.json = os.path.join(directory, name + ".json")
        self.stack = os.path.join(directory, name + ".stack")
        size = HEADER + SLOT * last
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.ftruncate(descriptor, size)
            self.memory = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self.began = time.time()
        self.set_header({})

    def set_header(self, more: dict[str, Any]) -> None:
        head = {
            "npu_doctor_record": FORMAT,
            "pid": self.pid,
            "slots": self.last,
            "slot_size": SLOT,
            "began": self.began,
        }
        text = json.dumps({**head, **more}, default=str).encode()[: HEADER - 1] + b"\n"
        self.memory[: len(text)] = text

    def entries(self) -> list[dict[str, Any]]:
        """What stands in the ring, oldest first. A slot that a crash cut in the middle is left out."""
        return parse_slots(self.memory[HEADER:], SLOT)

    def remove(self) -> None:
        for path in (self.path, self.stack):
            try:
                os.unlink(path)
            except OSError:
                pass


def parse_slots(data: bytes, size: int) -> list[dict[str, Any]]:
    found = []
    for begin in range(0, len(data), size):
        line = data[begin : begin + size].split(b"\n", 1)[0].strip(b"\0")
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("seq"), int):
            found.append(entry)
    return sorted(found, key=lambda entry: int(entry["seq"]))


class Recorder:
    """What the dispatch mode calls, and what is done when the program ends."""

    def __init__(self, directory: str, last: int, keep: bool) -> None:
        self.directory, self.last, self.keep = directory, last, keep
        self.ring: Ring | None = None
        self.seq = 0
        self.faults = 0  # operators that could not be written down; the program never notices
        self.failure: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.torch: Any = None
        self.mode: Any = None
        self.done = False
        self.succeeded = False
        self.names: dict[Any, str] = {}
        self.heads: dict[Any, str] = {}
        self.plain: tuple[type, ...] = ()

    def start(self, torch: Any) -> None:
        """Push the mode onto the stack of this thread, for the life of the program."""
        if self.mode is not None:
            return
        self.torch = torch
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.open_ring()
        self.mode = make_mode(self)
        self.mode.__enter__()
        atexit.register(self.finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forked)

    def open_ring(self) -> Ring:
        self.ring = Ring(self.directory, self.last)
        self.ring.set_header(self.about())
        if not faulthandler.is_enabled():
            self.crash_file = open(self.ring.stack, "w")
            faulthandler.enable(self.crash_file)
        return self.ring

    def forked(self) -> None:
        """A forked child has its own ring, made when it runs its first operator: data loader workers run none."""
        self.ring, self.seq, self.failure, self.error, self.done = None, 0, None, None, False

    def child_ring(self) -> Ring:
        ring = self.open_ring()
        utilities: Any = sys.modules.get("multiprocessing.util")
        if utilities is not None:  # such a child ends without atexit
            utilities.Finalize(None, self.finish, exitpriority=0)
        return ring

    def about(self) -> dict[str, Any]:
        npu = sys.modules.get("torch_npu")
        return {
            "argv": sys.argv[:20],
            "python": sys.version.split()[0],
            "torch": str(self.torch.__version__),
            "torch_npu": str(getattr(npu, "__version__", "")) if npu is not None else "",
            "environment": {
                name: value[:200]
                for name, value in sorted(os.environ.items())
                if name.startswith(VARIABLES) and not any(word in name.upper() for word in SECRET)
            },
        }

    # --- one operator ------------------------------------------------------------------------------------------------

    def text(self, value: Any) -> str:
        """One argument as JSON. Written out by hand because it runs for every operator."""
        kind = type(value)
        if kind in self.plain:
            return self.tensor(value)
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return str(value)
        if value is None:
            return "null"
        if kind is float:
            return repr(value) if math.isfinite(value) else f'{{"float":"{value!r}"}}'
        if kind is list or kind is tuple or isinstance(value, (list, tuple)):
            inner = [self.text(item) for item in value[:FEW]]
            if len(value) > FEW:
                inner.append(f'{{"more":{len(value) - FEW}}}')
            return f"[{','.join(inner)}]"
        return json.dumps(self.special(value))

    def tensor(self, value: Any) -> str:
        try:
            offset = value.storage_offset()
            key = (value.dtype, value.shape, value.stride(), offset, value.device)
            base = value.data_ptr()
        except Exception:  # noqa: BLE001 - a sparse tensor has neither strides nor a storage
            return json.dumps({"tensor": describe(value)})
        head = self.heads.get(key)
        if head is None:
            if len(self.heads) > 4096:
                self.heads.clear()
            head = self.heads[key] = json.dumps({"tensor": describe(value)})[:-2]
        if offset:
            base -= offset * value.element_size()
        return f'{head},"id":{base}}}}}' if base else head + "}}"

    def special(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return {"tensor": {**describe(value), "subclass": type(value).__name__}}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).rpartition(".")[2]}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value).rpartition(".")[2]}
        if isinstance(value, torch.layout):
            return {"layout": str(value).rpartition(".")[2]}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, str):
            return value[:200]
        if isinstance(value, (torch.SymInt, torch.SymFloat)):
            return str(value)
        return {"other": type(value).__name__}

    def storage(self, value: Any) -> int:
        try:
            offset, base = int(value.storage_offset()), int(value.data_ptr())
        except Exception:  # noqa: BLE001 - as above
            return 0
        return base - offset * int(value.element_size()) if offset else base

    def before(self, func: Any, args: Any, kwargs: Any) -> tuple[mmap.mmap | None, int]:
        """Write the operator into the ring; where its line ends, so that the results can be added."""
        try:
            ring = self.ring or self.child_ring()
            name = self.names.get(func)
            if name is None:
                name = self.names[func] = json.dumps(str(func))
            self.seq += 1
            text, tensor, plain = self.text, self.tensor, self.plain
            inner = ",".join([tensor(value) if type(value) in plain else text(value) for value in args])
            named = ",".join([f'"{key}":{text(value)}' for key, value in kwargs.items()]) if kwargs else ""
            line = f'{{"seq":{self.seq},"op":{name},"args":[{inner}],"kwargs":{{{named}}}'.encode()
            if len(line) > SLOT - 128:
                line = f'{{"seq":{self.seq},"op":{name},"args":[],"kwargs":{{}},"cut":true'.encode()
            at = HEADER + (self.seq % ring.last) * SLOT
            end = at + len(line)
            ring.memory[at : end + 2] = line + b"}\n"
            return ring.memory, end
        except Exception:  # noqa: BLE001 - whatever cannot be written down must not stop the program
            self.faults += 1
            return None, 0

    def after(self, memory: mmap.mmap | None, end: int, result: Any) -> None:
        """Mark the operator as returned, with the storages of its results: the context of a script is made of them."""
        if memory is None:
            return
        try:
            if type(result) in self.plain:
                line = f',"out":[{self.storage(result)}]}}\n'.encode()
            else:
                results = result[:8] if isinstance(result, (list, tuple)) else ()
                names = [str(self.storage(one)) if type(one) in self.plain else "0" for one in results]
                line = f',"out":[{",".join(names)}]}}\n'.encode()
            memory[end : end + len(line)] = line
        except Exception:  # noqa: BLE001 - as above
            self.faults += 1

    def raised(self, func: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        """An operator raised: keep it whole, with the range of its integers, which tells an index out of bounds."""
        try:
            entry: dict[str, Any] = {
                "seq": self.seq,
                "op": str(func),
                "args": [json.loads(self.text(value)) for value in args],
                "kwargs": {key: json.loads(self.text(value)) for key, value in kwargs.items()},
                "error": {"type": type(error).__name__, "message": str(error)[:4000]},
            }
            for value, written in zip(args, entry["args"]):  # noqa: B905 - Python 3.8
                self.ranges(value, written)
            self.failure = entry
        except Exception:  # noqa: BLE001 - as above
            self.faults += 1

    def ranges(self, value: Any, written: Any) -> None:
        if isinstance(value, (list, tuple)):
            for one, inner in zip(value, written):  # noqa: B905 - Python 3.8
                self.ranges(one, inner)
        elif isinstance(value, self.torch.Tensor) and value.device.type == "cpu" and 0 < value.numel() <= 1 << 24:
            kind = value.dtype
            if not (kind.is_floating_point or kind.is_complex or kind == self.torch.bool or value.is_quantized):
                with self.torch.utils._python_dispatch._disable_current_modes():
                    low, high = value.min().item(), value.max().item()
                written["tensor"].update(low=int(low), high=int(high) + 1)

    # --- the end -----------------------------------------------------------------------------------------------------

    def caught(self, kind: Any, error: Any, trace: Any) -> None:
        """The exception that ends the program or a thread."""
        try:
            text = "".join(traceback.format_exception(kind, error, trace))[-20000:]
            message = str(error)[:4000]
            self.error = {"type": getattr(kind, "__name__", str(kind)), "message": message, "traceback": text}
            self.error["frames"] = frames(trace, self.plain)
        except Exception:  # noqa: BLE001 - as above
            self.faults += 1

    def finish(self) -> None:
        """Write the record if the program failed, and remove the ring: JSON holds all of it then."""
        ring = self.ring
        if ring is None or self.done or ring.pid != os.getpid():
            return
        self.done = True
        # An operator that raised long ago was dealt with by the program; one among the last may have ended it.
        recent = self.failure is not None and self.seq - self.failure["seq"] < self.last
        if self.keep or self.error is not None or (recent and not self.succeeded):
            record = {
                "npu_doctor_record": FORMAT,
                "pid": ring.pid,
                "began": ring.began,
                "ended": time.time(),
                **self.about(),
            }
            record.update(error=self.error, failed=self.failure, operators=ring.entries(), unwritten=self.faults)
            try:
                with open(ring.json + ".part", "w", encoding="utf-8") as file:
                    json.dump(record, file, default=str)
                os.replace(ring.json + ".part", ring.json)
            except OSError:
                return  # the ring stays, and holds the operators
            if self.error is not None:
                sys.stderr.write(f"npu-doctor: the last operators are in {ring.json}\n")
        ring.remove()


def describe(tensor: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "dtype": str(tensor.dtype).rpartition(".")[2],
        "shape": [int(size) for size in tensor.shape],
    }
    if str(tensor.layout) != "torch.strided":
        told["layout"] = str(tensor.layout).rpartition(".")[2]
        return told
    try:
        if not tensor.is_contiguous():
            told["stride"] = [int(step) for step in tensor.stride()]
        if tensor.storage_offset():
            told["offset"] = int(tensor.storage_offset())
    except Exception:  # noqa: BLE001 - a subclass need not answer
        told["subclass"] = type(tensor).__name__
    if tensor.device.type != "cpu":
        told["device"] = str(tensor.device)
    return told


def frames(trace: Any, plain: tuple[type, ...]) -> list[dict[str, Any]]:
    """The innermost frames, with the tensors that the failing lines name: checks in Python raise before any operator."""
    found = []
    walked = [pair for pair in traceback.walk_tb(trace) if not pair[0].f_code.co_filename.endswith(SKIPPED)]
    for frame, line in walked[-6:]:
        code = statement(frame.f_code.co_filename, line)
        told = {"file": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_name, "code": code[:400]}
        told["values"] = named_values(code, frame.f_locals, plain)
        found.append(told)
    return found


def statement(file: str, line: int) -> str:
    """The source from a line on, as many lines as make a whole statement; the first line alone when none do."""
    lines = [linecache.getline(file, number) for number in range(line, line + 12)]
    for count in range(1, len(lines) + 1):
        text = "".join(lines[:count]).strip()
        try:
            ast.parse(text + " pass" if text.endswith(":") else text)
        except (SyntaxError, ValueError):
            continue
        return text
    return lines[0].strip()


def named_values(code: str, local: dict[str, Any], plain: tuple[type, ...]) -> dict[str, Any]:
    """Tensors, numbers and modules' parameters behind the names of a line; nothing is called to find them."""
    try:
        tree = ast.parse(code + " pass" if code.endswith(":") else code)
    except (SyntaxError, ValueError):
        return {}
    values: dict[str, Any] = {}
    for node in ast.walk(tree):
        value, name = None, ""
        if isinstance(node, ast.Name):
            value, name = local.get(node.id), node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in local:
            owner = vars(local[node.value.id]) if hasattr(local[node.value.id], "__dict__") else {}
            value = owner.get(node.attr)
            if value is None:
                value = (owner.get("_parameters") or {}).get(node.attr, (owner.get("_buffers") or {}).get(node.attr))
            name = f"{node.value.id}.{node.attr}"
        if isinstance(value, plain):
            values[name] = {"tensor": describe(value)}
        elif (
            name
            and len(values) < 40
            and (isinstance(value, (bool, int, float, str)) or (value is None and name in local))
        ):
            values[name] = value[:200] if isinstance(value, str) else value
    return values


def make_mode(recorder: Recorder) -> Any:
    """The dispatch mode. Made here because its base class exists only where torch was imported."""
    from torch.utils._python_dispatch import TorchDispatchMode

    before, after, raised = recorder.before, recorder.after, recorder.raised

    def torch_dispatch(_self: Any, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        memory, end = before(func, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            raised(func, args, kwargs, error)
            raise
        after(memory, end, result)
        return result

    def yes(_cls: Any) -> bool:
        return True

    def no(_cls: Any) -> bool:
        return False

    members = {
        "__torch_dispatch__": torch_dispatch,
        "supports_higher_order_operators": True,
        # Compiled regions stay compiled: a program that is recorded computes what it computes otherwise.
        "ignore_compile_internals": classmethod(yes),
        # Else torch wraps the method above and imports its compiler at the first operator.
        "_should_skip_dynamo": classmethod(no),
    }
    mode: Any = type("OperatorRecorder", (TorchDispatchMode,), members)
    return mode()


class AfterImport:
    """A finder that lets torch be imported as usual, and calls back when it is complete."""

    def __init__(self, then: Callable[[Any], None]) -> None:
        self.then = then

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name != "torch":
            return None
        finders: list[Any] = sys.meta_path
        finders.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module
        then = self.then

        def exec_module(module: Any) -> None:
            execute(module)
            then(module)

        try:
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # a loader that cannot be changed: the program runs, unrecorded
            pass
        return spec


def install(directory: str, last: int = 256, keep: bool = False) -> Recorder:
    """Record from the moment that torch is there; errors that end the program or a thread complete the record."""
    os.makedirs(directory, exist_ok=True)
    recorder = Recorder(directory, max(8, min(last, 65536)), keep)
    shown, thread_shown = sys.excepthook, threading.excepthook

    def excepthook(kind: Any, error: Any, trace: Any) -> None:
        recorder.caught(kind, error, trace)
        shown(kind, error, trace)

    def thread_excepthook(args: Any) -> None:
        recorder.caught(args.exc_type, args.exc_value, args.exc_traceback)
        thread_shown(args)

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook
    if "torch" in sys.modules:
        recorder.start(sys.modules["torch"])
    else:
        finders: list[Any] = sys.meta_path
        finders.insert(0, AfterImport(recorder.start))
    return recorder


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m doctor.record", description="Record the last operators of a PyTorch program."
    )
    parser.add_argument("--out", default=".", metavar="DIR", help="where the record is written (default: here)")
    parser.add_argument("--last", type=int, default=256, metavar="N", help="operators that are kept (default: 256)")
    parser.add_argument("--keep", action="store_true", help="write the record even when the program succeeds")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    options = parser.parse_args(argv)
    sys.argv = [options.program, *options.arguments]
    sys.modules.pop("doctor", None)  # `-m doctor.record` imported it; the program may have a package of that name
    recorder = install(os.path.abspath(options.out), options.last, options.keep)
    if options.module:
        sys.path[0] = os.getcwd()
        run: Callable[[], Any] = lambda: runpy.run_module(options.program, run_name="__main__", alter_sys=True)  # noqa: E731
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        run = lambda: runpy.run_path(options.program, run_name="__main__")  # noqa: E731
    try:
        run()
        recorder.succeeded = True
    except SystemExit as stop:
        recorder.succeeded = stop.code in (None, 0)
        if not recorder.succeeded and recorder.error is None:
            recorder.error = {"type": "SystemExit", "message": str(stop.code), "traceback": "", "frames": []}
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - shown as Python shows it, and the exit code is Python's
        # Shown without the frames of this file and of runpy, as if the program had been started directly.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
            trace = trace.tb_next
        shown = error.with_traceback(trace)
        recorder.caught(type(error), shown, trace)
        sys.excepthook(type(error), shown, trace)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
