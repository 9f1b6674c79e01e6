"""`npu-doctor skill install`: writes the skill for assistants into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from doctor.base import exits
from doctor.base.errors import UsageError
from doctor.base.output import put
from doctor.base.words import word
from doctor.commands import common

USUAL = ".agents/skills"


def arguments() -> common.Parser:
    made = common.parser(
        "skill",
        "Teach an assistant to use npu-doctor: writes a folder npu-doctor in the Agent Skills layout (SKILL.md, references) into DIR, "
        "the folder in which the assistant looks for skills.",
    )
    made.add_argument("action", choices=("install",), help="write the folder")
    made.add_argument("folder", nargs="?", default=USUAL, metavar="DIR", help=f"where skills lie (default: {USUAL} in this folder)")
    made.add_argument("--force", action="store_true", help="replace files of the skill that were changed")
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    from doctor.agents.skill_files import NAME, files

    made = files()
    target = Path(args.folder) / NAME
    changed = [name for name, data in made.items() if _other(target / name, data)]
    if changed and not args.force:
        raise UsageError(f"{target / changed[0]} is there already, with another text", "--force replaces the files of the skill")
    try:
        for name, data in made.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            put(target / name, data)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}", "npu-doctor skill install DIR") from error
    sys.stderr.write(f"npu-doctor: {word('cli.wrote', common.language(args), path=target)}\n")
    return exits.CLEAN


def _other(path: Path, data: bytes) -> bool:
    """Is there something else?"""
    try:
        return path.read_bytes() != data
    except FileNotFoundError:
        return False
    except OSError:
        return path.exists()
