"""Which folders of knowledge are in use, and the pack of each: shipped, from the cache, or compiled when something changed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Container
from pathlib import Path

from kb import editions, shipped
from kb.layers import HERE, Layer
from kb.pack import HEADER_LIMIT, BrokenPackError, Pack, header, keep_newest, write_atomically
from kb.problems import KnowledgeError, Problem

SHIPPED = HERE / "_compiled" / "knowledge.pack"
ALONE = "NPU_DOCTOR_KB_ALONE"  # set: only what is built in and named is used, for nodes that are to know what the head node knows
KEEP_PACKS = 12  # one for each folder of knowledge that is in use


def cache_folder() -> Path | None:
    """Where compiled knowledge of a checkout or of a user's folders is kept; None when there is no home at all."""
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path.home() / ".cache")
        except RuntimeError:
            return None
    return Path(base) / "npu-doctor"


def user_folder() -> Path | None:
    """The folder of a user's own knowledge; None when there is no home at all."""
    config, home = os.environ.get("XDG_CONFIG_HOME"), os.environ.get("HOME")
    return Path(config or Path(home or "") / ".config") / "npu-doctor" / "kb" if config or home else None


def layer_folders(extra: tuple[str, ...] = ()) -> list[tuple[str, Path]]:
    """The folders of knowledge in use, weakest first."""
    if os.environ.get(ALONE):
        return [(path, Path(path)) for path in extra]
    found: list[tuple[str, Path]] = [("system", Path("/etc/npu-doctor/kb"))]
    own = user_folder()
    if own is not None:
        found.append(("user", own))
    found.append(("project", Path(".npu-doctor/kb")))
    live = []
    for name, path in found:
        try:
            if path.is_dir():
                live.append((name, path))
        except OSError:
            continue
    return live + [(path, Path(path)) for path in extra]


def own_layers(extra: tuple[str, ...] = ()) -> list[Layer]:
    """The knowledge that is not built in and is in use here, weakest first: what another machine needs to find the same."""
    return [layer for name, folder in layer_folders(extra) if isinstance(layer := layer_in_use(name, folder), Layer)]


def layer_in_use(name: str, folder: Path) -> Layer | str:
    """The layer of a folder; of that of the working directory, while nobody trusts it as it is, what is known of it."""
    if name != "project":
        return Layer(name, folder)
    from kb import trust

    return trust.layer(folder)


def built_in_pack() -> tuple[Pack, list[Problem]]:
    """What came with the program or, when somebody added one, a newer edition; in a checkout the YAML that is being edited."""
    if not SHIPPED.is_file():
        return compiled(Layer("built-in", HERE))
    why = ""
    pack = None
    try:
        pack = shipped.opened(SHIPPED, cache_folder())
    except (BrokenPackError, OSError) as error:
        pack, why = None, str(error)
    newer = editions.newest(pack.header.version if pack is not None else "")
    if newer is not None:
        return newer[0], []
    if pack is None and (HERE / "entries").is_dir():
        return compiled(Layer("built-in", HERE))
    if pack is None:
        raise KnowledgeError([Problem(str(SHIPPED), 0, f"the knowledge that came with the program is damaged: {why}", "install npu-doctor again")])
    return pack, []


def added() -> Path | None:
    """The edition in use in place of what was shipped, when there is one."""
    if not SHIPPED.is_file():
        return None
    newer = editions.newest(shipped_version())
    return newer[1] if newer is not None else None


def shipped_version() -> str:
    """The version of the knowledge that came with the program, or of the checkout; empty when it is damaged."""
    if not SHIPPED.is_file():
        return Layer("built-in", HERE).version()
    try:
        with open(SHIPPED, "rb") as file:
            return header(file.readline(HEADER_LIMIT)).version
    except (BrokenPackError, OSError):
        return ""


def compiled(layer: Layer) -> tuple[Pack, list[Problem]]:
    """The pack of a layer from the cache when nothing changed, else built (and cached when it has no faults)."""
    stamp = layer.stamp()
    place = _place(layer.root)
    if place is not None:
        try:
            pack = Pack.of_file(place)
            if pack.header.stamp == stamp:
                pack.check()
                return pack, []
        except (BrokenPackError, OSError):
            pass
    from kb.build import build  # YAML is only imported when something changed

    data, problems = layer.reading(lambda: build(layer, stamp))  # what is written meanwhile has another stamp
    if place is not None and not problems:
        write_atomically(place, data)
        keep_newest(place.parent, "kb-*.pack", KEEP_PACKS, _place(HERE))  # the built-in one is the oldest, asked for at every start, and takes longest
    return Pack(data), problems


def _place(folder: Path) -> Path | None:
    """Where the compiled form of a folder is kept."""
    cache = cache_folder()
    return cache / f"kb-{_short(os.path.realpath(folder))}.pack" if cache else None


def compiled_before(layer: Layer, changed: Container[Path]) -> Pack | None:
    """What was compiled of a layer before some files were changed, when nothing else has been since; else None."""
    place = _place(layer.root)
    try:
        if place is None or SHIPPED.is_file():
            return None
        made = place.stat().st_mtime_ns
        others = (path for path in (*layer.all_files(), *HERE.glob("*.py")) if path.stat().st_mtime_ns > made)
        if any(path.resolve() not in changed for path in others):
            return None
        pack = Pack.of_file(place)
        pack.check()
    except (BrokenPackError, OSError):
        return None
    return pack


def _short(text: str) -> str:
    raw = text.encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(raw):08x}{zlib.adler32(raw):08x}"
