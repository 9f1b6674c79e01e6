"""What runs beside Ray: under the Python that has it, the user's own. It is started as a program and knows nothing of this package.

`list` prints the nodes that live. `ask` runs one task on each chosen node, which takes no CPU and no NPU of the job's: it starts
the same program as every other way (`far.py`), and brings back what that says. When standard input ends, all of it ends.
"""

import base64
import json
import os
import sys
import threading
import time
from typing import Any

MOST = 64 << 20  # bytes that a node may say


def listed(ray: Any) -> "list[dict[str, str]]":
    """The living nodes, each by its host; by its number as well where several have one."""
    nodes = [n for n in ray.nodes() if n.get("Alive")]
    names = [n.get("NodeManagerHostname") or n["NodeManagerAddress"] for n in nodes]
    return [{"id": n["NodeID"], "name": name if names.count(name) == 1 else f"{name}-{n['NodeID'][:8]}"} for n, name in zip(nodes, names)]  # noqa: B905


def make_ask(most: int) -> Any:
    """The task, of nothing but the standard library and Ray: it is sent to the nodes by value."""

    def ask(opening: bytes, payloads: Any) -> bytes:
        import hashlib
        import json
        import subprocess
        import sys

        import ray

        child = subprocess.Popen(
            [sys.executable, "-u", "-c", "import sys; exec(sys.stdin.buffer.readline())"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(opening)
            child.stdin.flush()
            said, size = [], 0
            while line := child.stdout.readline(1 << 20):
                size += len(line)
                if size > most:
                    break
                said.append(line)
                words = line.split(b" ", 3)
                if len(words) == 4 and words[0] == b"npu-doctor-fleet" and words[2] == b"need":
                    data = ray.get(payloads.get(json.loads(words[3])["machine"], payloads[""]))
                    child.stdin.write(json.dumps({"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}).encode() + b"\n" + data)
                    child.stdin.flush()
            return b"".join(said)
        finally:
            child.stdin.close()
            child.wait()

    return ask


def tell(**row: Any) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def run(ray: Any, order: Any, programs: "dict[str, bytes]") -> None:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(num_cpus=0, max_retries=0)(make_ask(MOST))
    payloads = {machine: ray.put(data) for machine, data in programs.items()}
    waiting = list(order["nodes"])
    running: dict[Any, tuple[str, float]] = {}
    while waiting or running:
        while waiting and len(running) < order["fanout"]:
            node = waiting.pop(0)
            tell(began=node["id"])
            pinned = ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node["id"], soft=False))
            running[pinned.remote(node["opening"].encode("ascii"), payloads)] = (node["id"], time.monotonic())
        ready, _ = ray.wait(list(running), timeout=0.2)
        for ref in ready:
            node, _ = running.pop(ref)
            try:
                tell(node=node, data=base64.b64encode(ray.get(ref)).decode("ascii"))
            except Exception as error:  # noqa: BLE001 - a node that died is an answer, however Ray calls it
                tell(node=node, error=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300])
        for ref, (node, begin) in list(running.items()):
            if time.monotonic() - begin > order["seconds"]:
                del running[ref]
                ray.cancel(ref, force=True)
                tell(node=node, late=True)


def watch() -> None:
    """Whoever started this is gone when its pipe ends: Ray then ends what runs for us."""
    while os.read(0, 4096):
        pass
    os._exit(1)


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    programs = {machine: sys.stdin.buffer.read(size) for machine, size in order.get("payloads", {}).items()}
    import logging

    import ray

    try:
        ray.init(address=order["address"], logging_level=logging.ERROR, log_to_driver=False, namespace="npu-doctor")
    except Exception as error:  # noqa: BLE001 - told to whoever started this
        tell(fault=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300])
        return
    threading.Thread(target=watch, daemon=True).start()
    if order["do"] == "list":
        tell(nodes=listed(ray))
    else:
        run(ray, order, programs)
    ray.shutdown()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
