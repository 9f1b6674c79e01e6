"""What recording operators costs: a training step of a small transformer on the CPU, with and without the recorder.

    python -m benchmarks.recorder [--rounds N] [--threads N]

Rounds are paired, their order alternates and processor time is taken, so that a noisy machine disturbs both sides alike; the
medians are told. The worst case, an operator that does nothing, is told as well: what one operator costs in microseconds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = {  # width, layers, heads, batch, tokens
    "tiny": (64, 2, 2, 4, 32),
    "small": (256, 4, 4, 16, 128),
}


def step_of(torch: Any, size: tuple[int, int, int, int, int]) -> Callable[[], None]:
    """One training step: forward, backward, AdamW."""
    width, layers, heads, batch, tokens = size
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.1, batch_first=True)
    model = torch.nn.Sequential(
        torch.nn.Embedding(1000, width), torch.nn.TransformerEncoder(layer, layers), torch.nn.Linear(width, 1000)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    inputs, targets = torch.randint(0, 1000, (batch, tokens)), torch.randint(0, 1000, (batch, tokens))

    def step() -> None:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()

    return step


def seconds(work: Callable[[], None], times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    from doctor.record import Recorder

    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(folder, 256, keep=False)
        mode = recorder.prepare(torch)
        print(f"torch {torch.__version__}, {options.threads} thread(s), medians of {options.rounds} paired rounds")
        for name, size in SIZES.items():
            step = step_of(torch, size)
            times = 3 if name == "small" else 20
            seconds(step, 2)
            plain: list[float] = []
            recorded: list[float] = []
            before = recorder.seq
            for number in range(options.rounds):
                for side in (plain, recorded) if number % 2 else (recorded, plain):
                    if side is recorded:
                        with mode:
                            side.append(seconds(step, times))
                    else:
                        side.append(seconds(step, times))
            count = (recorder.seq - before) / (options.rounds * times)
            ratio = statistics.median(r / p for r, p in zip(recorded, plain, strict=True))
            print(
                f"{name:6} {statistics.median(plain) * 1000:8.2f} ms/step, recorded {statistics.median(recorded) * 1000:8.2f} ms/step "
                f"({count:.0f} operators a step): {ratio:.2f} times"
            )
        one, two = torch.ones(2, 2), torch.ones(2, 2)
        plain_op = min(seconds(lambda: torch.add(one, two), 5000) for _ in range(5))
        with mode:
            recorded_op = min(seconds(lambda: torch.add(one, two), 5000) for _ in range(5))
        print(f"an operator that does nothing: {plain_op * 1e6:.2f} us, recorded {recorded_op * 1e6:.2f} us")
        print(
            f"the ring: {Path(recorder.ring.path).stat().st_size if recorder.ring else 0} bytes for the last {recorder.last} operators"
        )


if __name__ == "__main__":
    main()
