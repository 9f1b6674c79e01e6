"""What runs on a gateway for each node behind it: the command that reaches the node, with a bound on its time and on what it says.

Sent there beside `gateway.py`; the standard library alone. It speaks to the node as the head node would (the order, the program
where it is asked for) and hands on what the node says. When its standard input ends, nobody waits any more.
"""

import hashlib
import json
import os
import select
import subprocess
import sys
import threading
import time
import zipfile
from typing import Any

PARCEL = "NPU_DOCTOR_PARCEL"  # names the archive that came from the head node: it lies in memory alone
LONGEST = 128 << 10  # bytes of a line that may be one of ours
SAID = 4000  # of what the command prints on standard error
LATE = 124


class Relay:
    """One node, from the command to its last word."""

    def __init__(self, parcel: zipfile.ZipFile, order: Any) -> None:
        self.parcel, self.order = parcel, order
        self.mark = b"npu-doctor-fleet " + order["nonce"].encode("ascii") + b" "
        self.end = time.monotonic() + order["seconds"]
        self.line = self.complaint = b""
        self.handed = 0
        self.greeted = False
        self.child: subprocess.Popen[bytes]

    def run(self) -> int:
        self.hand(self.mark + b"asked\n")
        self.child = subprocess.Popen(  # noqa: S603 - the words of the user's own call, no shell
            self.order["words"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, **self.order["environment"]},
        )  # fmt: skip
        self.feed(self.parcel.read("opening").replace(b"NONCE", self.order["nonce"].encode("ascii")))
        try:
            return self.listen()
        finally:
            self.child.kill()
            self.child.wait()
            sys.stderr.buffer.write(self.complaint)
            sys.stderr.flush()

    def listen(self) -> int:
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        out, err = self.child.stdout.fileno(), self.child.stderr.fileno()
        open_ones = [0, out, err]
        while out in open_ones:
            ready, _, _ = select.select(open_ones, [], [], max(0.0, self.end - time.monotonic()))
            if not ready:
                self.hand(self.mark + b"late\n")
                return LATE
            for handle in ready:
                data = os.read(handle, 65536)
                if handle == 0:
                    if not data:
                        return 1
                elif not data:
                    open_ones.remove(handle)
                elif handle == err:
                    self.complaint = (self.complaint + data)[-SAID:]
                else:
                    self.heard(data)
            if self.handed > self.order["largest" if self.greeted else "greeting"]:
                return 1  # the head node has counted as well
        return self.child.wait()

    def heard(self, data: bytes) -> None:
        """Hands whole lines on; one that is too long is cut, for it is none of ours."""
        *lines, self.line = (self.line + data).split(b"\n")
        for line in lines:
            self.hand(line + b"\n")
            at = line.find(self.mark)
            if at >= 0:
                self.greeted = True
                if line.startswith(b"need ", at + len(self.mark)):
                    self.send(line[at + len(self.mark) + 5 :])
        if len(self.line) > LONGEST:
            self.hand(self.line + b"\n")
            self.line = b""

    def send(self, told: bytes) -> None:
        """The program for this kind of machine."""
        try:
            machine = str(json.loads(told)["machine"])
        except (ValueError, KeyError, TypeError):
            return
        name = f"program/{machine}"
        data = self.parcel.read(name if name in self.parcel.namelist() else "program/")
        self.feed(json.dumps({"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}).encode("ascii") + b"\n" + data)

    def feed(self, data: bytes) -> None:
        """Says something to the node, which may not listen: that must not keep us from counting its time."""
        threading.Thread(target=self.write, args=(data,), daemon=True).start()

    def write(self, data: bytes) -> None:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(data)
            self.child.stdin.flush()
        except (OSError, ValueError):
            return  # it is gone: its silence tells

    def hand(self, data: bytes) -> None:
        self.handed += len(data)
        while data:
            data = data[os.write(1, data) :]


def main() -> None:
    code = 1
    try:
        with zipfile.ZipFile(os.environ[PARCEL]) as parcel:
            code = Relay(parcel, json.loads(parcel.read("node/" + sys.argv[1]))).run()
    except BrokenPipeError:
        code = 1
    finally:
        os._exit(code)
