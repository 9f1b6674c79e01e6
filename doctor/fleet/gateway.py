"""How a gateway of ClusterShell's tree is reached, and what runs there: ClusterShell's own, out of memory.

The same text is used on the head node and on every gateway that has gateways behind it. A gateway needs a Python and the way to
its nodes; ClusterShell, what nodes are told and the program for them come in one archive, which is never a file there.
"""

import base64
import io
import json
import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Sequence
from typing import Any

from ClusterShell.Communication import StdErrMessage, StdOutMessage
from ClusterShell.Task import task_self
from ClusterShell.Worker.Exec import ExecClient, ExecWorker

PARCEL = "NPU_DOCTOR_PARCEL"
ENVIRONMENT = {"LC_ALL": "C", "LANGUAGE": "C"}
APART = ("setsid",) if shutil.which("setsid") else ()  # Ctrl-C is for the head node: it tells the others

# The first line that a gateway's Python reads. It takes exactly what is meant for it: what follows is ClusterShell's.
BOOT = """\
import os, sys
left = int(sys.stdin.buffer.raw.readline())
parcel = os.memfd_create("npu-doctor")
while left:
    piece = os.read(0, min(left, 1 << 20))
    if not piece:
        sys.exit(1)
    left -= len(piece)
    while piece:
        piece = piece[os.write(parcel, piece):]
os.environ["NPU_DOCTOR_PARCEL"] = "/proc/%d/fd/%d" % (os.getpid(), parcel)
os.environ["NPU_DOCTOR_PYTHON"] = sys.executable
os.environ["CLUSTERSHELL_GW_LOG_DIR"] = "/dev/null"
sys.path.insert(0, os.environ["NPU_DOCTOR_PARCEL"])
import npu_doctor_gateway
npu_doctor_gateway.serve()
"""
# What ClusterShell has a gateway run for each of its nodes: %h is the node.
RELAY = """exec "$NPU_DOCTOR_PYTHON" -u -c 'import os, sys; sys.path.insert(0, os.environ["NPU_DOCTOR_PARCEL"]); import npu_doctor_relay; npu_doctor_relay.main()' %h"""


def workers(reach: Sequence[str], remote: str, parcel: bytes) -> type:
    """The workers by which ClusterShell reaches gateways: `reach`, the gateway, and what its shell is to run."""

    class Client(ExecClient):  # type: ignore[misc]
        """One gateway. What its shells print before ClusterShell speaks is a greeting."""

        opened = False

        def _build_cmd(self) -> "tuple[list[str], dict[str, str]]":
            return [*APART, *reach, str(self.key), remote], ENVIRONMENT

        def _on_nodeset_msgline(self, nodes: Any, msg: bytes, sname: str) -> None:
            if sname == self.worker.SNAME_STDOUT and not self.opened:
                at = msg.find(b"<?xml")
                if at < 0:
                    return
                self.opened, msg = True, msg[at:]
            ExecClient._on_nodeset_msgline(self, nodes, msg, sname)

    class Worker(ExecWorker):  # type: ignore[misc]
        """Says what is ours before ClusterShell opens its channel."""

        SHELL_CLASS = Client

        def _on_start(self, key: str) -> None:
            self.write(b"exec(" + ascii(BOOT).encode("ascii") + b")\n%d\n" % len(parcel) + parcel)
            ExecWorker._on_start(self, key)

    return Worker


def only_bytes() -> None:
    """What gateways hand on is text of nodes: nothing else is made of it, whatever they send."""

    class Plain(pickle.Unpickler):
        """Makes no object of any class."""

        def find_class(self, module: str, name: str) -> Any:
            raise pickle.UnpicklingError(f"{module}.{name}")

    def decoded(message: Any) -> bytes:
        try:
            made = Plain(io.BytesIO(base64.b64decode(message.data))).load()
        except Exception:  # noqa: BLE001 - anything may come out of a damaged pickle
            return b""
        return made if isinstance(made, bytes) else b""

    for kind in (StdOutMessage, StdErrMessage):
        kind.data_decode = decoded


def serve() -> None:
    """On a gateway: ClusterShell's gateway, which reaches further gateways as it was reached itself."""
    from ClusterShell.Gateway import gateway_main

    with open(os.environ[PARCEL], "rb") as file:
        parcel = file.read()
    with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
        told = json.loads(archive.read("gateways"))
    only_bytes()
    task_self().set_default("distant_worker", workers(told["reach"], told["remote"], parcel))
    gateway_main()
    sys.stdout.flush()
