"""`npu-doctor kb pack|add|remove`: knowledge that somebody passes on: entries of a folder, or an edition of what is built in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from doctor.base import exits, notation
from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.base.output import put
from doctor.base.words import word
from doctor.commands import common
from kb import editions


def pack(args: argparse.Namespace) -> int:
    """One file of a folder's entries."""
    from kb import bundle

    folder, lang = Path(args.folder), common.language(args)
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{args.folder}'", "npu-doctor kb pack my-entries")
    if (folder / "VERSION").is_file() and (folder / "kinds.yaml").is_file():
        return _edition(folder, args.output, lang)
    data, entries, problems = bundle.pack(folder)
    if problems:
        sys.stderr.write("\n".join(clean(row) for problem in problems for row in str(problem).split("\n")) + "\n")
        return exits.INTERNAL
    if not data:
        raise UsageError(f"'{args.folder}' holds no entries (*.yaml)", "npu-doctor kb new LOG:LINE drafts one")
    target = args.output or f"{folder.resolve().name}.kbz"
    _put(target, data)
    sys.stdout.write(word("kb.packed", lang, path=target, entries=len(entries), size=notation.size(len(data))) + "\n")
    return exits.CLEAN


def _put(target: str, data: bytes) -> None:
    try:
        put(Path(target), data)
    except OSError as error:
        raise UsageError(f"cannot write '{target}': {error.strerror}", "choose another place with -o FILE") from error


def _edition(folder: Path, asked: str | None, lang: str) -> int:
    """The built-in knowledge of a checkout as the file that updates installations."""
    from kb.build import build
    from kb.layers import BUILT_IN, Layer
    from kb.pack import Pack

    data, problems = build(Layer(BUILT_IN, folder), stamp="")
    if problems:
        sys.stderr.write("\n".join(clean(row) for problem in problems for row in str(problem).split("\n")) + "\n")
        return exits.INTERNAL
    pack = Pack(data)
    target = asked or editions.name(pack.header.version)
    try:
        packed = editions.made_of(data)
    except editions.RefusedError as refused:
        raise UsageError(f"{folder / 'VERSION'}: {refused}", "for example 2026.12, or 2026.12.1") from refused
    _put(target, packed)
    entries = len(pack.entries)
    sys.stdout.write(word("kb.packed", lang, path=target, entries=entries, size=notation.size(len(packed))) + "\n")
    return exits.CLEAN


def add(args: argparse.Namespace) -> int:
    """Takes over a packed file, all of it or nothing."""
    from kb import build, bundle
    from kb.in_use import layer_folders
    from kb.layers import Layer

    lang = common.language(args)
    data = common.read_bytes(args.file, bundle.MAX_TOTAL)
    if data.startswith(editions.MAGIC):
        return _add_edition(args.file, data, lang)
    folder = _own(args)
    try:
        files = bundle.unpack(data)
        entries = bundle.entries_of(files)
        there = {e.code: Path(e.path).name for e in build.read_entries(Layer(str(folder), folder))[0]}
        for entry in entries:
            name = Path(entry.path).name
            if there.get(entry.code, name) != name:
                raise bundle.RefusedError(f"{entry.code} is taken in {folder} by {there[entry.code]}")
        bundle.add(files, folder)
    except bundle.RefusedError as refused:
        sys.stderr.write(f"npu-doctor: {args.file}: {word('kb.refused', lang, why=clean(str(refused)))}\n")
        return exits.INTERNAL
    except OSError as error:
        raise UsageError(f"cannot write to '{folder}': {error.strerror}", "--to DIR names a folder that you may write") from error
    used = any(Path(path).resolve() == folder.resolve() for _, path in layer_folders())
    sys.stdout.write(word("kb.added" if used else "kb.added-apart", lang, entries=len(entries), folder=folder) + "\n")
    known = common.knowledge(args)
    replaced = [e.code for e in entries if (old := known.packs[0].entries) and e.code in old]
    if replaced:
        sys.stdout.write(word("kb.replaces", lang, codes=", ".join(replaced)) + "\n")
    return exits.CLEAN


def _own(args: argparse.Namespace) -> Path:
    from kb.in_use import user_folder

    folder = Path(args.to) if args.to else user_folder()
    if folder is None:
        raise UsageError("there is no folder of your own: neither HOME nor XDG_CONFIG_HOME is set", "--to DIR names one")
    return folder


def _add_edition(name: str, data: bytes, lang: str) -> int:
    from kb.in_use import SHIPPED, shipped_version

    try:
        version, path = editions.add(data, shipped_version())
    except editions.RefusedError as refused:
        sys.stderr.write(f"npu-doctor: {name}: {word('kb.refused', lang, why=clean(str(refused)))}\n")
        return exits.INTERNAL
    sys.stdout.write(word("kb.edition" if SHIPPED.is_file() else "kb.edition-apart", lang, version=version, path=path) + "\n")
    return exits.CLEAN


def remove(args: argparse.Namespace) -> int:
    """Takes back an edition, or the files of a bundle that are still what was added."""
    from kb import bundle

    lang, given = common.language(args), str(args.what_was_added)
    version = Path(given).name.removeprefix("knowledge-").removesuffix(".pack")
    kept = dict(editions.kept())
    if version in kept:
        return _removed([kept[version]], lang)
    if not Path(given).is_file() or given.endswith(".pack"):
        there = ", ".join(kept) or "none"
        raise UsageError(f"no edition '{given}' was added, and it is no packed file", f"editions that were added: {there}; npu-doctor kb remove my-entries.kbz takes back entries")
    target = bundle.place(_own(args))
    try:
        files = bundle.unpack(common.read_bytes(given, bundle.MAX_TOTAL))
    except bundle.RefusedError as refused:
        raise UsageError(f"'{given}' is no packed knowledge: {refused}", "name the file that was given to npu-doctor kb add") from refused
    paths = [path for name in sorted(files) if (path := target / name).is_file()]
    if changed := [path for path in paths if path.read_bytes() != files[path.name]]:
        raise UsageError(f"'{changed[0]}' is no longer what was added: nothing was removed", "what was written since is not thrown away: remove the files yourself")
    if not paths:
        raise UsageError(f"nothing of '{given}' is in {target}", "--to DIR names the folder that it was added to")
    return _removed(paths, lang)


def _removed(paths: list[Path], lang: str) -> int:
    from kb.knowledge import load

    try:
        for path in paths:
            path.unlink()
    except OSError as error:
        raise UsageError(f"cannot remove '{error.filename}': {error.strerror}", "it belongs to somebody else?") from error
    sys.stdout.write(word("kb.removed", lang, files=len(paths), version=load().packs[0].header.version) + "\n")
    return exits.CLEAN
