"""The conversation with one node as this end hears it: bytes in, bytes to be said out, and in the end an Outcome. Pure.

The other end is `doctor/fleet/far.py`. A node may say anything, as much of it as it likes, in pieces of any size.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import pkgutil
import re
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doctor.base.notation import clean, size
from doctor.fleet.outcome import FAILED, PARTIAL, REFUSED, SCANNED, TIMED_OUT, UNREACHABLE, Outcome
from parsers import foreign_json
from parsers.named import NamedTuple

MARK = b"npu-doctor-fleet "
FOLDER = "{folder}"
MAX_LINE = 128 << 10
MAX_RECEIVED = 64 << 20  # bytes that a node may send, packed and with whatever its shells print
MAX_GREETING = 4 << 20  # before the first word of ours
MAX_ANSWER = 256 << 20  # bytes of an answer when it is unpacked
MAX_SAID = 4000  # of what a node prints on standard error
Payload = Callable[[str], tuple[bytes, str]]


class Order(NamedTuple):
    """What every node is told to do."""

    arguments: tuple[str, ...]  # of npu-doctor
    suffix: str  # of the answer's file, which tells its format
    version: str
    seconds: float
    copy: bool = True
    keep: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # put into the private folder, which arguments name as FOLDER

    def line(self, nonce: str) -> bytes:
        """The order as the node reads it."""
        told = {**self._asdict(), "environment": dict(self.environment), "nonce": nonce, "largest": MAX_ANSWER}
        return json.dumps(told).encode("ascii") + b"\n"


class Talk:
    """One node's conversation."""

    def __init__(self, nonce: str, payload: Payload, order: Order) -> None:
        self._nonce, self._order = nonce, order
        self._mark = MARK + nonce.encode("ascii") + b" "
        self._payload = payload
        self._line = b""
        self._skipping = False  # the rest of a line that is too long to be one of ours
        self._packed = bytearray()
        self._end: Mapping[str, Any] | None = None
        self._refused = ""
        self._no_python = False
        self._said = b""
        self.greeted = False
        self.received = self.sent = self._complained = 0
        self.overflow = False

    def opening(self) -> bytes:
        """What a node's Python is told first: the program in one line, then what it is to do."""
        source = pkgutil.get_data("doctor.fleet", "far.py")
        assert source is not None
        return b"exec(" + ascii(source.decode("utf-8")).encode("ascii") + b")\n" + self._order.line(self._nonce)

    def heard(self, data: bytes) -> bytes:
        """Takes what came on standard output; what is to be said to it."""
        self.received += len(data)
        if self.received > (MAX_RECEIVED if self.greeted else MAX_GREETING):
            self.overflow = True
            self._line, self._packed = b"", bytearray()
            return b""
        answer = b""
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            if self._skipping:
                self._skipping = False
            else:
                answer += self._take(line)
        if len(self._line) > MAX_LINE:
            self._line, self._skipping = b"", True
        self.sent += len(answer)
        return answer

    def said(self, data: bytes) -> None:
        """What came on standard error: its end tells why something went wrong."""
        self._said = (self._said + data)[-MAX_SAID:]
        self._complained += len(data)
        self.overflow = self.overflow or self._complained > MAX_RECEIVED

    def _take(self, line: bytes) -> bytes:
        at = line.find(self._mark)  # a greeting without an end of its line may stand before it
        if at < 0:
            return b""
        verb, _, told = line[at + len(self._mark) :].rstrip(b"\r").partition(b" ")
        self.greeted = True
        if verb == b"data":
            self._add(told)
        elif verb == b"no-python":
            self._no_python = True
        else:
            return self._told(verb, told)
        return b""

    def _told(self, verb: bytes, told: bytes) -> bytes:
        try:
            value = foreign_json.read(told) if told else {}
        except ValueError:
            return b""
        if not isinstance(value, dict):
            return b""
        if verb == b"need":
            data, digest = self._payload(str(value.get("machine", "")))
            return json.dumps({"size": len(data), "sha256": digest}).encode("ascii") + b"\n" + data
        if verb == b"refused":
            self._refused = str(value.get("reason", "")) or "it did not say why"
        elif verb == b"end":
            self._end = value
        return b""

    def _add(self, told: bytes) -> None:
        try:
            self._packed += binascii.a2b_base64(told)
        except binascii.Error:
            self._packed += b"\0"  # the hash will tell

    def outcome(self, code: int | None, timed_out: bool, seconds: float) -> Outcome:
        """What came of it, when the connection has ended: with an exit code, or cut off because its time was over."""
        made = self._judged(code, timed_out)
        return made._replace(reason=clean(made.reason), seconds=seconds, received=self.received, sent=self.sent)

    def _judged(self, code: int | None, timed_out: bool) -> Outcome:
        if self.overflow:
            most = MAX_RECEIVED if self.greeted or self._complained > MAX_RECEIVED else MAX_GREETING
            return Outcome(FAILED, f"it sent more than {size(most)}: cut off")
        if self._refused:
            return Outcome(REFUSED, self._refused)
        if self._no_python:
            return Outcome(FAILED, NO_PYTHON)
        if self._end is not None:
            return self._answered(self._end)
        if timed_out:
            return Outcome(TIMED_OUT, "no answer within the time limit" if self.greeted else "no sign of life within the time limit")
        why = last_words(self._said)
        if self.greeted:
            return Outcome(FAILED, "it broke off in the middle" + (f": {why}" if why else _code(code)))
        return silent(code, why)

    def _answered(self, end: Mapping[str, Any]) -> Outcome:
        told, code, late = str(end.get("said", "")), end.get("code"), bool(end.get("late"))
        answer = _unpacked(bytes(self._packed))
        if answer is None or hashlib.sha256(answer).hexdigest() != end.get("sha256"):
            return Outcome(FAILED, "its answer arrived damaged")
        if late:
            return Outcome(PARTIAL, "the time was over: what follows was not read", answer) if answer else Outcome(TIMED_OUT, "the scan did not end within the time limit")
        if code == 130 and answer:
            return Outcome(PARTIAL, "interrupted there: what follows was not read", answer)
        if code in (0, 1, 3) and answer:
            return Outcome(SCANNED, "", answer)
        return Outcome(FAILED, last_words(told.encode("utf-8", "replace")) or _how(code))


