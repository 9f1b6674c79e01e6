"""A real browser without a screen, driven over the pipe of its debugging protocol: no driver, no port, nothing to download."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> str | None:
    """The browser of this machine, when there is one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page."""

    def __init__(self, to: int, answers: int) -> None:
        self._to, self._answers, self._number, self._rest, self._session = to, answers, 0, b"", None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        call = {"id": self._number, "method": method, "params": params, **({"sessionId": self._session} if self._session else {})}
        os.write(self._to, json.dumps(call).encode() + b"\0")
        while True:
            told = self._message()
            if told.get("id") == self._number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        raw, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(raw)
        return told

    def open(self, path: Path, width: int = 1100, height: int = 800, hash_: str = "") -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Page.navigate", url="about:blank")
        self._loaded()
        self.ask("Page.navigate", url=path.resolve().as_uri() + hash_)
        self._loaded()

    def _loaded(self) -> None:
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def type(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def value(self, expression: str) -> Any:
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def paper(self) -> bytes:
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own beneath a folder, ended afterwards."""
    found = program()
    assert found is not None
    (ask_read, ask_write), (answer_read, answer_write) = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(handle, fcntl.F_DUPFD, 20) for handle in (ask_read, answer_write)]
    call = [found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4), env={**os.environ, "HOME": str(folder)},
        preexec_fn=lambda: (os.dup2(theirs[0], 3), os.dup2(theirs[1], 4)),
    )  # fmt: skip
    for handle in (ask_read, answer_write, *theirs):
        os.close(handle)
    try:
        yield Browser(ask_write, answer_read)
    finally:
        process.kill()
        process.wait()
        os.close(ask_write)
        os.close(answer_read)
