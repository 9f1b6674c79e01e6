"""`npu-doctor version`: the program, the knowledge, the libraries that make it fast, and the Python it runs on."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import Any

from doctor.base import exits
from doctor.base.notation import clean
from doctor.base.words import word
from doctor.commands import common
from doctor.version import __version__
from kb.in_use import added

ENGINES = ("hyperscan", "ahocorasick_rs", "isal", "zstandard", "regex", "rapidfuzz", "textual")


def arguments() -> common.Parser:
    made = common.parser("version", "Tell the versions of the program, of its knowledge, of the libraries that make it fast, and of Python.")
    made.add_argument("--json", action="store_true", help="the same as JSON")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    told = versions(args)
    sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n" if args.json else _text(told, common.language(args)))
    return exits.CLEAN


def versions(args: argparse.Namespace) -> dict[str, Any]:
    known = common.knowledge(args)
    header = known.packs[0].header
    return {
        "program": {"version": __version__, "place": str(Path(__file__).resolve().parent.parent)},
        "knowledge": {
            "version": header.version,
            "digest": header.digest,
            "added": str(edition) if (edition := added()) is not None else None,
            "entries": len(known.codes_of_entries),
            "codes": known.count_codes(),
            "layers": len(known.packs),
        },
        "engines": {name: _installed(name) for name in ENGINES},
        "python": {"version": platform.python_version(), "implementation": platform.python_implementation(), "executable": sys.executable},
        "machine": {"system": platform.system(), "architecture": platform.machine()},
    }


def _installed(name: str) -> str | None:
    """The version of a library, when it is there and loads; one that does not load is not in use."""
    from importlib import import_module
    from importlib.metadata import PackageNotFoundError, version

    try:
        import_module(name)
    except ImportError:
        return None
    try:
        return version(name)
    except PackageNotFoundError:
        return str(getattr(sys.modules[name], "__version__", "?"))


def _text(told: dict[str, Any], lang: str) -> str:
    knowledge, python = told["knowledge"], told["python"]
    engines = [f"{name} {version}" if version else word("cli.version:absent", lang, name=name) for name, version in told["engines"].items()]
    rows = [
        f"npu-doctor {told['program']['version']}  {clean(told['program']['place'])}",
        word("cli.version:knowledge", lang, **{name: knowledge[name] for name in ("version", "digest", "entries", "codes")}),
        *([word("cli.version:added", lang, path=clean(knowledge["added"]))] if knowledge["added"] else ()),
        *([word("cli.version:layers", lang, layers=knowledge["layers"] - 1)] if knowledge["layers"] > 1 else ()),
        word("cli.version:engines", lang, engines=", ".join(engines)),
        f"Python {python['version']}  {clean(python['executable'])}, {told['machine']['system']} {told['machine']['architecture']}",
    ]
    return "\n".join(rows) + "\n"
