"""An allocation ladder: the largest single block, and what is left of it when every second block was freed.

Tells "the device is full" (the ladder ends early: another process, or too small a share) from "the memory is in pieces"
(the ladder reaches the size, the second part does not: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True).
"""

from __future__ import annotations

import argparse
from typing import Any

from kb.repro._frame import ERROR, MISMATCH, Session, first_line, main
from kb.repro._tensors import torch

# >>> slots: change these to change what is run
SIZE: int = 67108864  # bytes that the failing program asked for
LIMIT: int = 268435456  # bytes that are tried at most on a CPU; a device is tried up to its memory
EXPECT: str = ""
NOTES: list[str] = []
# <<< slots


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=SIZE, help="bytes that the failing program asked for")
    parser.add_argument("--limit", type=int, default=0, help="bytes that are tried at most")


def text_size(size: float) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def block(session: Session, size: int) -> Any:
    """A block that has been written to: memory that is only promised does not count."""
    if session.options.inject == "error" and size >= session.options.size:
        raise RuntimeError("injected error: out of memory")
    made = torch.empty(max(size, 1), dtype=torch.uint8, device=session.device).fill_(0xA5)
    session.synchronize()
    return made


def intact(session: Session, made: Any) -> bool:
    if session.options.inject == "mismatch":
        made[-1] = 0
    edges = made[:: max(made.numel() // 4096, 1)]
    return bool((edges == 0xA5).all().item()) and made[-1].item() == 0xA5


def reproduce(session: Session) -> None:
    wanted = session.options.size
    limit = session.options.limit or max(LIMIT, wanted)
    if session.device.startswith("npu"):
        free, total = torch.npu.mem_get_info()
        print(f"free {text_size(free)} of {text_size(total)} before this script takes any")
        limit = session.options.limit or total
    reached, failed, size = 0, None, 1 << 20
    problem = ""
    while size <= limit and failed is None:
        try:
            made = block(session, size)
        except (RuntimeError, MemoryError) as error:
            failed, problem = size, f"{type(error).__name__}: {error}"
        else:
            if not intact(session, made):
                print(f"a block of {text_size(size)} does not hold what was written into it")
                session.judge(MISMATCH)
            reached, size = size, size * 2
            del made
    while failed is not None and failed - reached > max(reached // 64, 1 << 20):
        middle = (reached + failed) // 2
        try:
            block(session, middle)
            reached = middle
        except (RuntimeError, MemoryError):
            failed = middle
    print(f"largest single block: {text_size(reached)}" + ("" if failed else " (the limit; nothing failed)"))
    if failed is not None and failed <= wanted:
        print(f"a block of {text_size(failed)} fails: {first_line(problem)}")
        session.failed(RuntimeError(problem))
    if session.verdict != ERROR and failed is None:
        pieces(session, min(wanted, limit // 2))


def pieces(session: Session, wanted: int) -> None:
    """Fill with small blocks, free every second one, and ask for one block as large as a quarter of what was freed."""
    small = max(wanted // 16, 1 << 16)
    held: list[Any] = [block(session, small) for _ in range(16)]
    del held[::2]
    try:
        block(session, small * 4)
        print(f"after freeing every second of 16 blocks, {text_size(small * 4)} in one piece can be had")
    except (RuntimeError, MemoryError) as error:
        print(f"the memory is in pieces: {text_size(small * 4)} fails although {text_size(small * 8)} were freed")
        session.failed(error)


if __name__ == "__main__":
    raise SystemExit(main(reproduce, f"Allocation ladder up to {text_size(SIZE)}", NOTES, EXPECT, options))
