"""How fast logs are scanned: `python -m benchmarks.scan [--trees 64M/4 1G/48] [--rounds 3] [--files 200000] [--full] [--readme]`.

Makes the seeded trees it needs (see `benchmarks.trees`) in a folder for temporary files, or in --data, where they stay. Whole
processes are measured, each round all of them, and judged by processor time. `rg -c -F -f` gets the same literals, one thread;
so does `grep`; `wc -l` and lnav, which only indexes, are there for scale. What is not installed is left out. Versions are told.
Trees of more than 2 GB are of the typical kind only. --full: 64 MB, 1 GB and 4 GB, in 4, 48 and 1000 files; it needs 15 GB.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import trees
from benchmarks.measure import Cost, installed, machine, median, paired, ratio, run, table, write_between
from doctor.scan.windows import WINDOW

KINDS = ("typical", "nasty", "storm")
SIGNATURES = 5000
SMALL = ("4M", 4)  # for engines: the plain one looks for each literal by itself
README = Path(__file__).resolve().parent.parent / "docs" / "speed.md"
Runs = dict[str, Callable[[], Cost]]


class Bench:
    """The program as installed, the trees, and what was measured."""

    def __init__(self, place: Path, data: Path, rounds: int) -> None:
        self.place, self.data, self.rounds = place, data, rounds
        self.rg = shutil.which("rg")
        self.env = {"XDG_CACHE_HOME": str(data / "cache")}
        self.literals = data / "literals"
        from kb.knowledge import load

        anchors = {a for s in load().signals() if not s.id.startswith("situation:") for a in s.anchors}  # what all of a log is searched for
        self.literals.write_text("\n".join(sorted(anchors)) + "\n", encoding="utf-8")

    def tree(self, kind: str, size: str, files: int) -> Path:
        folder = self.data / f"{kind}-{size}-{files}"
        if not folder.is_dir():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            trees.write(part, kind, trees.size_of(size), files)
            part.rename(folder)
        return folder

    def scan(self, path: Path, *options: str, env: dict[str, str] | None = None) -> Callable[[], Cost]:
        command = [sys.executable, "-m", "doctor", "scan", *options, str(path)]
        return lambda: run(command, cwd=self.place, env={**self.env, **(env or {})})

    def ripgrep(self, path: Path) -> Runs:
        """One thread, and text whatever the bytes are: what we read as well."""
        if self.rg is None:
            return {}
        return {"rg": self.into_file(self.rg, "-j1", "-c", "-a", "-F", "-f", str(self.literals), str(path))}

    def into_file(self, *command: str) -> Callable[[], Cost]:
        """Tools look at less when they find that nobody reads what they print."""
        kept = self.data / "printed"
        return lambda: run(["sh", "-c", 'exec "$@" > "$0"', str(kept), *command], env={"LC_ALL": "C"})

    def peers(self, path: Path) -> Runs:
        """What else is used on logs, by name."""
        files = sorted(str(p) for p in path.rglob("*.log"))
        commands = {
            "grep": ("grep", "-c", "-a", "-F", "-f", str(self.literals), *files),
            "wc": ("wc", "-l", *files),
            "lnav": ("lnav", "-n", "-c", ";select count(*) from all_logs", *files),
        }
        return {name: self.into_file(*command) for name, command in commands.items() if shutil.which(name)}

    def measure(self, runs: Runs, *first: str) -> dict[str, list[Cost]]:
        """Each round all of them, after some of them once: those that fill the page cache or make an automaton."""
        paired({name: runs[name] for name in first}, 1)
        return paired(runs, self.rounds)


def against_ripgrep(bench: Bench, size: str, files: int) -> Iterator[list[str]]:
    """One process and two, next to ripgrep with the same literals."""
    for kind in KINDS if trees.size_of(size) <= 2 << 30 else KINDS[:1]:
        path = bench.tree(kind, size, files)
        total = size_on_disk(path)
        costs = bench.measure(
            {"one": bench.scan(path, "-j1"), "two": bench.scan(path, "-j2"), **bench.ripgrep(path)}, "one"
        )
        one, two = costs["one"], costs["two"]
        rg = costs.get("rg")
        yield [
            f"{kind}, {size} in {files} files", f"{median(one):.2f}", f"{total / median(one) / 1e6:.0f}",
            f"{median(rg):.2f}" if rg else "-", f"{ratio(one, rg):.2f}" if rg else "-",
            f"{ratio(two, one, 'wall'):.2f}", f"{max(c.rss for c in one) / 1e6:.0f}",
        ]  # fmt: skip


def against_others(bench: Bench, size: str, files: int) -> Iterator[list[str]]:
    """Whole processes over the same trees."""
    costs = {}
    for kind in KINDS:
        path = bench.tree(kind, size, files)
        costs[kind] = bench.measure({"npu-doctor": bench.scan(path, "-j1"), **bench.ripgrep(path), **bench.peers(path)}, "npu-doctor")
    for name in costs[KINDS[0]]:
        yield [CALLS[name], *(f"{median(costs[kind][name]):.2f}" for kind in KINDS)]


CALLS = {
    "npu-doctor": "`npu-doctor scan -j1`", "rg": "`rg -j1 -c -a -F -f`, the same literals", "grep": "`grep -c -a -F -f`, the same literals",
    "wc": "`wc -l`", "lnav": "`lnav -n`, indexing alone",
}  # fmt: skip


def versions() -> str:
    """Of everything that is compared."""
    from importlib import metadata

    from doctor.version import __version__

    found = [f"npu-doctor {__version__}"]
    for name in ("hyperscan", "isal", "ahocorasick_rs"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name}: not installed")
    for name in ("rg", "grep", "wc", "lnav"):
        if shutil.which(name):
            told = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
            found.append(told.partition("\n")[0].strip())
        else:
            found.append(f"{name}: not installed")
    return ", ".join(found)


def engines(bench: Bench, size: str, files: int) -> Iterator[list[str]]:
    """The same tree with each engine that finds literals."""
    path = bench.tree("typical", size, files)
    names = ("hyperscan", "ahocorasick_rs", "plain")
    costs = bench.measure({n: bench.scan(path, "-j1", env={"NPU_DOCTOR_ENGINE": n}) for n in names}, *names[:2])
    for name in names:
        speed = size_on_disk(path) / median(costs[name]) / 1e6
        yield [name, f"{median(costs[name]):.2f}", f"{speed:.0f}", f"{ratio(costs[names[0]], costs[name]):.1f}"]


def more_knowledge(bench: Bench, size: str, files: int) -> Iterator[list[str]]:
    """The shipped knowledge, and 5 000 made-up signatures on top of it."""
    folder = synthetic(bench.data / "synthetic")
    for kind in ("typical", "nasty"):
        path = bench.tree(kind, size, files)
        costs = bench.measure({"shipped": bench.scan(path, "-j1"), "more": bench.scan(path, "-j1", "--kb", str(folder))}, "more")
        shipped, more = costs["shipped"], costs["more"]
        yield [kind, f"{median(shipped):.2f}", f"{median(more):.2f}", f"{ratio(shipped, more):.2f}"]


def compressed(bench: Bench, size: str) -> Iterator[list[str]]:
    """A file of a typical tree, plain and packed; speed is that of what it holds. Inflating is measured in this process, without a scan."""
    path = next(p for p in sorted(bench.tree("typical", size, 1).rglob("*.log")))
    packed = {kind: bench.data / f"typical-{size}.log.{kind}" for kind in ("gz", "zst", "tar.gz")}
    if not packed["gz"].is_file():
        with path.open("rb") as source, gzip.open(packed["gz"], "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        with tarfile.open(packed["tar.gz"], "w:gz", compresslevel=6) as archive:
            archive.add(path, path.name)
        if (zstd := shutil.which("zstd")) is not None:
            subprocess.run([zstd, "-q", str(path), "-o", str(packed["zst"])], check=True)
    kinds = {"plain": path, **{kind: place for kind, place in packed.items() if place.is_file()}}
    costs = bench.measure({kind: bench.scan(place, "-j1") for kind, place in kinds.items()}, *kinds)
    for kind, place in kinds.items():
        inflating = "-" if kind == "plain" else f"{path.stat().st_size / _inflating(place) / 1e6:.0f}"
        yield [f"one file, {kind}", f"{median(costs[kind]):.2f}", f"{path.stat().st_size / median(costs[kind]) / 1e6:.0f}", inflating]


def _inflating(path: Path) -> float:
    """Seconds of processor that reading what is packed takes."""
    from doctor.read.discover import discover

    spent = []
    for _ in range(3):
        source = discover([str(path)]).sources[0]
        begin = time.process_time()
        with source.open() as stream:
            while stream.read(WINDOW):
                pass
        spent.append(time.process_time() - begin)
    return min(spent)


def small_files(bench: Bench, count: int) -> Iterator[list[str]]:
    """A tree of so many files of a few lines each, with all processors that there are."""
    folder = bench.data / f"small-{count}"
    if not folder.is_dir():
        tree, chance = trees.Tree(count, 4000), random.Random(count)
        lines = [tree.line("INFO", chance.choice(trees.INFO)) for _ in range(4000)]
        for number in range(count):
            place = f"{folder}/node-{number // 20000}/job_{number // 400}"
            if number % 400 == 0:
                os.makedirs(place)
            at = chance.randrange(3900)
            with open(f"{place}/worker_{number}.log", "w", encoding="utf-8") as file:
                file.write("".join(lines[at : at + chance.randrange(1, 12)]))
    cost = bench.scan(folder)()
    yield [f"{count} small files", f"{cost.cpu:.1f}", f"{cost.wall:.1f}", f"{cost.rss / 1e6:.0f}"]


ENTRY = """code: SYN{number:03}
status: stable
severity: error
role: cause
kind: device-exception
component: CANN
confidence: low
title: {{en: "made up", zh: "虚构"}}
cause: {{en: "made up", zh: "虚构"}}
evidence:
  any:
{leaves}
fixes:
  - {{goal: locate, risk: low, title: {{en: "look", zh: "查看"}}, commands: [{{run: "npu-smi info", changes: nothing}}]}}
