"""Memory snapshots of programs that run on a small model of the caching allocator; the class and the place are known.

`make(kind, seed)` draws everything else: sizes, layers, steps, names of files, how much of the history was kept, protocol.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

KINDS = (
    "leak", "fragmentation", "step-peak", "huge-request", "kv-cache", "optimizer-states", "too-large", "graph-pools", "workspace",
    "other-streams", "other-process", "hccl-buffers",
)  # fmt: skip
MIB = 1 << 20
SEGMENT = 20 * MIB

Frames = list[dict[str, Any]]


class Made(NamedTuple):
    """What a program wrote when its memory ran out, or was looked at."""

    kind: str
    site: str  # "file.py:LINE", "" where no place in the code is to blame
    data: bytes
    log: str
    table: str


class Program:
    """A program on one device: what it allocates, with which stack, and what the allocator would tell."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        r = self.random
        self.folder = r.choice(("/home/user/train", "/workspace/proj", "/data/code/pretrain", "/root/app"))
        self.seen: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.trace: list[dict[str, Any]] = []
        self.live: dict[int, tuple[int, Frames, tuple[int, int], str]] = {}
        self.address, self.time = 0x12C0C0000000, 1_700_000_000_000_000
        self.extra: list[dict[str, Any]] = []

    def frame(self, file: str, line: int, name: str) -> dict[str, Any]:
        return self.seen.setdefault((file, line, name), {"filename": file, "line": line, "name": name})

    def stack(self, file: str, line: int, name: str, *, inner: tuple[tuple[str, int, str], ...] = ()) -> Frames:
        """Frames from the innermost out: torch's own, what is asked for, the user's place, and who called it."""
        torch = "/usr/lib/python3.11/site-packages/torch"
        own = f"{self.folder}/{file}" if not file.startswith("/") else file
        below = [("??", 0, "c10_npu::NPUCachingAllocator::malloc"), *inner, (f"{torch}/nn/functional.py", 2000 + line % 50, "linear"), (f"{torch}/nn/modules/module.py", 1739, "_wrapped_call_impl")]
        above = [(f"{torch}/nn/modules/module.py", 1750, "_call_impl"), (f"{self.folder}/main.py", 210, "main"), (f"{self.folder}/main.py", 305, "<module>")]
        return [self.frame(*one) for one in (*below[: self.random.randint(2, len(below)) if not inner else len(below)], (own, line, name), *above)]

    def alloc(self, size: int, frames: Frames, pool: tuple[int, int] = (0, 0), *, state: str = "active_allocated") -> int:
        size = max(512, size // 512 * 512)
        self.address += size + 512
        self.time += self.random.randint(1, 90)
        self.live[self.address] = (size, frames, pool, state)
        self._event("alloc", self.address, size, frames)
        return self.address

    def free(self, address: int) -> None:
        size, frames, _, _ = self.live.pop(address)
        self._event("free_requested", address, size, frames)
        self._event("free_completed", address, size, frames)

    def _event(self, action: str, address: int, size: int, frames: Frames) -> None:
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time, "frames": list(frames)})

    def out_of_memory(self, size: int, frames: Frames, free: int) -> None:
        self.trace.append({"action": "oom", "device_free": free, "size": size, "stream": 0, "time_us": self.time, "frames": list(frames)})

    def segments(self) -> list[dict[str, Any]]:
        """What lives, packed into segments: large blocks alone, small ones together, pools apart."""
        made: list[dict[str, Any]] = []
        small: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for address, (size, frames, pool, state) in self.live.items():
            block = {"address": address, "size": size, "requested_size": size, "state": state, "frames": list(frames)}
            if size >= SEGMENT // 2:
                whole = -(-size // (2 * MIB)) * 2 * MIB
                rest = [{"address": address + size, "size": whole - size, "requested_size": 0, "state": "inactive", "frames": []}] if whole > size else []
                made.append(self.segment(whole, [block, *rest], pool))
            else:
                small.setdefault(pool, []).append(block)
        for pool, blocks in small.items():
            while blocks:
                took: list[dict[str, Any]] = []
                while blocks and sum(b["size"] for b in took) + blocks[-1]["size"] <= SEGMENT:
                    took.append(blocks.pop())
                rest = SEGMENT - sum(b["size"] for b in took)
                made.append(self.segment(SEGMENT, [*took, {"address": 1, "size": rest, "requested_size": 0, "state": "inactive", "frames": []}], pool))
        return [*made, *self.extra]

    def segment(self, size: int, blocks: list[dict[str, Any]], pool: tuple[int, int] = (0, 0)) -> dict[str, Any]:
        held = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
        return {
            "device": 0, "address": blocks[0]["address"], "total_size": size, "allocated_size": held, "active_size": held, "requested_size": held,
            "stream": 0, "segment_type": "large" if size > SEGMENT else "small", "segment_pool_id": pool, "is_expandable": False, "frames": [], "blocks": blocks,
        }  # fmt: skip

    def written(self) -> bytes:
        """The snapshot; of a long history the allocator keeps the end."""
        kept = self.trace[-self.random.choice((len(self.trace), len(self.trace), max(400, len(self.trace) * 2 // 3))) :]
        whole = {"segments": self.segments(), "device_traces": [kept], "allocator_settings": {"expandable_segments": False}}
        return pickle.dumps(whole, protocol=self.random.choice((2, 4, 4, 5)))


def make(kind: str, seed: int) -> Made:
    """A snapshot of a class; "even" for one of a program that has nothing."""
    p = Program(seed)
    r = p.random
    base = r.randint(1200, 9000) * MIB
    parameters = p.stack("model/load.py", r.randint(20, 90), "load_weights")
    for part in _parts(r, base):
        p.alloc(part, parameters)
    log = table = site = ""
    effect = _EFFECTS.get(kind)
    steps = r.randint(24, 60)
    state: dict[str, Any] = {"base": base, "steps": steps, "line": r.randint(30, 400)}
    for step in range(steps):
        if effect is not None:
            site = effect(p, state, step) or site
        _step(p, r, base * (r.uniform(0.9, 1.4) if kind == "step-peak" else r.uniform(0.06, 0.12)), state, peak=kind == "step-peak")
    if kind == "step-peak":
        site = state["site"]
    if kind == "huge-request":
        frames = p.stack("model/head.py", state["line"], "logits")
        p.out_of_memory(int(base * r.uniform(0.45, 1.2)), frames, 300 * MIB)
        site = f"head.py:{state['line']}"
    if kind == "too-large":
        p.out_of_memory(r.randint(8, 60) * MIB, p.stack("model/block.py", 44, "forward"), 4 * MIB)
        site = f"load.py:{parameters[-4]['line']}"
    if kind == "fragmentation":
        site = _pins(p, r, base, state)
    if kind == "other-process":
        reserved = sum(s["total_size"] for s in p.segments())
        other = int(reserved * r.uniform(0.8, 2.0)) + 4096 * MIB
        log = _message(r.randint(100, 900), reserved + other + 300 * MIB, base, 300, reserved)
    if kind == "hccl-buffers":
        table = _components(r, base)
    return Made(kind, site, p.written(), log, table)


def _parts(r: random.Random, whole: int) -> Iterator[int]:
    left = whole
    while left > 0:
        part = min(left, r.randint(12, 180) * MIB)
        yield part
        left -= part


def _step(p: Program, r: random.Random, size: float, state: dict[str, Any], *, peak: bool) -> None:
    """Activations that come and go; with a peak, most of them at one place."""
    layers = r.randint(6, 12)
    held = []
    main = state.setdefault("main", r.randint(40, 300))
    for layer in range(layers):
        place = p.stack("model/block.py", main + layer * 7, "forward")
        if peak and layer == layers // 2:
            place = p.stack("model/attention.py", main, "scores")
            state["site"] = f"attention.py:{main}"
            held.append(p.alloc(int(size * 0.7), place))
        held.append(p.alloc(int(size * (0.3 if peak else 1.0) / layers * r.uniform(0.7, 1.3)), place))
        if r.random() < 0.4:
            p.free(p.alloc(r.randint(1, 4) * MIB, p.stack("model/block.py", main + layer * 7 + 2, "norm")))
    for address in reversed(held):
        p.free(address)


def _leak(p: Program, state: dict[str, Any], step: int) -> str:
    share = state.setdefault("share", p.random.uniform(0.25, 0.9))
    for _ in range(state.setdefault("pieces", p.random.randint(1, 5))):
        p.alloc(int(state["base"] * share / state["steps"] / state["pieces"]), p.stack("train_loop.py", state["line"], "log_metrics"))
    return f"train_loop.py:{state['line']}"


def _once(share: tuple[float, float], file: str, name: str, *, at: int = 0, inner: tuple[tuple[str, int, str], ...] = (), pool: tuple[int, int] = (0, 0), held: str = "active_allocated") -> Any:
    def effect(p: Program, state: dict[str, Any], step: int) -> str:
        if step != at:
            return ""
        frames = p.stack(file, state["line"], name, inner=inner)
        for part in _parts(p.random, int(state["base"] * p.random.uniform(*share))):
            p.alloc(part, frames, pool, state=held)
        return f"{file.rsplit('/', 1)[-1]}:{state['line']}"

    return effect


_TORCH = "/usr/lib/python3.11/site-packages/torch"
_EFFECTS: dict[str, Any] = {
    "leak": _leak,
    "kv-cache": _once((1.2, 4.0), "/usr/lib/python3.11/site-packages/vllm_ascend/worker/model_runner_v1.py", "initialize_kv_cache_tensors"),
    "optimizer-states": _once((1.0, 2.0), "trainer.py", "train_step", at=1, inner=((f"{_TORCH}/optim/adamw.py", 140, "_init_group"), (f"{_TORCH}/optim/optimizer.py", 493, "wrapper"))),
    "graph-pools": _once((0.8, 2.0), "runner/capture.py", "capture_model", pool=(0, 3)),
    "workspace": _once((0.5, 1.2), "model/moe.py", "dispatch", inner=(("??", 0, "at_npu::native::allocate_workspace(unsigned long, void*)"),)),
    "other-streams": _once((0.5, 1.2), "parallel/prefetch.py", "gather_next", held="active_pending_free"),
}


def _pins(p: Program, r: random.Random, base: int, state: dict[str, Any]) -> str:
    """Segments in which a little lives and the rest is free, and a request that fits into none."""
    frames = p.stack("data/collate.py", state["line"], "pack")
    others = p.stack("model/block.py", 44, "forward")
    size, most = int(base * r.uniform(0.5, 1.0)), 0
    while size > 0:
        whole = r.randint(40, 160) * MIB
        pin = r.randint(1, 4) * MIB
        free = whole - pin
        left = int(free * r.uniform(0.3, 0.7))
        blocks = [
            {"address": 1, "size": left, "requested_size": 0, "state": "inactive", "frames": []},
            {"address": 2, "size": pin, "requested_size": pin, "state": "active_allocated", "frames": list(frames if r.random() < 0.8 else others)},
            {"address": 3, "size": free - left, "requested_size": 0, "state": "inactive", "frames": []},
        ]
        most = max(most, left, free - left)
        p.extra.append(p.segment(whole, blocks))
        size -= whole
    p.out_of_memory(most + r.randint(20, 200) * MIB, p.stack("model/block.py", 61, "forward"), 10 * MIB)
    return f"collate.py:{state['line']}"


def _message(tried: int, capacity: int, allocated: int, free: int, reserved: int) -> str:
    gib = 1 << 30
    return (
        f"RuntimeError: NPU out of memory. Tried to allocate {tried}.00 MiB (NPU 0; {capacity / gib:.2f} GiB total capacity; {allocated / gib:.2f} GiB already allocated; "
        f"{allocated / gib:.2f} GiB current active; {free}.00 MiB free; {reserved / gib:.2f} GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.\n"
    )


def _components(r: random.Random, base: int) -> str:
    held = max(3000, int(base / MIB * r.uniform(0.4, 0.9)))
    rows = [("APP", base // MIB, base // MIB + 100), ("HCCL", held, held), ("RUNTIME", r.randint(80, 400), 400), ("SLOG", 12, 12)]
    r.shuffle(rows)
    return "moduleName,curMemSize(MB),memPeakSize(MB)\n" + "".join(f"{name},{now:.2f},{most:.2f}\n" for name, now, most in rows)
