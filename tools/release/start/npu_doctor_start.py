"""Unpacks npu-doctor once into a private folder and starts it from there.

Libraries with compiled parts cannot be loaded out of an archive. The folder is the user's cache; where there is none, or it cannot be
written, a folder of the user's in the temporary places. What lies on a file system that executes nothing is loaded from memory.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from typing import IO, Any

KEEP = 3  # unpacked versions; older ones are thrown away


class CannotStartError(Exception):
    """Why not, and what to do, in English and in Chinese."""


def main() -> int:
    archive = os.path.dirname(os.path.abspath(__file__))
    try:
        with zipfile.ZipFile(archive) as file:
            about = json.loads(file.read("about.json"))
            folder = _unpacked(file, about)
    except KeyboardInterrupt:
        sys.stderr.write("npu-doctor: interrupted\n")
        return 130
    except CannotStartError as error:
        sys.stderr.write("".join(f"{row}\n" for row in error.args))
        return 2
    sys.path[:] = [folder, *(place for place in sys.path if os.path.abspath(place or ".") != archive)]
    if not _executes(folder):
        sys.meta_path.insert(0, FromMemory(folder))  # type: ignore[arg-type]
    sys.argv[0] = "npu-doctor"
    from doctor.__main__ import main as started

    return started()


def _unpacked(file: zipfile.ZipFile, about: dict[str, Any]) -> str:
    machine, tag = platform.machine(), f"cp{sys.version_info[0]}{sys.version_info[1]}"
    if machine != about["architecture"] or sys.platform != "linux" or sys.implementation.name != "cpython":
        raise CannotStartError(
            f"npu-doctor: this file is for CPython on Linux {about['architecture']}, and this is {sys.implementation.name} on {sys.platform} {machine}",
            f" = help: take npu-doctor-{about['version']}-{machine}.pyz",
            f"npu-doctor: 本文件适用于 Linux {about['architecture']} 上的 CPython，当前为 {sys.platform} {machine} 上的 {sys.implementation.name}",
            f" = 建议: 请使用 npu-doctor-{about['version']}-{machine}.pyz",
        )
    name = f"pyz-{about['version']}-{about['digest'][:16]}-{tag}"
    places = list(_places())
    for place, temporary in places:
        if _whole(os.path.join(place, name), about["files"][tag] if temporary else None):
            return os.path.join(place, name)
    for wanted in (True, False):  # where programs may be executed is better than where they may not
        for place, _ in places:
            if _own(place) and _executes(place) == wanted and (folder := _unpack(file, place, name, tag)):
                _tidy(place)
                return folder
    tried = ", ".join(place for place, _ in places)
    raise CannotStartError(
        f"npu-doctor: there is no folder that can be written, to unpack 40 MB into (tried: {tried})",
        " = help: XDG_CACHE_HOME=DIR or TMPDIR=DIR names one",
        f"npu-doctor: 没有可写的目录用于解包（需要 40 MB；已尝试：{tried}）",
        " = 建议: 用 XDG_CACHE_HOME=目录 或 TMPDIR=目录 指定",
    )


def _places() -> list[tuple[str, bool]]:
    """Folders of this user's, the best first, and whether they may be emptied by others (temporary places are)."""
    found = []
    cache, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    if cache or os.path.isdir(home or ""):
        found.append((os.path.join(cache or os.path.join(home or "", ".cache"), "npu-doctor"), False))
    for place in dict.fromkeys((os.environ.get("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", f"/run/user/{os.getuid()}")):
        if place and os.path.isdir(place):
            found.append((os.path.join(place, f"npu-doctor-{os.getuid()}"), True))
    return found


def _own(folder: str) -> bool:
    """Is it a folder that nobody else can write to? It is made when it is not there."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        state = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK)


def _whole(folder: str, files: int | None) -> bool:
    """Is it unpacked there by this user? Temporary places lose old files: there they are counted."""
    try:
        state, above = os.lstat(folder), os.lstat(os.path.dirname(folder))
    except OSError:
        return False
    mine = (os.getuid(), 0)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid not in mine or above.st_uid not in mine or (state.st_mode | above.st_mode) & 0o022:
        return False
    return files is None or files == sum(not name.endswith(".pyc") for _, _, names in os.walk(folder) for name in names)


def _executes(folder: str) -> bool:
    try:
        return not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except OSError:
        return True


def _unpack(file: zipfile.ZipFile, place: str, name: str, tag: str) -> str | None:
    """All of it or nothing: others look while it is written, and may be faster."""
    target = os.path.join(place, name)
    try:
        stage = tempfile.mkdtemp(dir=place, prefix=".unpacking-")
    except OSError:
        return None
    try:
        with file.open("payload.tar.xz") as packed, _inflated(packed) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                belongs, _, inner = member.name.partition("/")
                if belongs in ("any", tag):
                    _write(tar, member, os.path.join(stage, inner))
        if os.path.isdir(target):
            shutil.rmtree(target, ignore_errors=True)  # what a temporary place has lost files of
        os.rename(stage, target)
    except OSError:
        shutil.rmtree(stage, ignore_errors=True)
        return target if os.path.isdir(target) else None
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    return target


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    source = tar.extractfile(member)
    if source is None:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    if path.endswith(".so"):
        os.chmod(path, 0o700)


def _inflated(packed: IO[bytes]) -> Any:
    try:
        import lzma
    except ImportError:  # a Python that was built without it; the program is nearly everywhere
        xz = shutil.which("xz")
        if xz is None:
            raise CannotStartError(
                f"npu-doctor: this Python ({sys.executable}) was built without lzma, and there is no xz",
                " = help: take another Python, or the folder of wheels",
                f"npu-doctor: 当前 Python（{sys.executable}）不含 lzma，且系统没有 xz",
                " = 建议: 换用其他 Python，或使用离线 wheel 包",
            ) from None
        done = subprocess.run([xz, "-dc"], input=packed.read(), stdout=subprocess.PIPE, check=True)
        import io

        return io.BytesIO(done.stdout)
    return lzma.LZMAFile(packed)


def _tidy(place: str) -> None:
    try:
        found = sorted((os.lstat(os.path.join(place, name)).st_mtime, name) for name in os.listdir(place) if name.startswith("pyz-"))
    except OSError:
        return
    for _, name in found[:-KEEP]:
        shutil.rmtree(os.path.join(place, name), ignore_errors=True)


class FromMemory:
    """Loads the compiled libraries of a folder from memory, where its file system lets nothing be executed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder + os.sep

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, ExtensionFileLoader) or not (spec.origin or "").startswith(self._folder):
            return None
        try:
            handle = os.memfd_create(name)
            with open(spec.origin or "", "rb") as source, open(handle, "wb", closefd=False) as memory:
                shutil.copyfileobj(source, memory, 1 << 20)
        except OSError:
            return None
        place = f"/proc/self/fd/{handle}"
        return spec_from_file_location(name, place, loader=ExtensionFileLoader(name, place))
