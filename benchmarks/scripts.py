"""Scripts made of logs, run on the CPU of a machine with PyTorch: how long they are, and what they say.

    python -m benchmarks.scripts [DIR ...]        default: the incidents of the tests

Each file that names an operator gives one script, as `npu-doctor repro --from FILE` writes it. It is run without an NPU: the
same result, a call that the CPU refuses and says so, a case that cannot be compared and says so, one that needs torch_npu, or a
plain failure, which is a fault of ours and is listed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import median

from doctor.repro import choose, gather
from doctor.repro.choose import Wish
from doctor.repro.operator_table import load
from doctor.repro.short import script
from doctor.repro.validate import SlotError

INCIDENTS = Path(__file__).resolve().parent.parent / "tests" / "data" / "incidents"
LIMIT_S = 120
VERDICTS = {
    "same result as the CPU": "same result",
    "the call is wrong on every device": "the error of the log, on the CPU",
    "malformed:": "the CPU refuses it, and it says so",
    "not comparable": "not comparable, and it says so",
    "nothing is compared": "not comparable, and it says so",
    "torch_npu' is not defined": "needs torch_npu",
    "torch_npu has no": "needs torch_npu",
    "is not finite": "same result",
    "are not finite on the device": "same result",
    "in one piece can be had": "same result",
    "no error": "same result",
    " is done": "same result",
    "run 2:": "same result",
    "refused:": "same result",
    ": taken": "same result",
}


def written(path: Path) -> str:
    """The script of a log; empty when it names no operator."""
    found = gather.evidence([str(path)]).operators()
    if not found:
        return ""
    try:
        return script(choose.request(found[0], load(), Wish())).text
    except SlotError:
        return ""


def verdict(text: str) -> str:
    """What the script says on the CPU; the last line of its failure when it says nothing that it may say."""
    if "# torchrun" in text:
        return "needs two processes"
    try:
        done = subprocess.run([sys.executable, "-", "cpu"], input=text, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "too slow for a CPU"
    said = done.stdout + done.stderr
    return next((name for mark, name in VERDICTS.items() if mark in said), "FAILED: " + (said.strip().splitlines() or ["nothing"])[-1][:120])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[INCIDENTS], metavar="DIR")
    parser.add_argument("--most", type=int, default=1000, help="scripts that are run at most")
    options = parser.parse_args()
    files = sorted(path for folder in options.folders for path in folder.rglob("*") if path.is_file() and path.name != "label.json")
    scripts = {path: text for path in files if (text := written(path))}
    seen: dict[str, str] = {}
    for text in list(dict.fromkeys(scripts.values()))[: options.most]:
        seen[text] = verdict(text)
    lengths = [text.count("\n") for text in scripts.values()]
    print(f"{len(files)} files, {len(scripts)} scripts, {len(seen)} of them different and run; lines: median {median(lengths or [0]):.0f}, longest {max(lengths, default=0)}")
    for name, count in Counter(seen.values()).most_common():
        print(f"{count:5} {name}")
    for path, text in scripts.items():
        if seen.get(text, "").startswith("FAILED"):
            print(f"  {path.parent.name}/{path.name}: {seen[text]}")


if __name__ == "__main__":
    main()
