"""Two devices in one thread, then one thread for each: shows whether switching devices is what fails (ExchangeDevice).

Old torch_npu bound a thread to the first device it used; a tensor of another device in that thread then raised
"ExchangeDevice". Newer releases switch, but a set_device of one place still decides where the next tensor is made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from kb.repro._frame import Session, main, unusable
from kb.repro._tensors import UnusableError, torch

# >>> slots: change these to change what is run
FIRST: str = "npu:0"
SECOND: str = "npu:1"
SHAPE: list[int] = [256, 256]
DTYPE: str = "float32"
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def select(device: str) -> None:
    if device.startswith("npu"):
        torch.npu.set_device(device)


def one_thread(session: Session, devices: list[str], data: Any) -> list[Any]:
    """Both devices by turns in this thread, without and with set_device before the work."""
    results = [(session.place(data, device) @ session.place(data, device)).sum() for device in (*devices, *devices)]
    for device in devices:
        select(device)
        results.append((session.place(data, device) @ session.place(data, device)).sum())
    return [one.cpu() for one in results]


def own_threads(session: Session, devices: list[str], data: Any) -> list[Any]:
    results: dict[int, Any] = {}

    def run(number: int, device: str) -> None:
        try:
            select(device)
            results[number] = (session.place(data, device) @ session.place(data, device)).sum().cpu()
        except Exception as error:  # handed to the thread that started this one
            results[number] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, result in sorted(results.items()):
        if isinstance(result, Exception):
            raise result
    return [results[number] for number in sorted(results)]


def reproduce(session: Session) -> None:
    devices = ["cpu", "cpu"] if session.device == "cpu" else [FIRST, SECOND]
    for device in devices:
        problem = unusable(device)
        if problem:
            raise UnusableError(problem)
    data = session.plan({"tensor": {"dtype": DTYPE, "shape": SHAPE}})

    def product(place: Callable[[Any], Any]) -> Any:
        return (place(data) @ place(data)).sum()

    expected = session.reference(product)
    apart = session.on_device(lambda _place: own_threads(session, devices, data))
    session.check("one thread for each device", [expected] * len(apart), apart)
    together = session.on_device(lambda _place: one_thread(session, devices, data))
    session.check("one thread for both devices", [expected] * len(together), together)


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Switching between {FIRST} and {SECOND}", NOTES, EXPECT))
