"""What hostile, broken and enormous input does: `python -m benchmarks.hostile [PART ...] [--kept FILE] [--sizes 64M 1G 4G] [--rounds 20]`.

It takes hours, and may be done in parts: what --kept holds of the same program is not done again. Every kept and made input goes through its fuzz target, with seeded mutations (`--rounds` of each); every pattern (or a sample) is measured on
worst-case lines; trees of the asked sizes are made, scanned and deleted one after the other. Needs as much disk as the largest tree.
Everything that counts as a failure makes the exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from benchmarks import attacks, trees
from benchmarks.measure import installed, machine, run, table
from doctor.base.output import put
from kb.invisible import STEERING

HANG_S = 20  # of the processor
BLOCKED_S = 600  # of the clock: on a busy machine nothing else tells waiting from working
MOST_OF_A_PATTERN_S = 2.0
SHARES = 8  # parts into which incidents are divided
Part = Callable[["Room"], "Outcome"]


class HangError(BaseException):
    """A target took longer than any input may."""


def _hangs(_number: int, _frame: FrameType | None) -> None:
    raise HangError


def mutated(data: bytes, chance: random.Random) -> bytes:
    """An input with a few of its bytes changed, doubled, cut out, or replaced by what is odd."""
    from tests.fuzz.pieces import ODD, PIECES

    made = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(made) + 1)
        end = min(len(made), at + chance.randint(1, 40))
        how = chance.randrange(4)
        if how == 0:
            made[at:end] = chance.randbytes(end - at)
        elif how == 1:
            made[at:at] = made[at:end] * chance.randint(1, 8)
        elif how == 2:
            del made[at:end]
        else:
            made[at:at] = chance.choice([*ODD, *PIECES]).encode()
    return bytes(made)


def inputs(rounds: int) -> tuple[int, int, int, list[str]]:
    """(tried, crashes, hangs, what broke) over all targets. A target raises at a silent skip as well."""
    from tests.fuzz.seeds import SEEDS, kept
    from tests.fuzz.targets import TARGETS

    chance = random.Random(1)
    tried = crashes = hangs = 0
    broken: list[str] = []
    signal.signal(signal.SIGALRM, _hangs)
    signal.signal(signal.SIGPROF, _hangs)
    for name, target in TARGETS.items():
        target(b"")  # what is made once is made before anything is measured
        seeds = [b"", *SEEDS.get(name, ()), *(p.read_bytes() for p in kept(name))]
        for data in (*seeds, *(mutated(chance.choice(seeds), chance) for _ in range(rounds * 10))):
            tried += 1
            signal.alarm(BLOCKED_S)
            signal.setitimer(signal.ITIMER_PROF, HANG_S)
            try:
                target(data)
            except HangError:
                hangs += 1
                broken.append(f"{name}: hangs on {data[:60]!r}")
            except Exception as error:  # noqa: BLE001 - what it counts
                crashes += 1
                broken.append(f"{name}: {type(error).__name__} {error!s:.80} on {data[:60]!r}")
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
    return tried, crashes, hangs, broken


COMMAND = re.compile(r"^\s*::[a-z-]|##\[|##vso\[", re.MULTILINE)  # of a machine that runs a pipeline
ORDER = b"::error::pwn ##vso[task.x] ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"


def injections() -> int:
    """Steering characters, and commands of pipelines, in what every renderer makes of hostile lines."""
    from tests.tests_support import hostile_log

    steered = 0
    for words in (("-f", "text", "-v"), ("-f", "md"), ("-f", "json"), ("-f", "html")):
        done = subprocess.run([sys.executable, "-m", "doctor", "scan", "-", *words], input=ORDER, capture_output=True, check=False)
        steered += len(COMMAND.findall((done.stdout + done.stderr).decode()))
    for form in ("text", "json", "jsonl", "md"):
        command = [sys.executable, "-m", "doctor", "scan", "-", "-f", form, "--all"]
        out = subprocess.run(command, input=hostile_log(), capture_output=True, check=False, env={**os.environ, "PYTHONUTF8": "1"}).stdout.decode()
        steered += len(STEERING.findall(out.replace("\n", "")))
        steered += sum(len(STEERING.findall(str(json.loads(row)["path"]))) for row in out.splitlines() if form == "json" and '{"path"' in row[:8])
    return steered


def leaks() -> tuple[int, int, list[str]]:
    """(secrets planted, times one came out, where): each kind in all its contexts, through every form that is redacted, in both languages."""
    from doctor.judge.diagnosis import conclude
    from doctor.judge.proof import Bench
    from doctor.read import discover
    from kb.knowledge import load
    from tests.planted import answers, groups, leaked, log_with

    bench = Bench(load())
    tried, out = 0, []
    for group in groups():
        text, path = log_with(group)
        tried += sum(len(p.secrets) for p in group)
        diagnosis = conclude([bench._scanner.scan(discover.given_text(text, path))], bench.knowledge)
        for form, told in answers(diagnosis, bench.knowledge, text, path).items():
            out += [f"leaked in {form}: {secret} ({p.kind})" for p in group for secret in leaked(p.secrets, told)]
    return tried, len(out), out


def worst_pattern(sample: int) -> tuple[float, str, int]:
    from doctor.scan.plan import PLAIN
    from kb.knowledge import load
    from tests.fuzz import worst

    signals = [s for s in load().signals() if s.form in ("regex", "code", "exit")]
    chosen = random.Random(1).sample(signals, min(sample, len(signals))) if sample else signals
    found = [worst.measure(re.compile(s.pattern), s.id, PLAIN) for s in chosen]
    found += [worst.measure(p, n, 2048) for n, p in worst.of_code().items()]
    slowest = max(found)
    return slowest.seconds, slowest.where, len(found)


def memory(size: str, place: Path, folder: Path) -> tuple[float, float]:
    """(peak MB of the scanning process with one worker, seconds) on a tree that is deleted again."""
    tree = folder / "tree"
    trees.write(tree, "nasty", trees.size_of(size), 16)
    try:
        cost = run([sys.executable, "-m", "doctor", "scan", "-j1", str(tree)], cwd=place, env={"XDG_CACHE_HOME": str(folder / "cache")})
    finally:
        shutil.rmtree(tree)
    return cost.rss / 1e6, cost.wall


class Room(NamedTuple):
    """Where a part works: a folder of its own, the program as it is installed, what was asked for."""

    folder: Path
    place: Path
    options: argparse.Namespace


class Outcome(NamedTuple):
    """What a part has found: rows of figures, and failures of which each is a line of text."""

    rows: tuple[tuple[str, str], ...]
    failures: tuple[str, ...] = ()


def _inputs(room: Room) -> Outcome:
    tried, crashes, hangs, broken = inputs(room.options.rounds)
    silent = sum("assert" in row.lower() for row in broken)
    memory = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    return Outcome(
        (
            ("inputs tried", str(tried)), ("crashes", str(crashes - silent)), ("hangs", str(hangs)),
            ("silent skips and other broken promises", str(silent)), ("memory of this process, all inputs", memory),
        ), tuple(broken),
    )  # fmt: skip


def _injections(_room: Room) -> Outcome:
    steered = injections()
    return Outcome((("injections", str(steered)),), (f"{steered} steering characters came out",) if steered else ())


def _leaks(room: Room) -> Outcome:
    from tests.planted import groups, kept_secrets

    planted, leaked, where = leaks()
    kept = [f"kept in a baseline: {secret} ({kind})" for kind, secret in kept_secrets(list(groups()), room.folder)]
    rows = (("secrets planted", str(planted)), ("secrets leaked", str(leaked)), ("secrets kept in a baseline", str(len(kept))))
    return Outcome(rows, (*where, *kept))


def _patterns(room: Room) -> Outcome:
    seconds, where, patterns = worst_pattern(room.options.patterns)
    slow = (f"{where} takes {seconds:.1f} s on its worst line",) if seconds >= MOST_OF_A_PATTERN_S else ()
    return Outcome((("patterns measured", str(patterns)), (f"worst pattern ({where})", f"{1000 * seconds:.0f} ms")), slow)


def _counted(what: str, tried: int, found: Sequence[str]) -> Outcome:
    return Outcome(((f"{what}: tried, failed", f"{tried}, {len(found)}"),), tuple(found))


def _relations(number: int) -> Part:
    def part(room: Room) -> Outcome:
        return _counted(f"incidents in other forms ({number + 1}/{SHARES})", *attacks.relations(room.options.share, number, SHARES))

    return part


def _edges(room: Room) -> Outcome:
    return _counted("errors at edges of ranges", *attacks.edges(room.place, room.folder))


def _knowledge(room: Room) -> Outcome:
    return _counted("folders of hostile knowledge", *attacks.knowledge(room.place, room.folder))


def _many(what: str, count: int, cost: tuple[float, float, list[str]]) -> Outcome:
    peak, cpu, found = cost
    return Outcome(((f"peak memory, {count} {what}", f"{peak:.0f} MB in {cpu:.1f} s of the processor"),), tuple(found))


def _files(room: Room) -> Outcome:
    return _many("files", room.options.files, attacks.many_files(room.place, room.folder, room.options.files))


def _errors(room: Room) -> Outcome:
    return _many("distinct errors", room.options.errors, attacks.distinct_errors(room.place, room.folder, room.options.errors))


def _entries(room: Room) -> Outcome:
    costs, found = attacks.many_entries(room.place, room.folder, room.options.entries)
    told = tuple((f"{room.options.entries} entries by {how}", f"{cost.wall:.1f} s, {cost.cpu:.1f} s of the processor, {cost.rss / 1e6:.0f} MB") for how, cost in costs.items())
    return Outcome(told, tuple(found))


def _trees(room: Room) -> Outcome:
    rows = []
    for size in room.options.sizes:
        if shutil.disk_usage(room.folder).free < 1.2 * trees.size_of(size):
            rows.append((f"peak memory, {size} tree", "not enough disk"))
            continue
        peak, wall = memory(size, room.place, room.folder)
        rows.append((f"peak memory, {size} tree", f"{peak:.0f} MB in {wall:.1f} s"))
    return Outcome(tuple(rows))


PARTS: dict[str, Part] = {
    "inputs": _inputs,
    "injections": _injections,
    "leaks": _leaks,
    "patterns": _patterns,
    **{f"relations-{number + 1}": _relations(number) for number in range(SHARES)},
    "edges": _edges,
    "knowledge": _knowledge,
    "files": _files,
    "errors": _errors,
    "entries": _entries,
    "trees": _trees,
}


def alone(name: str, place: Path, options: argparse.Namespace) -> Outcome:
    """A part in a process of its own: what it starts is not charged with the memory of the parts before it, and its death is a failure."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(_part, name, place, options).result()
        except BrokenProcessPool:
            return Outcome((), (f"{name}: its process died",))


