"""A folder with its own Python, for hosts whose Python is too old: `python tools/folder.py -o DIR`. Needs PyInstaller.

It runs on machines of the same architecture whose glibc is at least that of this one: make it on the oldest, or in a container of it.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHOLE = ("doctor", "kb", "parsers", "textual", "rich")
MODULES = ("hyperscan", "hyperscan._hs_ext", "ahocorasick_rs", "isal.isal_zlib", "isal._isal", "zstandard.backend_c", "regex", "rapidfuzz", "yaml")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(work / "wheel"), str(ROOT)], check=True)
        start = work / "start.py"
        start.write_text("import sys\nfrom doctor.__main__ import main\nsys.exit(main())\n")
        call = [sys.executable, "-m", "PyInstaller", "--onedir", "--noconfirm", "--log-level", "ERROR", "--name", "npu-doctor", "--paths", str(work / "wheel")]
        call += ["--distpath", str(options.output.resolve()), "--workpath", str(work / "work"), "--specpath", str(work)]
        call += [f"--collect-all={package}" for package in WHOLE] + [f"--hidden-import={module}" for module in MODULES] + ["--collect-all=rapidfuzz", "--collect-all=pygments", str(start)]
        subprocess.run(call, check=True, cwd=work)
    print(f"{options.output / 'npu-doctor'}: for {platform.machine()} with glibc {platform.libc_ver()[1]} or newer")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
