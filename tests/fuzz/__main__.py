"""`python -m tests.fuzz [TARGET ...] [--seconds 60] [--seed 1]`: every target in a process of its own, for its share of the time.

Starts from the kept inputs (`tests/data/fuzz/TARGET/`) and from `tests/fuzz/seeds.py`. What breaks a promise is written to --findings and
makes the exit code 1; mended, it goes to the kept inputs, which ordinary tests replay. --keep adds a few small inputs that reach what others do not.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MEMORY_MB = 2048
HANG_S = 20
KEPT, KEPT_FILES = 4000, 16  # bytes and number of a target's inputs that --keep leaves
ONE = "--one"  # the child's call


def main() -> int:
    if sys.argv[1:2] == [ONE]:
        return _one(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed here (it has wheels for some Pythons only): pip install 'npu-doctor[fuzz]'")
        return 0
    from tests.fuzz.targets import TARGETS

    names = options.targets or list(TARGETS)
    share = max(1, round(options.seconds / len(names)))
    failed = [name for name in names if not fuzz(name, share, options.seed, options.findings.absolute(), options.keep)]
    print(f"{len(names)} targets, with findings: {' '.join(failed) or 'none'}")
    return 1 if failed else 0


def fuzz(name: str, seconds: int, seed: int, findings: Path, keep: bool) -> bool:
    """One target; False when it broke a promise."""
    from tests.fuzz.pieces import ODD, PIECES
    from tests.fuzz.seeds import SEEDS, kept, write

    with tempfile.TemporaryDirectory() as folder:
        fresh, words = Path(folder, "corpus"), Path(folder, "words")
        write((*SEEDS.get(name, ()), *(p.read_bytes() for p in kept(name))), fresh)
        words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in (*PIECES, *ODD)))
        findings.mkdir(parents=True, exist_ok=True)
        done = _child(
            name, f"-max_total_time={seconds}", f"-seed={seed}", f"-timeout={HANG_S}", f"-rss_limit_mb={MEMORY_MB}", "-max_len=6000",
            "-len_control=20", f"-dict={words}", f"-artifact_prefix={findings}/{name}-", str(fresh),
        )  # fmt: skip
        told = [row for row in done.stderr.splitlines() if row.startswith("Done ")]
        print(f"{name}: {told[-1] if told else f'exit code {done.returncode}'}", flush=True)
        if done.returncode:
            rows = [row for row in done.stderr.splitlines() if "Instrumenting" not in row and not row.startswith("#")]
            print(done.stdout[-3000:], *rows[-25:], sep="\n", flush=True)
        elif keep:
            _keep(name, fresh, Path(folder, "merged"))
    if not any(findings.iterdir()):
        findings.rmdir()
    return done.returncode == 0


def _keep(name: str, fresh: Path, merged: Path) -> None:
    """A few of the inputs that together reach most; those that were kept by hand stay."""
    merged.mkdir()
    done = _child(name, "-merge=1", str(merged), str(fresh))
    if not any(merged.iterdir()):  # nothing reaches nothing: it could not be measured
        raise SystemExit(f"{name}: merging failed: {done.stderr[-2000:]}")
    target = ROOT / "tests" / "data" / "fuzz" / name
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("found-*"):
        old.unlink()
    for data in few(path.read_bytes() for path in merged.iterdir()):
        (target / f"found-{hashlib.sha1(data).hexdigest()[:12]}").write_bytes(data)


def few(found: Iterable[bytes]) -> list[bytes]:
    """Inputs of all sizes, from the smallest on, within the bounds of what is kept."""
    fitting = [data for data in sorted(found, key=lambda d: (len(d), d)) if data and len(data) <= KEPT // 4]
    chosen = fitting[:: max(1, -(-len(fitting) // KEPT_FILES))]
    while sum(map(len, chosen)) > KEPT:
        chosen.pop()
    return chosen


def _child(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command: Sequence[str] = [sys.executable, "-m", "tests.fuzz", ONE, name, *arguments]
    # With one seed and one order of sets, a longer run tries what a shorter one tried, and goes on.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False, env=environment
    )


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def _one(name: str, arguments: list[str]) -> int:
    """This process fuzzes one target and does not come back: libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["parsers", "kb", "doctor"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    target(b"")  # what is made once is made before anything is measured
    # Merging starts itself again, through a shell and by its first argument.
    again = shlex.join([sys.executable, "-m", "tests.fuzz", ONE, name])
    atheris.Setup([again, *arguments], target)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
