"""`python -m tests.fuzz [TARGET ...] [--seconds 60] [--seed 1]`: every target in a process of its own, for its share of the time.

Instrumenting the program takes longer than a short run fuzzes: it is done once, and each target's process is a copy of the one that did.

Starts from the kept inputs (`tests/data/fuzz/TARGET/`) and from `tests/fuzz/seeds.py`. What breaks a promise is written to --findings and
makes the exit code 1; mended, it goes to the kept inputs, which ordinary tests replay. --keep adds a few small inputs that reach what others do not.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import importlib.util
import io
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent.parent
MEMORY_MB = 2048
HANG_S = 20
KEPT, KEPT_FILES = 4000, 16  # bytes and number of a target's inputs that --keep leaves
ONE = "--one"  # what libFuzzer calls when it starts itself again
ORDER = {"PYTHONHASHSEED": "0"}  # with one seed and one order of sets, a longer run tries what a shorter one tried, and goes on
Targets = Mapping[str, Callable[[bytes], None]]


class Done(NamedTuple):
    """How a target's process ended, and what it said."""

    code: int
    out: str
    err: str


def main() -> int:
    if sys.argv[1:2] == [ONE]:
        _become(_instrumented(), sys.argv[2], sys.argv[3:])
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
    if ORDER.items() - os.environ.items():
        os.execve(sys.executable, [sys.executable, "-m", "tests.fuzz", *sys.argv[1:]], {**os.environ, **ORDER})
    targets = _instrumented()
    names = options.targets or list(targets)
    if unknown := [name for name in names if name not in targets]:
        parser.error(f"there is no target {' '.join(unknown)}; there are {' '.join(targets)}")
    share = max(1, round(options.seconds / len(names)))
    failed = [name for name in names if not fuzz(targets, name, share, options.seed, options.findings.absolute(), options.keep)]
    print(f"{len(names)} targets, with findings: {' '.join(failed) or 'none'}")
    return 1 if failed else 0


def fuzz(targets: Targets, name: str, seconds: int, seed: int, findings: Path, keep: bool) -> bool:
    """One target; False when it broke a promise."""
    from tests.fuzz.pieces import ODD, PIECES
    from tests.fuzz.seeds import SEEDS, kept, write

    with tempfile.TemporaryDirectory() as folder:
        fresh, words = Path(folder, "corpus"), Path(folder, "words")
        write((*SEEDS.get(name, ()), *(p.read_bytes() for p in kept(name))), fresh)
        words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in (*PIECES, *ODD)))
        findings.mkdir(parents=True, exist_ok=True)
        done = _copied(
            targets, name, f"-max_total_time={seconds}", f"-seed={seed}", f"-timeout={HANG_S}", f"-rss_limit_mb={MEMORY_MB}", "-max_len=6000",
            "-len_control=20", f"-dict={words}", f"-artifact_prefix={findings}/{name}-", str(fresh),
        )  # fmt: skip
        told = [row for row in done.err.splitlines() if row.startswith("Done ")]
        print(f"{name}: {told[-1] if told else f'exit code {done.code}'}", flush=True)
        if done.code:
            rows = [row for row in done.err.splitlines() if not row.startswith("#")]
            print(done.out[-3000:], *rows[-25:], sep="\n", flush=True)
        elif keep:
            _keep(targets, name, fresh, Path(folder, "merged"))
    if not any(findings.iterdir()):
        findings.rmdir()
    return done.code == 0


def _keep(targets: Targets, name: str, fresh: Path, merged: Path) -> None:
    """A few of the inputs that together reach most; those that were kept by hand stay."""
    merged.mkdir()
    done = _copied(targets, name, "-merge=1", str(merged), str(fresh))
    if not any(merged.iterdir()):  # nothing reaches nothing: it could not be measured
        raise SystemExit(f"{name}: merging failed: {done.err[-2000:]}")
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


def _copied(targets: Targets, name: str, *arguments: str) -> Done:
    """One target in a copy of this process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        if not (pid := os.fork()):
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            _become(targets, name, arguments)
        _, status = os.waitpid(pid, 0)
        said = [(stream.seek(0), stream.read().decode("utf-8", "replace"))[1] for stream in (out, err)]
    return Done(os.waitstatus_to_exitcode(status), *said)


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def _instrumented() -> Targets:
    """The targets, imported with all that they call so that libFuzzer sees where it goes."""
    import atheris

    names_of_modules = contextlib.redirect_stderr(io.StringIO())  # each is told
    with names_of_modules, atheris.instrument_imports(include=["parsers", "kb", "doctor"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS
    return TARGETS


def _become(targets: Targets, name: str, arguments: Iterable[str]) -> NoReturn:
    """This process fuzzes one target and does not come back: libFuzzer ends it."""
    try:
        import atheris

        target = targets[name]
        target(b"")  # what is made once is made before anything is measured
        # Merging starts itself again, through a shell and by its first argument.
        again = shlex.join([sys.executable, "-m", "tests.fuzz", ONE, name])
        atheris.Setup([again, *arguments], target)
        atheris.Fuzz()
    finally:  # with what broke a promise, which libFuzzer writes when the C library ends the process; nothing of the original is unwound
        traceback.print_exc()
        sys.stderr.flush()
        ctypes.CDLL(None).exit(1)
    raise AssertionError("a process that has ended goes on")


if __name__ == "__main__":
    sys.exit(main())
