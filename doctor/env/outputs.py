"""What commands of a machine answer: asked now under a time limit, or recorded beside a machine's tree."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from doctor.env.tree import FILE, FOLDER, Tree
from parsers.named import NamedTuple

SECONDS = 5.0  # that a command may take
MAX_OUTPUT = 4 << 20
GRACE_S = 0.3  # that a killed command has to be gone; one that hangs in the driver never is

OK, ABSENT, NO_ANSWER, FAILED, DENIED = "ok", "absent", "no answer", "failed", "denied"
FOLDERS = ("/commands", "/sos_commands")
_SUFFIX = re.compile(r"\.(?:txt|log|out)$")
_TIMED_OUT = re.compile(r"^\s*(?:timeout: |\[?(?:command )?timed out\b|.{0,40}does not answer)", re.IGNORECASE)
_NOT_FOUND = re.compile(r"(?:command not found|No such file or directory|not found)\s*$")


class Output(NamedTuple):
    """What a command said, and whether it did."""

    state: str
    text: str = ""
    path: str = ""  # where it is recorded, or the command

    @property
    def known(self) -> bool:
        return self.state == OK


class Outputs:
    """Answers with the output of a command by its words; this one has none."""

    def ask(self, words: Sequence[str]) -> Output:
        del words
        return Output(ABSENT)


class Live(Outputs):
    """Runs commands of this machine that only look."""

    def __init__(self, seconds: float = SECONDS, folders: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> None:
        self.seconds, self._folders, self._environ = seconds, tuple(folders), environ

    def ask(self, words: Sequence[str]) -> Output:
        shown = " ".join(words)
        program = self._program(words[0])
        if not program:
            return Output(ABSENT, "", shown)
        environ = {**self._environ, "LC_ALL": "C"}
        try:
            child = subprocess.Popen(  # noqa: S603 - a fixed program of the driver, looked up, no shell
                [program, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=environ, start_new_session=True,
            )  # fmt: skip
        except PermissionError:
            return Output(DENIED, "", shown)
        except OSError as error:
            return Output(FAILED, error.strerror or str(error), shown)
        try:
            data, _ = child.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            return Output(NO_ANSWER, "", shown)
        except BaseException:
            _end(child)
            raise
        text = data[:MAX_OUTPUT].decode("utf-8", "replace")
        return Output(OK if child.returncode == 0 or "|" in text else FAILED, text, shown)

    def _program(self, name: str) -> str:
        found = shutil.which(name, path=self._environ.get("PATH"))
        if found:
            return found
        return next((place for folder in self._folders if os.access(place := os.path.join(folder, name), os.X_OK)), "")


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends a command with all that it started; one that cannot be ended is left behind."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait(GRACE_S)
    except (OSError, subprocess.TimeoutExpired):
        pass
    if child.stdout is not None:
        child.stdout.close()


class Recorded(Outputs):
    """Finds the output of a command by the name of its file: `npu-smi_info`, `npu-smi info.txt`, as sosreport writes them too."""

    def __init__(self, tree: Tree, folders: Sequence[str] = FOLDERS) -> None:
        self._tree = tree
        self._files: dict[str, str] = {}
        for folder in folders:
            self._index(folder, 0)

    def _index(self, folder: str, depth: int) -> None:
        for name in self._tree.names(folder):
            path = f"{folder}/{name}"
            kind = self._tree.kind(path)
            if kind == FOLDER and depth < 2:
                self._index(path, depth + 1)
            elif kind == FILE:
                self._files.setdefault(_normal(_SUFFIX.sub("", name)), path)

    def ask(self, words: Sequence[str]) -> Output:
        path = self._files.get(_normal(" ".join(words)), "")
        if not path:
            return Output(ABSENT)
        text = self._tree.text(path)
        if text is None:
            return Output(FAILED, "", path)
        if _TIMED_OUT.search(text[:200]) or not text.strip():
            return Output(NO_ANSWER, "", path)
        first = text.strip().splitlines()[0]
        if len(text) < 400 and _NOT_FOUND.search(first) and "shared librar" not in first:
            return Output(ABSENT, text, path)
        return Output(OK, text, path)


def _normal(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower().rpartition("/")[2] if name.startswith("/") else name.lower()).strip("_")


def in_parallel(ask: Callable[[Sequence[str]], Output], asked: Sequence[Sequence[str]]) -> list[Output]:
    """Several commands at once, in the order in which they are asked: each waits for its own card."""
    from concurrent.futures import ThreadPoolExecutor

    if not asked:
        return []
    with ThreadPoolExecutor(min(16, len(asked))) as pool:
        return list(pool.map(ask, asked))
