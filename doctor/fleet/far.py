"""What runs on a node. It is sent there as text: the standard library alone, and nothing of this package.

Standard input brings one line of JSON (what to do), then, if it is asked for, the program itself. It stays open for as long
as somebody waits: its end, a signal or the time limit end everything here. What is told goes to standard output in lines

    npu-doctor-fleet NONCE VERB JSON-or-BASE64

because shells of nodes print greetings of their own. A guardian, a process that outlives this one, ends the scan and removes
the private folder however this one ends.
"""

import binascii
import contextlib
import hashlib
import json
import os
import platform
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

CHUNK = 32 << 10  # bytes that are told in one line
GRACE_S = 5.0  # that a scan has to conclude when its time is over
TOLD = 2000  # characters of its last words


class Refused(Exception):  # noqa: N818 - it is an answer, no error
    """Nothing was run, and why."""


class Node:
    """One conversation, from the line that says what to do to the removed folder."""

    def __init__(self) -> None:
        self.order = json.loads(sys.stdin.buffer.readline())
        self.began = time.monotonic()
        self.folder = ""
        self.guard = -1
        self.guardian = 0

    def tell(self, verb: str, value: object) -> None:
        told = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        data = f"npu-doctor-fleet {self.order['nonce']} {verb} {told}\n".encode("ascii")
        while data:
            data = data[os.write(1, data) :]

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        try:
            self.make_folder()
            self.tell("here", {"machine": platform.machine(), "python": platform.python_version(), "pid": os.getpid(), "folder": self.folder})
            self.scan(self.program())
        except Refused as refused:
            self.tell("refused", {"reason": str(refused)})
        finally:
            self.leave()

    def make_folder(self) -> None:
        os.umask(0o077)
        try:
            self.folder = tempfile.mkdtemp(prefix="npu-doctor-")
        except OSError as error:
            raise Refused(f"no folder can be made for temporary files: {error.strerror or error}") from None
        self.guard, self.guardian = watch_over(self.folder, bool(self.order.get("keep")))

    def program(self) -> list[str]:
        """How npu-doctor is called here: as it is installed in the same version, else as it is sent."""
        version = self.order["version"]
        found = shutil.which("npu-doctor")
        other = ""
        if found:
            other = version_of([found])
            if other == version:
                return [found]
        with contextlib.suppress(Exception):
            import importlib.metadata

            if importlib.metadata.version("npu-doctor") == version:
                return [sys.executable, "-m", "doctor"]
        if not self.order["copy"]:
            here = f"npu-doctor {other} is here, not {version}" if other else "npu-doctor is not installed here"
            raise Refused(here + ", and --no-copy forbids to send it")
        self.tell("need", {"machine": platform.machine(), "python": sys.implementation.cache_tag})
        head = json.loads(sys.stdin.buffer.readline() or b"null")
        if head is None:
            raise SystemExit
        data = sys.stdin.buffer.read(head["size"])
        if hashlib.sha256(data).hexdigest() != head["sha256"]:
            raise Refused("the program arrived damaged: its hash is another one")
        place = os.path.join(self.folder, "npu-doctor.pyz")
        with open(place, "wb") as file:
            file.write(data)
        return [sys.executable, place]

    def scan(self, program: list[str]) -> None:
        out = os.path.join(self.folder, "answer" + self.order["suffix"])
        for name, text in self.order["files"]:
            place = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
        asked = [os.path.expanduser(word) if word.startswith("~") else word.replace("{folder}", self.folder) for word in self.order["arguments"]]
        own = dict.fromkeys(("XDG_CACHE_HOME", "SHIV_ROOT"), self.folder)
        environ = {**os.environ, **self.order["environment"], **own, "PYTHONDONTWRITEBYTECODE": "1", "NPU_DOCTOR_LANG": "en"}
        largest = self.order["largest"]
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a scan that inherits it ignored would not hear that its time is over
        with open(os.path.join(self.folder, "said"), "wb") as said:
            child = subprocess.Popen(  # noqa: S603 - the words came over the user's own connection, and no shell sees them
                [*program, *asked, "-o", out], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, env=environ, start_new_session=True,
                preexec_fn=lambda: gently(largest),
            )  # fmt: skip
        with contextlib.suppress(OSError):
            os.write(self.guard, b"%d\n" % child.pid)
        late = self.wait(child)
        self.answer(out, child.returncode, late)

    def wait(self, child: "subprocess.Popen[bytes]") -> bool:
        """Until the scan has ended; whether it was told to, because its time was over. Nobody waits any more: leaves."""
        end = time.monotonic() + self.order["seconds"]
        late = False
        while child.poll() is None:
            ready, _, _ = select.select([0], [], [], 0.05)
            if ready and not os.read(0, 4096):
                raise SystemExit
            if time.monotonic() > end:
                if late:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
                    break
                child.send_signal(signal.SIGINT)  # it concludes from what it has read
                late, end = True, time.monotonic() + GRACE_S
        with contextlib.suppress(OSError):
            os.write(self.guard, b"-\n")  # its number may soon be another's
        return late

    def answer(self, out: str, code: int, late: bool) -> None:
        try:
            with open(os.path.join(self.folder, "said"), "rb") as file:
                file.seek(max(0, os.path.getsize(file.name) - TOLD))
                said = file.read().decode("utf-8", "replace")
        except OSError:
            said = ""
        digest, size = hashlib.sha256(), 0
        if os.path.isfile(out):
            packer = zlib.compressobj(6)
            with open(out, "rb") as file:
                while piece := file.read(CHUNK * 8):
                    digest.update(piece)
                    size += len(piece)
                    self.data(packer.compress(piece))
            self.data(packer.flush())
        seconds = round(time.monotonic() - self.began, 2)
        self.tell("end", {"code": code, "late": late, "size": size, "sha256": digest.hexdigest(), "said": said, "seconds": seconds})

    def data(self, packed: bytes) -> None:
        for at in range(0, len(packed), CHUNK):
            self.tell("data", binascii.b2a_base64(packed[at : at + CHUNK], newline=False).decode("ascii"))

    def leave(self) -> None:
        """The guardian hears that this is over by the end of the pipe; it is gone when this returns."""
        if self.guard >= 0:
            os.close(self.guard)
            with contextlib.suppress(OSError):
                os.waitpid(self.guardian, 0)


def gently(largest: int) -> None:
    """In the child: a training job on this node goes first, and no answer fills its disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    with contextlib.suppress(OSError):
        os.nice(10)


def version_of(program: list[str]) -> str:
    try:
        told = subprocess.run([*program, "version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    words = told.stdout.decode("utf-8", "replace").split()
    return words[1] if len(words) == 2 and words[0] == "npu-doctor" else ""


def watch_over(folder: str, keep: bool) -> tuple[int, int]:
    """Starts the guardian; our end of its pipe, and its number. It reads the number of the process to be ended there."""
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return ours, pid
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.close(ours)
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):  # whoever waits for the end of our output must not wait for the guardian
            os.dup2(nothing, handle)
        told = b""
        while piece := os.read(theirs, 64):
            told += piece
        if told.split()[-1:] and told.split()[-1].isdigit():
            with contextlib.suppress(OSError):
                os.killpg(int(told), signal.SIGKILL)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)


def main() -> None:
    code = 0
    try:
        Node().run()
    except BrokenPipeError:
        code = 1  # nobody listens any more
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
