"""What is done with each operator, and when the program ends."""

from __future__ import annotations

import atexit
import faulthandler
import json
import mmap
import os
import sys
import time
import traceback
from typing import Any

from .arguments import Arguments
from .frames import frames
from .ring import FORMAT, HEADER, SLOT, Ring

SECRET = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL")
VARIABLES = ("ASCEND_", "HCCL_", "PYTORCH_NPU_", "TASK_QUEUE", "RANK", "LOCAL_RANK", "WORLD_SIZE", "INF_NAN_MODE")


class Recorder:
    """What the dispatch mode calls, and what is done when the program ends."""

    def __init__(self, directory: str, last: int, keep: bool, announce: bool = False) -> None:
        self.directory, self.last, self.keep, self.announce = directory, last, keep, announce
        self.ring: Ring | None = None
        self.seq = 0
        self.faults = 0  # operators that could not be written down; the program never notices
        self.failure: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.torch: Any = None
        self.written: Any = None
        self.mode: Any = None
        self.done = False
        self.succeeded = False
        self.names: dict[Any, str] = {}

    def start(self, torch: Any) -> None:
        """Push the mode onto the stack of this thread, for the life of the program."""
        if self.mode is not None:
            return
        self.mode = self.prepare(torch)
        self.mode.__enter__()
        atexit.register(self.finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forked)

    def prepare(self, torch: Any) -> Any:
        """The mode, with a ring to write to; it records while it is entered."""
        self.torch, self.written = torch, Arguments(torch)
        self.open_ring()
        return make_mode(self)

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

    def before(self, func: Any, args: Any, kwargs: Any) -> tuple[mmap.mmap | None, int]:
        """Write the operator into the ring; where its line ends, so that the results can be added."""
        try:
            ring = self.ring or self.child_ring()
            name = self.names.get(func)
            if name is None:
                name = self.names[func] = json.dumps(str(func))
            self.seq += 1
            text, tensor, plain = self.written.text, self.written.tensor, self.written.plain
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
            plain, storage = self.written.plain, self.written.storage
            if type(result) in plain:
                line = f',"out":[{storage(result)}]}}\n'.encode()
            else:
                results = result[:8] if isinstance(result, (list, tuple)) else ()
                names = [str(storage(one)) if type(one) in plain else "0" for one in results]
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
                "args": [json.loads(self.written.text(value)) for value in args],
                "kwargs": {key: json.loads(self.written.text(value)) for key, value in kwargs.items()},
                "error": {"type": type(error).__name__, "message": str(error)[:4000]},
            }
            for value, written in zip(args, entry["args"]):  # noqa: B905 - Python 3.8
                self.written.ranges(value, written)
            self.failure = entry
        except Exception:  # noqa: BLE001 - as above
            self.faults += 1

    # --- the end -----------------------------------------------------------------------------------------------------

    def caught(self, kind: Any, error: Any, trace: Any) -> None:
        """The exception that ends the program or a thread."""
        try:
            text = "".join(traceback.format_exception(kind, error, trace))[-20000:]
            message = str(error)[:4000]
            self.error = {"type": getattr(kind, "__name__", str(kind)), "message": message, "traceback": text}
            self.error["frames"] = frames(trace, self.written.plain if self.written is not None else ())
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
            if self.error is not None and self.announce:
                sys.stderr.write(f"npu-doctor: the last operators are in {ring.json}\n")
        ring.remove()


def make_mode(recorder: Recorder) -> Any:
    """The dispatch mode. Made here because its base class exists only where torch was imported."""
    from torch.utils._python_dispatch import TorchDispatchMode

    before, after, raised = recorder.before, recorder.after, recorder.raised
    views: dict[Any, bool] = {}  # they run nothing, and who takes their result tells its strides: a third of all operators

    def torch_dispatch(_self: Any, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        view = views.get(func)
        if view is None:
            view = views[func] = bool(getattr(func, "is_view", False))
        memory, end = (None, 0) if view else before(func, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            raised(func, args, kwargs, error)
            raise
        if not view:
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