class Printed:
    """What a pod has printed, where nothing can be run in it any more: the end of it, which tells most. Whoever asked reads it."""

    def __init__(self, why: str) -> None:
        self._why = why  # nothing can be run there; empty: nothing is missing
        self._pieces: deque[bytes] = deque()
        self._kept = 0
        self._said = b""
        self._cut = False
        self.received = 0
        self.overflow = False

    def opening(self) -> bytes:
        return b""

    def heard(self, data: bytes) -> bytes:
        self.received += len(data)
        self._pieces.append(data)
        self._kept += len(data)
        while self._kept - len(self._pieces[0]) > MAX_RECEIVED:
            self._kept -= len(self._pieces.popleft())
            self._cut = True
        return b""

    def said(self, data: bytes) -> None:
        self._said = (self._said + data)[-MAX_SAID:]

    def outcome(self, code: int | None, timed_out: bool, seconds: float) -> Outcome:
        why = last_words(self._said)
        if code and not timed_out:
            made = silent(code, why)
        elif not self._kept:
            made = Outcome(TIMED_OUT if timed_out else FAILED, why or "it has printed nothing")
        else:
            reasons = [f"it does not run any more ({self._why}): only what it printed could be read"] if self._why else []
            reasons += [f"of what it printed the last {size(MAX_RECEIVED)} were read"] if self._cut else []
            reasons += ["the time was over: what follows was not read"] if timed_out else []
            made = Outcome(PARTIAL if reasons else SCANNED, "; ".join(reasons), b"".join(self._pieces))
        return made._replace(reason=clean(made.reason), seconds=seconds, received=self.received)


