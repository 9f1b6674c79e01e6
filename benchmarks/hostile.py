"""What hostile, broken and enormous input does: `python -m benchmarks.hostile [--sizes 64M 1G 4G] [--rounds 20] [--patterns 200]`.

Every kept and made input goes through its fuzz target, with seeded mutations (`--rounds` of each); every pattern (or a sample) is measured on
worst-case lines; trees of the asked sizes are made, scanned and deleted one after the other. Needs as much disk as the largest tree.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from benchmarks import attacks, trees
from benchmarks.measure import installed, machine, run, table
from kb.invisible import STEERING

HANG_S = 20


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
    for name, target in TARGETS.items():
        seeds = [b"", *SEEDS.get(name, ()), *(p.read_bytes() for p in kept(name))]
        for data in (*seeds, *(mutated(chance.choice(seeds), chance) for _ in range(rounds * 10))):
            tried += 1
            signal.alarm(HANG_S)
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
    return tried, crashes, hangs, broken


def injections() -> int:
    """Steering characters in what every renderer makes of hostile lines."""
    import json
    import subprocess

    from tests.tests_support import hostile_log

    steered = 0
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


def classes(place: Path, folder: Path, options: argparse.Namespace) -> tuple[list[str], list[list[str]]]:
    """What must not depend on form, place, company or number: failures, and rows of figures."""
    failures: list[str] = []
    rows: list[list[str]] = []
    for what, (tried, found) in {
        "incidents in other forms": attacks.relations(options.share),
        "errors at edges of ranges": attacks.edges(place, folder),
        "folders of hostile knowledge": attacks.knowledge(place, folder),
    }.items():
        failures += found
        rows.append([f"{what}: tried, failed", f"{tried}, {len(found)}"])
    for what, count, attack in (("files", options.files, attacks.many_files), ("distinct errors", options.errors, attacks.distinct_errors)):
        if count:
            peak, cpu, found = attack(place, folder, count)
            failures += found
            rows.append([f"peak memory, {count} {what}", f"{peak:.0f} MB in {cpu:.1f} s of the processor"])
    return failures, rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=["64M", "1G", "4G"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--patterns", type=int, default=0, help="measure only so many of the knowledge's patterns (default: all)")
    parser.add_argument("--share", type=int, default=1, help="every so manieth incident goes through all relations (default: each)")
    parser.add_argument("--files", type=int, default=200_000, help="files of the largest tree")
    parser.add_argument("--errors", type=int, default=5_000_000, help="errors of which no two are alike")
    options = parser.parse_args()
    begin = time.perf_counter()
    tried, crashes, hangs, broken = inputs(options.rounds)
    silent = sum("assert" in row.lower() for row in broken)
    steered = injections()
    planted, leaked, where_leaked = leaks()
    seconds, where, patterns = worst_pattern(options.patterns)
    rows = [
        ["inputs tried", str(tried)], ["crashes", str(crashes - silent)], ["hangs", str(hangs)], ["silent skips and other broken promises", str(silent)],
        ["secrets planted", str(planted)], ["secrets leaked", str(leaked)], ["injections", str(steered)], ["patterns measured", str(patterns)],
        [f"worst pattern ({where})", f"{1000 * seconds:.0f} ms"],
        ["memory of this process, all inputs", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"],
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="npu-doctor-hostile-") as name, installed() as place:
        failures, more = classes(place, Path(name), options)
        rows += more
        for size in options.sizes:
            free = shutil.disk_usage(name).free
            if free < 1.2 * trees.size_of(size):
                rows.append([f"peak memory, {size} tree", "not enough disk"])
                continue
            peak, wall = memory(size, place, Path(name))
            rows.append([f"peak memory, {size} tree", f"{peak:.0f} MB in {wall:.1f} s"])
    print(f"{machine()}; {time.perf_counter() - begin:.0f} s\n")
    print(table(("what", "result"), rows))
    print(*broken[:20], *where_leaked[:20], *failures[:40], sep="\n")
    return 1 if crashes or hangs or steered or leaked or failures else 0


if __name__ == "__main__":
    sys.exit(main())