def _part(name: str, place: Path, options: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="npu-doctor-hostile-") as folder:
        return PARTS[name](Room(Path(folder), place, options))


def program() -> str:
    """What the program and its knowledge are, in a few letters: a part that was done on another one is done again."""
    known = hashlib.sha1()
    for room in ("parsers", "kb", "doctor"):
        for path in sorted((attacks.ROOT / room).rglob("*")):
            if path.suffix in (".py", ".yaml") and path.is_file():
                known.update(path.read_bytes())
    return known.hexdigest()[:12]


def kept(path: Path | None, which: str) -> dict[str, Outcome]:
    """The parts that an earlier call has done on this very program."""
    if path is None or not path.exists():
        return {}
    told = json.loads(path.read_text(encoding="utf-8"))
    return {name: Outcome(tuple(map(tuple, row["rows"])), tuple(row["failures"])) for name, row in told.items() if row["program"] == which}


def keep(path: Path | None, which: str, done: Mapping[str, Outcome]) -> None:
    if path is not None:
        told = {name: {"program": which, "rows": outcome.rows, "failures": outcome.failures} for name, outcome in done.items()}
        put(path, json.dumps(told, indent=1).encode())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these (default: all): {', '.join(PARTS)}")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="what is done is kept here, part by part; called again, the rest is done")
    parser.add_argument("--sizes", nargs="*", default=["64M", "1G", "4G"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--patterns", type=int, default=0, help="measure only so many of the knowledge's patterns (default: all)")
    parser.add_argument("--share", type=int, default=1, help="every so manieth incident goes through all relations (default: each)")
    parser.add_argument("--files", type=int, default=200_000, help="files of the largest tree")
    parser.add_argument("--errors", type=int, default=5_000_000, help="errors of which no two are alike")
    parser.add_argument("--entries", type=int, default=10_000, help="entries of a user that all explain one line")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    which = program()
    done = kept(options.kept, which)
    with installed() as place:
        for name in options.parts or PARTS:
            if name in done:
                continue
            begin = time.perf_counter()
            done[name] = alone(name, place, options)
            print(f"{name}: {len(done[name].failures)} failures, {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
            keep(options.kept, which, done)
    told = [done[name] for name in PARTS if name in done]
    failures = [failure for outcome in told for failure in outcome.failures]
    print(f"{machine()}; program {which}; {len(told)} of {len(PARTS)} parts\n")
    print(table(("what", "result"), [*(row for outcome in told for row in outcome.rows), ("failures", str(len(failures)))]))
    print(*failures[:60], sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