# What ssh, srun, kubectl, docker and Ray say when somebody says no, and when nobody is there. English: LC_ALL=C is set for them.
_NO = re.compile(
    r"Permission denied|Host key verification failed|REMOTE HOST IDENTIFICATION|Too many authentication|not permitted|forbidden|Unauthorized|Access denied"
    r"|DRAIN|is down, drained or|Requested nodes are busy|node configuration is not available|Invalid account|Unable to allocate resources|Job\S* .{0,40}invalid|Invalid job id",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"Connection (?:refused|timed out|reset|closed)|No route to host|Could not resolve|Name or service not known|Network is unreachable|port \d+: |kex_exchange_identification"
    r"|not found|No such container|Cannot connect|is not running|Unable to connect|connection refused|Node failure|Invalid node name|Zero Bytes were transmitted|Unable to contact slurm",
    re.IGNORECASE,
)


def silent(code: int | None, why: str) -> Outcome:
    """It ended without a word of ours: what the tool that should have reached it says."""
    if code == 127 and not why:
        return Outcome(FAILED, "there is no shell or no such command")
    if _NO.search(why):
        return Outcome(REFUSED, why)
    if _NOBODY.search(why) or code == 255:
        return Outcome(UNREACHABLE, why or "the connection ended without a word")
    return Outcome(FAILED, why or "it sent no answer" + _code(code))


def last_words(said: bytes) -> str:
    """The line that tells why, of what was printed: the last that is no advice and no farewell."""
    rows = [row.strip() for row in said.decode("utf-8", "replace").splitlines() if row.strip()]
    kept = [row for row in rows if not _DULL.search(row)] or rows
    telling = [row for row in kept if _NO.search(row) or _NOBODY.search(row) or row.startswith("npu-doctor: ")]
    return (telling or kept)[-1][:300] if kept else ""


_DULL = re.compile(r"^(?:= help|srun: (?:Force )?Terminat|command terminated with exit code|\s*$|Warning: Permanently added|srun: error: .*: task \d+: (?:Exited|Killed|Terminated))|^npu-doctor: wrote|\bKilled by signal\b")


def _unpacked(packed: bytes) -> bytes | None:
    if not packed:
        return b""
    try:
        opened = zlib.decompressobj()
        made = opened.decompress(packed, MAX_ANSWER + 1)
    except zlib.error:
        return None
    return made if opened.eof and len(made) <= MAX_ANSWER else None


def _how(code: object) -> str:
    return f"the scan was ended by signal {-code}" if isinstance(code, int) and code < 0 else f"the scan ended with exit code {code}"


def _code(code: int | None) -> str:
    return "" if code is None else f" (exit code {code})"


_PLACES: Sequence[str] = (
    "python3", "python3.13", "python3.12", "python3.11", "python3.10", "python", "/usr/local/python3*/bin/python3", "/usr/local/bin/python3*", "/opt/conda/bin/python3",
    "$HOME/miniconda3/bin/python3", "$HOME/anaconda3/bin/python3", "/root/miniconda3/bin/python3", "/opt/*/bin/python3",
)  # fmt: skip
NO_PYTHON = "no Python 3.10 or newer was found there: name one with --python PATH"


def _script(read: str, none: str) -> str:
    """What the shell of a node runs: finds a Python, which reads the rest from its standard input. $1 is a Python that the user names.

    No single quote, no backslash, no exclamation mark, no second line: whatever shell a user has there, csh and fish too,
    hands it on as it is.
    """
    return (
        f'for p in ${{1:+"$1"}} {" ".join(_PLACES)}; do '
        'if command -v "$p" >/dev/null 2>&1 && "$p" -c "import sys; sys.exit(sys.version_info < (3, 10))" >/dev/null 2>&1 </dev/null; '
        f'then exec "$p" -u -c "import sys; exec({read})"; fi; [ -z "$1" ] || break; done; {none}; exit 86'
    )


SCRIPT = _script("sys.stdin.buffer.readline()", 'echo "npu-doctor-fleet $2 no-python"')  # $2 is the nonce
GATEWAY_SCRIPT = _script("sys.stdin.buffer.raw.readline()", f'echo "{NO_PYTHON}" >&2')  # what follows the line is read by another