references:
  - {{kind: source, title: "made up", url: "https://example.org"}}
samples:
  match:
    - {{name: a, text: "{sample}"}}
"""


def synthetic(folder: Path) -> Path:
    """5 000 signatures in 500 entries, of words as logs have them."""
    if folder.is_dir():
        return folder
    (folder / "entries").mkdir(parents=True)
    chance = random.Random(5)
    parts = "alloc stream kernel tensor queue remote link device graph buffer notify memory engine socket cache block tiling event".split()  # fmt: skip # noqa: SIM905

    def words() -> str:
        name = "".join(chance.choice(parts).title() for _ in range(2))
        return f"{chance.choice(parts)} {name}{chance.randrange(99)} {chance.choice(parts)} failed in {chance.choice(parts)}"

    for number in range(SIGNATURES // 10):
        texts = [words() for _ in range(10)]
        leaves = [f'    - {{text: "{t}"}}' if i % 2 else f"    - {{regex: '{t}.{{0,40}}?ret=(?P<r{i}>\\d+)'}}" for i, t in enumerate(texts)]
        text = ENTRY.format(number=number, leaves="\n".join(leaves), sample=texts[1])
        (folder / "entries" / f"syn{number:03}_made-up.yaml").write_text(text, encoding="utf-8")
    return folder


def size_on_disk(path: Path) -> int:
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


@contextmanager
def place_for(data: Path | None) -> Iterator[Path]:
    if data is not None:
        data.mkdir(parents=True, exist_ok=True)
        yield data.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="npu-doctor-trees-") as name:
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", nargs="+", default=["64M/8"], metavar="SIZE/FILES", help="the first one is for the small tables")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="keep the trees here (default: a temporary folder)")
    parser.add_argument("--files", type=int, default=0, help="also a tree of so many small files")
    parser.add_argument("--full", action="store_true", help="64 MB, 1 GB and 4 GB in 4, 48 and 1000 files")
    parser.add_argument("--readme", action="store_true", help="write the tables into docs/speed.md")
    options = parser.parse_args()
    asked = ["64M/4", "1G/4", "1G/48", "1G/1000", "4G/48"] if options.full else options.trees
    shapes = [(size, int(files)) for size, _, files in (text.partition("/") for text in asked)]
    parts: list[str] = []

    def told(text: str) -> None:
        parts.append(text)
        print(text, "\n", flush=True)

    with place_for(options.data) as data, installed() as place:
        bench = Bench(place, data, options.rounds)
        call = " ".join(["python -m benchmarks.scan", *(a for a in sys.argv[1:] if a != "--readme")])
        told(f"{machine()}; `{call}`; medians of {options.rounds} paired rounds, seconds of processor time, whole processes. {versions()}.")
        head: tuple[str, ...] = ("tree", "s", "MB/s", "rg -j1, s", "times rg's speed", "two processes: times as fast", "peak MB")
        told(table(head, [row for size, files in shapes for row in against_ripgrep(bench, size, files)]))
        told(table((f"{shapes[0][0]} in {shapes[0][1]} files, s", *KINDS), list(against_others(bench, *shapes[0]))))
        told(table((f"engine, typical, {SMALL[0]}", "s", "MB/s", "times the first"), list(engines(bench, *SMALL))))
        head = ("tree", "shipped knowledge, s", f"and {SIGNATURES} signatures more, s", "times")
        told(table(head, list(more_knowledge(bench, *shapes[min(1, len(shapes) - 1)]))))
        told(table(("compressed", "s", "MB/s of text", "inflating alone, MB/s of text"), list(compressed(bench, shapes[0][0]))))
        if options.files:
            told(table(("tree, all processors", "s of processor", "s on the clock", "peak MB"), list(small_files(bench, options.files))))
    if options.readme and not write_between(README, "benchmarks.scan", "\n\n".join(parts)):
        print("docs/speed.md has no markers for this table", file=sys.stderr)


if __name__ == "__main__":
    os.environ.pop("NPU_DOCTOR_ENGINE", None)
    main()
